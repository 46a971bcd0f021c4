//! Guests, accounts, their tokens and figures, and what stays of an erased player.

pub mod accounts;
pub mod erasure;
pub mod guests;
pub mod merge;
pub mod names;
pub mod networks;
pub mod recovery;
pub mod refresh;
pub mod revocation;
pub mod sign_ins;
pub mod stats;
