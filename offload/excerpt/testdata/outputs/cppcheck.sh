# cppcheck --enable=all src: 60 files with remarks on style; one writes behind the end of a list.
mkdir -p src
for i in $(seq -w 1 60); do
  if [ $i = 31 ]; then printf 'int rates(void) { int a[4]; a[7] = 1; return a[0]; }\n' > src/fees_$i.c
  else printf 'int unused%s(int a) { int error; int c = a; c = 3; return a; }\nstatic int s%s(char *p) { if (p) { return 1; } return *p; }\n' $i $i > src/fees_$i.c; fi
done
cppcheck --enable=all --suppress=missingIncludeSystem src
