# Two folders run one after the other; at the end of the first a test compares objects that differ in one field.
mkdir -p payments stock
for f in $(seq 1 14); do
  { echo "import { test, expect } from 'vitest'"
    for t in $(seq 1 25); do
      state=settled; [ $f-$t = 5-11 ] && state=stuck
      echo "test('payment $f/$t ends without errors', () => { console.log('payment $t took ' + ($t * 7 % 5) + ' ms'); expect({ id: $t, state: '$state' }).toEqual({ id: $t, state: 'settled' }) })"
    done; } > $([ $f -le 7 ] && echo payments || echo stock)/part_$f.test.mjs
done
echo '{"name":"shop","type":"module"}' > package.json
for d in payments stock; do NO_COLOR=1 npx vitest run --reporter=basic --no-file-parallelism $d; done
