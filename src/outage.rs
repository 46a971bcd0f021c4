//! An outage in the log: a line when it begins, and a line when it is over.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How many failures in a row are an outage. A single one may be a lost connection.
const FAILURES: u64 = 2;

/// Follows the outcomes of one kind of work. A success costs one load of an atomic.
#[derive(Debug)]
pub struct Outage {
    begins: &'static str,
    ends: &'static str,
    is_failing: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the first failure was seen, while there is no success after it.
    since: Option<Instant>,
    failures: u64,
}

/// An outage that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Over {
    lasted: Duration,
    failures: u64,
}

impl Outage {
    /// `begins` says what does not work, and `ends` that it works again.
    pub const fn new(begins: &'static str, ends: &'static str) -> Self {
        let state = Mutex::new(State { since: None, failures: 0 });
        Self { begins, ends, is_failing: AtomicBool::new(false), state }
    }

    /// Notes a failure, and logs the cause if an outage begins with it.
    pub fn failed(&self, cause: &str) {
        if self.count(Instant::now()) {
            tracing::warn!(cause, "{}", self.begins);
        }
    }

    /// Notes a success, and logs how long the outage took if it is over with it.
    pub fn works(&self) {
        if let Some(Over { lasted, failures }) = self.end(Instant::now()) {
            tracing::warn!(failures, "{}, after {:.0} s", self.ends, lasted.as_secs_f64().ceil());
        }
    }

    /// Counts a failure; `true` if it makes an outage of those before.
    fn count(&self, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.since.get_or_insert(now);
        state.failures += 1;
        self.is_failing.store(true, Ordering::Relaxed);
        state.failures == FAILURES
    }

    fn end(&self, now: Instant) -> Option<Over> {
        if !self.is_failing.load(Ordering::Relaxed) {
            return None;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_failing.store(false, Ordering::Relaxed);
        let State { since, failures } = std::mem::take(&mut *state);
        let lasted = now.duration_since(since?);
        (failures >= FAILURES).then_some(Over { lasted, failures })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_begins_once_and_ends_once() {
        let (outage, begun) = (Outage::new("away", "back"), Instant::now());
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(outage.end(at(0)), None);
        let told: Vec<_> = (0..12).map(|second| outage.count(at(second))).collect();
        assert_eq!(told.iter().filter(|told| **told).count(), 1);
        assert!(told[1]);
        assert_eq!(outage.end(at(12)), Some(Over { lasted: Duration::from_secs(12), failures: 12 }));
        assert_eq!(outage.end(at(13)), None);
    }

    #[test]
    fn a_single_failure_is_no_outage() {
        let (outage, now) = (Outage::new("away", "back"), Instant::now());
        assert!(!outage.count(now));
        assert_eq!(outage.end(now), None);
        assert!(!outage.count(now));
    }
}
