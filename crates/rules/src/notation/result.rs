//! Results and terminations as records write them. Knows their words, not which of them a game can have.

use std::{fmt, str::FromStr};

use crate::{BySide, EndReason, Outcome, Side, UnknownWord};

worded_enum! {
    /// The result of a game as records write it.
    pub enum RecordResult {
        /// South's side won. After a pie swap, this is the player that began as North (R7).
        South = "1-0",
        /// North's side won.
        North = "0-1",
        /// Neither side won.
        Draw = "1/2-1/2",
        /// The game is not finished, or was abandoned.
        Unfinished = "*",
    }
}

impl RecordResult {
    /// The result for a winner; `None` is a draw.
    const fn won_by(winner: Option<Side>) -> Self {
        match winner {
            Some(Side::South) => Self::South,
            Some(Side::North) => Self::North,
            None => Self::Draw,
        }
    }

    /// The result of a finished game with this score, where the score decides.
    pub(super) fn of(score: BySide<u16>) -> Self {
        match score.south.cmp(&score.north) {
            std::cmp::Ordering::Greater => Self::South,
            std::cmp::Ordering::Less => Self::North,
            std::cmp::Ordering::Equal => Self::Draw,
        }
    }
}

impl From<Outcome> for RecordResult {
    fn from(outcome: Outcome) -> Self {
        Self::won_by(outcome.winner)
    }
}

/// Why a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Termination {
    /// A rule ended it, or the players agreed on the result.
    Rule(EndReason),
    /// A player gave up.
    Resignation,
    /// A player's time ran out.
    Timeout,
}

/// The word of the rule, `resignation` or `timeout`.
impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(reason) => reason.fmt(f),
            Self::Resignation => f.pad("resignation"),
            Self::Timeout => f.pad("timeout"),
        }
    }
}

impl FromStr for Termination {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "resignation" => Ok(Self::Resignation),
            "timeout" => Ok(Self::Timeout),
            _ => text.parse().map(Self::Rule).map_err(|_| UnknownWord { expected: Self::WORDS }),
        }
    }
}

impl Termination {
    /// Every word, those of the rules first.
    pub const WORDS: &'static [&'static str] = &[
        EndReason::SideEmpty.word(),
        EndReason::NoMove.word(),
        EndReason::NoFeedingMove.word(),
        EndReason::Majority.word(),
        EndReason::Repetition.word(),
        EndReason::Agreement.word(),
        EndReason::GrandSlamForfeit.word(),
        EndReason::FrontEmpty.word(),
        EndReason::TwoHeads.word(),
        EndReason::Akakyala.word(),
        EndReason::EndlessMove.word(),
        EndReason::PlyLimit.word(),
        "resignation",
        "timeout",
    ];
}
