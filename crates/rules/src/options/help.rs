//! Sentences on options that several games have. Knows no game.

/// `majority_end` (R8, R45).
pub(crate) const MAJORITY_END: &str = "Whether the game stops once a store holds more than half of all seeds.";

/// `majority_remaining` (R8, R45).
pub(crate) const MAJORITY_REMAINING: &str =
    "Whether the seeds left in pits at a majority stay there or go to the owner of the row.";
