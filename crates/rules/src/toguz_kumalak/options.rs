//! The options of a game of Toguz Kumalak (R40), and its presets (R47). Knows no rule and no position.

use crate::{
    GameSpec,
    kumalak::{
        End, KumalakOptions, NO_DRAW_AFTER_A_MAJORITY, REPETITION_AWARD_HELP, REPETITION_HELP, RepetitionAward, Rules,
        TuzdykSymmetry,
    },
    options::{MajorityRemaining, help},
};

game_options! {
    /// The options of Toguz Kumalak (R40). Always within bounds and free of contradictions.
    pub struct Options {
        pits: integer(u8, 1, 12) = 9, "Pits per side.";
        seeds: integer(u8, 1, 12) = 9, "Seeds per pit at the start.";
        capture_two: switch = true, "Whether two seeds are captured, and not only an even number from four on.";
        tuzdyk_symmetry: choice(TuzdykSymmetry) = TuzdykSymmetry::SameNumber,
            "Whether a side's tuzdyk may not have the number of the other side's tuzdyk, or may not face it.";
        end: choice(End) = End::NoMove,
            "Whether the game ends when the side to move has no seed in its row, or as soon as either row is empty.";
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
            description: "The game of the federations and of most programs, in Kyrgyzstan called toguz korgool.",
            source: "Wikipedia on Toguz korgool, PlayStrategy, IG Game Center, Mancala World",
        }
        Ludii = "ludii" {
            title: "Ludii",
            description: "By Ludii's description: a pit cannot become a tuzdyk if the pit across the board is one.",
            source: "Ludii's description of Toguz Kumalak",
            options: { tuzdyk_symmetry: TuzdykSymmetry::Facing },
        }
        Xorgol = "xorgol" {
            title: "Toguz Xorgol",
            description: "By StoneShark after a book by Russ: two seeds are not captured, and tuzdyks may not face each other.",
            source: "StoneShark, after Larry Russ, Mancala Games, 1984",
            options: { capture_two: false, tuzdyk_symmetry: TuzdykSymmetry::Facing },
        }
        App = "app" {
            title: "Mobile app",
            description: "By the description of a mobile app: the game ends as soon as either row is empty.",
            source: "The description of the mobile app The Togyz Qumalaq",
            options: { end: End::SideEmpty },
        }
    }
}

impl KumalakOptions for Options {
    const SPEC: GameSpec = GameSpec {
        title: "Toguz Kumalak",
        aliases: &["Toguz korgool", "Toguz Xorgol", "Togyzkumalak", "Togyzqumalaq", "Тоғызқұмалақ", "Тогуз коргоол"],
        rules: include_str!("toguz_kumalak.md"),
        has_tuzdyks: true,
        ..GameSpec::PLAIN
    };

    fn rules(&self) -> Rules {
        Rules {
            pits: self.pits,
            seeds: self.seeds,
            capture_two: self.capture_two,
            tuzdyk: Some(self.tuzdyk_symmetry),
            end: self.end,
            majority_end: self.majority_end,
            majority_remaining: self.majority_remaining,
            repetition: self.repetition,
            repetition_award: self.repetition_award,
        }
    }
}
