//! The layers around all routes: connections, client addresses, rate limits, compression, metrics. Each knows requests and
//! answers, and no single route.

pub mod access;
mod buckets;
mod chosen;
pub mod client_address;
pub mod compress;
pub mod connections;
pub mod cors;
mod crowd;
pub mod envelope;
pub mod head;
pub mod limits;
pub mod observe;
pub mod pieces;
pub mod response_headers;
pub mod unread;
