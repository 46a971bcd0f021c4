//! What can happen to a game.

use std::fmt;

use mancala_rules::{AnyPosition, Move};
use time::OffsetDateTime;

use crate::{GameId, GameResult, OfferKind, PlayerId, Seat, Terms};

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
    /// A game by link has another code.
    CodeRenewed { join_code: String },
    /// The invited player turned the invitation down: the game ended without a result.
    Declined,
    /// A ply was played. A pie swap is one of these: the people of the seats change sides with it.
    Moved(Moved),
    /// `to_ply` of a takeback: the ply after which the game would go on.
    Offered { seat: Seat, kind: OfferKind, to_ply: Option<u32> },
    /// The offer of that kind was turned down, by a word or by a move.
    OfferDeclined { seat: Seat, kind: OfferKind },
    /// Whoever made the offer of that kind took it back, or made it pointless.
    OfferWithdrawn { seat: Seat, kind: OfferKind },
    /// An offered pause was accepted: no time runs.
    Paused { seat: Seat },
    /// Time runs again.
    Resumed { seat: Seat },
    /// An offered rematch was accepted: it is played in another game.
    Rematched { seat: Seat, game: GameId },
    /// Followed by `Finished`.
    Resigned { seat: Seat },
    /// Who was to move had no time left. Followed by `Finished`, or by `Aborted` if it would have been the first move.
    TimedOut { seat: Seat },
    /// Nobody joined in time: the game ended without a result.
    Expired,
    /// The game ended without a result.
    Aborted { seat: Seat },
    /// The game ended with a result.
    Finished(GameResult),
    /// What its plies were worth was found out: after its end, or between the plies of somebody who plays alone.
    Analysed,
}

/// How a game began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    pub terms: Terms,
    /// Who created it, and sits at `terms.creator`; in a game against oneself, at both seats.
    pub player: PlayerId,
    /// When it ends unless somebody joins; absent where nobody is to join.
    pub expires_at: Option<OffsetDateTime>,
}

/// A ply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its number in the game, from 1; never used twice.
    pub ply: u32,
    /// Who played it.
    pub seat: Seat,
    pub mv: Played,
    /// The position after it.
    pub position: AnyPosition,
}

/// What was played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Played {
    Move(Move),
    /// What was played after a ply was taken back, by agreement: its position is there again. What the rules ask of the
    /// positions before begins anew with it.
    Takeback {
        to_ply: u32,
    },
}

impl fmt::Display for Played {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Played::Move(mv) => mv.fmt(f),
            Played::Takeback { .. } => f.write_str("takeback"),
        }
    }
}
