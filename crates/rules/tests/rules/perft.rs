//! Compares the counts of move sequences with the files of each game, such as `kalah.perft`.

use mancala_rules::{AnyOptions, AnyPosition, Variant, perft};

/// Higher counts are left to the benchmark, so that a debug build stays fast.
const NODES_MAX: u64 = 600_000;

#[test]
fn move_sequences_are_as_many_as_the_files_list() {
    compare(Variant::Kalah, include_str!("kalah.perft"), 59);
    compare(Variant::Kalah, include_str!("kalah_optional_capture.perft"), 30);
    compare(Variant::Oware, include_str!("oware.perft"), 480);
    compare(Variant::Congkak, include_str!("congkak.perft"), 126);
    compare(Variant::Congkak, include_str!("congkak_match_and_lockstep.perft"), 34);
    compare(Variant::ToguzKumalak, include_str!("toguz_kumalak.perft"), 199);
    compare(Variant::Bestemshe, include_str!("bestemshe.perft"), 111);
}

fn compare(variant: Variant, lines: &str, expected: usize) {
    let mut compared = 0;
    for line in lines.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (preset, overrides) = (words.next().unwrap(), words.next().unwrap().trim_matches('-'));
        let options = AnyOptions::parse(variant, preset, overrides).unwrap();
        let opening = AnyPosition::opening(&options);
        for (depth, count) in (1..).zip(words) {
            let count: u64 = count.parse().unwrap();
            if count <= NODES_MAX {
                assert_eq!(perft(&opening, depth), count, "{variant} {preset} {overrides} at depth {depth}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, expected);
}

#[test]
fn a_sequence_of_no_actions_is_one_sequence() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").unwrap();
    assert_eq!(perft(&AnyPosition::opening(&options), 0), 1);
}

#[test]
fn no_sequence_is_longer_than_its_game() {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "pits=1;seeds=3").unwrap();
    let opening = AnyPosition::opening(&options);
    assert_eq!(perft(&opening, 1), 1);
    assert_eq!(perft(&opening, 2), 0);
    assert_eq!(perft(&opening, u32::MAX), 0);
}
