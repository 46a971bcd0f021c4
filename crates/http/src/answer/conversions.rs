//! Turns failures of the database, of views and of the domain into problems.

use std::error::Error as StdError;

use mancala_db::DbError;
use mancala_domain::Refusal;
use mancala_wire::view::event::ViewError;

use super::{code::Code, problem::Problem};

impl From<DbError> for Problem {
    fn from(error: DbError) -> Self {
        match &error {
            DbError::ConnectionLost(_)
            | DbError::Unreachable(_)
            | DbError::Busy(_)
            | DbError::OutOfService(_)
            | DbError::QueueFull => {
                Self::new(Code::Unavailable, "the database is away or busy; try again").because(chain(&error))
            }
            // A handler refers to a row that it has not read only for its own player.
            DbError::Constraint { name } if name.ends_with("_player_fkey") => {
                Self::new(Code::InvalidToken, "the token's player does not exist")
            }
            _ => Self::internal(chain(&error)),
        }
    }
}

impl From<ViewError> for Problem {
    fn from(error: ViewError) -> Self {
        Self::internal(error)
    }
}

impl From<&Refusal> for Problem {
    fn from(refusal: &Refusal) -> Self {
        let code = match refusal {
            Refusal::Unknown => Code::NotFound,
            Refusal::NotSeated => Code::NotSeated,
            Refusal::WrongJoinCode
            | Refusal::NotInvited
            | Refusal::NoCode
            | Refusal::AlreadyMoved
            | Refusal::NoPractice => Code::Forbidden,
            Refusal::TooManyGames | Refusal::TooManyGamesForRematch | Refusal::TooManyComputerGames(_) => {
                Code::TooManyGames
            }
            Refusal::OtherVersion { .. } => Code::PreconditionFailed,
            Refusal::SeatTaken => Code::SeatTaken,
            Refusal::OwnGame => Code::OwnGame,
            Refusal::NotStarted => Code::GameNotStarted,
            Refusal::Over => Code::GameOver,
            Refusal::StalePly { .. } => Code::StalePly,
            Refusal::NotYourTurn => Code::NotYourTurn,
            Refusal::Illegal(_) | Refusal::NotAMove(_) => Code::IllegalMove,
            Refusal::NoSuchOffer => Code::NoSuchOffer,
            Refusal::OfferPending => Code::OfferPending,
            Refusal::NothingToOffer(_) => Code::OfferNotPossible,
            Refusal::InTurn { index, position, refusal: of_move } => {
                let code = Self::from(of_move.as_ref()).code();
                return Self::new(code, refusal.to_string()).with_place(*index, position.to_string());
            }
        };
        Self::new(code, refusal.to_string())
    }
}

/// An error and its sources in one line.
pub fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
