//! What both games say of the end by repetition (R45). Knows no position.

use crate::{
    Contradiction, OptionValue,
    options::{excludes, word},
};

worded_enum! {
    /// Where the seeds left in pits go at a repetition.
    pub enum RepetitionAward {
        /// Each row goes to its own store.
        SideOwner = "side_owner",
        /// Each side gets half of them.
        Split = "split",
        /// Each side gets as many as its store lacks of half of all seeds, so that the game is a draw.
        Draw = "draw",
    }
}

/// The option `repetition`.
pub(crate) const REPETITION_HELP: &str =
    "How often a position may come while the stores stay the same until the game ends.";

/// The option `repetition_award`.
pub(crate) const REPETITION_AWARD_HELP: &str =
    "Whether the seeds left in pits at a repetition go to the owner of the row, half to each side, or make a draw.";

/// A draw cannot be made once a store holds more than half of all seeds (R40).
pub(crate) const NO_DRAW_AFTER_A_MAJORITY: Contradiction =
    excludes("repetition_award", word(RepetitionAward::Draw.word()), "majority_end", OptionValue::Boolean(false));
