# A C# program on Mono that books 420 payments; one throws with an inner exception.
cat > Book.cs <<'END'
using System; using System.Collections.Generic;
class Book {
  static Dictionary<string, decimal> accounts = new Dictionary<string, decimal> { { "cash", 0m } };
  static decimal Find(string name) { return accounts[name]; }
  static decimal Post(int n) {
    try { return Find(n == 220 ? "error-free" : "cash") + n; }
    catch (KeyNotFoundException e) { throw new InvalidOperationException("payment " + n + " has no account", e); }
  }
  static void Main() {
    for (int n = 1; n <= 420; n++)
      try { Console.WriteLine("info: Shop.Book[0] payment {0} posted, {1} EUR, errors: 0", n, Post(n)); }
      catch (Exception e) { Console.WriteLine("fail: Shop.Book[1] payment is not posted\n" + e); }
  }
}
END
mcs -debug Book.cs && mono --debug Book.exe
