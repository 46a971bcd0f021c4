//! Guests, accounts, their tokens, their figures, and what remains of a deleted player.

pub mod accounts;
pub mod erasure;
pub mod guests;
pub mod refresh;
pub mod stats;
