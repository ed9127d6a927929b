# A Node.js script that prints each of 350 steps; in step 180 a promise is rejected and nobody listens, and it is run again from there.
cat > sync.mjs <<'END'
async function fetchPage(n) {
  const page = n === 180 && process.argv[2] === undefined ? undefined : { items: [n] }
  return page.items.length
}
for (let n = Number(process.argv[2] ?? 1); n <= 350; n++) {
  console.log(`[sync] page ${n} of 350: ${await fetchPage(n)} item, onError handlers: 0, retries: 0`)
}
END
node sync.mjs || { echo "[wrapper] exit status $?, resuming at page 181"; node sync.mjs 181; }
