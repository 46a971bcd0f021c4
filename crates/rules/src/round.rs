//! The rounds of a match (R9). Knows how they are counted, not how one ends.

use super::{BySide, Side};

/// A round of several (R9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Round {
    /// Its number, from 1.
    pub number: u32,
    /// The side that moved first in it.
    pub opener: Side,
    /// The points of each side so far, where they decide the match.
    pub points: Option<BySide<u16>>,
}
