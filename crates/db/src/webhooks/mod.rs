//! Webhooks: the endpoints of players, the queue of events, and the deliveries of messages to endpoints.

pub mod attempts;
pub mod deliveries;
mod endpoints;
pub mod flags;
mod health;
pub mod queue;
pub mod results;

pub(crate) use endpoints::APP_DISABLED;
pub use endpoints::{
    Challenge, Changes, EventFilter, Made, NETWORK_WEBHOOKS_MAX, OVERLAP, PREVIOUS_MAX, WEBHOOKS_MAX, Webhook,
    challenge, delete, delete_of_erased, find, insert, list, rotate, update,
};
