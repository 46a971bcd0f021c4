//! What concerns every request: authentication, bodies and idempotency keys.

pub mod auth;
pub mod bodies;
pub mod idempotency;
