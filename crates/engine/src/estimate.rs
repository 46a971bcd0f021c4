//! The static estimate of a position, without looking ahead. Knows the weights of seeds in pits and of the move.

use mancala_rules::{AnyPosition, House, Side};

use crate::value::POINTS_PER_SEED;

/// The weights of the estimate, in points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights {
    /// A seed in a pit of one's own, which may end up in one's own store.
    pub row: i32,
    /// Being to move.
    pub tempo: i32,
    /// Owning a pit of the other side.
    pub tuzdyk: i32,
    /// With four rows: a seed in one's own front row, beyond what each seed is worth.
    pub front: i32,
    /// With four rows: a pit of two seeds or more, which can be sown.
    pub mobility: i32,
    /// With four rows: a house that is still owned.
    pub house: i32,
}

/// The pits of a front row (R19).
const FRONT: usize = 8;

impl Weights {
    /// The weights of a game in which neither rows nor houses differ.
    pub const PLAIN: Self = Self { row: 0, tempo: 0, tuzdyk: 0, front: 0, mobility: 0, house: 0 };

    /// The estimated margin at the end, from the view of the side to move: by the margin so far and the seeds in both
    /// rows.
    #[inline]
    pub const fn points(self, margin: i32, own_row: i32, other_row: i32) -> i32 {
        margin * POINTS_PER_SEED + (own_row - other_row) * self.row + self.tempo
    }

    /// The value of the tuzdyks of a position with two rows for the side to move.
    pub fn points_of_tuzdyks(self, position: &AnyPosition) -> i32 {
        if self.tuzdyk == 0 {
            return 0;
        }
        let turn = position.turn();
        let worth = |side: Side| if position.tuzdyk(side).is_some() { self.tuzdyk } else { 0 };
        worth(turn) - worth(!turn)
    }

    /// What a position with four rows is worth to the side to move, by the seeds of both sides and where they lie. There no
    /// seed decides.
    pub fn points_of_four_rows(self, position: &AnyPosition) -> i32 {
        let board = position.board();
        let score = board.score();
        let worth = |side: Side| {
            let pits = board.pits(side);
            let front: u16 = pits.iter().take(FRONT).sum();
            let movable = pits.iter().filter(|&&seeds| seeds >= 2).count();
            let movable = i32::try_from(movable).unwrap_or(0);
            let house = i32::from(position.house(side).is_some_and(House::is_owned));
            i32::from(score[side]) * POINTS_PER_SEED
                + i32::from(front) * self.front
                + movable * self.mobility
                + house * self.house
        };
        let turn = position.turn();
        worth(turn) - worth(!turn)
    }
}
