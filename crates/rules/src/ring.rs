//! The ring of places that sowing runs round (R2). Knows the shape of the board, not the seeds on it.
//!
//! A place is numbered by its spot on the ring in sowing order: South's pits 0 to n-1, South's store n, North's pits
//! n+1 to 2n, North's store 2n+1.

use super::{Pit, Place, Side};

/// The most pits that a side may have in a game with two rows (R1).
pub const ROW_MAX: usize = 12;

/// The most spots of any ring: two rows and two stores.
pub(super) const SPOTS_MAX: usize = 2 * ROW_MAX + 2;

/// The ring of a board with this many pits a side, from 1 to [`ROW_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Ring {
    pub pits: u8,
}

impl Ring {
    /// The spot of pit 0 of this side; its row runs from here to its store.
    pub const fn row(self, side: Side) -> u8 {
        match side {
            Side::South => 0,
            Side::North => self.pits + 1,
        }
    }

    /// The spot of this side's store, next after its last pit.
    pub const fn store(self, side: Side) -> u8 {
        self.row(side) + self.pits
    }

    /// The spot of a pit; `None` if the board has no such pit.
    pub const fn pit(self, pit: Pit) -> Option<u8> {
        if pit.index < self.pits { Some(self.row(pit.side) + pit.index) } else { None }
    }

    /// The next spot in sowing order.
    pub const fn after(self, spot: u8) -> u8 {
        if spot < self.store(Side::North) { spot + 1 } else { 0 }
    }

    /// The next spot in sowing order that is not among `skipped`.
    ///
    /// The loop ends because no game skips all spots. A side never skips its own store. A game that sows into no store
    /// skips at most one pit.
    pub const fn after_skipping(self, spot: u8, skipped: Spots) -> u8 {
        let mut next = self.after(spot);
        while skipped.has(next) {
            next = self.after(next);
        }
        next
    }

    /// The place at a spot of this ring.
    pub const fn place(self, spot: u8) -> Place {
        let (side, index) = if spot <= self.pits { (Side::South, spot) } else { (Side::North, spot - self.pits - 1) };
        if index < self.pits { Place::Pit(Pit { side, index }) } else { Place::Store(side) }
    }

    /// The pit across the board: pit p of one side faces pit n-1-p of the other, so A faces the last small letter.
    pub const fn facing(self, pit: Pit) -> Pit {
        Pit { side: pit.side.other(), index: self.pits.saturating_sub(1).saturating_sub(pit.index) }
    }
}

/// A set of spots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Spots(u32);

impl Spots {
    pub const NONE: Self = Self(0);

    pub const fn has(self, spot: u8) -> bool {
        (self.0 >> spot) & 1 == 1
    }

    /// The same set and this spot.
    #[must_use]
    pub const fn with(self, spot: u8) -> Self {
        Self(self.0 | (1 << spot))
    }
}
