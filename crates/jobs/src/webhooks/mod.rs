//! Webhooks: the job converts appends into deliveries, and sends these until they arrive.
//!
//! `worker` has the loops. `convert` makes deliveries, `pushed` makes notices for devices, and `muted` finds notices that are not
//! delivered. `channel` makes the attempts under a lease for `jobs::outbound`, and `recorder` records them. `schedule` decides on the next
//! step after an attempt. A message has the same id each time it is sent.

mod channel;
mod convert;
mod muted;
mod pushed;
mod recorder;
mod schedule;
mod worker;

pub use channel::{Settings, send, take};
pub use convert::WriteMessage;
pub use worker::{round, run};
