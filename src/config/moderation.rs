//! The commands for operators: their keys, players, reports and names.

use std::{num::NonZero, path::PathBuf};

use clap::{Subcommand, ValueEnum};
use uuid::Uuid;

/// What to do with the keys of operators.
#[derive(Clone, Debug, Subcommand)]
pub enum Operators {
    /// Make an operator, and print the key, which is shown this once
    Create {
        /// The name, by which the log tells who acted: 1 to 32 of `a` to `z`, `0` to `9`, `-`, `_` and `.`
        name: String,
    },
    /// List the operators
    List,
    /// Give an operator another key, and print it. The former key is void at once
    Rotate {
        /// The operator's name
        name: String,
    },
    /// Disable an operator's key, until it is rotated
    Disable {
        /// The operator's name
        name: String,
    },
}

/// What to do with a player.
#[derive(Clone, Debug, Subcommand)]
pub enum Players {
    /// Show a player, the reports about it, and what operators did
    Show {
        /// The player's id
        player: Uuid,
    },
    /// Tell a player something, which `GET /v1/me` shows
    Warn {
        /// The player's id
        player: Uuid,
        /// The reason that the player reads
        reason: String,
    },
    /// Give a player another name
    Rename {
        /// The player's id
        player: Uuid,
        /// The new name
        name: String,
        /// Why, for the log
        reason: String,
    },
    /// Suspend a player for some days
    Suspend {
        /// The player's id
        player: Uuid,
        /// The number of days
        days: NonZero<u16>,
        /// The reason that the player reads
        reason: String,
        /// What becomes of the games that have begun
        #[arg(long, value_enum, default_value_t)]
        games: GamesOfSuspended,
    },
    /// Suspend a player for good
    Ban {
        /// The player's id
        player: Uuid,
        /// The reason that the player reads
        reason: String,
    },
    /// End a suspension or a ban
    Lift {
        /// The player's id
        player: Uuid,
        /// Why, for the log
        reason: String,
    },
    /// Erase players as they erase themselves, such as those whom a restored backup has brought back. There is no way back
    Erase {
        /// The players' ids
        #[arg(required = true)]
        players: Vec<Uuid>,
    },
}

/// What to do with reports.
#[derive(Clone, Debug, Subcommand)]
pub enum Reports {
    /// List 100 reports that are open, the oldest first
    List {
        /// The id of a report: list those that came after it
        #[arg(long, value_name = "ID")]
        after: Option<Uuid>,
    },
    /// Print the game that an open report names, also if it is private. The log of acts has each reading
    Show {
        /// The report's id
        report: Uuid,
    },
    /// Close a report
    Close {
        /// The report's id
        report: Uuid,
        /// What was found
        #[arg(value_enum)]
        finding: ReportFinding,
        /// More about it, for other operators
        remark: Option<String>,
    },
}

/// What to do with the list of words that no name may have.
#[derive(Clone, Debug, Subcommand)]
pub enum Names {
    /// Print the list
    Show,
    /// Put a file in the place of the list. Each line is `word`, `*part*`, `!word` for a word that is never refused, or a comment after
    /// `#`. Servers know it within seconds
    Load {
        /// The file; `-` reads standard input
        file: PathBuf,
    },
    /// Say which entry of the list refuses a name, and end with 3 if one does
    Check {
        /// The name
        name: String,
    },
    /// List the guests and accounts whose names the list refuses: they keep them until they are renamed
    Matches,
}

/// What becomes of a suspended player's games that have begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GamesOfSuspended {
    /// The player still moves
    #[default]
    PlayOn,
    /// The player does not move, and clocks stand until the suspension ends
    Stop,
    /// The player loses them, as with a ban
    End,
}

/// What is found about a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFinding {
    /// The report is right
    Upheld,
    /// The report is wrong, or nothing comes of it
    Rejected,
}
