# rustc of 45 files one after another: warnings in each, a lifetime and a missing trait in two.
mkdir -p src out
for f in $(seq -w 1 45); do
  { echo "pub struct Parcel$f { pub error: String }"
    echo "fn helper(parcel: &Parcel$f) -> usize { let unused = parcel.error.len(); 7 }"
    [ $f = 23 ] && echo "pub fn longer(a: &str, b: &str) -> &str { if a.len() > b.len() { a } else { b } }"
    [ $f = 25 ] && echo "pub fn show(p: &Parcel$f) -> String { format!(\"{}\", p) }"
  } > src/parcel_$f.rs
done
for f in src/*.rs; do echo "rustc $f"; rustc --crate-type lib --edition 2021 -o out/lib.rlib $f; done
