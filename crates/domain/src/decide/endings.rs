//! How a player ends a game: resigning, aborting, leaving.

use mancala_rules::Side;
use time::{Duration, OffsetDateTime};

use super::{Command, Refusal};
use crate::{Clock, Fact, Game, GameResult, PlayerId, Reason, Seat, Status};

/// How long a game without a clock waits for a player's first move. Then the other player may abort it.
pub const FIRST_MOVE_WAIT: Duration = Duration::days(1);

impl Game {
    pub(super) fn resign(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let side = self.side_resigned_by(command.player);
        let lost = GameResult { winner: Some(side.other()), reason: Reason::Resignation, score: self.score() };
        if self.result() == Some(&lost) {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        self.check_active()?;
        Ok(vec![Fact::Resigned { seat: self.seat_at(side) }, Fact::Finished(lost)])
    }

    pub(super) fn abort(&self, command: &Command<'_>, now: OffsetDateTime) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        if self.status() == Status::Aborted {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        if self.status().is_over() {
            return Err(Refusal::Over);
        }
        let mut seats = Seat::ALL.into_iter().filter(|seat| self.players()[*seat] == Some(command.player));
        match seats.clone().find(|seat| self.moved()[*seat]) {
            Some(_) if !self.is_left_unplayed(now) => Err(Refusal::AlreadyMoved),
            _ => Ok(seats.next().map(|seat| Fact::Aborted { seat }).into_iter().collect()),
        }
    }

    /// Whether a player has not moved once in [`FIRST_MOVE_WAIT`] since the game began, and no clock ends the game.
    fn is_left_unplayed(&self, now: OffsetDateTime) -> bool {
        self.terms().clock == Clock::Unlimited
            && self.started_at().is_some_and(|started_at| now >= started_at + FIRST_MOVE_WAIT)
            && Seat::ALL.into_iter().any(|seat| !self.moved()[seat])
            && self.players().first != self.players().second
    }

    pub(super) fn leave(&self, command: &Command<'_>, now: OffsetDateTime) -> Result<Vec<Fact>, Refusal> {
        match self.status() {
            Status::Open if !self.seats(command.player) => self.decline(command),
            Status::Open => self.abort(command, now),
            Status::Active => self.resign(command),
            Status::Finished | Status::Aborted => Ok(vec![]),
        }
    }

    /// The side that a player resigns: the player's own; in a game against oneself, the side to move.
    fn side_resigned_by(&self, player: PlayerId) -> Side {
        let turn = self.position().turn();
        if self.player_at(turn) == Some(player) { turn } else { turn.other() }
    }
}
