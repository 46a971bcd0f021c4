//! What can happen to a game.

use time::OffsetDateTime;

use super::{GameResult, PlayerId, Seat, Terms};
use crate::rules::{AnyPosition, Move};

/// One entry of a game's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// 1, 2, 3, … within the game.
    pub seq: u32,
    /// Never before the previous event's.
    pub at: OffsetDateTime,
    pub fact: Fact,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The first event of every game, and of no other place in the log.
    Created(Created),
    /// The free seat was taken: the game begins.
    Joined { seat: Seat, player: PlayerId },
    /// The invited player turned the invitation down: the game ended without a result.
    Declined,
    /// A ply was played. A pie swap is one of these: the people of the seats change sides with it.
    Moved(Moved),
    /// Followed by `Finished`.
    Resigned { seat: Seat },
    /// The game ended without a result.
    Aborted { seat: Seat },
    /// The game ended with a result.
    Finished(GameResult),
}

/// How a game began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    pub terms: Terms,
    /// Who created it, and sits at `terms.creator`; in a game against oneself, at both seats.
    pub player: PlayerId,
}

/// A ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its number in the game, from 1; never used twice.
    pub ply: u32,
    /// Who played it.
    pub seat: Seat,
    pub mv: Move,
    /// The position after it.
    pub position: AnyPosition,
}
