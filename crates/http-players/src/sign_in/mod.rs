//! Sign-in with issuers of OpenID Connect, and the identities by which players sign in.

pub mod begin;
pub mod complete;
pub mod identities;
mod session;
mod verified;
