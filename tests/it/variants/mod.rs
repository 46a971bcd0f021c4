//! The catalogue of games, and lines of moves without a game.

pub mod catalog;
pub mod line;
