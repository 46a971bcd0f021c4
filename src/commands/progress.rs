//! The progress of a long command: a bar on a terminal, and lines in the log otherwise.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use mancala_server::jobs::lasting::{OutageReport, Patience};

use super::failure::Failure;

/// The interval of the lines in the log.
const LOG_EVERY: Duration = Duration::from_secs(10);

/// How much of the work is done. It counts up to about `length`.
pub struct Progress {
    bar: ProgressBar,
    /// The unit of the work, in the plural.
    unit: &'static str,
    length: u64,
    /// The amount that an earlier run had done.
    before: u64,
    done: AtomicU64,
    begun: Instant,
    logged: Mutex<Instant>,
}

impl Progress {
    /// Shows `template`, in the syntax of indicatif, behind the bar and the position. The work begins at `before`.
    pub fn start(length: u64, before: u64, unit: &'static str, template: &str) -> Result<Self, Failure> {
        let style = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}} {template}")).map_err(Failure::new)?;
        let bar = ProgressBar::new(length).with_style(style).with_position(before);
        bar.reset_eta();
        let begun = Instant::now();
        Ok(Self { bar, unit, length, before, done: AtomicU64::new(0), begun, logged: Mutex::new(begun) })
    }

    /// So much more is done.
    pub fn advance(&self, more: u64) {
        self.bar.inc(more);
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        if self.bar.is_hidden() && self.is_line_due() {
            self.log(done);
        }
    }

    fn is_line_due(&self) -> bool {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = logged.elapsed() >= LOG_EVERY;
        if is_due {
            *logged = Instant::now();
        }
        is_due
    }

    fn log(&self, done: u64) {
        let Self { unit, length, .. } = self;
        let elapsed_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        let (rate, all) = (done.saturating_mul(1000) / elapsed_ms, self.before.saturating_add(done));
        let left_s = length.saturating_sub(all) / rate.max(1);
        tracing::info!(done = all, left_s, "{all} of about {length} {unit}, {rate} a second, about {left_s} s left");
    }

    /// Shows a word behind the bar.
    pub fn show(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Prints a line to standard output, above the bar.
    pub fn print(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Patience with outages of up to `outage_s` seconds, which logs when one begins and when it is over.
    pub fn patience(&self, outage_s: u64) -> Patience {
        let bar = self.bar.clone();
        Patience::new(Duration::from_secs(outage_s), move |outage| {
            bar.suspend(|| match &outage {
                OutageReport::Begun(error) => {
                    tracing::warn!("the command waits for at most {outage_s} s for the database: {error}");
                }
                OutageReport::Over(after) => {
                    tracing::info!("the database answers again, after {:.1} s", after.as_secs_f64());
                }
            });
        })
    }
}
