//! The options of a game of Omweso (R20), and its presets (R33). Knows no rule and no position.

use crate::{BySide, four_row::help};

game_options! {
    /// The options of Omweso (R20). Always within bounds; no two of them exclude each other.
    pub struct Options {
        setup: choice(Setup) = Setup::Outer,
            "Whether the seeds begin in the back rows or in all pits, or each side arranges them.";
        reverse: choice(Reverse) = Reverse::Full, "Which laps out of the four left pits may go downward to capture.";
        first_turn_captures: switch = true, "Whether a side may capture in its first turn.";
        two_heads: switch = true, "Whether captures at both ends of the front row in one turn win.";
        akakyala: switch = false, "Whether a second capturing turn before the first of the other side wins.";
        endless: choice(Endless) = Endless::Draw, "Whether an endless sowing is a draw or is lost.";
        // Texts of games without it are of 40 circuits.
        circuits: changed_integer(u16, 4, 1000, 1000, 40) = 100, help::CIRCUITS;
        // More than 2,000 was chosen once, and texts of games have it. A stored game ends after 2,000 plies in any case.
        max_plies: changed_integer(u16, 100, 2000, 10_000, 1000) = 1000, help::MAX_PLIES;
    }

    contradictions: [];

    /// A named set of options (R33).
    pub enum Preset {
        Standard = "standard" {
            title: "Standard",
            description: "Four seeds in each back pit; the four left pits may also be sown backward to capture.",
            source: "Wikipedia on Omweso, Bulamu's app, Polovynka",
        }
        Arrange = "arrange" {
            title: "Arranged",
            description: "The standard game after each side has arranged its seeds as it likes, South first.",
            source: "Wikipedia on Omweso, the Ugandan ministry of culture",
            options: { setup: Setup::Arrange },
        }
        Tournament = "tournament" {
            title: "Tournament",
            description: "Arranged, and a second capturing turn before the first of the other side wins at once.",
            source: "Wikipedia on Omweso, Polovynka, Mancala World's dictionary",
            options: { setup: Setup::Arrange, akakyala: true },
        }
        Shackell = "shackell" {
            title: "Shackell",
            description: "Arranged; only the first lap of a turn may go backward.",
            source: "Ludii's Mweso, after Shackell 1934",
            options: { setup: Setup::Arrange, reverse: Reverse::Start, two_heads: false },
        }
        Simple = "simple" {
            title: "Simple",
            description: "All laps go forward, and captures at both ends do not win.",
            source: "McGill University's course project, a collection of games in Python",
            options: { reverse: Reverse::None, two_heads: false },
        }
        Course = "course" {
            title: "Course",
            description: "Arranged; all laps go forward, and no side captures in its first turn.",
            source: "McGill University's course project",
            options: { setup: Setup::Arrange, reverse: Reverse::None, first_turn_captures: false, two_heads: false },
        }
    }
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

impl Options {
    /// Which sides have a first turn before them in which they capture nothing, once the seeds are arranged (R29).
    pub(super) const fn first_turns(&self) -> BySide<bool> {
        BySide { south: !self.first_turn_captures, north: !self.first_turn_captures }
    }
}
