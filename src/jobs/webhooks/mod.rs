//! Webhooks: the job converts appends into deliveries, and sends these until they arrive.
//!
//! `worker` is the loop. `convert` makes deliveries, `pushed` makes what devices show, and `muted` finds what is not told. `deliver` makes
//! the attempts under a lease, and `recorder` records them. `in_flight` counts attempts by player and host, and `schedule` decides what
//! follows from an attempt. Any number of processes share the work. Another process takes over when a lease expires, so each message
//! arrives at least once, with the same id each time.

mod convert;
mod deliver;
mod in_flight;
mod muted;
mod pushed;
mod recorder;
mod schedule;
mod worker;

pub use convert::WriteMessage;
pub use deliver::{send, take};
pub use worker::{Settings, round, run};
