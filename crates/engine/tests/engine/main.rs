//! The engine: exact values, compared with published ones and with brute force; the guarantees of searches, levels and
//! reviews.

mod brute_force;
mod exact;
mod levels;
mod review;
mod searching;

use mancala_engine::Signal;
use mancala_rules::{AnyOptions, AnyPosition, Variant};

/// A signal that never stops a search.
static GO_ON: Signal = Signal::new();

/// The opening of a game with these options.
fn opening(variant: Variant, preset: &str, overrides: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, overrides).expect("the options are valid"))
}

/// Plays so many pseudo-random moves, or fewer if the game ends before.
fn play_on(position: &AnyPosition, seed: u64, plies: u32) -> AnyPosition {
    let mut random = Random(seed);
    let mut position = position.clone();
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[random.draw(moves.len())]);
    }
    position
}

/// Knuth's linear congruential generator: random enough for moves.
struct Random(u64);

impl Random {
    /// A number below `count`.
    fn draw(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}
