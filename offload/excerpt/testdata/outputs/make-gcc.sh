# make -k of 60 C files with -Wall: a warning in each, an undeclared name and a missing header in two.
mkdir -p src
for f in $(seq -w 1 60); do
  { echo '#include <stdio.h>'; [ $f = 37 ] && echo '#include "ledger_error.h"'
    echo "int print_error_$f(const char *name, long count) {"
    echo '    int unused;'
    [ $f = 28 ] && echo '    count += batch_size;'
    echo '    return printf("%s: %d errors\n", name, count);'
    echo '}'; } > src/batch_$f.c
done
cat > Makefile <<'END'
OBJ := $(patsubst src/%.c,obj/%.o,$(sort $(wildcard src/*.c)))
libbatch.a: $(OBJ)
	ar rcs $@ $^
obj/%.o: src/%.c
	@mkdir -p obj
	gcc -std=c11 -Wall -Wextra -O2 -Iinclude -c -o $@ $<
END
LC_ALL=C make -k
