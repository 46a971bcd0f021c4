//! The options of a game of Bestemshe (R40), and its presets (R47). Knows no rule and no position.

use crate::{
    GameSpec,
    kumalak::{
        End, KumalakOptions, NO_DRAW_AFTER_A_MAJORITY, REPETITION_AWARD_HELP, REPETITION_HELP, RepetitionAward, Rules,
    },
    options::{MajorityRemaining, help},
};

game_options! {
    /// The options of Bestemshe (R40). Always within bounds and free of contradictions.
    pub struct Options {
        pits: integer(u8, 1, 12) = 5, "Pits per side.";
        seeds: integer(u8, 1, 12) = 5, "Seeds per pit at the start.";
        majority_end: switch = true, help::MAJORITY_END;
        majority_remaining: choice(MajorityRemaining) = MajorityRemaining::Leave, help::MAJORITY_REMAINING;
        repetition: integer(u8, 2, 5) = 3, REPETITION_HELP;
        repetition_award: choice(RepetitionAward) = RepetitionAward::SideOwner, REPETITION_AWARD_HELP;
    }

    contradictions: [
        NO_DRAW_AFTER_A_MAJORITY,
    ];

    /// A named set of options (R47).
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "The game that most programs play: Toguz Kumalak on a small board and without tuzdyks.",
            source: "PlayStrategy, the mobile app Bestemshi, the Czech federation of mancala games",
        }
        Solved = "solved" {
            title: "Solved",
            description: "The game that Zeinulla and Manassov solved: a position that comes again makes a draw.",
            source: "Ansar Zeinulla and Murat Manassov, the strong solution of Bestemshe",
            options: { repetition: 2, repetition_award: RepetitionAward::Draw },
        }
    }
}

impl KumalakOptions for Options {
    const SPEC: GameSpec = GameSpec {
        title: "Bestemshe",
        aliases: &["Bestemshi", "Бестемше"],
        rules: include_str!("bestemshe.md"),
        ..GameSpec::PLAIN
    };

    fn rules(&self) -> Rules {
        Rules {
            pits: self.pits,
            seeds: self.seeds,
            capture_two: true,
            tuzdyk: None,
            end: End::NoMove,
            majority_end: self.majority_end,
            majority_remaining: self.majority_remaining,
            repetition: self.repetition,
            repetition_award: self.repetition_award,
        }
    }
}
