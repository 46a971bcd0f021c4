//! What lies around every handler: rate limits, CORS and the bounds on slow clients.

pub mod cors;
pub mod limits;
pub mod slow_clients;
