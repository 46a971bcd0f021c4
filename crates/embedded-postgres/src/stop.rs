//! The request to stop, which crosses threads. Does not know the threads that stop.

use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Requests a stop when it is dropped.
pub(crate) struct StopOnDrop(#[expect(dead_code, reason = "dropping it closes the channel")] Sender<Infallible>);

/// Receives the request to stop. The channel never carries a message: its end is the request.
pub(crate) struct StopRequest(Receiver<Infallible>);

/// Both ends of a request to stop.
pub(crate) fn channel() -> (StopOnDrop, StopRequest) {
    let (sender, receiver) = mpsc::channel();
    (StopOnDrop(sender), StopRequest(receiver))
}

impl StopRequest {
    /// Waits for `timeout`, or until a stop is requested. Returns whether one is.
    pub(crate) fn is_requested_within(&self, timeout: Duration) -> bool {
        self.0.recv_timeout(timeout) == Err(RecvTimeoutError::Disconnected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_requested_when_the_other_end_is_dropped() {
        let (stop, request) = channel();
        assert!(!request.is_requested_within(Duration::ZERO));
        drop(stop);
        assert!(request.is_requested_within(Duration::from_mins(1)));
    }
}
