//! The options of a game of Kalah (R1), and its presets (R11). Knows no rule and no position.

use crate::options::{MajorityRemaining, excludes, help, word};

game_options! {
    /// The options of Kalah (R1). Always within bounds and free of contradictions.
    pub struct Options {
        pits: integer(u8, 1, 12) = 6, "Pits per side.";
        seeds: integer(u8, 1, 12) = 4, "Seeds per pit at the start.";
        sow_stores: choice(SowStores) = SowStores::Own,
            "Which stores receive seeds while sowing: the mover's own, or both.";
        extra_turn: choice(ExtraTurn) = ExtraTurn::Mandatory,
            "Whether the side whose last seed falls in its own store must, may or does not act again.";
        capture: choice(Capture) = Capture::Opposite,
            "Whether a last seed in an empty pit captures itself and the seeds facing it, does not, or does so if the mover wants.";
        capture_land: choice(CaptureLand) = CaptureLand::Own, "On whose row the last seed must lie to capture.";
        empty_capture: switch = false, "Whether the last seed is captured even when the facing pit is empty.";
        end: choice(End) = End::SideEmpty,
            "Whether the game ends as soon as one row is empty, or when the side to act has nothing to sow.";
        remaining: choice(Remaining) = Remaining::SideOwner,
            "Who gets the seeds left in pits at such an end: the owner of the row, the side whose row is empty, or neither side.";
        majority_end: switch = false, help::MAJORITY_END;
        majority_remaining: choice(MajorityRemaining) = MajorityRemaining::Leave, help::MAJORITY_REMAINING;
        pie: switch = false, "Whether North may answer South's first turn by changing seats.";
    }

    contradictions: [
        // The two send the same seeds to different places.
        excludes("majority_remaining", word(MajorityRemaining::Sweep.word()), "remaining", word(Remaining::Discard.word())),
    ];

    /// A named set of options (R11).
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "The game that most descriptions share, among them Wikipedia's and OpenSpiel's.",
            source: "A mobile app's description, Wikipedia's standard game, OpenSpiel",
        }
        Bga = "bga" {
            title: "Board Game Arena",
            description: "By Board Game Arena's help page: the game ends when the side to move cannot, or at a majority.",
            source: "Board Game Arena's help page",
            bounds: { seeds: (3, 6) },
            options: { end: End::NoMove, majority_end: true },
        }
        Manual = "manual" {
            title: "Boxed game",
            description: "By the instruction manual of a boxed Kalaha in eleven languages: an extra move may be declined.",
            source: "The instruction manual of a boxed Kalaha",
            bounds: { seeds: (4, 4) },
            options: { extra_turn: ExtraTurn::Optional },
        }
        EmptyCapture = "empty_capture" {
            title: "Empty capture",
            description: "By the patent of 1955 as FairKalah describes it: the last seed is captured even when it faces an empty pit.",
            source: "The patent of 1955 by FairKalah's account; Irving, Donkers and Uiterwijk, Solving Kalah (2000)",
            options: { empty_capture: true },
        }
        NoCapture = "no_capture" {
            title: "No capture",
            description: "Board Game Arena's game without captures, a variant that its help page names.",
            source: "Board Game Arena's help page, notes on variants",
            bounds: { seeds: (3, 6) },
            options: { end: End::NoMove, majority_end: true, capture: Capture::None },
        }
        BothStores = "both_stores" {
            title: "Both stores",
            description: "Board Game Arena's game with seeds sown in both stores, a variant that its help page names.",
            source: "Board Game Arena's help page, notes on variants",
            bounds: { seeds: (3, 6) },
            options: { end: End::NoMove, majority_end: true, sow_stores: SowStores::Both },
        }
        SelfCapture = "self_capture" {
            title: "Self capture",
            description: "Board Game Arena's game with captures from either row, our reading of a variant that its help page names.",
            source: "Board Game Arena's help page, notes on variants",
            bounds: { seeds: (3, 6) },
            options: { end: End::NoMove, majority_end: true, capture_land: CaptureLand::Any },
        }
        App = "app" {
            title: "Mobile app",
            description: "The game of a mobile app that also offers Oware: the standard game with four to six seeds.",
            source: "The mobile app's description",
            bounds: { seeds: (4, 6) },
        }
    }
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

impl Options {
    /// How many seeds a game with these options has.
    pub(super) fn total(&self) -> u16 {
        2 * u16::from(self.pits) * u16::from(self.seeds)
    }
}
