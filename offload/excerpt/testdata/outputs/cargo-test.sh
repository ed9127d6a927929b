# A workspace of 10 crates with 80 tests each; one of the fifth panics, one returns an error.
{ echo '[workspace]'; echo 'resolver = "2"'; echo 'members = ["crates/*"]'; } > Cargo.toml
for c in $(seq -w 1 10); do
  mkdir -p crates/tax_$c/src
  printf '[package]\nname = "tax_%s"\nversion = "0.3.0"\nedition = "2021"\n' $c > crates/tax_$c/Cargo.toml
  { echo 'pub fn tax(cents: u64, rate: u64) -> u64 { cents * rate / 100 }'
    echo '#[cfg(test)] mod tests { use super::*;'
    for t in $(seq 1 80); do
      if [ $c-$t = 05-17 ]; then echo "#[test] fn rate_$t() { assert_eq!(tax(1000, $t), 171, \"tax of 10.00 at $t percent\"); }"
      elif [ $c-$t = 05-23 ]; then echo "#[test] fn rate_$t() -> Result<(), std::num::ParseIntError> { \"1.5\".parse::<u64>().map(|_| ()) }"
      else echo "#[test] fn error_of_rate_$t() { assert_eq!(tax(1000, $t), 10 * $t); }"; fi
    done; echo '}'; } > crates/tax_$c/src/lib.rs
done
cargo test --offline --no-fail-fast -- --test-threads=1
