//! What each game offers to choose from. Knows where each game keeps it, not what it means.

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

    /// What can be chosen (R20).
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
