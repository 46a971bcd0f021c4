//! Work that lasts for minutes or hours: it waits out an outage of the database, and keeps to a pace.
//!
//! Knows nothing of what the work is.

use std::{
    num::NonZero,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use mancala_db::DbError;
use tokio::time::sleep;

/// The backoff after the first failure; it doubles with each further one.
const BACKOFF_MIN: Duration = Duration::from_millis(100);

/// The longest backoff: the work resumes this soon after the database is back.
const BACKOFF_MAX: Duration = Duration::from_secs(3);

/// The reports of the work about the database.
#[derive(Clone, Debug)]
pub enum OutageReport {
    /// A statement failed for a reason that passes. Reported once for each outage.
    Begun(DbError),
    /// A statement succeeded again, after this time.
    Over(Duration),
}

/// How long the work waits for a database that is away or busy, and the outage that it logs meanwhile. Clones share the outage.
#[derive(Clone)]
pub struct Patience {
    limit: Duration,
    begun: Arc<Mutex<Option<Instant>>>,
    report: Arc<dyn Fn(OutageReport) + Send + Sync>,
}

impl Patience {
    /// Patience for outages of up to `limit`.
    pub fn new(limit: Duration, report: impl Fn(OutageReport) + Send + Sync + 'static) -> Self {
        Self { limit, begun: Arc::default(), report: Arc::new(report) }
    }

    /// Repeats an attempt that fails for a reason that passes, until the outage has lasted for the limit. An attempt must
    /// have the same effect if an earlier one took effect and lost its answer.
    pub async fn retry<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let (mut failed_at, mut backoff) = (None, BACKOFF_MIN);
        loop {
            match attempt().await {
                Err(error) if passes(&error) => {
                    let since = *failed_at.get_or_insert_with(Instant::now);
                    if since.elapsed() >= self.limit {
                        return Err(error);
                    }
                    self.failed(error);
                    sleep(backoff).await;
                    backoff = (backoff * 2).min(BACKOFF_MAX);
                }
                outcome => {
                    self.answered();
                    return outcome;
                }
            }
        }
    }

    fn failed(&self, error: DbError) {
        let is_first = {
            let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            let is_first = begun.is_none();
            begun.get_or_insert_with(Instant::now);
            is_first
        };
        if is_first {
            (self.report)(OutageReport::Begun(error));
        }
    }

    fn answered(&self) {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(begun) = begun {
            (self.report)(OutageReport::Over(begun.elapsed()));
        }
    }
}

/// Whether the cause of a failure passes by itself, so that the statement can be sent again.
const fn passes(error: &DbError) -> bool {
    match error {
        DbError::ConnectionLost(_)
        | DbError::Unreachable(_)
        | DbError::OutOfService(_)
        | DbError::Busy(_)
        | DbError::QueueFull => true,
        DbError::Constraint { .. } | DbError::Inconsistent { .. } | DbError::Failed(_) => false,
    }
}

/// How many games a second the work takes at most.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    games_a_second: Option<NonZero<u32>>,
    /// When the games that were taken so far are used up.
    free_at: Instant,
}

impl Pace {
    /// Sets a pace; without a number it is as fast as possible.
    pub fn new(games_a_second: Option<NonZero<u32>>) -> Self {
        Self { games_a_second, free_at: Instant::now() }
    }

    /// How many games to take at once, of at most `most`. They are those of a fifth of a second, so that the work does
    /// not come in bursts.
    pub fn batch(&self, most: u32) -> u32 {
        self.games_a_second.map_or(most, |pace| (pace.get() / 5).clamp(1, most.max(1)))
    }

    /// Waits until `games` more may be taken. Time that was not used before is lost.
    pub async fn take(&mut self, games: usize) {
        let Some(pace) = self.games_a_second else { return };
        let now = Instant::now();
        if let Some(rest) = self.free_at.checked_duration_since(now) {
            sleep(rest).await;
        }
        let games = u32::try_from(games).unwrap_or(u32::MAX);
        self.free_at = self.free_at.max(now) + Duration::from_secs(1) * games / pace.get();
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::ready,
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::*;

    fn busy() -> DbError {
        DbError::QueueFull
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts")
    }

    #[test]
    fn an_outage_is_waited_out_and_reported_once() {
        let (reports, tries) = (Arc::new(Mutex::new(vec![])), AtomicU32::new(0));
        let patience = {
            let reports = reports.clone();
            let is_over = |outage: &OutageReport| matches!(outage, OutageReport::Over(_));
            Patience::new(Duration::from_mins(1), move |outage| reports.lock().expect("a list").push(is_over(&outage)))
        };
        let attempt = || ready(if tries.fetch_add(1, Ordering::Relaxed) < 3 { Err(busy()) } else { Ok(7) });
        assert_eq!(runtime().block_on(patience.retry(attempt)).ok(), Some(7));
        assert_eq!(*reports.lock().expect("a list"), [false, true]);
    }

    #[test]
    fn patience_ends_and_a_wrong_row_is_never_retried() {
        let (none, tries) = (Patience::new(Duration::ZERO, |_| {}), AtomicU32::new(0));
        let attempt = || {
            tries.fetch_add(1, Ordering::Relaxed);
            ready(Err::<(), _>(busy()))
        };
        assert!(runtime().block_on(none.retry(attempt)).is_err());
        let much = Patience::new(Duration::from_mins(1), |_| {});
        let wrong = || {
            tries.fetch_add(1, Ordering::Relaxed);
            ready(Err::<(), _>(DbError::Constraint { name: "a".to_owned() }))
        };
        assert!(runtime().block_on(much.retry(wrong)).is_err());
        assert_eq!(tries.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_pace_spreads_games_evenly() {
        let mut pace = Pace::new(NonZero::new(100));
        assert_eq!((pace.batch(500), pace.batch(5), Pace::new(None).batch(500)), (20, 5, 500));
        let begun = Instant::now();
        runtime().block_on(async {
            for _ in 0..3 {
                pace.take(10).await;
            }
        });
        assert!(begun.elapsed() >= Duration::from_millis(200), "{:?}", begun.elapsed());
    }
}
