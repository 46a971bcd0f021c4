//! The operators' own interface below `/v1/operator`: reports, players, and the log of what operators do. A key of its own opens it, and
//! nothing else.

pub(crate) mod access;
pub(crate) mod acts;
pub(crate) mod key;
pub(crate) mod players;
pub(crate) mod reports;
