//! The increments that the turns of a game brought, so that a takeback can take back those of the turns that it undoes.

use time::Duration;

use super::{Created, Event, Fact, Game, PlyAction, ReplayError};
use crate::{BySeat, GameId, Seat};

/// The increments of the standing turns, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Increments(Vec<Increment>);

#[derive(Debug)]
struct Increment {
    /// The last ply of the turn.
    ply: u32,
    seat: Seat,
    /// The time that the bank gained. A full bank gains less than the clock gives.
    time: Duration,
}

impl Increments {
    /// Finds the increments of a log whose takebacks take increments back; `None` for other logs.
    pub(crate) fn of(id: GameId, log: &[Event]) -> Option<Self> {
        let (first, rest) = log.split_first()?;
        if !matches!(first.fact, Fact::Created(Created { returns_increments: true, .. })) {
            return None;
        }
        let (mut game, mut increments) = (Game::replay(id, [first]).ok()?, Self::default());
        rest.iter().try_for_each(|event| increments.follow(&mut game, event)).ok()?;
        Some(increments)
    }

    /// Applies the next event to a game with a bank of time, and notes the increment of a turn that ends with it.
    pub(crate) fn follow(&mut self, game: &mut Game, event: &Event) -> Result<(), ReplayError> {
        let (mover, left) = (game.seat_to_move(), game.time().left(event.at));
        game.apply(event)?;
        let Fact::Moved(moved) = &event.fact else { return Ok(()) };
        match moved.mv {
            PlyAction::Move(_) => {
                if let (Some(seat), Some(left)) = (mover, left)
                    && game.seat_to_move() == Some(seat.other())
                {
                    self.0.push(Increment { ply: moved.ply, seat, time: game.time().banks[seat] - left });
                }
            }
            PlyAction::Takeback { to_ply, .. } => self.0.retain(|turn| turn.ply <= to_ply),
        }
        Ok(())
    }

    /// Sums the increments of the turns that ended after a ply.
    pub(crate) fn since(&self, ply: u32) -> BySeat<Duration> {
        let mut since = BySeat::default();
        for turn in self.0.iter().filter(|turn| turn.ply > ply) {
            since[turn.seat] += turn.time;
        }
        since
    }
}
