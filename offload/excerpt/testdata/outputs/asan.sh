# gcc's address sanitizer: a C program that prints each of 520 frames, and reads a freed one in a child process.
cat > frames.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int *frame(int n) { int *f = malloc(64); f[0] = n; return f; }
static int last(int *f) { free(f); return f[0]; }
int main(void) {
  setvbuf(stdout, NULL, _IONBF, 0);
  for (int n = 1; n <= 520; n++) {
    int *f = frame(n), status = 0;
    if (n == 250 && fork() == 0) return last(f);
    if (n == 250) { wait(&status); printf("frame 250: the child ended with %d\n", WEXITSTATUS(status)); }
    printf("frame %d decoded, 0 errors, checksum %08x\n", n, f[0] * 2654435761u);
    free(f);
  }
}
END
gcc -g -fsanitize=address -o frames frames.c && ASAN_OPTIONS=detect_leaks=0 ./frames
