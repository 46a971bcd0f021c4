//! What may happen next in a game: [`Game::decide`](crate::Game::decide) answers commands, and
//! [`Game::due`](crate::Game::due) the passing of time. Nothing else decides it.
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
