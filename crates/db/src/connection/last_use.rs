//! When a connection was last of use.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// When a pool last had a connection to give, or a task last had an answer. Clones are the same.
#[derive(Clone, Debug)]
pub struct LastUse(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    begin: Instant,
    /// Milliseconds since `begin`.
    at_ms: AtomicU64,
}

impl LastUse {
    /// A pool or a task counts as used when it begins, because its connection takes time to open.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Shared { begin: Instant::now(), at_ms: AtomicU64::new(0) }))
    }

    /// Notes a use.
    pub(crate) fn note(&self) {
        self.0.at_ms.store(ms(self.0.begin.elapsed()), Ordering::Relaxed);
    }

    /// The time since the last use.
    pub fn age(&self) -> Duration {
        self.0.begin.elapsed().saturating_sub(Duration::from_millis(self.0.at_ms.load(Ordering::Relaxed)))
    }
}

fn ms(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
