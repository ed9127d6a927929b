# 40 files of 10 tests in verbose form, two that fail, and the table of durations behind them.
for f in $(seq -w 1 40); do
  { echo 'import logging, time'; echo 'log = logging.getLogger("ledger")'
    for t in $(seq 1 10); do
      sum=$((t * 3)); [ "$f-$t" = 11-4 ] && sum=13
      echo "def test_error_free_sum_$t():"
      echo "    time.sleep(0.006)"
      echo "    balance = sum([$t] * 3)"
      echo "    log.warning('balance of account %d is %d', $f$t, balance)"
      echo "    assert balance == $sum"
    done
    [ $f = 29 ] && printf 'def test_missing_account():\n    accounts = {"a": 1}\n    assert accounts["b"] == 2\n'
  } | sed 's/%d is %d., 0\([0-9]\)/%d is %d'"'"', \1/' > test_ledger_$f.py
done
/usr/bin/python3 -m pytest -v --durations=0 --durations-min=0.001 -p no:cacheprovider
