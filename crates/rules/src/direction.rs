//! Which way seeds are sown. Knows no board.

use super::Side;

/// Which way seeds are sown round the ring of a side (R19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// Upward: from `A` to `B`, from `H` to `I`, from `P` to `A`.
    Up,
    /// Downward: from `B` to `A`, from `A` to `P`.
    Down,
}

impl Direction {
    /// Both, in the order of lists (R21).
    pub const ALL: [Self; 2] = [Self::Up, Self::Down];

    /// `U` or `V`, in the case of the side (R21).
    #[must_use]
    pub const fn letter(self, side: Side) -> char {
        let letter = match self {
            Self::Up => 'U',
            Self::Down => 'V',
        };
        match side {
            Side::South => letter,
            Side::North => letter.to_ascii_lowercase(),
        }
    }
}
