//! Whether a standby has caught up with the primary. It knows no table.
//!
//! A read may go to the standby only after the standby has replayed all that was acknowledged before the read began. So it sees
//! the changes of every client, whichever server stored them. What tells is the position in PostgreSQL's log (WAL): the primary
//! says how far the log is, and the standby how far it has replayed it. One task compares them for all reads that wait.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use sqlx::PgConnection;
use thiserror::Error;
use tokio::{
    sync::{mpsc, oneshot},
    time::{sleep, timeout},
};
use tracing::Instrument;

use super::{Database, DbError, DedicatedConnection, statement};

/// How long a read waits for the standby. A standby nearby is some milliseconds behind.
const WAIT: Duration = Duration::from_millis(50);

/// The time between two looks at a standby that is behind.
const POLL: Duration = Duration::from_millis(1);

/// How long all reads go to the primary after the standby was too late or away. Then one read tries it again.
const REST: Duration = Duration::from_secs(1);

/// How many reads may wait at once; further ones go to the primary.
const WAITING_MAX: usize = 1024;

/// Knows whether a standby has caught up with the primary. Its task ends when it is dropped.
pub struct Freshness {
    asks: mpsc::Sender<oneshot::Sender<Result<(), Behind>>>,
    begin: Instant,
    /// Until when all reads go to the primary, in milliseconds since `begin`.
    rests_until_ms: AtomicU64,
    observe: Box<dyn Fn(StandbyEvent<'_>) + Send + Sync>,
}

/// What an observer hears of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandbyEvent<'a> {
    /// It has caught up with the primary.
    CaughtUp,
    /// It may not answer, or has failed, for this reason.
    OutOfUse(&'a str),
    /// It has answered a read.
    Answered,
    /// The primary answers a read in its place.
    FellBack,
}

/// Why the standby may not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum Behind {
    #[error("it is more than {} ms behind the primary", WAIT.as_millis())]
    Late,
    #[error("it is no standby")]
    NoStandby,
    #[error("it has another database than the primary")]
    OtherDatabase,
    #[error("it does not follow the primary's timeline yet")]
    OtherTimeline,
    #[error("it or the primary cannot be reached")]
    Away,
}

/// A position in the log, and the log that it is a position of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Position {
    cluster: i64,
    timeline: i64,
    database: i64,
    bytes: i64,
}

impl Freshness {
    /// Starts the task on the present runtime.
    pub fn start(
        primary: Database,
        standby: Database,
        observe: impl Fn(StandbyEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        let (asks, queue) = mpsc::channel(WAITING_MAX);
        let (primary, standby) = (DedicatedConnection::new(primary), DedicatedConnection::new(standby));
        tokio::spawn(reply_to_all(primary, standby, queue));
        Self { asks, begin: Instant::now(), rests_until_ms: AtomicU64::new(0), observe: Box::new(observe) }
    }

    /// Whether the standby has replayed all that was acknowledged before this call.
    pub(super) async fn is_reached(&self) -> bool {
        if self.now_ms() < self.rests_until_ms.load(Ordering::Relaxed) {
            return false;
        }
        let (reply, replied) = oneshot::channel();
        if self.asks.try_send(reply).is_err() {
            return false;
        }
        let outcome = match timeout(WAIT, replied).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(Behind::Away),
            Err(_) => Err(Behind::Late),
        };
        match outcome {
            Ok(()) => (self.observe)(StandbyEvent::CaughtUp),
            Err(behind) => self.rest(&behind.to_string()),
        }
        outcome.is_ok()
    }

    /// Notes a read that the standby has answered.
    pub(super) fn answered(&self) {
        (self.observe)(StandbyEvent::Answered);
    }

    /// Notes a read that the primary answers in the standby's place.
    pub(super) fn fell_back(&self) {
        (self.observe)(StandbyEvent::FellBack);
    }

    /// Notes a read that failed on the standby.
    pub(super) fn failed(&self, error: &DbError) {
        self.rest(&error.to_string());
    }

    fn rest(&self, cause: &str) {
        let until = self.now_ms().saturating_add(u64::try_from(REST.as_millis()).unwrap_or(u64::MAX));
        self.rests_until_ms.fetch_max(until, Ordering::Relaxed);
        (self.observe)(StandbyEvent::OutOfUse(cause));
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Replies to reads in groups: those that come while two positions are compared form the next group, because only a position that
/// is read after a read began counts for it.
async fn reply_to_all(
    mut primary: DedicatedConnection,
    mut standby: DedicatedConnection,
    mut queue: mpsc::Receiver<oneshot::Sender<Result<(), Behind>>>,
) {
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, WAITING_MAX).await > 0 {
        // Of reads that have given up, none needs a statement.
        waiting.retain(|reply| !reply.is_closed());
        if waiting.is_empty() {
            continue;
        }
        // A panic fails this group, and none after it.
        let outcome = AssertUnwindSafe(compare(&mut primary, &mut standby)).catch_unwind().await;
        let outcome = outcome.unwrap_or(Err(Behind::Away));
        for reply in waiting.drain(..) {
            let _ = reply.send(outcome);
        }
    }
}

/// Waits until the standby has what the primary has now.
async fn compare(primary: &mut DedicatedConnection, standby: &mut DedicatedConnection) -> Result<(), Behind> {
    let wanted = primary.run(async |connection| written(connection).await).await.map_err(|_| Behind::Away)?;
    let deadline = Instant::now() + WAIT;
    loop {
        let has = standby.run(async |connection| replayed(connection).await).await.map_err(|_| Behind::Away)?;
        match has.ok_or(Behind::NoStandby)?.covers(&wanted) {
            Err(Behind::Late) if Instant::now() < deadline => sleep(POLL).await,
            outcome => return outcome,
        }
    }
}

impl Position {
    /// Whether a standby at this position has all that a primary at the `wanted` one had.
    fn covers(&self, wanted: &Self) -> Result<(), Behind> {
        if (self.cluster, self.database) != (wanted.cluster, wanted.database) {
            Err(Behind::OtherDatabase)
        } else if self.timeline != wanted.timeline {
            Err(Behind::OtherTimeline)
        } else if self.bytes < wanted.bytes {
            Err(Behind::Late)
        } else {
            Ok(())
        }
    }
}

/// How far the primary's log is. A change is acknowledged when the log is on disk up to it; without synchronous commits, as soon as
/// it is in the log.
async fn written(connection: &mut PgConnection) -> Result<Position, DbError> {
    let row = sqlx::query!(
        r#"
        select (select system_identifier from pg_control_system()) as "cluster!",
            ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint as "timeline!",
            (select oid::bigint from pg_database where datname = current_database()) as "database!",
            (case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
                else pg_current_wal_flush_lsn() end - '0/0')::bigint as "bytes!"
        "#
    );
    let row = row.fetch_one(connection).instrument(statement("select pg_current_wal_flush_lsn")).await?;
    Ok(Position { cluster: row.cluster, timeline: row.timeline, database: row.database, bytes: row.bytes })
}

/// How far the standby has replayed the log; `None` if it is no standby. The timeline is that of the last checkpoint or of the last
/// page that was written, whichever is later.
async fn replayed(connection: &mut PgConnection) -> Result<Option<Position>, DbError> {
    let row = sqlx::query!(
        r#"
        select (select system_identifier from pg_control_system()) as "cluster!",
            greatest((select timeline_id from pg_control_checkpoint()),
                (select min_recovery_end_timeline from pg_control_recovery()))::bigint as "timeline!",
            (select oid::bigint from pg_database where datname = current_database()) as "database!",
            case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::bigint end as bytes
        "#
    );
    let row = row.fetch_one(connection).instrument(statement("select pg_last_wal_replay_lsn")).await?;
    let position = |bytes| Position { cluster: row.cluster, timeline: row.timeline, database: row.database, bytes };
    Ok(row.bytes.map(position))
}

impl fmt::Debug for Freshness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Freshness").field("rests_until_ms", &self.rests_until_ms).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_log_up_to_the_same_position_is_fresh() {
        let wanted = Position { cluster: 7, timeline: 2, database: 5, bytes: 1000 };
        for (has, outcome) in [
            (wanted, Ok(())),
            (Position { bytes: 1001, ..wanted }, Ok(())),
            (Position { bytes: 999, ..wanted }, Err(Behind::Late)),
            // The standby of a former primary, which may be ahead.
            (Position { timeline: 1, bytes: 2000, ..wanted }, Err(Behind::OtherTimeline)),
            (Position { cluster: 8, bytes: 2000, ..wanted }, Err(Behind::OtherDatabase)),
            (Position { database: 6, bytes: 2000, ..wanted }, Err(Behind::OtherDatabase)),
        ] {
            assert_eq!(has.covers(&wanted), outcome, "{has:?}");
        }
    }
}
