# A Java importer that logs each of 400 rows with java.util.logging; one row raises an exception with a cause.
cat > Importer.java <<'END'
import java.util.logging.*;
public class Importer {
  static final Logger log = Logger.getLogger("importer");
  static int cents(String price) {
    try { return Integer.parseInt(price.replace(".", "")); }
    catch (NumberFormatException e) { throw new IllegalStateException("row has no price: " + price, e); }
  }
  static void row(int n) { log.info("row " + n + " read, " + cents(n == 210 ? "12,50" : n + ".00") + " cents, 0 errors"); }
  public static void main(String[] args) {
    for (int n = 1; n <= 400; n++) try { row(n); } catch (RuntimeException e) { log.log(Level.SEVERE, "row " + n + " is skipped", e); }
  }
}
END
javac -d . Importer.java && java -Duser.language=en -Djava.util.logging.SimpleFormatter.format='%1$tF %1$tT %4$s %3$s - %5$s%6$s%n' Importer
