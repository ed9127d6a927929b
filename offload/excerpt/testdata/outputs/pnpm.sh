# pnpm -r test of 40 packages, with --no-bail; a module is missing in one.
echo '{"name":"shop","private":true,"version":"1.0.0"}' > package.json
printf 'packages:\n  - packages/*\n' > pnpm-workspace.yaml
for p in $(seq -w 1 40); do
  mkdir -p packages/api-$p
  printf '{"name":"@shop/api-%s","version":"1.2.%s","scripts":{"test":"node test.js"}}' $p $((10#$p)) > packages/api-$p/package.json
  { echo "for (let i = 1; i <= 25; i++) console.log('route /v1/error/' + i + ' answers as it should')"
    [ $p = 20 ] && echo "require('./routes/refund')"; } > packages/api-$p/test.js
done
npx pnpm -r --no-bail --workspace-concurrency=1 --no-color run test
