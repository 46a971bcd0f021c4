//! The only clock. Code with side effects reads the time here; pure code takes it as an argument.
//!
//! The clock runs on the machine's monotonic clock, and begins with the machine's time of day. A server then sets it by the
//! database's clock, so that all servers of a database judge deadlines by the same clock. A wrong time of day on one machine
//! ends no game.

use std::{
    sync::{
        LazyLock,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use time::{OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

/// How far the clock may be off before it is set, beside what the measurement leaves open: less than a player notices.
const TOLERANCE: Duration = Duration::from_millis(50);

/// The form of a time in a log.
const FORM: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

/// The clock of the process.
static CLOCK: LazyLock<Clock> = LazyLock::new(|| Clock { started: Instant::now(), began_at_us: system_us().into() });

struct Clock {
    started: Instant,
    /// The time at `started`, in microseconds since 1970.
    began_at_us: AtomicI64,
}

/// The present time in whole milliseconds, the precision of the wire format.
pub fn now() -> OffsetDateTime {
    let ms = CLOCK.at_us(Instant::now()).div_euclid(1000);
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(ms) * 1_000_000).expect("the year has four digits")
}

/// A time as both logs write it: RFC 3339 in UTC, with milliseconds, so that texts sort as times do.
pub fn text(time: OffsetDateTime) -> String {
    time.format(FORM).expect("a time has all parts")
}

/// Sets the clock by the database's, which showed `database` at some moment within `took` after `asked_at`. Returns how far the
/// machine's time of day is ahead of the database's clock.
pub fn follow(database: OffsetDateTime, asked_at: Instant, took: Duration) -> time::Duration {
    let database_us = unix_us(database);
    CLOCK.set(database_us, asked_at, took);
    let ago = asked_at.elapsed().saturating_sub(took / 2);
    time::Duration::microseconds(system_us() - microseconds(ago) - database_us)
}

impl Clock {
    fn at_us(&self, moment: Instant) -> i64 {
        self.began_at_us.load(Ordering::Relaxed) + microseconds(moment.saturating_duration_since(self.started))
    }

    /// Sets the clock, if the measurement shows that it is off.
    fn set(&self, time_us: i64, asked_at: Instant, took: Duration) {
        let off_us = time_us - self.at_us(asked_at + took / 2);
        if off_us.unsigned_abs() > microseconds(took / 2 + TOLERANCE).unsigned_abs() {
            self.began_at_us.fetch_add(off_us, Ordering::Relaxed);
        }
    }
}

/// The machine's time of day.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
fn system_us() -> i64 {
    unix_us(OffsetDateTime::now_utc())
}

fn unix_us(time: OffsetDateTime) -> i64 {
    i64::try_from(time.unix_timestamp_nanos() / 1000).expect("the year has four digits")
}

fn microseconds(length: Duration) -> i64 {
    i64::try_from(length.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND_US: i64 = 1_000_000;

    /// How far a clock is ahead after a measurement that says it is off by so much and took so long.
    fn after(off_us: i64, took: Duration) -> i64 {
        let started = Instant::now();
        let clock = Clock { started, began_at_us: SECOND_US.into() };
        let asked_at = started + Duration::from_secs(100);
        clock.set(101 * SECOND_US + off_us + microseconds(took / 2), asked_at, took);
        clock.at_us(started + Duration::from_secs(200)) - 201 * SECOND_US
    }

    #[test]
    fn the_clock_is_set_where_a_measurement_shows_it_to_be_off() {
        let (fast, slow) = (Duration::from_millis(1), Duration::from_secs(2));
        for off_us in [3600 * SECOND_US, -3600 * SECOND_US, 60_000, -60_000] {
            assert_eq!(after(off_us, fast), off_us);
        }
        for off_us in [0, 40_000, -40_000] {
            assert_eq!(after(off_us, fast), 0, "it is as good as the tolerance");
        }
        for (off_us, set) in [(900_000, 0), (-900_000, 0), (1_100_000, 1_100_000)] {
            assert_eq!(after(off_us, slow), set, "a slow answer leaves a second open");
        }
    }
}
