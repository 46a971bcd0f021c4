//! Sentences on options that both games have (R20).

/// `circuits`.
pub(crate) const CIRCUITS: &str = "After how many circuits without a capture a sowing counts as endless.";

/// `max_plies`.
pub(crate) const MAX_PLIES: &str = "After how many plies the game is a draw at the latest.";
