//! Which games there are, and what each offers to choose from. Knows none of their rules.

use super::{Contradiction, OptionSpec, PresetSpec, congkak, kalah, oware};

worded_enum! {
    /// A game.
    pub enum Variant {
        /// Kalah, also called Kalaha and, in much of the West, simply Mancala.
        Kalah = "kalah",
        /// Oware, also called Awale, Wari and Awari.
        Oware = "oware",
        /// Congkak, of Malaysia, Indonesia and Singapore: a sowing goes on from the pit where its last seed falls.
        Congkak = "congkak",
    }
}

impl Variant {
    /// The name that people read.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Kalah => "Kalah",
            Self::Oware => "Oware",
            Self::Congkak => "Congkak",
        }
    }

    /// The version of this game's rules. It is raised when the same moves would no longer lead to the same positions.
    #[must_use]
    pub const fn rules_version(self) -> u16 {
        match self {
            Self::Kalah | Self::Oware | Self::Congkak => 1,
        }
    }

    /// Named sets of options; the first is `standard`.
    #[must_use]
    pub fn presets(self) -> &'static [PresetSpec] {
        match self {
            Self::Kalah => &kalah::PRESETS,
            Self::Oware => &oware::PRESETS,
            Self::Congkak => &congkak::PRESETS,
        }
    }

    /// What can be chosen.
    #[must_use]
    pub fn options(self) -> &'static [OptionSpec] {
        match self {
            Self::Kalah => &kalah::OPTIONS,
            Self::Oware => &oware::OPTIONS,
            Self::Congkak => &congkak::OPTIONS,
        }
    }

    /// Which choices cannot stand together.
    #[must_use]
    pub fn contradictions(self) -> &'static [Contradiction] {
        match self {
            Self::Kalah => &kalah::CONTRADICTIONS,
            Self::Oware => &[],
            Self::Congkak => &congkak::CONTRADICTIONS,
        }
    }

    /// The rules for somebody who has never played, as Markdown. The numbers in them are sections of `docs/rules.md`.
    #[must_use]
    pub const fn rules(self) -> &'static str {
        match self {
            Self::Kalah => include_str!("kalah/kalah.md"),
            Self::Oware => include_str!("oware/oware.md"),
            Self::Congkak => include_str!("congkak/congkak.md"),
        }
    }
}
