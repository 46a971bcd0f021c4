//! A made-up game: the smallest that has an option, a flag, a refusal and an effect of its own. It is the example of the
//! guide "Adding a game", and shows that no other file has to know a game. Only builds with the feature `toy` have it.
//!
//! Each side sows its pits and its own store. A last seed that makes an even number in an own pit takes them all to the store:
//! a harvest. The other side cannot harvest in the next turn. Who cannot move ends the game; each row goes to its owner.

mod options;
mod position;
mod refusals;

pub use options::{Options, Preset};
pub use position::Position;
