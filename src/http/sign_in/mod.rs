//! Sign-in by others: issuers of OpenID Connect, and which identities of theirs are a player's.

pub(crate) mod begin;
pub(crate) mod complete;
pub(crate) mod identities;
mod session;
mod verified;
