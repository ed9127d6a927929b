# 40 crates with a warning each, one with two errors, built one after another.
{ echo '[workspace]'; echo 'resolver = "2"'; echo 'members = ["crates/*"]'; } > Cargo.toml
for c in $(seq -w 1 40); do
  mkdir -p crates/feed_$c/src
  printf '[package]\nname = "feed_%s"\nversion = "0.1.0"\nedition = "2021"\n' $c > crates/feed_$c/Cargo.toml
  { echo 'use std::collections::HashMap;'; echo 'pub struct Feed { names: Vec<String> }'
    echo 'fn unused_error_handler(code: i32) -> i32 { let mut twice = code * 2; twice }'
    echo 'impl Feed {'
    echo '    pub fn first(&self) -> usize { self.names.len() }'
    if [ $c = 17 ]; then echo '    pub fn take(self) -> Vec<String> { let n = self.names; println!("{}", self.names.len()); n }'
      echo '    pub fn size(&self) -> u32 { self.names.len() }'; fi
    echo '}'; } > crates/feed_$c/src/lib.rs
done
for c in $(seq -w 1 40); do cargo build --offline -p feed_$c; done
