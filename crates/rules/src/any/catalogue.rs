//! The options, presets and rules in words of each game. Knows where each game keeps them, but not their meaning.

use crate::{
    Contradiction, OptionSpec, PresetSpec, Variant, congkak, four_row, kalah,
    kumalak::{bestemshe, toguz_kumalak},
    oware,
};

impl Variant {
    /// Named sets of options; the first is `standard` (R11, R33, R47).
    ///
    /// ```
    /// use mancala_rules::Variant;
    ///
    /// let names: Vec<_> = Variant::Oware.presets().iter().map(|preset| preset.name).collect();
    /// assert_eq!(names[..3], ["standard", "app", "wari"]);
    /// ```
    #[must_use]
    pub fn presets(self) -> &'static [PresetSpec] {
        match self {
            Self::Kalah => &kalah::PRESETS,
            Self::Oware => &oware::PRESETS,
            Self::Congkak => &congkak::PRESETS,
            Self::Bao => four_row::Variant::Bao.presets(),
            Self::Omweso => four_row::Variant::Omweso.presets(),
            Self::ToguzKumalak => &toguz_kumalak::PRESETS,
            Self::Bestemshe => &bestemshe::PRESETS,
        }
    }

    /// The options of the game (R1, R20, R40).
    #[must_use]
    pub fn options(self) -> &'static [OptionSpec] {
        match self {
            Self::Kalah => &kalah::OPTIONS,
            Self::Oware => &oware::OPTIONS,
            Self::Congkak => &congkak::OPTIONS,
            Self::Bao => four_row::Variant::Bao.options(),
            Self::Omweso => four_row::Variant::Omweso.options(),
            Self::ToguzKumalak => &toguz_kumalak::OPTIONS,
            Self::Bestemshe => &bestemshe::OPTIONS,
        }
    }

    /// Which choices exclude each other (R1, R20, R40).
    #[must_use]
    pub fn contradictions(self) -> &'static [Contradiction] {
        match self {
            Self::Kalah => &kalah::CONTRADICTIONS,
            Self::Oware => &[],
            Self::Congkak => &congkak::CONTRADICTIONS,
            Self::Bao => four_row::Variant::Bao.contradictions(),
            Self::Omweso => four_row::Variant::Omweso.contradictions(),
            Self::ToguzKumalak => &toguz_kumalak::CONTRADICTIONS,
            Self::Bestemshe => &bestemshe::CONTRADICTIONS,
        }
    }

    /// The rules for beginners, as Markdown. The numbers in them are sections of `docs/rules.md`.
    #[must_use]
    pub const fn rules(self) -> &'static str {
        match self {
            Self::Kalah => include_str!("../kalah/kalah.md"),
            Self::Oware => include_str!("../oware/oware.md"),
            Self::Congkak => include_str!("../congkak/congkak.md"),
            Self::Bao => include_str!("../four_row/bao/bao.md"),
            Self::Omweso => include_str!("../four_row/omweso/omweso.md"),
            Self::ToguzKumalak => include_str!("../kumalak/toguz_kumalak/toguz_kumalak.md"),
            Self::Bestemshe => include_str!("../kumalak/bestemshe/bestemshe.md"),
        }
    }
}
