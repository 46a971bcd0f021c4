//! What a call costs PostgreSQL: processor time of the sessions that serve it, as Linux counts it, and bytes of WAL.

use std::{fs, time::Instant};

use mancala_server::db::DbError;
use sqlx::PgPool;

/// What one call cost on average.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Microseconds of processor time.
    pub cpu: f64,
    /// Microseconds of wall time.
    pub wall: f64,
    /// Bytes of WAL.
    pub wal: f64,
}

/// Totals up to a moment: processor time of the service's sessions, and the position in the WAL.
struct Counters {
    cpu: f64,
    wal: f64,
}

/// Measures calls.
pub struct Meter<'a> {
    /// A session that is not the service's.
    pub watcher: &'a PgPool,
}

impl Meter<'_> {
    /// Runs `work`, which returns how many calls it made, and returns the cost of one.
    pub async fn measure(&self, work: impl AsyncFnOnce() -> Result<usize, DbError>) -> Result<Cost, DbError> {
        let before = self.counters().await?;
        let begun = Instant::now();
        let calls = work().await?;
        let wall = begun.elapsed().as_secs_f64() * 1e6;
        let after = self.counters().await?;
        #[expect(clippy::cast_precision_loss, reason = "no count is so large")]
        let calls = calls.max(1) as f64;
        Ok(Cost { cpu: (after.cpu - before.cpu) / calls, wall: wall / calls, wal: (after.wal - before.wal) / calls })
    }

    async fn counters(&self) -> Result<Counters, DbError> {
        let pids: Vec<i32> =
            sqlx::query_scalar("select pid from pg_stat_activity where application_name = 'mancala-server'")
                .fetch_all(self.watcher)
                .await?;
        let wal = sqlx::query_scalar("select (pg_current_wal_insert_lsn() - '0/0')::float8").fetch_one(self.watcher);
        Ok(Counters { cpu: pids.into_iter().map(processor_time).sum(), wal: wal.await? })
    }
}

/// Microseconds that a process was on a processor; 0 if it has ended.
pub fn processor_time(pid: i32) -> f64 {
    let schedstat = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    schedstat.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).map_or(0.0, |ns: f64| ns / 1000.0)
}

/// The median; NaN without values.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
