//! Variants: what can be played, with which options, and lines of moves without a game.

pub(crate) mod catalog;
pub(crate) mod line;
pub(crate) mod options_schema;
