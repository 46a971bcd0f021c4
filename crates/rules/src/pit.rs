//! Pits and stores by name. Knows neither how many pits a board has nor what lies in them.

use std::{fmt, str::FromStr};

use super::Side;

/// The most pits that a side has in any game: those of a game with four rows (R19).
pub const PITS_MAX: usize = 16;

/// A pit (also: house, hole), counted in sowing order: index 0 is farthest from the own store. In a game with four rows
/// the first eight are the front row, and the others go back behind it (R19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pit {
    /// The side in whose rows it lies.
    pub side: Side,
    /// Its place there, below [`PITS_MAX`]. A pit that no board has is harmless: it holds nothing and is never
    /// legal to sow.
    pub index: u8,
}

/// A capital letter from `A` for South, a small one from `a` for North (R12).
impl fmt::Display for Pit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = b"ABCDEFGHIJKLMNOP".get(usize::from(self.index)).map_or('?', |&byte| char::from(byte));
        let letter = match self.side {
            Side::South => letter,
            Side::North => letter.to_ascii_lowercase(),
        };
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

/// Where a seed can fall: a pit or a store (the big pit at a side's end, also called kalah).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// A pit of either row.
    Pit(Pit),
    /// The store of a side.
    Store(Side),
}

/// The letter of the pit, or `south_store` or `north_store`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pit(pit) => pit.fmt(f),
            Self::Store(Side::South) => f.pad("south_store"),
            Self::Store(Side::North) => f.pad("north_store"),
        }
    }
}
