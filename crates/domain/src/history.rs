//! A ply as the history shows it: frame by frame, with who played it and how long it took.

use mancala_rules::{AnyPosition, Effect, Side};
use thiserror::Error;
use time::{Duration, OffsetDateTime};

use crate::{Event, Fact, Game, Moved, Played, PlayerId, Seat};

/// What a ply was played upon. The history of the position is not asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Previous {
    pub position: AnyPosition,
    /// When the ply before was played; before the first, when the game started.
    pub at: OffsetDateTime,
}

/// One ply of a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    pub number: u32,
    /// The side of the board that it was played for.
    pub side: Side,
    /// Who played it.
    pub player: PlayerId,
    pub mv: Played,
    pub at: OffsetDateTime,
    /// Time since the ply before.
    pub elapsed: Duration,
    /// What happened on the board, in order; of a takeback nothing.
    pub effects: Vec<Effect>,
    /// The position after it.
    pub position: AnyPosition,
}

/// A recorded ply that the rules do not lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("ply {ply} does not follow from the position before it")]
pub struct UnplayableError {
    pub ply: u32,
}

impl Ply {
    /// Plays a recorded ply again upon the position before it. Nothing but its text was stored: the effects follow from
    /// the rules, and the position must be the recorded one.
    pub fn replay(
        game: &Game,
        previous: &Previous,
        moved: &Moved,
        at: OffsetDateTime,
    ) -> Result<Self, UnplayableError> {
        let unplayable = UnplayableError { ply: moved.ply };
        let (position, effects) = match moved.mv {
            Played::Move(mv) => {
                let recorded = moved.position.to_string();
                let (position, effects) = previous.position.replay(mv, &recorded).map_err(|_| unplayable)?;
                if position.to_string() != recorded {
                    return Err(unplayable);
                }
                (position, effects)
            }
            Played::Takeback { .. } => (moved.position.clone(), vec![]),
        };
        let side = match moved.mv {
            Played::Move(_) => previous.position.turn(),
            // Whoever took back is to move again.
            Played::Takeback { .. } => position.turn(),
        };
        Ok(Self {
            number: moved.ply,
            side,
            player: game.players[moved.seat].ok_or(unplayable)?,
            mv: moved.mv,
            at,
            elapsed: at - previous.at,
            effects,
            position,
        })
    }
}

/// The plies that were not taken back, oldest first, of a history or the end of one.
pub fn line(plies: &[Ply]) -> Vec<&Ply> {
    let mut line: Vec<&Ply> = vec![];
    for ply in plies {
        match ply.mv {
            Played::Move(_) => line.push(ply),
            Played::Takeback { to_ply } => line.retain(|earlier| earlier.number <= to_ply),
        }
    }
    line
}

impl Previous {
    /// What the first ply was played upon.
    pub fn opening(game: &Game) -> Self {
        Self { position: game.terms.opening(), at: game.started_at.unwrap_or(game.created_at) }
    }

    /// The last ply with an event.
    #[must_use]
    pub fn after(self, event: &Event) -> Self {
        match &event.fact {
            Fact::Moved(moved) => Self { position: moved.position.clone(), at: event.at },
            _ => self,
        }
    }

    /// Who was to move after it, unless the game was over.
    pub fn seat_to_move(&self) -> Seat {
        seat_to_move(&self.position)
    }
}

/// Who is to move in a position, unless the game is over.
pub(super) fn seat_to_move(position: &AnyPosition) -> Seat {
    seat_at(position, position.turn())
}

/// Who sits at a side of the board: after a pie swap the people have changed places.
pub fn seat_at(position: &AnyPosition, side: Side) -> Seat {
    let opener = if position.swapped() { Side::North } else { Side::South };
    if side == opener { Seat::First } else { Seat::Second }
}
