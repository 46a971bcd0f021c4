//! The options of a game of Congkak (R1), and its presets (R11). Knows no rule and no position.

use crate::{
    OptionValue,
    options::{excludes, needless, word},
};

game_options! {
    /// The options of Congkak (R1). Always within bounds and free of contradictions.
    pub struct Options {
        pits: integer(u8, 1, 12) = 7, "Pits per side.";
        seeds: integer(u8, 1, 12) = 7, "Seeds per pit at the start, and in each pit that is refilled.";
        empty_capture: switch = true, "Whether the last seed is captured even when the facing pit is empty.";
        take_own_seed: switch = true, "Whether a capture takes the last seed too, and not only the seeds facing it.";
        capture_needs_lap: switch = false, "Whether only a sowing that has reached the other row may capture.";
        rounds: choice(Rounds) = Rounds::Single, "Whether the game is one round or a match of several.";
        refill_from: choice(RefillFrom) = RefillFrom::Store,
            "In a match, whether the pits next to the own store or those farthest from it are filled first for a new round.";
        round_starter: choice(RoundStarter) = RoundStarter::Loser,
            "In a match, whether the loser or the winner of a round opens the next one, or the sides take turns.";
        max_rounds: integer(u8, 1, 100) = 10, "In a match, after how many rounds it is over at the latest.";
        burnt_pits: switch = true, "In a match, whether pits that a side cannot fill are out of play for a round.";
        match_victory: choice(MatchVictory) = MatchVictory::LastRound,
            "In a match, whether its last round decides it, the rounds won, or the pits that the other side could not fill.";
        opening: choice(Opening) = Opening::South,
            "Whether South opens, or both sides sow at once, a seed each in step.";
    }

    contradictions: [
        excludes("empty_capture", OptionValue::Boolean(true), "take_own_seed", OptionValue::Boolean(false)),
        needless("refill_from", "rounds", Rounds::Single.word()),
        needless("round_starter", "rounds", Rounds::Single.word()),
        needless("max_rounds", "rounds", Rounds::Single.word()),
        needless("burnt_pits", "rounds", Rounds::Single.word()),
        needless("match_victory", "rounds", Rounds::Single.word()),
        excludes("match_victory", word(MatchVictory::PitsBurnt.word()), "burnt_pits", OptionValue::Boolean(false)),
    ];

    /// A named set of options (R11).
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "One round by the rules that Wikipedia and most instructions give.",
            source: "Wikipedia on mancala in Southeast Asia, texts on how to play congkak",
        }
        Six = "six" {
            title: "Six pits",
            description: "The same on a board of six pits with six seeds, as on a board made for Kalah.",
            source: "A mobile app's board; Ludii's Main Chongkak, which has as many seeds as pits",
            options: { pits: 6, seeds: 6 },
        }
        Skeat = "skeat" {
            title: "Skeat",
            description: "By Ludii's descriptions of the family: only the facing seeds are captured, and the last seed stays.",
            source: "Ludii's Main Chongkak, Sungka and Chongka'",
            options: { empty_capture: false, take_own_seed: false },
        }
        Match = "match" {
            title: "Match",
            description: "Several rounds: pits that a side's seeds do not fill are burnt, and a side that cannot fill one has lost.",
            source: "Wikipedia on mancala in Southeast Asia",
            options: { rounds: Rounds::Multi },
        }
        Tournament = "tournament" {
            title: "Tournament",
            description: "By the rules of Malay competitions: only a sowing that has reached the other row may capture.",
            source: "Malay pages on competitions",
            options: { capture_needs_lap: true },
        }
    }
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

impl Options {
    /// Whether a match counts points, which decide it (R9).
    pub(super) fn has_points(&self) -> bool {
        self.rounds == Rounds::Multi && self.match_victory != MatchVictory::LastRound
    }

    /// How many seeds a game with these options has.
    pub(super) fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }
}
