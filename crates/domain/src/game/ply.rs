//! A ply as the history shows it: frame by frame, with its player and the time that it took.

use mancala_rules::{AnyPosition, Effect, Side};
use thiserror::Error;
use time::{Duration, OffsetDateTime};

use super::{Event, Fact, Game, Moved, PLIES_MAX, PlyAction};
use crate::{PlayerId, Seat, seat::seat_to_move};

/// The state before a ply. The position needs no history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Previous {
    /// The position before the ply.
    pub position: AnyPosition,
    /// When the ply before was played; before the first, when the game started.
    pub at: OffsetDateTime,
}

/// A ply of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// Its number in the game, from 1.
    pub number: u32,
    /// The side of the board that it was played for.
    pub side: Side,
    /// The player that played it.
    pub player: PlayerId,
    /// The played move.
    pub mv: PlyAction,
    /// When it was played.
    pub at: OffsetDateTime,
    /// Time since the ply before.
    pub elapsed: Duration,
    /// The effects on the board, in order; empty for a takeback.
    pub effects: Vec<Effect>,
    /// The position after it.
    pub position: AnyPosition,
}

/// A recorded ply that the rules do not lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("ply {ply} does not follow from the position before it")]
pub struct UnplayableError {
    /// The ply's number.
    pub ply: u32,
}

impl Ply {
    /// A ply that was just played in a game: `before` is the game before it, `since` when the ply before was played,
    /// and `effects` are those of the [`Decision`](crate::Decision).
    pub fn played(
        before: &Game,
        since: OffsetDateTime,
        moved: &Moved,
        at: OffsetDateTime,
        effects: Vec<Effect>,
    ) -> Result<Self, UnplayableError> {
        Self::new(before, before.position().turn(), since, moved, at, (moved.position.clone(), effects))
    }

    /// Plays a recorded ply again upon the position before it. Effects are not stored: they follow from the rules. The
    /// rules must lead to the recorded position.
    pub fn replay(
        game: &Game,
        previous: &Previous,
        moved: &Moved,
        at: OffsetDateTime,
    ) -> Result<Self, UnplayableError> {
        let unplayable = UnplayableError { ply: moved.ply };
        let played = match moved.mv {
            PlyAction::Move(mv) => {
                let recorded = moved.position.to_string();
                let (position, effects) = previous.position.replay(mv, &recorded).map_err(|_| unplayable)?;
                if position.to_string() != recorded {
                    return Err(unplayable);
                }
                (position, effects)
            }
            PlyAction::Takeback { .. } => (moved.position.clone(), vec![]),
        };
        Self::new(game, previous.position.turn(), previous.at, moved, at, played)
    }

    /// The side to move after it; `None` if it ends the game by the rules or by its length. A resignation or the like is
    /// no ply.
    pub fn turn_after(&self) -> Option<Side> {
        (self.number < PLIES_MAX && self.position.outcome().is_none()).then(|| self.position.turn())
    }

    fn new(
        game: &Game,
        turn: Side,
        since: OffsetDateTime,
        moved: &Moved,
        at: OffsetDateTime,
        (position, effects): (AnyPosition, Vec<Effect>),
    ) -> Result<Self, UnplayableError> {
        let side = match moved.mv {
            PlyAction::Move(_) => turn,
            // The player that took back is to move again.
            PlyAction::Takeback { .. } => position.turn(),
        };
        Ok(Self {
            number: moved.ply,
            side,
            player: game.players()[moved.seat].ok_or(UnplayableError { ply: moved.ply })?,
            mv: moved.mv,
            at,
            elapsed: at - since,
            effects,
            position,
        })
    }
}

/// The plies of a history, or of its end, that were not taken back, oldest first.
pub(crate) fn standing_plies(plies: &[Ply]) -> Vec<&Ply> {
    let mut standing: Vec<&Ply> = vec![];
    for ply in plies {
        match ply.mv {
            PlyAction::Move(_) => standing.push(ply),
            PlyAction::Takeback { to_ply, .. } => standing.retain(|earlier| earlier.number <= to_ply),
        }
    }
    standing
}

impl Previous {
    /// The state before the first ply.
    pub fn opening(game: &Game) -> Self {
        Self { position: game.terms().opening(), at: game.started_at().unwrap_or(game.created_at()) }
    }

    /// The same after an event: what the next ply is played upon.
    #[must_use]
    pub fn after(self, event: &Event) -> Self {
        match &event.fact {
            Fact::Moved(moved) => Self { position: moved.position.clone(), at: event.at },
            _ => self,
        }
    }

    /// The seat to move, unless the game is over.
    pub fn seat_to_move(&self) -> Seat {
        seat_to_move(&self.position)
    }
}
