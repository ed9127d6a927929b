# mvn of 24 modules with --fail-at-end; one does not compile, the tests of another fail.
mods=''
for m in $(seq -w 1 24); do
  mods="$mods<module>ledger-$m</module>"
  mkdir -p ledger-$m/src/main/java/shop ledger-$m/src/test/java/shop
  cat > ledger-$m/pom.xml <<END
<project><modelVersion>4.0.0</modelVersion><parent><groupId>shop</groupId><artifactId>shop</artifactId><version>1.0</version></parent>
<artifactId>ledger-$m</artifactId></project>
END
  body='return cents * parts;'; [ $m = 11 ] && body='return cents.times(parts);'
  [ $m = 13 ] && body='return cents + parts;'
  echo "package shop; public class Ledger$m { public long times(long cents, long parts) { $body } }" > ledger-$m/src/main/java/shop/Ledger$m.java
  { echo "package shop; import org.junit.Test; import static org.junit.Assert.*;"
    echo "public class Ledger${m}Test { @Test public void timesWithoutErrors() { System.out.println(\"ERROR-free so far\"); assertEquals(\"six times seven\", 42, new Ledger$m().times(6, 7)); } }"
  } > ledger-$m/src/test/java/shop/Ledger${m}Test.java
done
cat > pom.xml <<END
<project><modelVersion>4.0.0</modelVersion><groupId>shop</groupId><artifactId>shop</artifactId><version>1.0</version><packaging>pom</packaging>
<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties>
<modules>$mods</modules>
<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency></dependencies></project>
END
mvn -B -o --fail-at-end -s /etc/maven/settings-debian.xml -Dmaven.repo.local=/usr/share/maven-repo test
