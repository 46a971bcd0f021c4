//! The options of a game of Toguz Kumalak (R40), and its presets (R47). Knows no rule and no position.

use crate::{
    Contradiction, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant,
    kumalak::{
        Closing, End, TuzdykSymmetry,
        closing::{CONTRADICTION, COUNT, MAJORITY_END, MAJORITY_REMAINING, REPETITION, REPETITION_AWARD},
        rules::Rules,
    },
    options::{check_contradictions, choice, integer, switched_on},
};

/// The options of Toguz Kumalak (R40). Always within bounds and free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    preset: Preset,
    pits: u8,
    seeds: u8,
    capture_two: bool,
    tuzdyk_symmetry: TuzdykSymmetry,
    end: End,
    closing: Closing,
}

worded_enum! {
    /// A named set of options (R47).
    pub enum Preset {
        /// The game of the federations and of most programs, also called toguz korgool.
        Standard = "standard",
        /// Ludii's Toguz Kumalak.
        Ludii = "ludii",
        /// Russ's toguz xorgol.
        Xorgol = "xorgol",
        /// A mobile app's game, which ends with any empty row.
        App = "app",
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
        const STANDARD: Options = Options {
            preset: Preset::Standard,
            pits: 9,
            seeds: 9,
            capture_two: true,
            tuzdyk_symmetry: TuzdykSymmetry::SameNumber,
            end: End::NoMove,
            closing: Closing::STANDARD,
        };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::Ludii => Options { preset, tuzdyk_symmetry: TuzdykSymmetry::Facing, ..STANDARD },
            Self::Xorgol => Options { preset, capture_two: false, tuzdyk_symmetry: TuzdykSymmetry::Facing, ..STANDARD },
            Self::App => Options { preset, end: End::SideEmpty, ..STANDARD },
        }
    }
}

impl Options {
    /// The preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    pub(in crate::kumalak) const fn rules(&self) -> Rules {
        let &Self { pits, seeds, capture_two, tuzdyk_symmetry, end, closing, .. } = self;
        Rules { pits, seeds, capture_two, tuzdyk: Some(tuzdyk_symmetry), end, closing }
    }

    /// A preset with overrides, each of which has already been checked by itself.
    pub(crate) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::ToguzKumalak, option: name.clone() };
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
            "capture_two" => self.capture_two = value.boolean()?,
            "tuzdyk_symmetry" => self.tuzdyk_symmetry = value.choice()?,
            "end" => self.end = value.choice()?,
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
            ("capture_two", self.capture_two.into()),
            ("tuzdyk_symmetry", self.tuzdyk_symmetry.word().into()),
            ("end", self.end.word().into()),
            majority_end,
            majority_remaining,
            repetition,
            repetition_award,
        ]
    }
}

/// The descriptions of the options (R40).
pub static OPTIONS: [OptionSpec; 5 + COUNT] = [
    integer("pits", (1, 12), 9, "Pits per side."),
    integer("seeds", (1, 12), 9, "Seeds per pit at the start."),
    switched_on("capture_two", "Whether two seeds are captured, and not only an even number from four on."),
    choice(
        "tuzdyk_symmetry",
        TuzdykSymmetry::WORDS,
        "Whether a side's tuzdyk may not have the number of the other side's tuzdyk, or may not face it.",
    ),
    choice(
        "end",
        End::WORDS,
        "Whether the game ends when the side to move has no seed in its row, or as soon as either row is empty.",
    ),
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
        description: "The game of the federations and of most programs, in Kyrgyzstan called toguz korgool.",
        source: "Wikipedia on Toguz korgool, PlayStrategy, IG Game Center, Mancala World",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Ludii.word(),
        title: "Ludii",
        description: "By Ludii's description: a pit cannot become a tuzdyk if the pit across the board is one.",
        source: "Ludii's description of Toguz Kumalak",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Xorgol.word(),
        title: "Toguz Xorgol",
        description: "By StoneShark after a book by Russ: two seeds are not captured, and tuzdyks may not face each other.",
        source: "StoneShark, after Larry Russ, Mancala Games, 1984",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::App.word(),
        title: "Mobile app",
        description: "By the description of a mobile app: the game ends as soon as either row is empty.",
        source: "The description of the mobile app The Togyz Qumalaq",
        bounds: &[],
    },
];
