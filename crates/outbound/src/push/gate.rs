//! Whether a service for apps lets this server in. While it does not, nothing is sent to any of its devices.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration as StdDuration,
};

use mancala_process::repeats;
use time::{Duration, OffsetDateTime};

use super::outcome::Outcome;

/// How long nothing is sent after a refusal that concerns all devices.
pub(super) const PAUSE: StdDuration = StdDuration::from_mins(1);

/// The longest pause that a service is granted. A longer one means that a clock was set back.
const PAUSE_MAX: StdDuration = StdDuration::from_hours(1);

/// If the service has taken anything within this time, a refusal is about its device alone.
const PROOF: Duration = Duration::minutes(1);

/// The gate of one service, which all requests share.
#[derive(Debug)]
pub(super) struct Gate {
    /// The name of the service in the log.
    service: &'static str,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    shut_until: Option<OffsetDateTime>,
    last_taken_at: Option<OffsetDateTime>,
}

impl Gate {
    pub(super) fn new(service: &'static str) -> Self {
        Self { service, state: Mutex::default() }
    }

    pub(super) fn is_open(&self, now: OffsetDateTime) -> bool {
        self.left(now).is_none()
    }

    /// The rest of the pause as an outcome; `None` if there is none.
    pub(super) fn left(&self, now: OffsetDateTime) -> Option<Outcome> {
        let left = self.lock().shut_until? - now;
        (Duration::ZERO < left && left <= PAUSE_MAX).then(|| Outcome::Postponed(left.unsigned_abs()))
    }

    /// Notes that the service has taken a notification.
    pub(super) fn taken(&self, now: OffsetDateTime) {
        self.lock().last_taken_at = Some(now);
    }

    /// Sends nothing to the service during this pause.
    pub(super) fn shut(&self, pause: StdDuration, reason: &str, now: OffsetDateTime) -> Outcome {
        let pause = pause.min(PAUSE_MAX);
        self.lock().shut_until = Some(now + pause);
        self.warn("sends nothing for a while, and its devices wait", reason);
        Outcome::Postponed(pause)
    }

    /// After a refusal of the server's account, key or app. A service that takes other notifications means this device.
    pub(super) fn refused(&self, reason: &str, now: OffsetDateTime) -> Outcome {
        let proven = |taken: OffsetDateTime| (now - taken).abs() < PROOF;
        if self.lock().last_taken_at.is_some_and(proven) {
            return self.wait(PAUSE, reason);
        }
        self.shut(PAUSE, reason, now)
    }

    /// Lets one device wait for this pause.
    pub(super) fn wait(&self, pause: StdDuration, reason: &str) -> Outcome {
        self.warn("refuses a notification for no fault of the device, which waits", reason);
        Outcome::Postponed(pause)
    }

    /// For tests: so much time passes.
    pub(super) fn let_pass(&self, time: Duration) {
        let mut state = self.lock();
        state.shut_until = state.shut_until.map(|until| until - time);
        state.last_taken_at = state.last_taken_at.map(|taken| taken - time);
    }

    pub(super) fn warn(&self, what: &'static str, reason: &str) {
        let service = self.service;
        if let Some(line) = repeats::admit(what, &format!("{service} {reason}")) {
            tracing::warn!(left_out = line.left_out, reason, "{service} {what}");
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A text of a service, cleaned for the log.
pub(super) fn cleaned(text: &str) -> String {
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || " -_.".contains(*c);
    text.chars().filter(is_plain).take(100).collect()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOON: OffsetDateTime = datetime!(2026-11-26 12:00 UTC);

    fn after(seconds: i64) -> OffsetDateTime {
        NOON + Duration::seconds(seconds)
    }

    #[test]
    fn a_pause_ends_and_none_outlasts_a_clock_that_is_set_back() {
        let gate = Gate::new("a");
        assert!(gate.is_open(NOON));
        assert_eq!(gate.refused("no", NOON), Outcome::Postponed(PAUSE));
        assert_eq!(gate.left(after(20)), Some(Outcome::Postponed(StdDuration::from_secs(40))));
        assert_eq!([59, 60].map(|seconds| gate.is_open(after(seconds))), [false, true]);
        assert!(gate.is_open(after(-7200)));
        assert_eq!(gate.shut(StdDuration::from_hours(9), "no", NOON), Outcome::Postponed(PAUSE_MAX));
    }

    #[test]
    fn a_refusal_beside_successes_is_about_one_device() {
        let gate = Gate::new("a");
        gate.taken(NOON);
        assert_eq!(gate.refused("no", after(59)), Outcome::Postponed(PAUSE));
        assert!(gate.is_open(after(59)));
        gate.refused("no", after(60));
        assert!(!gate.is_open(after(60)));
    }

    #[test]
    fn the_log_gets_no_line_breaks_of_others() {
        assert_eq!(cleaned("PERMISSION_DENIED\n\u{1b}[31m: a"), "PERMISSION_DENIED31m a");
        assert_eq!(cleaned(&"a".repeat(1000)).len(), 100);
    }
}
