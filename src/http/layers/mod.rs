//! The layers around all routes: connections, client addresses, rate limits, compression, metrics. Each knows requests and
//! answers, and no single route.

pub(crate) mod access;
mod buckets;
mod chosen;
pub(crate) mod client_address;
pub(crate) mod compress;
pub(crate) mod connections;
pub(crate) mod cors;
pub(crate) mod crowd;
pub(crate) mod envelope;
pub(crate) mod head;
pub(crate) mod limits;
pub(crate) mod observe;
pub(crate) mod pieces;
pub(crate) mod response_headers;
pub(crate) mod unread;
