//! The board of any game, for code that handles all games alike. Knows the seeds and marks on it, and no rule.

use crate::{Board, BySide, PITS_MAX, Pit, Side, four_row};

/// The seeds of a board, and its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnyBoard {
    /// Two rows with stores.
    TwoRow(Board),
    /// Four rows with reserves. Seeds in the hand are not part of it.
    FourRow(four_row::Board),
}

impl AnyBoard {
    /// Seeds in the pits of this side, in sowing order. With two rows the last pit touches the side's own store. With
    /// four the first eight are the front row.
    #[must_use]
    pub fn pits(&self, side: Side) -> &[u16] {
        match self {
            Self::TwoRow(board) => board.pits(side),
            Self::FourRow(board) => board.pits(side),
        }
    }

    /// Seeds in the store of this side; none with four rows, which have no stores.
    #[must_use]
    pub fn store(&self, side: Side) -> u16 {
        match self {
            Self::TwoRow(board) => board.store(side),
            Self::FourRow(_) => 0,
        }
    }

    /// Seeds in the reserve of this side; `None` with two rows, which have no reserves (R19).
    #[must_use]
    pub fn reserve(&self, side: Side) -> Option<u16> {
        match self {
            Self::TwoRow(_) => None,
            Self::FourRow(board) => Some(board.reserve(side)),
        }
    }

    /// The seeds that count for each side: with two rows those in its store, with four those in its pits and reserve
    /// (R31).
    #[must_use]
    pub fn score(&self) -> BySide<u16> {
        match self {
            Self::TwoRow(board) => board.stores(),
            Self::FourRow(board) => board.score(),
        }
    }

    /// How many pits each side has.
    #[must_use]
    pub fn pits_per_side(&self) -> u8 {
        match self {
            Self::TwoRow(board) => board.pits_per_side(),
            Self::FourRow(_) => u8::try_from(PITS_MAX).unwrap_or(u8::MAX),
        }
    }

    /// Seeds in this pit; none if the board has no such pit.
    #[must_use]
    pub fn seeds(&self, pit: Pit) -> u16 {
        self.pits(pit.side).get(usize::from(pit.index)).copied().unwrap_or(0)
    }

    /// All seeds, in pits, stores and reserves.
    #[must_use]
    pub fn total(&self) -> u16 {
        match self {
            Self::TwoRow(board) => board.total(),
            Self::FourRow(board) => board.total(),
        }
    }

    /// Whether the pits of this side hold no seed.
    #[must_use]
    pub fn row_is_empty(&self, side: Side) -> bool {
        self.pits(side).iter().all(|&seeds| seeds == 0)
    }
}
