//! The options of a game of Oware (R1), and its presets (R11). Knows no rule and no position.

use crate::options::{MajorityRemaining, help};

game_options! {
    /// The options of Oware (R1). Always within bounds.
    pub struct Options {
        pits: integer(u8, 1, 12) = 6, "Pits per side.";
        seeds: integer(u8, 1, 12) = 4, "Seeds per pit at the start.";
        grand_slam: choice(GrandSlam) = GrandSlam::NoCapture,
            "What becomes of a sowing that would capture every seed of the other row.";
        must_feed: switch = true,
            "Whether a side must sow to the other row when that is empty, and cannot move otherwise.";
        majority_end: switch = true, help::MAJORITY_END;
        majority_remaining: choice(MajorityRemaining) = MajorityRemaining::Leave, help::MAJORITY_REMAINING;
        repetition: integer(u8, 2, 5) = 2, "How often a position may come since the last capture until the game ends.";
        repetition_award: choice(RepetitionAward) = RepetitionAward::SideOwner,
            "Whether the seeds left in pits at a repetition go to the owner of the row or half to each side.";
        agree_end: switch = true, "Whether both players may agree to stop, each taking the own row.";
    }

    contradictions: [];

    /// A named set of options (R11).
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "The game that Wikipedia describes and most programs play, also called abapa: a grand slam captures nothing.",
            source: "Wikipedia on Oware, OpenSpiel, Aalina",
        }
        App = "app" {
            title: "Mobile app",
            description: "By the description of a mobile app: a grand slam captures like any other sowing.",
            source: "A mobile app's description",
            bounds: { seeds: (4, 6) },
            options: { grand_slam: GrandSlam::Capture, repetition: 3 },
        }
        Wari = "wari" {
            title: "Wari",
            description: "By Ludii's description of Oware: a grand slam is no legal move.",
            source: "Ludii's description of Oware",
            options: { grand_slam: GrandSlam::Illegal, repetition: 3 },
        }
        Forfeit = "forfeit" {
            title: "Forfeit",
            description: "A variant that StoneShark offers: after a grand slam the opponent gets all that is left.",
            source: "StoneShark, a program with many mancala games",
            options: { grand_slam: GrandSlam::ForfeitRest },
        }
        LeaveLanding = "leave_landing" {
            title: "Leave the last",
            description: "A variant that StoneShark offers: a grand slam leaves the seeds of the pit where the last one fell.",
            source: "StoneShark, a program with many mancala games",
            options: { grand_slam: GrandSlam::LeaveLanding },
        }
        LeaveFirst = "leave_first" {
            title: "Leave the first",
            description: "A variant that StoneShark offers: a grand slam leaves the seeds of the row's first pit.",
            source: "StoneShark, a program with many mancala games",
            options: { grand_slam: GrandSlam::LeaveFirst },
        }
        Awari = "awari" {
            title: "Awari",
            description: "The game of the computer olympiads by the Awari Oracle: a grand slam only if there is no other move.",
            source: "Mancala World on the Awari Oracle",
            options: { grand_slam: GrandSlam::Avoid, repetition: 3, repetition_award: RepetitionAward::Split },
        }
    }
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

impl Options {
    /// How many seeds a game with these options has.
    pub(super) fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }
}
