//! The options of a game of Bao (R20), and its presets (R33). Knows no rule and no position.

use std::borrow::Cow;

use crate::{
    Contradiction, OptionSpec, OptionValue, PresetSpec,
    four_row::{OptionsError, Variant},
    options::{changed_integer, check_contradictions, choice, choice_with_default, integer, switched_off},
};

/// The options of Bao (R20). Always within bounds and free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub(super) preset: Preset,
    pub(super) start: Start,
    pub(super) house_seeds: u8,
    pub(super) singletons: Singletons,
    pub(super) harvest_ends_house: bool,
    pub(super) takasia: Takasia,
    pub(super) takasia_single: bool,
    pub(super) takasia_house_lap: bool,
    pub(super) endless: Endless,
    pub(super) circuits: u16,
    pub(super) max_plies: u16,
}

worded_enum! {
    /// How the seeds lie at the start (R24).
    pub enum Start {
        /// Ten seeds or more in and beside the house, the rest in reserve.
        House = "house",
        /// Two seeds in each pit, and neither house nor reserve: Bao la kujifunza.
        Full = "full",
    }
}

worded_enum! {
    /// When a single seed may not be played beside a fuller pit in the first stage (R24).
    pub enum Singletons {
        /// Once the house is lost.
        HouseLost = "house_lost",
        /// Whenever the house does not work.
        NoHouse = "no_house",
    }
}

worded_enum! {
    /// The treatment of the only pit that a takata threatens (R27).
    pub enum Takasia {
        /// Nothing.
        Off = "off",
        /// The pit is blocked in the next turn.
        Block = "block",
        /// The pit is blocked in the next turn, and must be captured in the turn after that.
        Take = "take",
    }
}

worded_enum! {
    /// The treatment of an endless sowing (R31).
    pub enum Endless {
        /// The game is a draw.
        Draw = "draw",
        /// The mover loses.
        Lose = "lose",
        /// The move is not legal.
        Illegal = "illegal",
    }
}

worded_enum! {
    /// A named set of options (R33).
    pub enum Preset {
        /// De Voogt's description where sources part, and else all of them.
        Standard = "standard",
        /// The beginners' game: the second stage alone.
        Kujifunza = "kujifunza",
        /// Donkers's rules for the computer.
        Donkers = "donkers",
        /// Mancala World's description.
        Gering = "gering",
        /// The game at Board Game Arena.
        Bga = "bga",
        /// Eight seeds in the house.
        Malawi = "malawi",
    }
}

impl Preset {
    /// Its name and description.
    #[must_use]
    pub fn spec(self) -> &'static PresetSpec {
        &PRESETS[self as usize]
    }

    /// The options of the preset.
    #[must_use]
    pub const fn options(self) -> Options {
        const STANDARD: Options = Options {
            preset: Preset::Standard,
            start: Start::House,
            house_seeds: 6,
            singletons: Singletons::HouseLost,
            harvest_ends_house: false,
            takasia: Takasia::Block,
            takasia_single: false,
            takasia_house_lap: false,
            endless: Endless::Draw,
            circuits: 40,
            max_plies: 1000,
        };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::Kujifunza => Options { preset, start: Start::Full, takasia: Takasia::Off, ..STANDARD },
            Self::Donkers => Options {
                preset,
                harvest_ends_house: true,
                takasia_single: true,
                endless: Endless::Illegal,
                ..STANDARD
            },
            Self::Gering => Options {
                preset,
                singletons: Singletons::NoHouse,
                takasia_single: true,
                takasia_house_lap: true,
                ..STANDARD
            },
            Self::Bga => {
                Options { preset, takasia: Takasia::Take, takasia_single: true, endless: Endless::Lose, ..STANDARD }
            }
            Self::Malawi => Options { preset, house_seeds: 8, ..STANDARD },
        }
    }
}

/// The options that matter only where a side has a house (R24).
const OF_A_HOUSE: [&str; 4] = ["house_seeds", "singletons", "harvest_ends_house", "takasia_house_lap"];

/// The options that matter only with takasia (R27).
const OF_TAKASIA: [&str; 2] = ["takasia_single", "takasia_house_lap"];

impl Options {
    /// The preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// Whether each side begins with a house, and so with a reserve.
    #[must_use]
    pub const fn has_house(&self) -> bool {
        matches!(self.start, Start::House)
    }

    /// Seeds in each reserve at the start.
    pub(super) fn reserve(&self) -> u16 {
        if self.has_house() { 28 - u16::from(self.house_seeds) } else { 0 }
    }

    /// A preset with overrides, each of which has already been checked by itself.
    pub(in crate::four_row) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Bao, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        check_contradictions(&CONTRADICTIONS, &options.all_values(), overrides)?;
        Ok(options)
    }

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "start" => self.start = value.choice()?,
            "house_seeds" => self.house_seeds = value.integer()?,
            "singletons" => self.singletons = value.choice()?,
            "harvest_ends_house" => self.harvest_ends_house = value.boolean()?,
            "takasia" => self.takasia = value.choice()?,
            "takasia_single" => self.takasia_single = value.boolean()?,
            "takasia_house_lap" => self.takasia_house_lap = value.boolean()?,
            "endless" => self.endless = value.choice()?,
            "circuits" => self.circuits = value.integer()?,
            "max_plies" => self.max_plies = value.integer()?,
            _ => return None,
        }
        Some(())
    }

    /// The value of every option that matters to this game, in the order of [`OPTIONS`]. As overrides they give the
    /// same options.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        let matters = |&(name, _): &_| {
            (self.has_house() || !OF_A_HOUSE.contains(&name))
                && (self.takasia != Takasia::Off || !OF_TAKASIA.contains(&name))
        };
        self.all_values().into_iter().filter(matters).collect()
    }

    /// The value of every option, in the order of [`OPTIONS`].
    pub(in crate::four_row) fn all_values(&self) -> [(&'static str, OptionValue); OPTIONS.len()] {
        [
            ("start", self.start.word().into()),
            ("house_seeds", self.house_seeds.into()),
            ("singletons", self.singletons.word().into()),
            ("harvest_ends_house", self.harvest_ends_house.into()),
            ("takasia", self.takasia.word().into()),
            ("takasia_single", self.takasia_single.into()),
            ("takasia_house_lap", self.takasia_house_lap.into()),
            ("endless", self.endless.word().into()),
            ("circuits", OptionValue::Integer(self.circuits.into())),
            ("max_plies", OptionValue::Integer(self.max_plies.into())),
        ]
    }
}

/// The descriptions of the options (R20).
pub static OPTIONS: [OptionSpec; 10] = [
    choice("start", Start::WORDS, "Whether a side begins with a house and a reserve, or with two seeds in each pit."),
    integer("house_seeds", (6, 12), 6, "Seeds of the house at the start; the reserve is 28 less these."),
    choice(
        "singletons",
        Singletons::WORDS,
        "Whether a single seed may not be played beside a fuller pit once the house is lost, or whenever it does not work.",
    ),
    switched_off("harvest_ends_house", "Whether the first capture in the second stage ends the own house."),
    choice_with_default(
        "takasia",
        Takasia::WORDS,
        Takasia::Block.word(),
        "Whether the only pit that a sowing without a capture threatens is blocked, and must then be taken.",
    ),
    switched_off("takasia_single", "Whether a pit of one seed may be blocked too."),
    switched_off("takasia_house_lap", "Whether a first lap out of a working house goes on from the blocked pit."),
    choice("endless", Endless::WORDS, "Whether an endless sowing is a draw, is lost, or is no legal move."),
    // Texts of games without it are of 12 circuits.
    changed_integer(
        "circuits",
        (4, 100),
        40,
        (100, 12),
        "After how many circuits without a capture a sowing counts as endless.",
    ),
    // More than 2,000 was chosen once, and texts of games have it. A stored game ends after 2,000 plies in any case.
    changed_integer(
        "max_plies",
        (100, 2000),
        1000,
        (10_000, 1000),
        "After how many plies the game is a draw at the latest.",
    ),
];

/// Choices that exclude each other (R20).
pub static CONTRADICTIONS: [Contradiction; OF_A_HOUSE.len() + OF_TAKASIA.len()] = [
    needs_a_house(OF_A_HOUSE[0]),
    needs_a_house(OF_A_HOUSE[1]),
    needs_a_house(OF_A_HOUSE[2]),
    needs_a_house(OF_A_HOUSE[3]),
    needs_takasia(OF_TAKASIA[0]),
    needs_takasia(OF_TAKASIA[1]),
];

const fn needs_a_house(option: &'static str) -> Contradiction {
    refused_with(option, "start", Start::Full.word())
}

const fn needs_takasia(option: &'static str) -> Contradiction {
    refused_with(option, "takasia", Takasia::Off.word())
}

const fn refused_with(option: &'static str, other: &'static str, word: &'static str) -> Contradiction {
    Contradiction { option, value: None, other, other_value: OptionValue::Word(Cow::Borrowed(word)) }
}

/// The presets, in the order of [`Preset::ALL`] (R33).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "Bao la kiswahili as Alex de Voogt describes it, with house, reserve and takasia.",
        source: "De Voogt, Limits of the Mind; what all sources share",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Kujifunza.word(),
        title: "Kujifunza",
        description: "Bao la kujifunza, the beginners' game: two seeds in each pit, and the second stage alone.",
        source: "Mancala World, Polovynka, Board Game Arena",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Donkers.word(),
        title: "Donkers",
        description: "Rules for the computer: the first harvest ends the house, and an endless sowing is no legal move.",
        source: "Donkers's thesis of 2003, appendix C",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Gering.word(),
        title: "Gering",
        description: "As Mancala World describes it: single seeds rest while the house sleeps, and more pits can be blocked.",
        source: "Mancala World",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Bga.word(),
        title: "Board Game Arena",
        description: "The game of that site: a blocked pit must be taken, and an endless sowing loses.",
        source: "The implementation at Board Game Arena",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Malawi.word(),
        title: "Malawi",
        description: "The standard game with eight seeds in the house.",
        source: "Abstract Play's set-up of that name",
        bounds: &[],
    },
];
