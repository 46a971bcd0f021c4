//! Moves in four bits, as the search handles them. Knows the kinds of moves, and no rule.

use arrayvec::ArrayVec;
use mancala_rules::{MOVES_MAX, Move, Pit, Side};

/// A move as the side to move sees it: the index of its pit, or one of the moves without a pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub u8);

impl Slot {
    /// Above the index of every pit.
    pub const PASS: Self = Self(12);
    /// The people change seats.
    pub const SWAP: Self = Self(13);
    /// No move; fits in four bits as all others do.
    pub const NONE: Self = Self(15);

    /// What a legal move is for the side that plays it. An agreed end takes both people, so nobody searches it.
    pub const fn of(m: Move) -> Self {
        match m {
            Move::Sow(pit) => Self(pit.index),
            Move::Pass => Self::PASS,
            Move::Swap => Self::SWAP,
            Move::Agree => Self::NONE,
        }
    }

    /// The move of this side.
    pub const fn to_move(self, side: Side) -> Move {
        match self {
            Self::PASS => Move::Pass,
            Self::SWAP => Move::Swap,
            Self(index) => Move::Sow(Pit { side, index }),
        }
    }
}

/// The legal moves of a position.
pub(crate) type Slots = ArrayVec<Slot, MOVES_MAX>;
