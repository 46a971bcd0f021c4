//! Sends what waits in a queue to recipients elsewhere: one machine for webhooks, push notifications and mails.
//!
//! Something queued becomes due, a process leases it, and it is sent, retried or given up. `channel` is what differs: what is sent,
//! where, in which order, and how long it is kept. `worker` is the loop, and `in_flight` counts attempts by player and host. Any number
//! of processes share the work. Another process takes over when a lease expires, so each message arrives at least once.

mod channel;
mod in_flight;
mod worker;

pub(super) use channel::{Channel, Taken};
pub(super) use worker::{round, run};
