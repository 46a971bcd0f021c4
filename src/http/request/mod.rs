//! What requests have in common: who calls, what is accepted and preferred, and how a body is read.

pub(crate) mod accept;
pub(crate) mod auth;
pub(crate) mod extract;
pub(crate) mod idempotency;
pub(crate) mod player;
pub(crate) mod prefer;
