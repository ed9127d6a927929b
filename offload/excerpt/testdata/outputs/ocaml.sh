# for f in *.ml; do ocamlopt -w +a -c $f; done: 90 files with warnings; one adds numbers of two kinds.
for i in $(seq -w 1 90); do
  if [ $i = 46 ]; then printf 'let total xs = List.fold_left (+) 0 xs\nlet bad = total [1.5; 2.0]\n' > batch_$i.ml
  else printf 'let error_%s x y = let z = 1 in x\nlet half_%s n = match n with 0 -> 0 | 1 -> 2\n' $i $i > batch_$i.ml; fi
done
for f in batch_*.ml; do echo "ocamlopt -c $f"; ocamlopt -w +a-70 -c $f; done
