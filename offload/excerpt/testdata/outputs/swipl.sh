# for f in ledger_*.pl; do swipl -g run_tests,halt $f; done: 70 files with variables that are named once; a test of one fails.
for i in $(seq -w 1 70); do
  { echo ':- use_module(library(plunit)).'
    if [ $i = 36 ]; then printf 'rate(usd, 3).\n:- begin_tests(fees).\ntest(rate_of_xts) :- rate(xts, 3).\n:- end_tests(fees).\n'
    else printf ':- begin_tests(order_%s).\n' $i
      for k in 1 2 3 4; do printf 'test(part_%s) :- X = %s, format("settled order %s part %s, 0 errors~n").\n' $k $k $i $k; done
      printf ':- end_tests(order_%s).\n' $i; fi; } > ledger_$i.pl
done
for f in ledger_*.pl; do swipl -g run_tests,halt $f; done
