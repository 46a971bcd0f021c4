//! The options of a game of Bestemshe (R40), and its presets (R47). Knows no rule and no position.

use crate::{
    Contradiction, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant,
    kumalak::{
        Closing, End, RepetitionAward,
        closing::{CONTRADICTION, COUNT, MAJORITY_END, MAJORITY_REMAINING, REPETITION, REPETITION_AWARD},
        rules::Rules,
    },
    options::{check_contradictions, integer},
};

/// The options of Bestemshe (R40). Always within bounds and free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    preset: Preset,
    pits: u8,
    seeds: u8,
    closing: Closing,
}

worded_enum! {
    /// A named set of options (R47).
    pub enum Preset {
        /// The game that most programs play.
        Standard = "standard",
        /// The game that was solved: a repetition is a draw.
        Solved = "solved",
    }
}

impl Preset {
    /// Its name, description and bounds.
    #[must_use]
    pub fn spec(self) -> &'static PresetSpec {
        &PRESETS[self as usize]
    }

    /// The options of the preset.
    #[must_use]
    pub const fn options(self) -> Options {
        const STANDARD: Options = Options { preset: Preset::Standard, pits: 5, seeds: 5, closing: Closing::STANDARD };
        const LOOP: Closing = Closing { repetition: 2, repetition_award: RepetitionAward::Draw, ..Closing::STANDARD };
        match self {
            Self::Standard => STANDARD,
            Self::Solved => Options { preset: self, closing: LOOP, ..STANDARD },
        }
    }
}

impl Options {
    /// The preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    pub(in crate::kumalak) const fn rules(self) -> Rules {
        let Self { pits, seeds, closing, .. } = self;
        Rules { pits, seeds, capture_two: true, tuzdyk: None, end: End::NoMove, closing }
    }

    /// A preset with overrides, each of which has already been checked by itself.
    pub(crate) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Bestemshe, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        check_contradictions(&CONTRADICTIONS, &options.values(), overrides)?;
        Ok(options)
    }

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "pits" => self.pits = value.integer()?,
            "seeds" => self.seeds = value.integer()?,
            _ => self.closing.set(name, value)?,
        }
        Some(())
    }

    /// The value of every option, in the order of [`OPTIONS`].
    #[must_use]
    pub fn values(&self) -> [(&'static str, OptionValue); OPTIONS.len()] {
        let [majority_end, majority_remaining, repetition, repetition_award] = self.closing.values();
        [
            ("pits", self.pits.into()),
            ("seeds", self.seeds.into()),
            majority_end,
            majority_remaining,
            repetition,
            repetition_award,
        ]
    }
}

/// The descriptions of the options (R40).
pub static OPTIONS: [OptionSpec; 2 + COUNT] = [
    integer("pits", (1, 12), 5, "Pits per side."),
    integer("seeds", (1, 12), 5, "Seeds per pit at the start."),
    MAJORITY_END,
    MAJORITY_REMAINING,
    REPETITION,
    REPETITION_AWARD,
];

/// Choices that exclude each other (R40).
pub static CONTRADICTIONS: [Contradiction; 1] = [CONTRADICTION];

/// The presets, in the order of [`Preset::ALL`] (R47).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "The game that most programs play: Toguz Kumalak on a small board and without tuzdyks.",
        source: "PlayStrategy, the mobile app Bestemshi, the Czech federation of mancala games",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Solved.word(),
        title: "Solved",
        description: "The game that Zeinulla and Manassov solved: a position that comes again makes a draw.",
        source: "Ansar Zeinulla and Murat Manassov, the strong solution of Bestemshe",
        bounds: &[],
    },
];
