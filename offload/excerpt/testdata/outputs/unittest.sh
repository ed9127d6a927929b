# 12 modules, each run by itself as a Makefile would; the seventh has an assertion and an exception.
for f in $(seq -w 1 12); do
  { echo 'import unittest'; echo; echo "class Invoices$f(unittest.TestCase):"
    for t in $(seq 1 40); do
      echo "    def test_invoice_without_errors_$t(self):"
      if [ "$f-$t" = 07-12 ]; then echo "        self.assertEqual(round(2.5 * $t, 1), 31.0)"
      elif [ "$f-$t" = 07-13 ]; then echo "        int('12,5')"
      else echo "        self.assertEqual($t + $t, 2 * $t)"; fi
    done; } > test_invoices_$f.py
done
for m in test_invoices_*.py; do echo "== $m"; python3 -m unittest -v ${m%.py}; done
