# 16 files of 50 tests; one of the eighth file fails.
for f in $(seq 1 16); do
  { for t in $(seq 1 50); do
      want=$((t * 2)); [ "$f-$t" = 8-13 ] && want=27
      echo "test('cart $f adds item $t and reports no error', () => { expect([$t, $t].reduce((a, b) => a + b)).toBe($want) })"
    done; } > cart_$f.test.js
done
echo '{"name":"shop"}' > package.json
CI=true npx jest --verbose --runInBand --no-color --cacheDirectory=$PWD/cache
