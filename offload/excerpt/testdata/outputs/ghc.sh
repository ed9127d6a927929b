# for f in M*.hs; do ghc -Wall -c $f; done: 60 modules with warnings; one adds text to a number.
for i in $(seq -w 1 60); do
  if [ $i = 31 ]; then printf 'module M%s where\ntotalFees :: [Int] -> Int\ntotalFees xs = sum xs ++ "cents"\n' $i > M$i.hs
  else printf 'module M%s where\nimport Data.List\nhalf x = case x of\n  0 -> 0\n  1 -> 2\nerrorOf y z = y\n' $i > M$i.hs; fi
done
for f in M*.hs; do ghc -Wall -c $f; done
