//! The operators' own interface below `/v1/operator`: reports, players, and the log of acts. Only an operator's key opens it.

pub mod access;
pub mod acts;
pub mod key;
pub mod players;
pub mod reports;
