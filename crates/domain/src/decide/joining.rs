//! Before a game begins: joining it, renewing its join code, declining it.

use super::{Command, JoinContext, Refusal};
use crate::{Fact, Game, Opponent, PlayerId, RUNNING_GAMES_MAX, Status, game::EVENTS_MAX};

impl Game {
    pub(super) fn join(
        &self,
        command: &Command<'_>,
        join_code: Option<&str>,
        context: JoinContext,
    ) -> Result<Vec<Fact>, Refusal> {
        if self.players()[self.terms().creator] == Some(command.player) {
            return Err(Refusal::OwnGame);
        }
        if self.seats(command.player) {
            return Ok(vec![]);
        }
        let is_code_right = match &self.terms().opponent {
            Opponent::Open | Opponent::Player { .. } => true,
            Opponent::Link { .. } => self.is_join_code(join_code),
            Opponent::Oneself | Opponent::Computer { .. } | Opponent::Imported { .. } => false,
        };
        let is_free = self.status() == Status::Open;
        // A private game exists for its players only, and for a player with the join code.
        if !(self.is_visible_to(Some(command.player)) || self.is_join_code(join_code)) {
            return Err(Refusal::Unknown);
        }
        if self.invited().is_some_and(|invited| invited != command.player) {
            return Err(Refusal::NotInvited);
        }
        self.check_version(command)?;
        if self.status() == Status::Aborted {
            return Err(Refusal::Over);
        }
        if !is_free {
            return Err(Refusal::SeatTaken);
        }
        if context.is_blocked {
            return Err(self.closed_to(command.player));
        }
        if !is_code_right {
            return Err(Refusal::WrongJoinCode);
        }
        if context.running_games >= RUNNING_GAMES_MAX {
            return Err(Refusal::TooManyGames);
        }
        Ok(vec![Fact::Joined { seat: self.terms().creator.other(), player: command.player }])
    }

    /// The refusal for a player whom a block keeps out of an open game: the code is wrong, or there is no such game. Players without a
    /// block get the same refusals in other cases, so neither refusal reveals a block.
    fn closed_to(&self, player: PlayerId) -> Refusal {
        match self.terms().opponent {
            Opponent::Link { .. } if self.is_visible_to(Some(player)) => Refusal::WrongJoinCode,
            _ => Refusal::Unknown,
        }
    }

    /// Checks that a reader may see the game. The reader may see it at any time, or holds the join code while a seat is
    /// free.
    pub fn check_readable(&self, reader: Option<PlayerId>, join_code: Option<&str>) -> Result<(), Refusal> {
        if self.is_visible_to(reader) {
            return Ok(());
        }
        match self.status() {
            _ if !self.is_join_code(join_code) => Err(Refusal::Unknown),
            Status::Open => Ok(()),
            Status::Active | Status::Finished => Err(Refusal::SeatTaken),
            Status::Aborted => Err(Refusal::Over),
        }
    }

    /// Whether the game is by link, and this is its join code.
    fn is_join_code(&self, given: Option<&str>) -> bool {
        match &self.terms().opponent {
            Opponent::Link { join_code } => given.is_some_and(|given| is_same_secret(given, join_code)),
            _ => false,
        }
    }

    pub(super) fn renew_code(&self, command: &Command<'_>, join_code: &str) -> Result<Vec<Fact>, Refusal> {
        self.check_seated(command.player)?;
        let is_by_link = matches!(self.terms().opponent, Opponent::Link { .. });
        if !is_by_link || self.players()[self.terms().creator] != Some(command.player) {
            return Err(Refusal::NoCode);
        }
        self.check_version(command)?;
        match self.status() {
            Status::Open if self.version() >= EVENTS_MAX => Err(Refusal::NoCode),
            Status::Open => Ok(vec![Fact::CodeRenewed { join_code: join_code.to_owned() }]),
            Status::Active => Err(Refusal::SeatTaken),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }

    pub(super) fn decline(&self, command: &Command<'_>) -> Result<Vec<Fact>, Refusal> {
        if !self.is_visible_to(Some(command.player)) {
            return Err(Refusal::Unknown);
        }
        if self.invited() != Some(command.player) {
            return Err(Refusal::NotInvited);
        }
        if self.status() == Status::Aborted {
            return Ok(vec![]);
        }
        self.check_version(command)?;
        match self.status() {
            Status::Open => Ok(vec![Fact::Declined]),
            Status::Active => Err(Refusal::SeatTaken),
            Status::Finished | Status::Aborted => Err(Refusal::Over),
        }
    }
}

/// Compares two secrets in a time that does not depend on where they differ.
fn is_same_secret(given: &str, expected: &str) -> bool {
    given.len() == expected.len() && given.bytes().zip(expected.bytes()).fold(0, |diff, (a, b)| diff | (a ^ b)) == 0
}
