//! Seats: the two people of a game, by who opened it.

use std::ops::{Index, IndexMut};

/// A person's place in a game. Seats differ from the sides of the board only after a pie swap, which exchanges the
/// people and leaves the board alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seat {
    /// Who opens the game, on the South side until a swap.
    First,
    /// Who answers.
    Second,
}

impl Seat {
    /// Both seats, the opener's first.
    pub const ALL: [Seat; 2] = [Seat::First, Seat::Second];

    /// The opponent's seat.
    #[must_use]
    pub const fn other(self) -> Seat {
        match self {
            Seat::First => Seat::Second,
            Seat::Second => Seat::First,
        }
    }
}

/// One value a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BySeat<T> {
    pub first: T,
    pub second: T,
}

impl<T> Index<Seat> for BySeat<T> {
    type Output = T;

    fn index(&self, seat: Seat) -> &T {
        match seat {
            Seat::First => &self.first,
            Seat::Second => &self.second,
        }
    }
}

impl<T> IndexMut<Seat> for BySeat<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        match seat {
            Seat::First => &mut self.first,
            Seat::Second => &mut self.second,
        }
    }
}
