//! Moves in four bits, as the search and the table hold them. Knows the kinds of moves, and no rule.

use arrayvec::ArrayVec;
use mancala_rules::{MOVES_MAX, Move, Pit, Side};

/// A move as the side to move sees it: the index of its pit, or one of the moves without a pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(pub u8);

impl Slot {
    /// A pass; above the index of every pit.
    pub const PASS: Self = Self(12);
    /// The pie rule's swap: the players exchange sides.
    pub const SWAP: Self = Self(13);
    /// No move; fits in four bits as all others do.
    pub const NONE: Self = Self(15);

    /// The slot of a legal move. An agreed end has none: it takes both players, so no search considers it.
    pub const fn of(m: Move) -> Self {
        match m {
            Move::Sow(pit) => Self(pit.index),
            Move::Pass => Self::PASS,
            Move::Swap => Self::SWAP,
            Move::Agree => Self::NONE,
        }
    }

    /// The move, as this side plays it.
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
