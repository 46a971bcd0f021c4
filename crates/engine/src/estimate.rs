//! What a position looks to be worth before anybody looks ahead. Knows how much seeds in pits count for.

use mancala_rules::{AnyOptions, Variant};

use crate::value::POINTS_PER_SEED;

/// What counts how much, in points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// A seed in a pit of one's own, because it may end up in the own store.
    row: i32,
    /// Being on the move.
    tempo: i32,
}

impl Weights {
    /// How much counts in a game.
    pub fn of(options: &AnyOptions) -> Self {
        match options.variant() {
            Variant::Kalah | Variant::Congkak => Self { row: 25, tempo: 100 },
            Variant::Oware => Self { row: 5, tempo: 0 },
        }
    }

    /// The margin at the end as it looks, for the side to move, by the margin so far and the seeds in the rows.
    #[inline]
    pub const fn points(self, margin: i32, own_row: i32, other_row: i32) -> i32 {
        margin * POINTS_PER_SEED + (own_row - other_row) * self.row + self.tempo
    }
}
