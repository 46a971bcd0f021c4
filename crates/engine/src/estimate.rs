//! The static estimate of a position, without looking ahead. Knows the weights of seeds in pits and of the move.

use mancala_rules::{AnyOptions, Variant};

use crate::value::POINTS_PER_SEED;

/// The weights of the estimate, in points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// A seed in a pit of one's own, which may end up in one's own store.
    row: i32,
    /// Being to move.
    tempo: i32,
}

impl Weights {
    /// The weights of a game.
    pub fn of(options: &AnyOptions) -> Self {
        match options.variant() {
            Variant::Kalah | Variant::Congkak => Self { row: 25, tempo: 100 },
            Variant::Oware => Self { row: 5, tempo: 0 },
        }
    }

    /// The estimated margin at the end, from the view of the side to move: by the margin so far and the seeds in both
    /// rows.
    #[inline]
    pub const fn points(self, margin: i32, own_row: i32, other_row: i32) -> i32 {
        margin * POINTS_PER_SEED + (own_row - other_row) * self.row + self.tempo
    }
}
