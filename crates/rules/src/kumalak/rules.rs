//! The choices that a position plays by, whichever of the two games has them. Knows no preset.

use super::Closing;

worded_enum! {
    /// Which pit cannot become a side's tuzdyk because of the tuzdyk that the other side has (R44).
    pub enum TuzdykSymmetry {
        /// The pit of the same number, counted from each owner's left.
        SameNumber = "same_number",
        /// The pit across the board.
        Facing = "facing",
    }
}

worded_enum! {
    /// The effect of an empty row on the end of the game (R45).
    pub enum End {
        /// The side to move has no seed in its row.
        NoMove = "no_move",
        /// Either row is empty.
        SideEmpty = "side_empty",
    }
}

/// The rules by which a position is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Pits per side.
    pub pits: u8,
    /// Seeds per pit at the start.
    pub seeds: u8,
    /// Whether two seeds are captured too, and not only four and more.
    pub capture_two: bool,
    /// Where a tuzdyk may be; `None` in a game without tuzdyks.
    pub tuzdyk: Option<TuzdykSymmetry>,
    pub end: End,
    pub closing: Closing,
}

impl Rules {
    /// How many seeds a game has.
    pub fn total(self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }
}
