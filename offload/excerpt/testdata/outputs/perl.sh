# for f in job_*.pl; do perl $f; done: 80 scripts of nine lines and a warning each; one does not declare its variable.
for i in $(seq -w 1 80); do
  if [ $i = 41 ]; then printf 'use strict;\nmy %%fees = ();\n$total = 3;\n' > job_$i.pl
  else printf 'use warnings; my $u; for my $k (0..8) { print "settled order %s part $k of the ledger, 0 errors\\n"; } my $x = "a".$u;\n' $i > job_$i.pl; fi
done
for f in job_*.pl; do perl $f; done
