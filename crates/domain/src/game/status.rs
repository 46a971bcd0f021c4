//! The status of a game, and how a finished game ended.

use std::{fmt, str::FromStr};

use mancala_rules::{BySide, EndReason, Side};

/// How far a game has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// A seat is free.
    Open,
    /// Both seats are taken, and moves are played.
    Active,
    /// Ended with a result.
    Finished,
    /// Ended without a result.
    Aborted,
}

impl Status {
    /// Every status.
    pub const ALL: [Status; 4] = [Status::Open, Status::Active, Status::Finished, Status::Aborted];

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::Active => "active",
            Status::Finished => "finished",
            Status::Aborted => "aborted",
        }
    }

    /// Whether the game has ended, with a result or without.
    pub const fn is_over(self) -> bool {
        matches!(self, Status::Finished | Status::Aborted)
    }
}

/// How a finished game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameResult {
    /// The winning side of the board; `None` on a draw.
    pub winner: Option<Side>,
    /// Why the game ended.
    pub reason: Reason,
    /// The seeds in the stores; with four rows those in pits and reserves.
    pub score: BySide<u16>,
}

/// Why a game is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// By the rules.
    Rules(EndReason),
    /// A player resigned.
    Resignation,
    /// A player ran out of time.
    Timeout,
    /// Both players agreed on it.
    Agreement,
    /// The game reached its greatest length: a draw. That is [`PLIES_MAX`](crate::PLIES_MAX), or less by the rules.
    PlyLimit,
    /// The record does not say; only of imported games.
    Unknown,
}

impl Reason {
    /// Every reason.
    pub fn all() -> impl Iterator<Item = Reason> {
        let beside_rules = [Reason::Resignation, Reason::Timeout, Reason::Unknown];
        EndReason::ALL.into_iter().map(Reason::from).chain(beside_rules)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Rules(reason) => reason.fmt(f),
            Reason::Resignation => f.write_str("resignation"),
            Reason::Timeout => f.write_str("timeout"),
            Reason::Agreement => f.write_str("agreement"),
            Reason::PlyLimit => f.write_str("ply_limit"),
            Reason::Unknown => f.write_str("unknown"),
        }
    }
}

impl FromStr for Reason {
    type Err = <EndReason as FromStr>::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "resignation" => Reason::Resignation,
            "timeout" => Reason::Timeout,
            "ply_limit" => Reason::PlyLimit,
            "unknown" => Reason::Unknown,
            _ => text.parse::<EndReason>()?.into(),
        })
    }
}

impl From<EndReason> for Reason {
    /// An agreement by the rules, which shares the seeds out, and one that leaves them differ in the score only. A limit
    /// of plies by the rules and that of all games have the same word.
    fn from(reason: EndReason) -> Self {
        match reason {
            EndReason::Agreement => Reason::Agreement,
            EndReason::PlyLimit => Reason::PlyLimit,
            reason => Reason::Rules(reason),
        }
    }
}
