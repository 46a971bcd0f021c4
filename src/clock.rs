//! The only clock. Code with side effects reads the time here; pure code takes it as an argument.

use time::OffsetDateTime;

/// The present time in whole milliseconds, the precision of the wire format.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_millisecond(now.millisecond()).expect("the millisecond of a time is in range")
}
