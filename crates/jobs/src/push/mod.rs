//! Push notifications: the job sends the notices to devices that `jobs::webhooks` makes from the appends of games.
//!
//! `channel` leases devices for `jobs::outbound`, `attempts` sends to one device, and `schedule` decides on the next step after an answer.

mod attempts;
mod channel;
#[cfg(test)]
mod fixtures;
mod schedule;

pub use attempts::Settings;
pub use channel::{round, run};
