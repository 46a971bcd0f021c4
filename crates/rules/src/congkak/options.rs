//! The options of a game of Congkak (R1), and its presets (R11). Knows no rule and no position.

use std::borrow::Cow;

use crate::{
    Contradiction, OptionSpec, OptionValue, OptionsError, PresetSpec, Variant,
    options::{check_contradictions, choice, integer, switched_off, switched_on},
};

/// The options of Congkak (R1). Always within bounds and free of contradictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own, by its name in R1")]
pub struct Options {
    pub(crate) preset: Preset,
    pub(crate) pits: u8,
    pub(crate) seeds: u8,
    pub(crate) empty_capture: bool,
    pub(crate) take_own_seed: bool,
    pub(crate) capture_needs_lap: bool,
    pub(crate) rounds: Rounds,
    pub(crate) refill_from: RefillFrom,
    pub(crate) round_starter: RoundStarter,
    pub(crate) max_rounds: u8,
    pub(crate) burnt_pits: bool,
    pub(crate) match_victory: MatchVictory,
    pub(crate) opening: Opening,
}

worded_enum! {
    /// How many rounds a game has (R9).
    pub enum Rounds {
        /// A single round.
        Single = "single",
        /// Several: in a match, each side refills its pits from its store for the next round.
        Multi = "multi",
    }
}

worded_enum! {
    /// Which pits are filled first for a new round (R9).
    pub enum RefillFrom {
        /// The pits next to the own store.
        Store = "store",
        /// The pits farthest from the own store.
        Far = "far",
    }
}

worded_enum! {
    /// The side that opens a new round (R9).
    pub enum RoundStarter {
        /// The loser of the last round.
        Loser = "loser",
        /// The winner of the last round.
        Winner = "winner",
        /// The side that did not open the last round.
        Alternate = "alternate",
    }
}

worded_enum! {
    /// The score that decides a match (R9).
    pub enum MatchVictory {
        /// The last round.
        LastRound = "last_round",
        /// The number of rounds won.
        RoundsWon = "rounds_won",
        /// The number of pits that the other side could not fill.
        PitsBurnt = "pits_burnt",
    }
}

worded_enum! {
    /// The opening: South sows first, or both sides at once (R10).
    pub enum Opening {
        /// South.
        South = "south",
        /// Both sides at once, a seed each in step.
        Lockstep = "lockstep",
    }
}

worded_enum! {
    /// A named set of options (R11).
    pub enum Preset {
        /// A single round by the rules that most descriptions share.
        Standard = "standard",
        /// The same on a board of six pits.
        Six = "six",
        /// Only the facing seeds are captured.
        Skeat = "skeat",
        /// Several rounds.
        Match = "match",
        /// Only a sowing that has reached the other row captures.
        Tournament = "tournament",
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
            pits: 7,
            seeds: 7,
            empty_capture: true,
            take_own_seed: true,
            capture_needs_lap: false,
            rounds: Rounds::Single,
            refill_from: RefillFrom::Store,
            round_starter: RoundStarter::Loser,
            max_rounds: 10,
            burnt_pits: true,
            match_victory: MatchVictory::LastRound,
            opening: Opening::South,
        };
        let preset = self;
        match preset {
            Self::Standard => STANDARD,
            Self::Six => Options { preset, pits: 6, seeds: 6, ..STANDARD },
            Self::Skeat => Options { preset, empty_capture: false, take_own_seed: false, ..STANDARD },
            Self::Match => Options { preset, rounds: Rounds::Multi, ..STANDARD },
            Self::Tournament => Options { preset, capture_needs_lap: true, ..STANDARD },
        }
    }
}

/// The options that matter to a match only (R9).
const OF_A_MATCH: [&str; 5] = ["refill_from", "round_starter", "max_rounds", "burnt_pits", "match_victory"];

impl Options {
    /// The preset that they are based on.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
    }

    /// Whether a match counts points, which decide it (R9).
    pub(super) fn has_points(&self) -> bool {
        self.rounds == Rounds::Multi && self.match_victory != MatchVictory::LastRound
    }

    /// How many seeds a game with these options has.
    pub(super) fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }

    /// A preset with overrides, each of which has already been checked by itself.
    pub(crate) fn new(preset: Preset, overrides: &[(String, OptionValue)]) -> Result<Self, OptionsError> {
        let mut options = preset.options();
        for (name, value) in overrides {
            let unknown = || OptionsError::UnknownOption { variant: Variant::Congkak, option: name.clone() };
            options.set(name, value).ok_or_else(unknown)?;
        }
        check_contradictions(&CONTRADICTIONS, &options.all_values(), overrides)?;
        Ok(options)
    }

    /// Sets one option; `None` if the name is unknown or the value is of another kind.
    fn set(&mut self, name: &str, value: &OptionValue) -> Option<()> {
        match name {
            "pits" => self.pits = value.integer()?,
            "seeds" => self.seeds = value.integer()?,
            "empty_capture" => self.empty_capture = value.boolean()?,
            "take_own_seed" => self.take_own_seed = value.boolean()?,
            "capture_needs_lap" => self.capture_needs_lap = value.boolean()?,
            "rounds" => self.rounds = value.choice()?,
            "refill_from" => self.refill_from = value.choice()?,
            "round_starter" => self.round_starter = value.choice()?,
            "max_rounds" => self.max_rounds = value.integer()?,
            "burnt_pits" => self.burnt_pits = value.boolean()?,
            "match_victory" => self.match_victory = value.choice()?,
            "opening" => self.opening = value.choice()?,
            _ => return None,
        }
        Some(())
    }

    /// The value of every option that matters to this game, in the order of [`OPTIONS`]. As overrides they give the
    /// same options.
    #[must_use]
    pub fn values(&self) -> Vec<(&'static str, OptionValue)> {
        let matters = |&(name, _): &_| self.rounds == Rounds::Multi || !OF_A_MATCH.contains(&name);
        self.all_values().into_iter().filter(matters).collect()
    }

    /// The value of every option, in the order of [`OPTIONS`].
    pub(crate) fn all_values(&self) -> [(&'static str, OptionValue); OPTIONS.len()] {
        [
            ("pits", self.pits.into()),
            ("seeds", self.seeds.into()),
            ("empty_capture", self.empty_capture.into()),
            ("take_own_seed", self.take_own_seed.into()),
            ("capture_needs_lap", self.capture_needs_lap.into()),
            ("rounds", self.rounds.word().into()),
            ("refill_from", self.refill_from.word().into()),
            ("round_starter", self.round_starter.word().into()),
            ("max_rounds", self.max_rounds.into()),
            ("burnt_pits", self.burnt_pits.into()),
            ("match_victory", self.match_victory.word().into()),
            ("opening", self.opening.word().into()),
        ]
    }
}

/// The descriptions of the options (R1).
pub static OPTIONS: [OptionSpec; 12] = [
    integer("pits", (1, 12), 7, "Pits per side."),
    integer("seeds", (1, 12), 7, "Seeds per pit at the start, and in each pit that is refilled."),
    switched_on("empty_capture", "Whether the last seed is captured even when the facing pit is empty."),
    switched_on("take_own_seed", "Whether a capture takes the last seed too, and not only the seeds facing it."),
    switched_off("capture_needs_lap", "Whether only a sowing that has reached the other row may capture."),
    choice("rounds", Rounds::WORDS, "Whether the game is one round or a match of several."),
    choice(
        "refill_from",
        RefillFrom::WORDS,
        "In a match, whether the pits next to the own store or those farthest from it are filled first for a new round.",
    ),
    choice(
        "round_starter",
        RoundStarter::WORDS,
        "In a match, whether the loser or the winner of a round opens the next one, or the sides take turns.",
    ),
    integer("max_rounds", (1, 100), 10, "In a match, after how many rounds it is over at the latest."),
    switched_on("burnt_pits", "In a match, whether pits that a side cannot fill are out of play for a round."),
    choice(
        "match_victory",
        MatchVictory::WORDS,
        "In a match, whether its last round decides it, the rounds won, or the pits that the other side could not fill.",
    ),
    choice("opening", Opening::WORDS, "Whether South opens, or both sides sow at once, a seed each in step."),
];

/// Choices that exclude each other (R1).
pub static CONTRADICTIONS: [Contradiction; 2 + OF_A_MATCH.len()] = [
    Contradiction {
        option: "empty_capture",
        value: Some(OptionValue::Boolean(true)),
        other: "take_own_seed",
        other_value: OptionValue::Boolean(false),
    },
    needs_a_match(OF_A_MATCH[0]),
    needs_a_match(OF_A_MATCH[1]),
    needs_a_match(OF_A_MATCH[2]),
    needs_a_match(OF_A_MATCH[3]),
    needs_a_match(OF_A_MATCH[4]),
    Contradiction {
        option: "match_victory",
        value: Some(OptionValue::Word(Cow::Borrowed(MatchVictory::PitsBurnt.word()))),
        other: "burnt_pits",
        other_value: OptionValue::Boolean(false),
    },
];

const fn needs_a_match(option: &'static str) -> Contradiction {
    let other_value = OptionValue::Word(Cow::Borrowed(Rounds::Single.word()));
    Contradiction { option, value: None, other: "rounds", other_value }
}

/// The presets, in the order of [`Preset::ALL`] (R11).
pub static PRESETS: [PresetSpec; Preset::ALL.len()] = [
    PresetSpec {
        name: Preset::Standard.word(),
        title: "Standard",
        description: "One round by the rules that Wikipedia and most instructions give.",
        source: "Wikipedia on mancala in Southeast Asia, texts on how to play congkak",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Six.word(),
        title: "Six pits",
        description: "The same on a board of six pits with six seeds, as on a board made for Kalah.",
        source: "A mobile app's board; Ludii's Main Chongkak, which has as many seeds as pits",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Skeat.word(),
        title: "Skeat",
        description: "By Ludii's descriptions of the family: only the facing seeds are captured, and the last seed stays.",
        source: "Ludii's Main Chongkak, Sungka and Chongka'",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Match.word(),
        title: "Match",
        description: "Several rounds: pits that a side's seeds do not fill are burnt, and a side that cannot fill one has lost.",
        source: "Wikipedia on mancala in Southeast Asia",
        bounds: &[],
    },
    PresetSpec {
        name: Preset::Tournament.word(),
        title: "Tournament",
        description: "By the rules of Malay competitions: only a sowing that has reached the other row may capture.",
        source: "Malay pages on competitions",
        bounds: &[],
    },
];
