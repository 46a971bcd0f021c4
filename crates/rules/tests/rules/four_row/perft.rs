//! Compares the counts of move sequences with `bao.perft` and `omweso.perft`.

use mancala_rules::{AnyOptions, AnyPosition, Variant, perft};

/// Higher counts are left to the benchmark, so that a debug build stays fast.
const NODES_MAX: u64 = 150_000;

#[test]
fn four_row_sequences_are_as_many_as_the_files_list() {
    compare(Variant::Bao, include_str!("bao.perft"), 111);
    compare(Variant::Omweso, include_str!("omweso.perft"), 77);
}

fn compare(variant: Variant, lines: &str, expected: usize) {
    let mut compared = 0;
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let (start, counts) = read(variant, line);
        for (depth, count) in (1..).zip(counts) {
            if count <= NODES_MAX {
                assert_eq!(perft(&start, depth), count, "{variant} {line} at depth {depth}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, expected);
}

/// A line of a file: the position and its counts.
pub fn read(variant: Variant, line: &str) -> (AnyPosition, Vec<u64>) {
    let mut words = line.splitn(3, ' ');
    let (preset, overrides) = (words.next().unwrap(), words.next().unwrap().trim_matches('-'));
    let options = AnyOptions::parse(variant, preset, overrides).unwrap();
    let rest = words.next().unwrap();
    let (start, counts) = match rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((text, counts)) => (AnyPosition::parse(&options, text).unwrap(), counts),
        None => (AnyPosition::opening(&options), rest),
    };
    (start, counts.split(' ').map(|count| count.parse().unwrap()).collect())
}
