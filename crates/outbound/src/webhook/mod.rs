//! Sends webhooks and push notifications to addresses that players name: which addresses are allowed, one attempt, and the connections that
//! are kept. Documents and keys of issuers of sign-ins are fetched under the same rules.
//!
//! A player could name an address on this machine or in its networks, so that the server sends requests to services that trust
//! it (SSRF). Therefore only public addresses are allowed unless the operator permits others; see `address`. This folder knows
//! none of the other modules.

mod address;
mod endpoint;
mod exchange;
mod fetch;
mod pool;
mod sender;
mod wire;

pub use endpoint::{Endpoint, EndpointError, PORTS_MAX, Ports, Reach, host_of};
pub use exchange::EndpointResponse;
pub use fetch::{Fetch, Fetched};
pub use pool::Ages;
pub use sender::{Attempt, ConnectionsUsed, Names, Post, SendError, Sender, system_names};
