//! How fast the rules are: move sequences counted a second, and what one move costs with and without its effects.
//!
//! Run with `cargo bench --bench rules`; it takes a few seconds. Every count is asserted, so a fast wrong answer fails.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use mancala_server::rules::{AnyOptions, AnyPosition, Move, Variant, perft};

/// Variant, preset, depth, and the number of sequences that must be counted, which a second program confirmed. The first
/// difference between these presets of Kalah shows at depth 10. In Oware `wari` is the dearest to count: every sowing is
/// tried out before it is known to be legal.
const COUNTS: [(Variant, &str, u32, u64); 7] = [
    (Variant::Kalah, "standard", 9, 2_763_490),
    (Variant::Kalah, "standard", 10, 13_519_607),
    (Variant::Kalah, "bga", 10, 13_519_612),
    (Variant::Oware, "standard", 9, 3_592_872),
    (Variant::Oware, "standard", 10, 18_137_964),
    (Variant::Oware, "wari", 9, 3_592_872),
    (Variant::Congkak, "standard", 9, 8_721_354),
];

/// How often the fixed game is played for the cost of one move.
const GAMES: u32 = 20_000;

fn main() {
    for (variant, preset, depth, expected) in COUNTS {
        let opening = opening(variant, preset);
        let (leaves, time) = timed(|| perft(&opening, depth));
        assert_eq!(leaves, expected, "{variant} {preset} at depth {depth}");
        println!("perft {variant} {preset} depth {depth}: {leaves} leaves, {:.1} million/s", rate(leaves, time) / 1e6);
    }
    for variant in Variant::ALL {
        cost_of_a_move(variant);
    }
}

/// Plays one game over and over, with its effects and without.
fn cost_of_a_move(variant: Variant) {
    let opening = opening(variant, "standard");
    let line = varied_game(&opening);
    let moves = u64::from(GAMES) * line.len() as u64;
    let ((), play) = timed(|| {
        for _ in 0..GAMES {
            let play = |position: AnyPosition, &m: &Move| position.play(m).map(|(next, _)| next);
            let last = line.iter().try_fold(opening.clone(), play).expect("the moves of the game are legal");
            assert!(black_box(last).outcome().is_some());
        }
    });
    let ((), unchecked) = timed(|| {
        for _ in 0..GAMES {
            let mut position = opening.clone();
            for &m in &line {
                position.play_unchecked(m);
            }
            assert!(black_box(position).outcome().is_some());
        }
    });
    println!("{variant} play:           {:.0} ns a move, over a game of {} moves", 1e9 / rate(moves, play), line.len());
    println!("{variant} play_unchecked: {:.0} ns a move", 1e9 / rate(moves, unchecked));
}

fn opening(variant: Variant, preset: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, "").expect("a preset is valid"))
}

/// A game in which the sides choose each of their moves in turn. It ends, because every game does.
fn varied_game(opening: &AnyPosition) -> Vec<Move> {
    let mut position = opening.clone();
    let mut line = Vec::new();
    while position.outcome().is_none() {
        let moves = position.legal_moves();
        let m = moves[line.len() % moves.len()];
        position.play_unchecked(m);
        line.push(m);
    }
    line
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    (black_box(work()), start.elapsed())
}

#[expect(clippy::cast_precision_loss, reason = "a rate is shown in three digits")]
fn rate(count: u64, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}
