//! Sends queued messages to external recipients: one mechanism for webhooks, push notifications and mails.
//!
//! A queued item becomes due, a process leases it, and it is sent, retried or given up. `channel` is the part that differs: the content,
//! the recipient, the order, and the retention. `worker` is the loop, and `in_flight` counts attempts by player and host. Any number of
//! processes share the work. Another process takes over when a lease expires, so each message arrives at least once.

mod channel;
mod in_flight;
mod worker;

pub(super) use channel::{Channel, Taken};
pub(super) use worker::{round, run};
