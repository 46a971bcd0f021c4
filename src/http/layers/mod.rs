//! What lies around all routes: connections, addresses, limits, compression, metrics.

pub(crate) mod client_address;
pub(crate) mod compress;
pub(crate) mod connections;
pub(crate) mod cors;
pub(crate) mod head;
pub(crate) mod limits;
pub(crate) mod observe;
pub(crate) mod permits;
