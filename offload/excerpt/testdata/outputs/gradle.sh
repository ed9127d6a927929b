# gradle --continue of 30 projects; one does not compile.
echo "rootProject.name = 'shop'" > settings.gradle
for m in $(seq -w 1 30); do
  echo "include 'label-$m'" >> settings.gradle
  mkdir -p label-$m/src/main/java/shop
  body='return text.trim();'; [ $m = 14 ] && body='return text.trimAll();'
  echo "package shop; import java.util.*; public class ErrorLabel$m { List raw = new ArrayList(); String text(String text) { raw.add(text); $body } }" > label-$m/src/main/java/shop/ErrorLabel$m.java
done
printf "subprojects {\n  apply plugin: 'java'\n  sourceCompatibility = 11\n  tasks.withType(JavaCompile) { options.compilerArgs << '-Xlint:all' }\n}\n" > build.gradle
gradle --offline --no-daemon --continue --console=plain --stacktrace --info classes
