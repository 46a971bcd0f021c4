//! Push notifications: the job sends to devices what `jobs::webhooks` has made of the appends of games.
//!
//! `worker` is the loop, `attempts` sends to one device, `in_flight` counts by host and player, `schedule` decides what
//! follows from an answer. Any number of processes share the work by leases.

mod attempts;
#[cfg(test)]
mod fixtures;
mod in_flight;
mod schedule;
mod settings;
mod worker;

pub use settings::Settings;
pub use worker::{round, run};
