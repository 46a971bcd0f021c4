//! Variants: what can be played, with which options, and lines of moves without a game.

pub mod catalog;
pub mod line;
mod options_schema;
