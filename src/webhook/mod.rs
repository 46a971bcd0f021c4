//! Sending to addresses that players name: which of them are allowed, and one attempt.
//!
//! Whoever may name an address could have this server ask others, on its own machine or in its own network, that trust it. So nothing is
//! sent to an address that is not public, unless the operator allows it; see `address`. This module knows nothing of ours.

mod address;
mod endpoint;
mod sender;

pub use address::is_public;
pub use endpoint::{Endpoint, EndpointError, Reach};
pub use sender::{Answer, Attempt, Names, SendError, Sender, system_names};
