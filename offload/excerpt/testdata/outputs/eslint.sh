# eslint of 99 files: six warnings in each, two errors in one.
echo '{"root":true,"parserOptions":{"ecmaVersion":2022,"sourceType":"module"},"env":{"node":true},"rules":{"no-unused-vars":"warn","eqeqeq":"warn","no-console":"warn","no-undef":"error","no-unreachable":"error"}}' > .eslintrc.json
mkdir -p src
for f in $(seq -w 1 99); do
  { echo "export function report$f(error, retries) {"
    echo '  if (retries == 0) console.log("no error")'
    echo '  if (error == null) console.log("error is null")'
    [ $f = 51 ] && echo '  sendMail(retries)'
    echo '  const lines = 1'
    echo '  return retries'
    [ $f = 51 ] && echo '  retries++'
    echo '}'; } > src/report_$f.js
done
npx eslint --no-color src
