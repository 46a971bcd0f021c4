//! What a call costs PostgreSQL: processor time of the sessions that serve it, as Linux counts it, and bytes of its log.

use std::{fs, time::Instant};

use mancala_server::db::DbError;
use sqlx::PgPool;

/// What one of several calls took.
#[derive(Clone, Copy, Debug)]
pub struct Each {
    /// Microseconds of processor time.
    pub cpu: f64,
    /// Microseconds that passed.
    pub wall: f64,
    /// Bytes of PostgreSQL's log.
    pub wal: f64,
}

/// The sessions of the service, and where the log is, up to a moment.
struct Spent {
    cpu: f64,
    wal: f64,
}

/// How a call is measured.
pub struct Meter<'a> {
    /// A session that is not the service's.
    pub watcher: &'a PgPool,
}

impl Meter<'_> {
    /// Has something done, which says how many calls it was.
    pub async fn each(&self, work: impl AsyncFnOnce() -> Result<usize, DbError>) -> Result<Each, DbError> {
        let before = self.spent().await?;
        let begun = Instant::now();
        let calls = work().await?;
        let wall = begun.elapsed().as_secs_f64() * 1e6;
        let after = self.spent().await?;
        #[expect(clippy::cast_precision_loss, reason = "no count is so large")]
        let calls = calls.max(1) as f64;
        Ok(Each { cpu: (after.cpu - before.cpu) / calls, wall: wall / calls, wal: (after.wal - before.wal) / calls })
    }

    async fn spent(&self) -> Result<Spent, DbError> {
        let pids: Vec<i32> =
            sqlx::query_scalar("select pid from pg_stat_activity where application_name = 'mancala-server'")
                .fetch_all(self.watcher)
                .await?;
        let wal = sqlx::query_scalar("select (pg_current_wal_insert_lsn() - '0/0')::float8").fetch_one(self.watcher);
        Ok(Spent { cpu: pids.into_iter().map(processor_time).sum(), wal: wal.await? })
    }
}

/// Microseconds that a process was on a processor; 0 of one that has gone.
pub fn processor_time(pid: i32) -> f64 {
    let told = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    told.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok()).map_or(0.0, |ns: f64| ns / 1000.0)
}

/// The middle one.
pub fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
