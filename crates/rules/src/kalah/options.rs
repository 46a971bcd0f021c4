//! The options of a game of Kalah (R1), and its presets (R11). Knows no rule and no position.

use std::borrow::Cow;

use crate::{
    Contradiction, OptionBounds, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant,
    options::{MajorityRemaining, check_contradictions, choice, integer, switched_off},
};

/// The options of Kalah (R1). Always within bounds and free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub(crate) preset: Preset,
    pub(crate) pits: u8,
    pub(crate) seeds: u8,
    pub(crate) sow_stores: SowStores,
    pub(crate) extra_turn: ExtraTurn,
    pub(crate) capture: Capture,
    pub(crate) capture_land: CaptureLand,
    pub(crate) empty_capture: bool,
    pub(crate) end: End,
    pub(crate) remaining: Remaining,
    pub(crate) majority_end: bool,
    pub(crate) majority_remaining: MajorityRemaining,
    pub(crate) pie: bool,
}

worded_enum! {
    /// Which stores receive seeds while sowing.
    pub enum SowStores {
        /// Only the mover's store; the sowing skips the other.
        Own = "own",
        /// Both.
        Both = "both",
    }
}

worded_enum! {
    /// The reward for a last seed in the own store.
    pub enum ExtraTurn {
        /// The same side must act again.
        Mandatory = "mandatory",
        /// The same side may act again, or pass.
        Optional = "optional",
        /// Nothing.
        None = "none",
    }
}

worded_enum! {
    /// Whether there are captures.
    pub enum Capture {
        /// The last seed and the seeds facing it.
        Opposite = "opposite",
        /// No captures.
        None = "none",
        /// The same seeds as `opposite`, if the mover wants.
        Optional = "optional",
    }
}

worded_enum! {
    /// The row on which the last seed must lie to capture.
    pub enum CaptureLand {
        /// Only the mover's row.
        Own = "own",
        /// The other side's.
        Opponent = "opponent",
        /// Either.
        Any = "any",
    }
}

worded_enum! {
    /// The event that ends the game.
    pub enum End {
        /// Either row is empty, even in the middle of a turn.
        SideEmpty = "side_empty",
        /// The side to act has nothing to sow.
        NoMove = "no_move",
    }
}

worded_enum! {
    /// Where the seeds left in pits go when a row is empty.
    pub enum Remaining {
        /// Each row goes to its own store.
        SideOwner = "side_owner",
        /// All go to the side whose row is empty.
        Emptier = "emptier",
        /// The seeds stay in their pits and count for neither side.
        Discard = "discard",
    }
}

worded_enum! {
    /// A named set of options (R11).
    pub enum Preset {
        /// The rules that most descriptions share.
        Standard = "standard",
        /// Board Game Arena's game.
        Bga = "bga",
        /// The instructions of a boxed Kalaha.
        Manual = "manual",
        /// The last seed is captured also where it faces an empty pit.
        EmptyCapture = "empty_capture",
        /// Board Game Arena's game without captures.
        NoCapture = "no_capture",
        /// Board Game Arena's game with seeds in both stores.
        BothStores = "both_stores",
        /// Board Game Arena's game with captures from either row.
        SelfCapture = "self_capture",
        /// A mobile app's game.
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
            pits: 6,
            seeds: 4,
            sow_stores: SowStores::Own,
            extra_turn: ExtraTurn::Mandatory,
            capture: Capture::Opposite,
            capture_land: CaptureLand::Own,
            empty_capture: false,
            end: End::SideEmpty,
            remaining: Remaining::SideOwner,
            majority_end: false,
            majority_remaining: MajorityRemaining::Leave,
            pie: false,
        };
        const BGA: Options = Options { preset: Preset::Bga, end: End::NoMove, majority_end: true, ..STANDARD };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::Bga => BGA,
            Self::Manual => Options { preset, extra_turn: ExtraTurn::Optional, ..STANDARD },
            Self::EmptyCapture => Options { preset, empty_capture: true, ..STANDARD },
            Self::NoCapture => Options { preset, capture: Capture::None, ..BGA },
            Self::BothStores => Options { preset, sow_stores: SowStores::Both, ..BGA },
            Self::SelfCapture => Options { preset, capture_land: CaptureLand::Any, ..BGA },
            Self::App => Options { preset, ..STANDARD },
        }
    }
}

impl Options {
    /// The preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// How many seeds a game with these options has.
    pub(super) fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }

    /// A preset with overrides, each of which has already been checked by itself.
    pub(crate) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Kalah, option: name.clone() };
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
            "sow_stores" => self.sow_stores = value.choice()?,
            "extra_turn" => self.extra_turn = value.choice()?,
            "capture" => self.capture = value.choice()?,
            "capture_land" => self.capture_land = value.choice()?,
            "empty_capture" => self.empty_capture = value.boolean()?,
            "end" => self.end = value.choice()?,
            "remaining" => self.remaining = value.choice()?,
            "majority_end" => self.majority_end = value.boolean()?,
            "majority_remaining" => self.majority_remaining = value.choice()?,
            "pie" => self.pie = value.boolean()?,
            _ => return None,
        }
        Some(())
    }

    /// The value of every option, in the order of [`OPTIONS`].
    #[must_use]
    pub fn values(&self) -> [(&'static str, OptionValue); OPTIONS.len()] {
        [
            ("pits", self.pits.into()),
            ("seeds", self.seeds.into()),
            ("sow_stores", self.sow_stores.word().into()),
            ("extra_turn", self.extra_turn.word().into()),
            ("capture", self.capture.word().into()),
            ("capture_land", self.capture_land.word().into()),
            ("empty_capture", self.empty_capture.into()),
            ("end", self.end.word().into()),
            ("remaining", self.remaining.word().into()),
            ("majority_end", self.majority_end.into()),
            ("majority_remaining", self.majority_remaining.word().into()),
            ("pie", self.pie.into()),
        ]
    }
}

/// The descriptions of the options (R1).
pub static OPTIONS: [OptionSpec; 12] = [
    integer("pits", (1, 12), 6, "Pits per side."),
    integer("seeds", (1, 12), 4, "Seeds per pit at the start."),
    choice("sow_stores", SowStores::WORDS, "Which stores receive seeds while sowing: the mover's own, or both."),
    choice(
        "extra_turn",
        ExtraTurn::WORDS,
        "Whether the side whose last seed falls in its own store must, may or does not act again.",
    ),
    choice(
        "capture",
        Capture::WORDS,
        "Whether a last seed in an empty pit captures itself and the seeds facing it, does not, or does so if the mover wants.",
    ),
    choice("capture_land", CaptureLand::WORDS, "On whose row the last seed must lie to capture."),
    switched_off("empty_capture", "Whether the last seed is captured even when the facing pit is empty."),
    choice(
        "end",
        End::WORDS,
        "Whether the game ends as soon as one row is empty, or when the side to act has nothing to sow.",
    ),
    choice(
        "remaining",
        Remaining::WORDS,
        "Who gets the seeds left in pits at such an end: the owner of the row, the side whose row is empty, or neither side.",
    ),
    switched_off("majority_end", "Whether the game stops once a store holds more than half of all seeds."),
    choice(
        "majority_remaining",
        MajorityRemaining::WORDS,
        "Whether the seeds left in pits at a majority stay there or go to the owner of the row.",
    ),
    switched_off("pie", "Whether North may answer South's first turn by changing seats."),
];

/// Choices that exclude each other: these two send the same seeds to different places (R1).
pub static CONTRADICTIONS: [Contradiction; 1] = [Contradiction {
    option: "majority_remaining",
    value: Some(OptionValue::Word(Cow::Borrowed(MajorityRemaining::Sweep.word()))),
    other: "remaining",
    other_value: OptionValue::Word(Cow::Borrowed(Remaining::Discard.word())),
}];

/// The presets, in the order of [`Preset::ALL`] (R11).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "The game that most descriptions share, among them Wikipedia's and OpenSpiel's.",
        source: "A mobile app's description, Wikipedia's standard game, OpenSpiel",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Bga.word(),
        title: "Board Game Arena",
        description: "By Board Game Arena's help page: the game ends when the side to move cannot, or at a majority.",
        source: "Board Game Arena's help page",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::Manual.word(),
        title: "Boxed game",
        description: "By the instruction manual of a boxed Kalaha in eleven languages: an extra move may be declined.",
        source: "The instruction manual of a boxed Kalaha",
        bounds: &[OptionBounds { option: "seeds", min: 4, max: 4 }],
    },
    PresetSpec {
        name: Preset::EmptyCapture.word(),
        title: "Empty capture",
        description: "By the patent of 1955 as FairKalah describes it: the last seed is captured even when it faces an empty pit.",
        source: "The patent of 1955 by FairKalah's account; Irving, Donkers and Uiterwijk, Solving Kalah (2000)",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::NoCapture.word(),
        title: "No capture",
        description: "Board Game Arena's game without captures, a variant that its help page names.",
        source: "Board Game Arena's help page, notes on variants",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::BothStores.word(),
        title: "Both stores",
        description: "Board Game Arena's game with seeds sown in both stores, a variant that its help page names.",
        source: "Board Game Arena's help page, notes on variants",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::SelfCapture.word(),
        title: "Self capture",
        description: "Board Game Arena's game with captures from either row, our reading of a variant that its help page names.",
        source: "Board Game Arena's help page, notes on variants",
        bounds: BGA_BOUNDS,
    },
    PresetSpec {
        name: Preset::App.word(),
        title: "Mobile app",
        description: "The game of a mobile app that also offers Oware: the standard game with four to six seeds.",
        source: "The mobile app's description",
        bounds: &[OptionBounds { option: "seeds", min: 4, max: 6 }],
    },
];

/// Board Game Arena offers three to six seeds.
const BGA_BOUNDS: &[OptionBounds] = &[OptionBounds { option: "seeds", min: 3, max: 6 }];
