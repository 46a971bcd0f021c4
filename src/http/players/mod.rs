//! Players: profiles, accounts, tokens, and statistics.

pub(crate) mod blocks;
pub(crate) mod friends;
mod listed;
pub(crate) mod me;
pub(crate) mod merge;
pub(crate) mod mutes;
pub(crate) mod people;
pub(crate) mod profiles;
pub(crate) mod recent_sign_in;
pub(crate) mod recovery;
pub(crate) mod reports;
pub(crate) mod sign_ins;
pub(crate) mod stats;
pub(crate) mod summary;
pub(crate) mod tokens;
