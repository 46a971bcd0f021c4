//! Sign-in by others: issuers of OpenID Connect, and which identities of theirs are a player's.

pub mod begin;
pub mod complete;
pub mod identities;
mod session;
mod verified;
