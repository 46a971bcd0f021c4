//! Webhooks: where players have notices sent to.

pub mod deliveries;
mod endpoints;
pub mod flags;
mod health;
pub mod queue;

pub use endpoints::{
    Changes, EventFilter, Made, OVERLAP, PREVIOUS_MAX, WEBHOOKS_MAX, Webhook, delete, delete_of_erased, find, insert,
    list, rotate, update,
};
