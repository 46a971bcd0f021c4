//! Renewal of connections: which of them are too old to be used.
//!
//! After a failover an old connection may still lead to the former primary, and prepared statements may be out of date.
//! The error shows on one connection and concerns all of its age. So it sets a mark for the process, and a connection that was
//! opened before the mark is closed instead of being used again.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The least time between two marks: a database that stays read-only costs each connection one reconnect in this time.
const PAUSE_MS: u64 = 1000;

/// Where the process begins to count.
static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The last mark, in milliseconds since [`BEGIN`]; 0 for none.
static MARK_MS: AtomicU64 = AtomicU64::new(0);

fn now_ms() -> u64 {
    // Never 0, which is no mark.
    u64::try_from(BEGIN.elapsed().as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}

/// Lets the process open new connections in place of all that it has.
pub(crate) fn request() {
    let now = now_ms();
    let _ = MARK_MS.try_update(Ordering::Relaxed, Ordering::Relaxed, |mark| {
        (mark == 0 || now.saturating_sub(mark) >= PAUSE_MS).then_some(now)
    });
}

/// When a connection was last found to have ended, in milliseconds since [`BEGIN`]; 0 for never.
static ENDED_MS: AtomicU64 = AtomicU64::new(0);

/// Records that an open connection has ended. The same cause has often ended other connections as well.
pub(super) fn suspect() {
    ENDED_MS.store(now_ms(), Ordering::Relaxed);
}

/// Whether a connection that was idle for this long may have ended together with another one.
pub(super) fn is_suspect(idle_for: Duration) -> bool {
    let ended = ENDED_MS.load(Ordering::Relaxed);
    ended > 0 && u64::try_from(idle_for.as_millis()).unwrap_or(u64::MAX) >= now_ms().saturating_sub(ended)
}

/// Whether a connection of this age was opened before the last mark.
pub(super) fn is_due(age: Duration) -> bool {
    let mark = MARK_MS.load(Ordering::Relaxed);
    // A connection that is as old as the mark was opened before it, or in the same millisecond.
    mark > 0 && u64::try_from(age.as_millis()).unwrap_or(u64::MAX) >= now_ms().saturating_sub(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_from_before_a_request_are_due() {
        let opened = Instant::now();
        request();
        assert!(is_due(opened.elapsed() + Duration::from_millis(1)));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!is_due(Duration::from_millis(5)));
        assert!(is_due(opened.elapsed() + Duration::from_millis(1)));
    }
}
