//! What games share in which each side sows round its own two rows (R19 to R33). Knows the board, its ring, the text of a
//! position and the reasons for refusals, and no game.

mod board;
pub(crate) mod frame;
pub(crate) mod help;
pub(crate) mod pit;
pub(crate) mod refusals;
pub(crate) mod setup;

pub use board::{Board, SEEDS, SEEDS_PER_SIDE};
pub use setup::required;
