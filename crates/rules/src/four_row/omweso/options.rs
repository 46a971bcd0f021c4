//! The options of a game of Omweso (R20), and its presets (R33). Knows no rule and no position.

use crate::{
    BySide, OptionSpec, OptionValue, PresetSpec,
    four_row::{OptionsError, Variant},
    options::{changed_integer, choice, choice_with_default, switched_off, switched_on},
};

/// The options of Omweso (R20). Always within bounds; no two of them exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    pub(super) preset: Preset,
    pub(super) setup: Setup,
    pub(super) reverse: Reverse,
    pub(super) first_turn_captures: bool,
    pub(super) two_heads: bool,
    pub(super) akakyala: bool,
    pub(super) endless: Endless,
    pub(super) circuits: u16,
    pub(super) max_plies: u16,
}

worded_enum! {
    /// How the seeds lie at the start (R28).
    pub enum Setup {
        /// Four in each pit of the back row.
        Outer = "outer",
        /// Two in each pit.
        Even = "even",
        /// As each side arranges them.
        Arrange = "arrange",
    }
}

worded_enum! {
    /// Which laps may go downward (R30).
    pub enum Reverse {
        /// None.
        None = "none",
        /// The first lap of a turn.
        Start = "start",
        /// Also a relay, and the sowing of a catch that a downward lap has made.
        Full = "full",
        /// Also the sowing of any catch.
        Any = "any",
    }
}

worded_enum! {
    /// The treatment of an endless sowing (R31).
    pub enum Endless {
        /// The game is a draw.
        Draw = "draw",
        /// The mover loses.
        Lose = "lose",
    }
}

worded_enum! {
    /// A named set of options (R33).
    pub enum Preset {
        /// Four seeds in each back pit, with reverse captures.
        Standard = "standard",
        /// Each side arranges its seeds.
        Arrange = "arrange",
        /// Arranged, and won by a second capture before the other side's first.
        Tournament = "tournament",
        /// Shackell's rules of 1934.
        Shackell = "shackell",
        /// All sowings go upward.
        Simple = "simple",
        /// Arranged, all sowings go upward, and nothing is captured in the first turns.
        Course = "course",
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
            setup: Setup::Outer,
            reverse: Reverse::Full,
            first_turn_captures: true,
            two_heads: true,
            akakyala: false,
            endless: Endless::Draw,
            circuits: 100,
            max_plies: 1000,
        };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::Arrange => Options { preset, setup: Setup::Arrange, ..STANDARD },
            Self::Tournament => Options { preset, setup: Setup::Arrange, akakyala: true, ..STANDARD },
            Self::Shackell => {
                Options { preset, setup: Setup::Arrange, reverse: Reverse::Start, two_heads: false, ..STANDARD }
            }
            Self::Simple => Options { preset, reverse: Reverse::None, two_heads: false, ..STANDARD },
            Self::Course => Options {
                preset,
                setup: Setup::Arrange,
                reverse: Reverse::None,
                first_turn_captures: false,
                two_heads: false,
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

    /// Which sides have a first turn before them in which they capture nothing, once the seeds are arranged (R29).
    pub(super) const fn first_turns(&self) -> BySide<bool> {
        BySide { south: !self.first_turn_captures, north: !self.first_turn_captures }
    }

    /// A preset with overrides, each of which has already been checked by itself.
    pub(in crate::four_row) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Omweso, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        Ok(options)
    }

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "setup" => self.setup = value.choice()?,
            "reverse" => self.reverse = value.choice()?,
            "first_turn_captures" => self.first_turn_captures = value.boolean()?,
            "two_heads" => self.two_heads = value.boolean()?,
            "akakyala" => self.akakyala = value.boolean()?,
            "endless" => self.endless = value.choice()?,
            "circuits" => self.circuits = value.integer()?,
            "max_plies" => self.max_plies = value.integer()?,
            _ => return None,
        }
        Some(())
    }

    /// The value of every option, in the order of [`OPTIONS`].
    #[must_use]
    pub fn values(&self) -> [(&'static str, OptionValue); OPTIONS.len()] {
        [
            ("setup", self.setup.word().into()),
            ("reverse", self.reverse.word().into()),
            ("first_turn_captures", self.first_turn_captures.into()),
            ("two_heads", self.two_heads.into()),
            ("akakyala", self.akakyala.into()),
            ("endless", self.endless.word().into()),
            ("circuits", OptionValue::Integer(self.circuits.into())),
            ("max_plies", OptionValue::Integer(self.max_plies.into())),
        ]
    }
}

/// The descriptions of the options (R20).
pub static OPTIONS: [OptionSpec; 8] = [
    choice(
        "setup",
        Setup::WORDS,
        "Whether the seeds begin in the back rows or in all pits, or each side arranges them.",
    ),
    choice_with_default(
        "reverse",
        Reverse::WORDS,
        Reverse::Full.word(),
        "Which laps out of the four left pits may go downward to capture.",
    ),
    switched_on("first_turn_captures", "Whether a side may capture in its first turn."),
    switched_on("two_heads", "Whether captures at both ends of the front row in one turn win."),
    switched_off("akakyala", "Whether a second capturing turn before the first of the other side wins."),
    choice("endless", Endless::WORDS, "Whether an endless sowing is a draw or is lost."),
    // Texts of games without it are of 40 circuits.
    changed_integer(
        "circuits",
        (4, 1000),
        100,
        (1000, 40),
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

/// The presets, in the order of [`Preset::ALL`] (R33).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "Four seeds in each back pit; the four left pits may also be sown backward to capture.",
        source: "Wikipedia on Omweso, Bulamu's app, Polovynka",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Arrange.word(),
        title: "Arranged",
        description: "The standard game after each side has arranged its seeds as it likes, South first.",
        source: "Wikipedia on Omweso, the Ugandan ministry of culture",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Tournament.word(),
        title: "Tournament",
        description: "Arranged, and a second capturing turn before the first of the other side wins at once.",
        source: "Wikipedia on Omweso, Polovynka, Mancala World's dictionary",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Shackell.word(),
        title: "Shackell",
        description: "Arranged; only the first lap of a turn may go backward.",
        source: "Ludii's Mweso, after Shackell 1934",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Simple.word(),
        title: "Simple",
        description: "All laps go forward, and captures at both ends do not win.",
        source: "McGill University's course project, a collection of games in Python",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Course.word(),
        title: "Course",
        description: "Arranged; all laps go forward, and no side captures in its first turn.",
        source: "McGill University's course project",
        bounds: &[],
    },
];
