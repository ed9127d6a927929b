# Four suites run one after another, as a script of package.json does; the second has a failing test and a failing hook.
for s in basket price refund stock; do
  mkdir -p test/$s
  for f in 1 2 3 4 5; do
    { echo "const assert = require('assert')"; echo "describe('$s part $f', () => {"
      [ $s-$f = price-5 ] && echo "  before(() => { throw new TypeError('rates.load is not a function') })"
      for t in $(seq 1 50); do
        want=$((t + 1)); [ $s-$f-$t = price-2-9 ] && want=12
        echo "  it('handles error code $t without a crash', () => assert.strictEqual($t + 1, $want))"
      done; echo "})"; } > test/$s/part_$f.js
  done
done
for s in basket price refund stock; do npx mocha --no-color test/$s; done
