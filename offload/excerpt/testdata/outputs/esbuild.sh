# for f in src/*.js; do npx esbuild --bundle --outfile=/dev/null $f; done: 40 files with three warnings each; one imports what is not there.
mkdir -p src
for i in $(seq -w 1 40); do
  if [ $i = 21 ]; then printf 'import {rate} from "./fees/rates.js"\nconsole.log(rate)\n' > src/page_$i.js
  else printf 'const error = 1; if (error === NaN) console.log(1); var x = typeof error == "strin"; if (!error in {}) {}\n' > src/page_$i.js; fi
done
for f in src/*.js; do npx esbuild --bundle --outfile=/dev/null $f; done
