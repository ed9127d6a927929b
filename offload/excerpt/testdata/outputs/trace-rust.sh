# A Rust program whose thread panics with a backtrace while others go on.
cat > main.rs <<'END'
use std::thread;
fn parse(line: &str) -> u32 { line.split(' ').nth(1).unwrap().parse().expect("the second word is a number") }
fn work(n: u32) -> u32 { let line = if n == 170 { "line one-hundred".to_string() } else { format!("line {}", n) }; parse(&line) }
fn main() {
    for n in 1..=400u32 {
        match thread::Builder::new().name(format!("part-{}", n)).spawn(move || work(n)).unwrap().join() {
            Ok(v) => println!("[INFO] part {} of 400 gave {}, no errors so far in this part", n, v),
            Err(_) => println!("[INFO] part {} of 400 gave nothing", n),
        }
    }
}
END
rustc -g -o parts main.rs && RUST_BACKTRACE=1 ./parts 2>&1
