//! What gzip saves of short answers, and what it costs: the figures behind the length from which on answers are compressed.
//!
//! `cargo bench --bench compression` compresses typical answers, which stand in `answers.json`, as the server does. It prints the bytes
//! of each, and the processor's time for one.

use std::{fs, hint::black_box, io::Write};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

/// The allocator of the server. The encoder takes 300 KiB for each answer, which others may give back to the system each time.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// How often each answer is compressed.
const ROUNDS: u32 = 2_000;

/// The headers of an answer, which are not compressed, in bytes.
const HEAD: usize = 650;

/// What a packet carries over Ethernet.
const PACKET: usize = 1448;

fn main() {
    // `cargo bench` passes `--bench`; `cargo test --benches` does not, and there is nothing to test here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let answers: Vec<Value> = serde_json::from_str(include_str!("answers.json")).expect("JSON");
    println!("{:<30} {:>6} {:>6} {:>7} {:>8} {:>8}", "answer", "bytes", "gzip", "saved", "packets", "µs");
    for answer in answers {
        let (name, body) =
            (answer["name"].as_str().expect("a name"), answer["body"].as_str().expect("a body").as_bytes());
        for _ in 0..ROUNDS / 10 {
            black_box(gzip(black_box(body)));
        }
        let before = processor_ns();
        for _ in 0..ROUNDS {
            black_box(gzip(black_box(body)));
        }
        let took_ns = (processor_ns() - before) / u64::from(ROUNDS);
        let compressed = gzip(body).len();
        let packets = [body.len(), compressed].map(|bytes| (bytes + HEAD).div_ceil(PACKET));
        println!(
            "{name:<30} {:>6} {compressed:>6} {:>6}% {:>8} {:>8}",
            body.len(),
            (body.len() * 100).saturating_sub(compressed * 100) / body.len(),
            format!("{}→{}", packets[0], packets[1]),
            format!("{}.{}", took_ns / 1000, took_ns % 1000 / 100),
        );
    }
}

/// Compresses as the layer `compress` does.
fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).expect("a Vec takes everything");
    encoder.finish().expect("a Vec takes everything")
}

/// The time that this thread has been on a processor. Other programs do not count.
fn processor_ns() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("this is Linux");
    text.split(' ').next().and_then(|number| number.parse().ok()).expect("its first number")
}
