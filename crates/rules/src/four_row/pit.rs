//! Pits and directions of a board with four rows (R19). Knows the ring of a side, not what lies in it.

use std::{fmt, str::FromStr};

use crate::Side;

/// How many pits each side has.
pub const PITS: usize = 16;

/// Seeds of one circuit of the ring (R31).
pub(super) const CIRCUIT: u32 = 16;

/// How many of them are in the front row.
pub(super) const FRONT: usize = 8;

/// A pit of a side's ring (R19): `A` to `H` are its front row, next to the other side; `I` to `P` its back row.
///
/// ```
/// use mancala_rules::four_row::Pit;
///
/// let pit: Pit = "c".parse()?;
/// assert_eq!(pit.facing().map(|pit| pit.to_string()).as_deref(), Some("F"));
/// assert_eq!(pit.behind().to_string(), "n");
/// # Ok::<(), mancala_rules::four_row::ParsePitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pit {
    side: Side,
    /// Below [`PITS`].
    index: u8,
}

impl Pit {
    /// The pit with this index; `None` if the board has no such pit.
    #[must_use]
    pub const fn new(side: Side, index: u8) -> Option<Self> {
        if (index as usize) < PITS { Some(Self { side, index }) } else { None }
    }

    /// The pit with this index, counted on round the ring.
    pub(super) const fn at(side: Side, index: u8) -> Self {
        Self { side, index: index % 16 }
    }

    /// The pits of a side, from `A` to `P`.
    pub fn all(side: Side) -> impl Iterator<Item = Self> {
        (0..16).map(move |index| Self { side, index })
    }

    /// The front row of a side, from `A` to `H`.
    pub fn front(side: Side) -> impl Iterator<Item = Self> {
        Self::all(side).take(FRONT)
    }

    /// Its side.
    #[must_use]
    pub const fn side(self) -> Side {
        self.side
    }

    /// Its place in the ring of that side: 0 to 7 are the front row, 8 to 15 the back row.
    #[must_use]
    pub const fn index(self) -> u8 {
        self.index
    }

    /// Whether it is in the front row.
    #[must_use]
    pub const fn is_front(self) -> bool {
        (self.index as usize) < FRONT
    }

    /// The front pit across the board; `None` for a pit of the back row.
    #[must_use]
    pub const fn facing(self) -> Option<Self> {
        if self.is_front() { Some(Self { side: self.side.other(), index: 7 - self.index }) } else { None }
    }

    /// The pit of the same side in the other row.
    #[must_use]
    pub const fn behind(self) -> Self {
        Self { side: self.side, index: 15 - self.index }
    }

    /// The pit that is `steps` steps further round the ring.
    pub(super) const fn after(self, steps: u16, direction: Direction) -> Self {
        let steps = match direction {
            Direction::Up => steps % 16,
            Direction::Down => 16 - steps % 16,
        };
        // Both are at most 16, so the sum fits.
        Self { side: self.side, index: ((self.index as u16 + steps) % 16) as u8 }
    }
}

/// A capital letter from `A` for South, a small one from `a` for North (R19).
impl fmt::Display for Pit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = cased(char::from(b'A' + self.index), self.side);
        f.pad(letter.encode_utf8(&mut [0; 4]))
    }
}

impl FromStr for Pit {
    type Err = ParsePitError;

    fn from_str(text: &str) -> Result<Self, ParsePitError> {
        match *text.as_bytes() {
            [letter @ b'A'..=b'P'] => Ok(Self { side: Side::South, index: letter - b'A' }),
            [letter @ b'a'..=b'p'] => Ok(Self { side: Side::North, index: letter - b'a' }),
            _ => Err(ParsePitError),
        }
    }
}

/// A text is not the letter of a pit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pit is one letter from A to P or from a to p")]
pub struct ParsePitError;

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
        match self {
            Self::Up => cased('U', side),
            Self::Down => cased('V', side),
        }
    }
}

/// A capital letter in the case of a side.
pub(super) const fn cased(letter: char, side: Side) -> char {
    match side {
        Side::South => letter,
        Side::North => letter.to_ascii_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ring_of_a_side_closes_both_ways() {
        for side in Side::ALL {
            for pit in Pit::all(side) {
                assert_eq!(pit.after(1, Direction::Up).after(1, Direction::Down), pit);
                assert_eq!((pit.after(16, Direction::Up), pit.after(32, Direction::Down)), (pit, pit));
                assert_eq!(pit.behind().behind(), pit);
                assert_eq!(pit.facing().and_then(Pit::facing), pit.is_front().then_some(pit));
                assert_eq!(pit.to_string().parse(), Ok(pit));
            }
        }
        let next = |text: &str, direction| text.parse::<Pit>().unwrap().after(1, direction).to_string();
        assert_eq!([next("H", Direction::Up), next("A", Direction::Down)], ["I", "P"]);
        assert_eq!([Pit::new(Side::South, 16), Pit::new(Side::North, u8::MAX)], [None, None]);
    }
}
