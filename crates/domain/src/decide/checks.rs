//! Checks that many actions share.

use super::{Command, Refusal};
use crate::{Game, Level, PlayerId, Seat, Status};

impl Game {
    /// A private game is unknown to players without a seat, except the invited one.
    pub(super) fn check_seated(&self, player: PlayerId) -> Result<(), Refusal> {
        if self.seats(player) {
            Ok(())
        } else if self.is_visible_to(Some(player)) {
            Err(Refusal::NotSeated)
        } else {
            Err(Refusal::Unknown)
        }
    }

    /// Checks that a player gets a hint now: in practice, when that player is to move.
    pub fn check_hint(&self, player: PlayerId) -> Result<(), Refusal> {
        self.check_seated(player)?;
        if !self.is_practice() {
            return Err(Refusal::NoPractice);
        }
        self.check_active()?;
        let is_own_turn = self.player_at(self.position().turn()) == Some(player);
        is_own_turn.then_some(()).ok_or(Refusal::NotYourTurn)
    }

    /// The other player that an action approaches: joining the game, an offer, or a rematch. A block between the two forbids these. `None`
    /// if there is no such player, so that no block can matter.
    pub fn approached_by(&self, player: PlayerId) -> Option<PlayerId> {
        let other = if self.seats(player) {
            Seat::ALL.into_iter().filter_map(|seat| self.players()[seat]).find(|other| *other != player)
        } else if self.status() == Status::Open {
            self.players()[self.terms().creator]
        } else {
            None
        };
        other.filter(|other| Level::of_player(*other).is_none())
    }

    /// The game is at one of the versions that the command names.
    pub(super) fn check_version(&self, command: &Command<'_>) -> Result<(), Refusal> {
        let version = self.version();
        match command.if_version {
            Some(versions) if !versions.contains(&version) => Err(Refusal::OtherVersion { version }),
            _ => Ok(()),
        }
    }

    /// Moves are played.
    pub(super) const fn check_active(&self) -> Result<(), Refusal> {
        match self.status() {
            Status::Active => Ok(()),
            Status::Open => Err(Refusal::NotStarted),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }
}
