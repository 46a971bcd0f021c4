//! The options that both games have: when they stop, and where the seeds left in pits go then (R45). Knows no position.

use std::borrow::Cow;

use crate::{
    Contradiction, OptionSpec, OptionValue,
    options::{MajorityRemaining, choice, integer, switched_on},
};

/// When a game stops, and where the seeds left in pits go then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Closing {
    pub(super) majority_end: bool,
    pub(super) majority_remaining: MajorityRemaining,
    pub(super) repetition: u8,
    pub(super) repetition_award: RepetitionAward,
}

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

/// How many options these are.
pub(super) const COUNT: usize = 4;

impl Closing {
    /// The values in the preset `standard` of either game.
    pub(super) const STANDARD: Self = Self {
        majority_end: true,
        majority_remaining: MajorityRemaining::Leave,
        repetition: 3,
        repetition_award: RepetitionAward::SideOwner,
    };

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    pub(super) fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "majority_end" => self.majority_end = value.boolean()?,
            "majority_remaining" => self.majority_remaining = value.choice()?,
            "repetition" => self.repetition = value.integer()?,
            "repetition_award" => self.repetition_award = value.choice()?,
            _ => return None,
        }
        Some(())
    }

    /// The value of every option, in the order of the specifications below.
    pub(super) fn values(self) -> [(&'static str, OptionValue); COUNT] {
        [
            ("majority_end", self.majority_end.into()),
            ("majority_remaining", self.majority_remaining.word().into()),
            ("repetition", self.repetition.into()),
            ("repetition_award", self.repetition_award.word().into()),
        ]
    }
}

/// The option on a majority (R40).
pub(super) const MAJORITY_END: OptionSpec =
    switched_on("majority_end", "Whether the game stops once a store holds more than half of all seeds.");

/// The option on the seeds left then.
pub(super) const MAJORITY_REMAINING: OptionSpec = choice(
    "majority_remaining",
    MajorityRemaining::WORDS,
    "Whether the seeds left in pits at a majority stay there or go to the owner of the row.",
);

/// The option on repetition.
pub(super) const REPETITION: OptionSpec = integer(
    "repetition",
    (2, 5),
    3,
    "How often a position may come while the stores stay the same until the game ends.",
);

/// The option on the seeds left then.
pub(super) const REPETITION_AWARD: OptionSpec = choice(
    "repetition_award",
    RepetitionAward::WORDS,
    "Whether the seeds left in pits at a repetition go to the owner of the row, half to each side, or make a draw.",
);

/// A draw cannot be made once a store holds more than half of all seeds (R40).
pub(super) const CONTRADICTION: Contradiction = Contradiction {
    option: "repetition_award",
    value: Some(OptionValue::Word(Cow::Borrowed(RepetitionAward::Draw.word()))),
    other: "majority_end",
    other_value: OptionValue::Boolean(false),
};
