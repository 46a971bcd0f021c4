//! The options and presets of each game. Knows where each game keeps them, but not their meaning.

use crate::{
    Contradiction, OptionSpec, PresetSpec,
    four_row::{Variant, bao, omweso},
};

impl Variant {
    /// Named sets of options; the first is `standard` (R33).
    #[must_use]
    pub fn presets(self) -> &'static [PresetSpec] {
        match self {
            Self::Bao => &bao::PRESETS,
            Self::Omweso => &omweso::PRESETS,
        }
    }

    /// The options of the game (R20).
    #[must_use]
    pub fn options(self) -> &'static [OptionSpec] {
        match self {
            Self::Bao => &bao::OPTIONS,
            Self::Omweso => &omweso::OPTIONS,
        }
    }

    /// Which choices exclude each other (R20).
    #[must_use]
    pub fn contradictions(self) -> &'static [Contradiction] {
        match self {
            Self::Bao => &bao::CONTRADICTIONS,
            Self::Omweso => &[],
        }
    }
}
