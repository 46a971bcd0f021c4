//! The commands for operators: their keys, players, reports and names.

use std::{num::NonZero, path::PathBuf};

use clap::{Subcommand, ValueEnum};
use uuid::Uuid;

/// Subcommands for the keys of operators.
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

/// Subcommands for players.
#[derive(Clone, Debug, Subcommand)]
pub enum Players {
    /// Show a player, the reports about it, and the acts of operators
    Show {
        /// The player's id
        player: Uuid,
    },
    /// Warn a player with a text that `GET /v1/me` shows
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
        /// The reason, for the log of acts
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
        /// The treatment of the games that have begun
        #[arg(long, value_enum, default_value_t)]
        games: GamesOfSuspended,
    },
    /// Suspend a player without an end
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
        /// The reason, for the log of acts
        reason: String,
    },
    /// Erase players, such as those that a restored backup has brought back. This cannot be undone
    Erase {
        /// The players' ids
        #[arg(required = true)]
        players: Vec<Uuid>,
    },
}

/// Subcommands for reports.
#[derive(Clone, Debug, Subcommand)]
pub enum Reports {
    /// List up to 100 open reports, oldest first
    List {
        /// The id of a report: list the later ones
        #[arg(long, value_name = "ID")]
        after: Option<Uuid>,
    },
    /// Print the game that an open report names, even if it is private. The log of acts records each reading
    Show {
        /// The report's id
        report: Uuid,
    },
    /// Close a report
    Close {
        /// The report's id
        report: Uuid,
        /// The finding
        #[arg(value_enum)]
        finding: ReportFinding,
        /// A remark for other operators
        remark: Option<String>,
    },
}

/// Subcommands for the list of words that no name may have.
#[derive(Clone, Debug, Subcommand)]
pub enum Names {
    /// Print the list
    Show,
    /// Replace the list by a file. Each line is `word`, `*part*`, `!word` for a word that is never refused, or a comment after `#`. Running
    /// servers follow within seconds
    Load {
        /// The file; `-` reads standard input
        file: PathBuf,
    },
    /// Print the entry of the list that refuses a name, and exit: with 3 if there is one
    Check {
        /// The name
        name: String,
    },
    /// List the guests and accounts whose names the list refuses: they keep them until they are renamed
    Matches,
}

/// The treatment of a suspended player's games that have begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GamesOfSuspended {
    /// The player still moves
    #[default]
    PlayOn,
    /// The player does not move, and clocks are stopped until the suspension ends
    Stop,
    /// The player loses them, as with a ban
    End,
}

/// The finding about a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFinding {
    /// The report is right
    Upheld,
    /// The report is wrong, or has no consequence
    Rejected,
}
