//! The present moment, and waiting for a condition.

use std::{
    fmt::Debug,
    time::{Duration, Instant},
};

use actix_web::rt::time::sleep;
use time::OffsetDateTime;

/// How long tests wait for what they expect: the machine may be busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// The longest time between two looks. Meanwhile the processor is free for the server and for other tests.
const LONGEST_PAUSE: Duration = Duration::from_millis(50);

/// The present moment.
#[expect(clippy::disallowed_methods, reason = "the tests' clock is the machine's")]
pub fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// Waits until the condition holds.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    until_async(what, async || is_so()).await;
}

/// Waits until the condition holds, which a request or a query tells.
pub async fn until_async(what: &str, is_so: impl AsyncFnMut() -> bool) {
    until_seen(what, is_so, |is_so: &bool| *is_so).await;
}

/// Waits until there is a value, and returns it.
pub async fn until_some<T: Debug>(what: &str, look: impl AsyncFnMut() -> Option<T>) -> T {
    until_seen(what, look, Option::is_some).await.expect("a value was seen")
}

/// Looks at a value until the condition holds for it, and returns it. A failure shows the last value.
pub async fn until_seen<T: Debug>(what: &str, mut look: impl AsyncFnMut() -> T, is_so: impl Fn(&T) -> bool) -> T {
    let (begun, mut pause) = (Instant::now(), Duration::from_millis(1));
    loop {
        let seen = look().await;
        if is_so(&seen) {
            return seen;
        }
        assert!(begun.elapsed() < PATIENCE, "it never happened: {what}; the last look: {seen:?}");
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(2 * pause);
    }
}
