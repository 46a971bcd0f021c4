//! The events of a game's log: what can happen to a game.

use std::fmt;

use mancala_rules::{AnyPosition, Move};
use time::{Duration, OffsetDateTime};

use super::{GameResult, OfferKind, Terms};
use crate::{BySeat, Clock, GameId, PlayerId, Seat};

/// The most plies of a game, including those that are taken back: many times as many as people play. The last one ends the game with a
/// draw, so that the cost of reading a game is bounded.
pub const PLIES_MAX: u32 = 2_000;

/// The most events of a log to which offers and join codes still add: four for each ply.
pub(crate) const EVENTS_MAX: u32 = 4 * PLIES_MAX;

/// An entry of a game's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// 1, 2, 3, … within the game.
    pub seq: u32,
    /// When it happened; never before the previous event.
    pub at: OffsetDateTime,
    /// The fact.
    pub fact: Fact,
}

/// A fact: something that happened in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// The game was created: the first event of every log, and only the first.
    Created(Created),
    /// A player took the free seat: the game begins.
    Joined {
        /// The seat that was free.
        seat: Seat,
        /// The player that took it.
        player: PlayerId,
    },
    /// The player of a seat was a guest, and has been merged with an account: it sits there from now on.
    Reseated {
        /// The guest's seat.
        seat: Seat,
        /// The account.
        player: PlayerId,
    },
    /// A game by link has a new join code.
    CodeRenewed {
        /// The new code.
        join_code: String,
    },
    /// The invited player declined the invitation: the game ended without a result.
    Declined,
    /// A ply was played. A pie swap is a ply: it exchanges the sides of the players.
    Moved(Moved),
    /// A player made an offer.
    Offered {
        /// The offering player's seat.
        seat: Seat,
        /// The kind of the offer.
        kind: OfferKind,
        /// In a takeback, the ply after which the game would go on.
        to_ply: Option<u32>,
    },
    /// The pending offer of that kind was declined, explicitly or by a move.
    OfferDeclined {
        /// The declining player's seat.
        seat: Seat,
        /// The kind of the offer.
        kind: OfferKind,
    },
    /// The pending offer of that kind was withdrawn, explicitly or because it became pointless.
    OfferWithdrawn {
        /// The offering player's seat.
        seat: Seat,
        /// The kind of the offer.
        kind: OfferKind,
    },
    /// An offered pause was accepted: the clock stands. Without a pending offer the clock is held for a suspended player.
    Paused {
        /// The seat of the accepting player, or of the suspended one.
        seat: Seat,
    },
    /// The clock runs again.
    Resumed {
        /// The seat of the player that ended the pause. If a clock was held: the seat that waits.
        seat: Seat,
    },
    /// An offered rematch was accepted: it is another game.
    Rematched {
        /// The accepting player's seat.
        seat: Seat,
        /// The game of the rematch.
        game: GameId,
    },
    /// A player resigned. Followed by `Finished`.
    Resigned {
        /// The seat of that player.
        seat: Seat,
    },
    /// The player to move ran out of time. Followed by `Finished`, or by `Aborted` before that player's first move.
    TimedOut {
        /// The seat of that player.
        seat: Seat,
    },
    /// No player joined in time: the game ended without a result.
    Expired,
    /// The game ended without a result.
    Aborted {
        /// The seat of the aborting player.
        seat: Seat,
    },
    /// The game ended with a result.
    Finished(GameResult),
    /// The analysis of the game was stored: after its end, or between the plies of a game against oneself or of practice.
    Analysed,
}

impl Fact {
    /// Whether this fact ends the game.
    pub const fn ends_game(&self) -> bool {
        matches!(self, Fact::Declined | Fact::Expired | Fact::Aborted { .. } | Fact::Finished(_))
    }
}

/// How a game began.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The terms of the game.
    pub terms: Terms,
    /// The creator, who sits at `terms.creator`; in a game against oneself, at both seats.
    pub player: PlayerId,
    /// When the game ends unless a player joins; `None` where both seats are taken already.
    pub expires_at: Option<OffsetDateTime>,
    /// Whether a takeback takes the increments of the undone turns out of the banks again. Only clocks with increments say so.
    pub returns_increments: bool,
}

impl Event {
    /// The same beginning of a game, by the rule that takebacks take increments back, if its clock has any.
    #[must_use]
    pub fn returning_increments(mut self) -> Self {
        if let Fact::Created(created) = &mut self.fact {
            let has_increments =
                matches!(created.terms.clock, Clock::Bank { increment, .. } if increment > Duration::ZERO);
            created.returns_increments = has_increments;
        }
        self
    }
}

/// A ply, as the log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Its number in the game, from 1; never used twice.
    pub ply: u32,
    /// The seat that played it.
    pub seat: Seat,
    /// The played move.
    pub mv: PlyAction,
    /// The position after it.
    pub position: AnyPosition,
}

/// The action of a ply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlyAction {
    /// A move by the rules.
    Move(Move),
    /// An agreed takeback: the position after an earlier ply stands again. Its history begins anew.
    Takeback {
        /// The last ply that stands; 0: the opening position.
        to_ply: u32,
        /// The increments of the undone turns, which go out of the banks again. Zero in games that keep them.
        increments: BySeat<Duration>,
    },
}

impl fmt::Display for PlyAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlyAction::Move(mv) => mv.fmt(f),
            PlyAction::Takeback { .. } => f.write_str("takeback"),
        }
    }
}
