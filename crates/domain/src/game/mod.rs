//! A game: its terms, its log of events, and the fold of that log.
//!
//! Knows what a recorded event does to a game. What may happen next is decided in [`Game::decide`].

mod event;
mod fold;
mod increments;
mod offer;
mod ply;
mod state;
mod status;
mod terms;

pub(crate) use event::EVENTS_MAX;
pub use event::{Created, Event, Fact, Moved, PLIES_MAX, PlyAction};
pub use fold::{Game, ReplayError};
pub(crate) use fold::{in_microseconds, score_of};
pub(crate) use increments::Increments;
pub use offer::{Offer, OfferAnswer, OfferKind};
pub(crate) use ply::standing_plies;
pub use ply::{Ply, Previous, UnplayableError};
pub use state::{Change, GameState};
pub use status::{GameResult, Reason, Status};
pub use terms::{Opponent, Start, Terms, Visibility};
