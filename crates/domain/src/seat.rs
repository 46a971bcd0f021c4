//! Seats: the two players of a game, by which of them opens it. Knows how seats and sides of the board belong together,
//! and no game.

use std::ops::{Index, IndexMut};

use mancala_rules::{AnyPosition, Side};

/// A player's seat in a game. Seats differ from the sides of the board only after a pie swap, which exchanges the
/// players and leaves the board alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Seat {
    /// The opener's, on the South side until a swap.
    First,
    /// The other player's.
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

/// A value for each seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BySeat<T> {
    /// The value of the first seat.
    pub first: T,
    /// The value of the second seat.
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

/// The seat at a side of the board: a pie swap has exchanged the players.
pub fn seat_at(position: &AnyPosition, side: Side) -> Seat {
    let opener = if position.swapped() { Side::North } else { Side::South };
    if side == opener { Seat::First } else { Seat::Second }
}

/// The seat to move in a position, unless the game is over.
pub(crate) fn seat_to_move(position: &AnyPosition) -> Seat {
    seat_at(position, position.turn())
}
