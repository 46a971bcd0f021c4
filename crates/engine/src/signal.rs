//! Control of a running search: it continues, pauses or stops. Knows nothing of searching.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    thread,
    time::Duration,
};

/// Controls a search on another thread: it continues at first, and can be paused and stopped.
///
/// ```
/// use mancala_engine::Signal;
///
/// let signal = Signal::new();
/// signal.rest();
/// signal.go_on();
/// assert!(!signal.is_stop());
/// signal.stop();
/// signal.go_on(); // has no effect: a stop is final
/// assert!(signal.is_stop());
/// ```
#[derive(Debug, Default)]
pub struct Signal(AtomicU8);

const GO_ON: u8 = 0;
const REST: u8 = 1;
const STOP: u8 = 2;

/// How often a paused search polls the signal.
const POLL_EVERY: Duration = Duration::from_millis(2);

impl Signal {
    /// A signal to continue.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU8::new(GO_ON))
    }

    /// Ends the search, which returns its results so far. Final: no later call changes it.
    pub fn stop(&self) {
        self.0.store(STOP, Ordering::Relaxed);
    }

    /// Pauses the search until [`go_on`](Self::go_on) or [`stop`](Self::stop). A pause does not change the result.
    pub fn rest(&self) {
        self.change(GO_ON, REST);
    }

    /// Continues a paused search.
    pub fn go_on(&self) {
        self.change(REST, GO_ON);
    }

    /// Whether [`stop`](Self::stop) was called.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) == STOP
    }

    /// Whether [`stop`](Self::stop) was called; blocks while the search is paused.
    pub(crate) fn is_stop_after_rest(&self) -> bool {
        loop {
            match self.0.load(Ordering::Relaxed) {
                REST => thread::sleep(POLL_EVERY),
                state => return state == STOP,
            }
        }
    }

    /// Replaces the state `from` by `to`. Does nothing in another state, because a stop is final.
    fn change(&self, from: u8, to: u8) {
        let _ = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }
}
