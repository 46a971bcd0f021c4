//! The interval of polls, for whatever a caller waits for.

use std::time::Duration;

/// How often a wait polls: short compared with the work waited for, long compared with the cost of a poll.
pub(crate) const POLL_EVERY: Duration = Duration::from_millis(5);
