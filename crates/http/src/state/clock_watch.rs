//! Sets the process's clock by the database's, measures the difference, and warns of a machine whose time of day is wrong.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use mancala_db::connection::sight::Sight;
use mancala_process::{clock, metrics::Metrics};
use time::Duration;

/// A larger difference is worth a warning: the clocks of machines with NTP differ by less than a tenth of a second.
const WARNED_OF: Duration = Duration::seconds(2);

/// Below this the clock counts as right again.
const RIGHT_AGAIN: Duration = Duration::SECOND;

/// The difference between the machine's time of day and the database's clock.
pub struct ClockWatch {
    metrics: Arc<Metrics>,
    /// Whether the last line of the log reported a wrong clock.
    is_wrong: AtomicBool,
}

impl ClockWatch {
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self { metrics, is_wrong: AtomicBool::new(false) }
    }

    /// Takes over the database's clock from a sight of the database.
    pub fn set(&self, sight: &Sight) {
        let offset = clock::follow(sight.clock, sight.asked_at, sight.took);
        self.metrics.set_clock_offset(offset.as_seconds_f64());
        let limit = if self.is_wrong.load(Ordering::Relaxed) { RIGHT_AGAIN } else { WARNED_OF };
        let is_wrong = offset.abs() > limit;
        if self.is_wrong.swap(is_wrong, Ordering::Relaxed) == is_wrong {
            return;
        }
        let offset_ms = i64::try_from(offset.whole_milliseconds()).unwrap_or(i64::MAX);
        if is_wrong {
            tracing::warn!(offset_ms, "this machine's clock differs from the database's, which the server follows");
        } else {
            tracing::info!(offset_ms, "this machine's clock is right again");
        }
    }
}

impl fmt::Debug for ClockWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClockWatch").field("is_wrong", &self.is_wrong).finish_non_exhaustive()
    }
}
