//! Webhooks: where players have notices sent to.

pub mod deliveries;
mod endpoints;
pub mod flags;
mod health;
pub mod queue;

pub use endpoints::{
    Changes, Made, OVERLAP, PREVIOUS_MAX, WEBHOOKS_MAX, Wanted, Webhook, delete, delete_of_erased, find, insert, list,
    rotate, update,
};
