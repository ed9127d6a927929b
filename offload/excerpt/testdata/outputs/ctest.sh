# ctest -V of 60 tests; one crashes with a failed assertion.
{ echo 'cmake_minimum_required(VERSION 3.20)'; echo 'project(scale C)'; echo 'enable_testing()'; echo 'add_executable(weigh weigh.c)'
  for t in $(seq -w 1 60); do echo "add_test(NAME error_margin_$t COMMAND weigh $((10#$t)))"; done; } > CMakeLists.txt
cat > weigh.c <<'END'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int n = atoi(argv[1]), grams = n == 29 ? -1 : n * 250;
  setvbuf(stdout, NULL, _IONBF, 0);
  for (int i = 1; i <= 5; i++) printf("weighing %d of parcel %d: %d g, error 0.0 g\n", i, n, grams / i);
  assert(grams >= 0 && "a scale cannot weigh less than nothing");
  return 0;
}
END
cmake -B build . >&2 && cmake --build build >&2 && ctest --test-dir build -V; ls -la --time-style=long-iso build/CMakeFiles/weigh.dir; ctest --test-dir build -N
