# javac -Xlint of 60 files: two warnings in each, three errors.
mkdir -p src out
for f in $(seq -w 1 60); do
  { echo "package shop; import java.util.*;"
    echo "public class ErrorReport$f {"
    echo '  List names = new ArrayList();'
    echo '  void add(String name) { names.add(name); }'
    [ $f = 29 ] && echo '  int total() { return names.size(1); }'
    [ $f = 30 ] && echo '  String first() { return names.get(0); }'
    [ $f = 31 ] && echo '  void none() { List<Strin> list = null; }'
    echo '}'; } > src/ErrorReport$f.java
done
for f in src/*.java; do javac -Xlint:all -Xmaxwarns 1000 -d out $f; done
