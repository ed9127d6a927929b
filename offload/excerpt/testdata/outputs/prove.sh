# prove -v of 26 Perl tests of 25 checks; one of the tenth fails.
mkdir -p t
for f in $(seq -w 1 26); do
  { echo 'use Test::More tests => 25;'
    for t in $(seq 1 25); do
      want=$((t * 5)); [ $f-$t = 10-14 ] && want=71
      echo "is($t * 5, $want, 'error code $t of list $f is mapped');"
    done; } > t/list_$f.t
done
prove -v --nocolor --merge t
