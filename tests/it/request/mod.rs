//! What concerns every request: authentication and idempotency keys.

pub mod auth;
pub mod idempotency;
