//! Players: profiles, accounts, tokens, and statistics.

pub mod blocks;
pub mod friends;
mod listed;
pub mod me;
pub mod merge;
pub mod mutes;
pub mod people;
pub mod profiles;
pub mod recent_sign_in;
pub mod recovery;
pub mod reports;
pub mod sign_ins;
pub mod stats;
pub mod summary;
pub mod tokens;
