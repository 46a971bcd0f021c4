//! The choices that a position plays by, whichever of the two games has them. Knows no preset.

use std::{fmt::Debug, hash::Hash};

use super::RepetitionAward;
use crate::{GameOptions, GameSpec, options::MajorityRemaining};

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
pub struct Rules {
    /// Pits per side.
    pub pits: u8,
    /// Seeds per pit at the start.
    pub seeds: u8,
    /// Whether two seeds are captured too, and not only four and more.
    pub capture_two: bool,
    /// Where a tuzdyk may be; `None` in a game without tuzdyks.
    pub tuzdyk: Option<TuzdykSymmetry>,
    /// The empty row that ends the game.
    pub end: End,
    /// Whether the game stops once a store holds more than half of all seeds.
    pub majority_end: bool,
    /// Where the seeds left in pits go then.
    pub majority_remaining: MajorityRemaining,
    /// How often a position may come.
    pub repetition: u8,
    /// Where the seeds left in pits go then.
    pub repetition_award: RepetitionAward,
}

/// The options of a game that is played by these rules.
pub trait KumalakOptions: GameOptions + Debug + Eq + Hash + 'static {
    /// What is the same in all positions of the game.
    const SPEC: GameSpec;

    /// The rules that the options choose.
    fn rules(&self) -> Rules;
}

impl Rules {
    /// How many seeds a game has.
    pub(super) fn total(self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }
}
