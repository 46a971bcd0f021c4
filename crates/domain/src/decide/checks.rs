//! Checks that many actions share.

use super::{Command, Refusal};
use crate::{Game, PlayerId, Status};

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
