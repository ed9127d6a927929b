# tsc --build of 90 projects in verbose form; two of them have errors.
echo '{"files":[],"references":[' > tsconfig.json
for p in $(seq -w 1 90); do
  mkdir -p packages/form_$p/src
  echo '{"compilerOptions":{"composite":true,"outDir":"dist","strict":true,"types":[]},"include":["src"]}' > packages/form_$p/tsconfig.json
  { echo "export interface ErrorOfForm$p { code: number; field?: string }"
    echo "export function size$p(e: ErrorOfForm$p): number {"
    if [ $p = 41 ]; then echo '  return e.field.length + e.code'; elif [ $p = 47 ]; then echo '  return e.kode'; else echo '  return e.code'; fi
    echo '}'; } > packages/form_$p/src/index.ts
  echo "  {\"path\":\"packages/form_$p\"}$([ $p = 90 ] || echo ,)" >> tsconfig.json
done
echo ']}' >> tsconfig.json
npx tsc --build --verbose --pretty false --listEmittedFiles
