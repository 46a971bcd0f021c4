//! The signals with which an operator stops the process: SIGTERM and SIGINT.

use tokio::signal::unix::{Signal, SignalKind, signal};

use super::failure::Failure;

/// Receives SIGTERM and SIGINT. From its creation on, these signals no longer kill the process.
pub struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    pub fn new() -> Result<Self, Failure> {
        let interrupt = signal(SignalKind::interrupt()).map_err(Failure::new)?;
        let terminate = signal(SignalKind::terminate()).map_err(Failure::new)?;
        Ok(Self { interrupt, terminate })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits for `work`; `None` if a signal arrives first, and `work` is dropped.
    pub async fn unless_signalled<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            outcome = work => Some(outcome),
            () = self.next() => None,
        }
    }
}
