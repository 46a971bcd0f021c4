//! Decisions about the next events of a game: [`Game::decide`](crate::Game::decide) answers commands, and [`Game::due`](crate::Game::due)
//! finds events that time has made due. No other code makes such decisions.
//!
//! Knows the order of the checks, which is the API's contract. Does not know how a game is stored, or how a refusal is
//! shown.

mod checks;
mod command;
mod context;
mod decision;
mod endings;
mod facts;
mod joining;
mod moves;
mod offers;
mod permitted;
mod refusal;

pub use command::{Action, Command};
pub use context::{JoinContext, OFFERS_MAX, OfferContext, RematchContext, RematchOpponent, Subject, TakebackContext};
pub use decision::Decision;
pub use permitted::Permitted;
pub use refusal::{NothingToOffer, Refusal};
