//! The present moment, and waiting for a condition.

use std::time::{Duration, Instant};

use time::OffsetDateTime;

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the tests' clock is the machine's")]
pub fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Yields to other tasks until the condition holds, for 90 seconds at most: the machine may be busy.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(90), "it never happened: {what}");
        actix_web::rt::task::yield_now().await;
    }
}
