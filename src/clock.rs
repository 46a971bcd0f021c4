//! The only clock. Everything that needs the time and is not pure asks here; everything pure takes it as an argument.

use time::OffsetDateTime;

/// The present moment in whole milliseconds, which is what the wire shows.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_millisecond(now.millisecond()).expect("a millisecond that a time already has is in range")
}
