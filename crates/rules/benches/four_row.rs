//! The speed of Bao and Omweso: every known count of move sequences, and the time of an action.
//!
//! Run it with `cargo bench -p mancala-rules --bench four_row`. Every count is asserted, so wrong rules fail. The tests
//! compare only the smaller ones.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use mancala_rules::{AnyOptions, AnyPosition, Variant, perft};

/// How many games are played from each opening.
const GAMES: usize = 2_000;

/// Tries of one action of which the fastest counts, since other programs can only make an action longer.
const TRIES: u32 = 10;

/// No action may take longer.
const ACTION_MAX: Duration = Duration::from_millis(1);

/// A position with an endless sowing, from A.
const ENDLESS: &str = "2,0,3,0,3,1,2,0,2,1,0,1,0,1,0,1/2,0,0,0,0,0,0,0,0,0,0,0,45,0,0,0 0-0 S - 0 1S";

fn main() {
    count(Variant::Bao, include_str!("../tests/rules/four_row/bao.perft"));
    count(Variant::Omweso, include_str!("../tests/rules/four_row/omweso.perft"));
    for variant in [Variant::Bao, Variant::Omweso] {
        for preset in variant.presets() {
            let options = AnyOptions::parse(variant, preset.name, "circuits=100").expect("a preset is valid");
            play_games(&AnyPosition::opening(&options));
        }
    }
    let options = AnyOptions::parse(Variant::Bao, "donkers", "circuits=100").expect("a preset is valid");
    let endless = AnyPosition::parse(&options, ENDLESS).expect("64 seeds");
    println!("legal moves where an endless sowing of 100 circuits is tried: {:?}", fastest(|| endless.legal_moves()));
}

/// Counts what each line of a file lists, to its last depth.
fn count(variant: Variant, lines: &str) {
    let start = Instant::now();
    let mut leaves = 0;
    for line in lines.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.splitn(3, ' ');
        let mut word = || words.next().expect("a line has a preset, overrides and counts");
        let (preset, overrides, rest) = (word(), word().trim_matches('-'), word());
        let options = AnyOptions::parse(variant, preset, overrides).expect("the options of a line are valid");
        let (start, counts) = match rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
            Some((text, counts)) => (AnyPosition::parse(&options, text).expect("its position is valid"), counts),
            None => (AnyPosition::opening(&options), rest),
        };
        for (depth, count) in (1..).zip(counts.split(' ')) {
            let found = perft(&start, depth);
            assert_eq!(found.to_string(), count, "{variant} {line} at depth {depth}");
            leaves += found;
        }
    }
    println!("{variant}: {leaves} sequences in {:?}", start.elapsed());
}

/// Plays games in which the choices differ from game to game, and shows the mean and the longest time of an action.
fn play_games(opening: &AnyPosition) {
    let (mut actions, mut total, mut longest) = (0_u32, Duration::ZERO, Duration::ZERO);
    for game in 0..GAMES {
        let mut position = opening.clone();
        while position.outcome().is_none() {
            let legal = position.legal_moves();
            let m = legal[(game / (1 + position.plies() as usize) + game * position.plies() as usize) % legal.len()];
            let start = Instant::now();
            let next = position.play(m).expect("a listed move is legal").0;
            let mut time = start.elapsed();
            if time > ACTION_MAX / 4 {
                time = time.min(fastest(|| position.play(m)));
            }
            (actions, total, longest) = (actions + 1, total + time, longest.max(time));
            position = next;
        }
    }
    let options = opening.options();
    println!(
        "{} {}: {actions} actions, mean {:?}, longest {longest:?}",
        options.variant(),
        options.preset(),
        total / actions
    );
    assert!(longest < ACTION_MAX);
}

fn fastest<T>(mut work: impl FnMut() -> T) -> Duration {
    let timed = |_| {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    };
    (0..TRIES).map(timed).min().unwrap_or_default()
}
