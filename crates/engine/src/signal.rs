//! What a search is told while it runs: to go on, to rest, or to end. Knows nothing of searching.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    thread,
    time::Duration,
};

/// Tells a search on another thread what to do: at first to go on.
#[derive(Debug, Default)]
pub struct Signal(AtomicU8);

const GO_ON: u8 = 0;
const REST: u8 = 1;
const STOP: u8 = 2;

/// How long a search that rests sleeps until it looks whether it is to go on.
const NAP: Duration = Duration::from_millis(2);

impl Signal {
    /// To go on.
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU8::new(GO_ON))
    }

    /// To end with what it has found. It stays so.
    pub fn stop(&self) {
        self.0.store(STOP, Ordering::Relaxed);
    }

    /// To do nothing until it is told to [go on](Self::go_on) or to end: it changes nothing of what is found.
    pub fn rest(&self) {
        self.change(GO_ON, REST);
    }

    /// To go on after it was told to rest.
    pub fn go_on(&self) {
        self.change(REST, GO_ON);
    }

    /// Whether it is to end.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.0.load(Ordering::Relaxed) == STOP
    }

    /// The same, once it is not to rest.
    pub(crate) fn is_stop_after_rest(&self) -> bool {
        loop {
            match self.0.load(Ordering::Relaxed) {
                REST => thread::sleep(NAP),
                told => return told == STOP,
            }
        }
    }

    /// Who was told to end is told nothing else.
    fn change(&self, from: u8, to: u8) {
        let _ = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }
}
