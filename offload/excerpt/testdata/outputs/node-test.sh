# node --test of 12 files of 20 tests, one of the sixth rejects; TAP.
for f in $(seq -w 1 12); do
  { echo "import test from 'node:test'; import assert from 'node:assert/strict'"
    for t in $(seq 1 20); do
      host=eu; [ $f-$t = 06-11 ] && host=us
      echo "test('session $f/$t survives an error of its store', async () => { assert.equal((await Promise.resolve({ host: '$host' })).host, 'eu') })"
    done; } > session_$f.test.mjs
done
node --test --test-concurrency=1 --test-reporter=tap .
