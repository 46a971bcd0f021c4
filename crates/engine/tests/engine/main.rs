//! The engine: exact values, compared with published ones and with brute force; what it promises of searches, levels
//! and reviews.

mod brute_force;
mod exact;
mod levels;
mod review;
mod searching;

use mancala_engine::Signal;
use mancala_rules::{AnyOptions, AnyPosition, Variant};

/// A flag that nobody raises.
static GO_ON: Signal = Signal::new();

/// The position in which a game with these options begins.
fn opening(variant: Variant, preset: &str, overrides: &str) -> AnyPosition {
    AnyPosition::opening(&AnyOptions::parse(variant, preset, overrides).expect("such a board can be had"))
}

/// Plays so many moves that follow from a seed, as long as there are any.
fn play_on(position: &AnyPosition, seed: u64, plies: u32) -> AnyPosition {
    let mut lot = Lot(seed);
    let mut position = position.clone();
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play_unchecked(moves[lot.draw(moves.len())]);
    }
    position
}

/// Knuth's linear congruential generator: random enough for moves.
struct Lot(u64);

impl Lot {
    /// A number below `count`.
    fn draw(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }
}
