//! Guests, accounts, their tokens, figures, blocks and friends, how they are found, and what stays of an erased player.

pub mod accounts;
pub mod blocked_games;
pub mod blocked_operations;
pub mod blocks;
pub mod erasure;
pub mod friends;
pub mod guests;
pub mod last_seen;
pub mod merge;
pub mod mutes;
pub mod names;
pub mod networks;
pub mod new_accounts;
pub mod people;
pub mod personal_data;
pub mod recent_sign_in;
pub mod recovery;
pub mod refresh;
pub mod reports;
pub mod revocation;
pub mod sign_in_networks;
pub mod sign_ins;
pub mod stats;
