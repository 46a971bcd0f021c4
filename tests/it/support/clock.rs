//! The present moment, and waiting for a condition.

use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use time::OffsetDateTime;

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the tests' clock is the machine's")]
pub fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Passes the time between two looks at a condition. Meanwhile the processor is free for the server and for other tests.
pub async fn pause() {
    sleep(Duration::from_millis(1)).await;
}

/// Waits until the condition holds, for 90 seconds at most: the machine may be busy.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(90), "it never happened: {what}");
        pause().await;
    }
}
