//! The operators' own interface below `/v1/operator`: reports, players, and the log of what operators do. A key of its own opens it, and
//! nothing else.

pub mod access;
pub mod acts;
pub mod key;
pub mod players;
pub mod reports;
