//! The options of a game of Oware (R1), and its presets (R11). Knows no rule and no position.

use crate::{
    OptionBounds, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant,
    options::{MajorityRemaining, choice, integer, switched_on},
};

/// The options of Oware (R1). Always within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub(crate) preset: Preset,
    pub(crate) pits: u8,
    pub(crate) seeds: u8,
    pub(crate) grand_slam: GrandSlam,
    pub(crate) must_feed: bool,
    pub(crate) majority_end: bool,
    pub(crate) majority_remaining: MajorityRemaining,
    pub(crate) repetition: u8,
    pub(crate) repetition_award: RepetitionAward,
    pub(crate) agree_end: bool,
}

worded_enum! {
    /// The effect of a grand slam: a sowing that would capture every seed of the other row (R6).
    pub enum GrandSlam {
        /// The move is legal and captures nothing.
        NoCapture = "no_capture",
        /// The move captures like any other sowing.
        Capture = "capture",
        /// The move is not legal.
        Illegal = "illegal",
        /// The move is not legal unless every move is a grand slam; then it captures.
        Avoid = "avoid",
        /// The move captures, all remaining seeds go to the opponent, and the game is over.
        ForfeitRest = "forfeit_rest",
        /// The move captures all but the pit of the last seed.
        LeaveLanding = "leave_landing",
        /// The move captures all but the first pit of the other row.
        LeaveFirst = "leave_first",
    }
}

worded_enum! {
    /// Where the seeds left in pits go at a repetition.
    pub enum RepetitionAward {
        /// Each row goes to its own store.
        SideOwner = "side_owner",
        /// Each side gets half of them.
        Split = "split",
    }
}

worded_enum! {
    /// A named set of options (R11).
    pub enum Preset {
        /// The game of most tournaments and programs, also called abapa.
        Standard = "standard",
        /// A mobile app's game.
        App = "app",
        /// Ludii's Wari.
        Wari = "wari",
        /// A grand slam forfeits the rest.
        Forfeit = "forfeit",
        /// A grand slam leaves the pit of the last seed.
        LeaveLanding = "leave_landing",
        /// A grand slam leaves the first pit of the row.
        LeaveFirst = "leave_first",
        /// The game of the computer olympiads.
        Awari = "awari",
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
            grand_slam: GrandSlam::NoCapture,
            must_feed: true,
            majority_end: true,
            majority_remaining: MajorityRemaining::Leave,
            repetition: 2,
            repetition_award: RepetitionAward::SideOwner,
            agree_end: true,
        };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::App => Options { preset, grand_slam: GrandSlam::Capture, repetition: 3, ..STANDARD },
            Self::Wari => Options { preset, grand_slam: GrandSlam::Illegal, repetition: 3, ..STANDARD },
            Self::Forfeit => Options { preset, grand_slam: GrandSlam::ForfeitRest, ..STANDARD },
            Self::LeaveLanding => Options { preset, grand_slam: GrandSlam::LeaveLanding, ..STANDARD },
            Self::LeaveFirst => Options { preset, grand_slam: GrandSlam::LeaveFirst, ..STANDARD },
            Self::Awari => Options {
                preset,
                grand_slam: GrandSlam::Avoid,
                repetition: 3,
                repetition_award: RepetitionAward::Split,
                ..STANDARD
            },
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

    /// A preset with overrides, each of which has already been checked by itself. No two options of Oware exclude each
    /// other.
    pub(crate) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Oware, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        Ok(options)
    }

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "pits" => self.pits = value.integer()?,
            "seeds" => self.seeds = value.integer()?,
            "grand_slam" => self.grand_slam = value.choice()?,
            "must_feed" => self.must_feed = value.boolean()?,
            "majority_end" => self.majority_end = value.boolean()?,
            "majority_remaining" => self.majority_remaining = value.choice()?,
            "repetition" => self.repetition = value.integer()?,
            "repetition_award" => self.repetition_award = value.choice()?,
            "agree_end" => self.agree_end = value.boolean()?,
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
            ("grand_slam", self.grand_slam.word().into()),
            ("must_feed", self.must_feed.into()),
            ("majority_end", self.majority_end.into()),
            ("majority_remaining", self.majority_remaining.word().into()),
            ("repetition", self.repetition.into()),
            ("repetition_award", self.repetition_award.word().into()),
            ("agree_end", self.agree_end.into()),
        ]
    }
}

/// The descriptions of the options (R1).
pub static OPTIONS: [OptionSpec; 9] = [
    integer("pits", (1, 12), 6, "Pits per side."),
    integer("seeds", (1, 12), 4, "Seeds per pit at the start."),
    choice("grand_slam", GrandSlam::WORDS, "What becomes of a sowing that would capture every seed of the other row."),
    switched_on("must_feed", "Whether a side must sow to the other row when that is empty, and cannot move otherwise."),
    switched_on("majority_end", "Whether the game stops once a store holds more than half of all seeds."),
    choice(
        "majority_remaining",
        MajorityRemaining::WORDS,
        "Whether the seeds left in pits at a majority stay there or go to the owner of the row.",
    ),
    integer("repetition", (2, 5), 2, "How often a position may come since the last capture until the game ends."),
    choice(
        "repetition_award",
        RepetitionAward::WORDS,
        "Whether the seeds left in pits at a repetition go to the owner of the row or half to each side.",
    ),
    switched_on("agree_end", "Whether both players may agree to stop, each taking the own row."),
];

/// The presets, in the order of [`Preset::ALL`] (R11).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "The game that Wikipedia describes and most programs play, also called abapa: a grand slam captures nothing.",
        source: "Wikipedia on Oware, OpenSpiel, Aalina",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::App.word(),
        title: "Mobile app",
        description: "By the description of a mobile app: a grand slam captures like any other sowing.",
        source: "A mobile app's description",
        bounds: &[OptionBounds { option: "seeds", min: 4, max: 6 }],
    },
    PresetSpec {
        name: Preset::Wari.word(),
        title: "Wari",
        description: "By Ludii's description of Oware: a grand slam is no legal move.",
        source: "Ludii's description of Oware",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Forfeit.word(),
        title: "Forfeit",
        description: "A variant that StoneShark offers: after a grand slam the opponent gets all that is left.",
        source: "StoneShark, a program with many mancala games",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::LeaveLanding.word(),
        title: "Leave the last",
        description: "A variant that StoneShark offers: a grand slam leaves the seeds of the pit where the last one fell.",
        source: "StoneShark, a program with many mancala games",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::LeaveFirst.word(),
        title: "Leave the first",
        description: "A variant that StoneShark offers: a grand slam leaves the seeds of the row's first pit.",
        source: "StoneShark, a program with many mancala games",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Awari.word(),
        title: "Awari",
        description: "The game of the computer olympiads by the Awari Oracle: a grand slam only if there is no other move.",
        source: "Mancala World on the Awari Oracle",
        bounds: &[],
    },
];
