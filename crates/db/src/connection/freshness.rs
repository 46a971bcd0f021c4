//! Whether a standby has caught up with the primary. It knows no table.
//!
//! A read may go to the standby only after the standby has replayed all that was acknowledged before the read began. So
//! it sees the changes of every client, whichever server stored them. The measure is the position in PostgreSQL's log
//! (WAL). The primary says how far the log is, and the standby how far it has replayed it. One task compares them for
//! all reads that wait.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
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

/// How far the standby may be behind. One nearby is some milliseconds behind.
const LAG_MAX: Duration = Duration::from_millis(50);

/// How long a read waits: for the comparison that is under way, and for its own.
const WAIT: Duration = LAG_MAX.saturating_mul(2);

/// The time between two polls of a standby that is behind.
const POLL: Duration = Duration::from_millis(1);

/// How long all reads go to the primary after the standby was too late or away. Then one read tries it again.
const REST_MS: u64 = 1000;

/// How many reads may wait at once; further ones go to the primary.
const WAITING_MAX: usize = 1024;

/// Knows whether a standby has caught up with the primary. Its task ends when it is dropped.
pub struct Freshness {
    asks: mpsc::Sender<CatchUpReply>,
    begin: Instant,
    /// The moment until which all reads go to the primary, in milliseconds since `begin`; 0 while the standby answers.
    rests_until_ms: AtomicU64,
    instance: Arc<Mutex<Option<Known>>>,
    observe: Box<dyn Fn(StandbyEvent<'_>) + Send + Sync>,
}

type CatchUpReply = oneshot::Sender<Result<(), Behind>>;

/// The events that an observer is notified of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandbyEvent<'a> {
    /// The standby may not answer, or has failed, for this reason.
    OutOfUse(&'a str),
    /// The standby has answered a read.
    Answered,
    /// The primary answers a read in its place.
    FellBack,
}

/// Why the standby may not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
enum Behind {
    #[error("it is more than {} ms behind the primary", LAG_MAX.as_millis())]
    Late,
    #[error("it is no standby")]
    NoStandby,
    #[error("it has another database than the primary")]
    OtherDatabase,
    #[error("it does not follow the primary's timeline yet")]
    OtherTimeline,
    #[error("it has more than the primary, which was set back")]
    Ahead,
    #[error("it or the primary cannot be reached")]
    Away,
}

/// A PostgreSQL from its start to its end. Two standbys behind one address are two of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Instance {
    /// In microseconds.
    started_at: i64,
    /// `None` over a socket.
    address: Option<String>,
}

/// The instance that is compared with the primary.
struct Known {
    instance: Instance,
    since: Instant,
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
        let instance = Arc::new(Mutex::new(None));
        let comparison = Comparison { primary, standby, seen: None, instance: instance.clone() };
        tokio::spawn(reply_to_all(comparison, queue));
        Self { asks, begin: Instant::now(), rests_until_ms: AtomicU64::new(0), instance, observe: Box::new(observe) }
    }

    /// Whether the standby has replayed all that was acknowledged before this call.
    pub(super) async fn is_reached(&self) -> bool {
        if !self.may_ask() {
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
        if let Err(behind) = outcome {
            self.rest(&behind.to_string());
        }
        outcome.is_ok()
    }

    /// Whether the standby is in use. After a rest one read tries it, and the others go to the primary until it has answered.
    fn may_ask(&self) -> bool {
        let (now, until) = (self.now_ms(), self.rests_until_ms.load(Ordering::Relaxed));
        let try_it = || {
            let next = now + REST_MS;
            self.rests_until_ms.compare_exchange(until, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        };
        until == 0 || (until <= now && try_it())
    }

    /// Whether a connection of this age leads to the instance that is compared with the primary.
    pub(super) fn is_to_instance(&self, age: Duration) -> bool {
        lock(&self.instance).as_ref().is_none_or(|known| age < known.since.elapsed())
    }

    /// Checks a new connection: it must lead to the instance that is compared with the primary. A proxy may lead to another one.
    pub(super) async fn check(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let (_, found) = replayed(connection).await.map_err(|error| sqlx::Error::Protocol(error.to_string()))?;
        if lock(&self.instance).as_ref().is_some_and(|known| known.instance == found) {
            Ok(())
        } else {
            Err(sqlx::Error::Protocol("the address of the standby leads to several servers".to_owned()))
        }
    }

    /// Notes a read that the standby has answered.
    pub(super) fn answered(&self) {
        self.rests_until_ms.store(0, Ordering::Relaxed);
        (self.observe)(StandbyEvent::Answered);
    }

    /// Notes a read that the primary answers in the standby's place.
    pub(super) fn fell_back(&self) {
        (self.observe)(StandbyEvent::FellBack);
    }

    /// Notes a read that failed on the standby. It is left alone if other reads would fail as well.
    pub(super) fn failed(&self, error: &DbError) {
        if matches!(error, DbError::ConnectionLost(_) | DbError::Unreachable(_) | DbError::OutOfService(_)) {
            self.rest(&error.to_string());
        }
    }

    fn rest(&self, cause: &str) {
        self.rests_until_ms.fetch_max(self.now_ms() + REST_MS, Ordering::Relaxed);
        (self.observe)(StandbyEvent::OutOfUse(cause));
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).unwrap_or(u64::MAX - REST_MS)
    }
}

fn lock(instance: &Mutex<Option<Known>>) -> MutexGuard<'_, Option<Known>> {
    instance.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Replies to reads in groups. Reads that come while two positions are compared form the next group. For a read, only a
/// position counts that was read after the read began.
async fn reply_to_all(mut comparison: Comparison, mut queue: mpsc::Receiver<CatchUpReply>) {
    let mut waiting = Vec::new();
    while queue.recv_many(&mut waiting, WAITING_MAX).await > 0 {
        // Reads that have given up need no statement.
        waiting.retain(|reply| !reply.is_closed());
        if waiting.is_empty() {
            continue;
        }
        // A panic fails this group, and none after it.
        let outcome = AssertUnwindSafe(comparison.compare()).catch_unwind().await;
        let outcome = outcome.unwrap_or(Err(Behind::Away));
        for reply in waiting.drain(..) {
            let _ = reply.send(outcome);
        }
    }
}

/// The two servers that are compared.
struct Comparison {
    primary: DedicatedConnection,
    standby: DedicatedConnection,
    /// How far the standby was at the last look.
    seen: Option<Position>,
    instance: Arc<Mutex<Option<Known>>>,
}

impl Comparison {
    /// Waits until the standby has what the primary has now.
    async fn compare(&mut self) -> Result<(), Behind> {
        let seen = match self.seen {
            Some(seen) => seen,
            None => self.look().await?,
        };
        let wanted = self.primary.run(async |connection| written(connection).await).await.map_err(|_| Behind::Away)?;
        if seen.is_later_than(&wanted) {
            return Err(Behind::Ahead);
        }
        let deadline = Instant::now() + LAG_MAX;
        loop {
            match self.look().await?.covers(&wanted) {
                Err(Behind::Late) if Instant::now() < deadline => sleep(POLL).await,
                outcome => return outcome,
            }
        }
    }

    /// How far the standby is. Notes which instance has answered.
    async fn look(&mut self) -> Result<Position, Behind> {
        let looked = self.standby.run(async |connection| replayed(connection).await).await;
        let (position, found) = looked.map_err(|_| Behind::Away)?;
        let mut known = lock(&self.instance);
        if known.as_ref().is_none_or(|known| known.instance != found) {
            *known = Some(Known { instance: found, since: Instant::now() });
        }
        self.seen = position;
        position.ok_or(Behind::NoStandby)
    }
}

impl Position {
    /// Whether it is a later position of the same log.
    fn is_later_than(&self, other: &Self) -> bool {
        self.bytes > other.bytes && Self { bytes: 0, ..*self } == Self { bytes: 0, ..*other }
    }

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

/// How far the standby has replayed the log, and which instance it is; no position if it is no standby. The timeline is that of
/// the last checkpoint or of the last page that was written, whichever is later.
async fn replayed(connection: &mut PgConnection) -> Result<(Option<Position>, Instance), DbError> {
    let row = sqlx::query!(
        r#"
        select (select system_identifier from pg_control_system()) as "cluster!",
            greatest((select timeline_id from pg_control_checkpoint()),
                (select min_recovery_end_timeline from pg_control_recovery()))::bigint as "timeline!",
            (select oid::bigint from pg_database where datname = current_database()) as "database!",
            case when pg_is_in_recovery() then (pg_last_wal_replay_lsn() - '0/0')::bigint end as bytes,
            (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as "started_at!",
            host(inet_server_addr()) || ' ' || inet_server_port() as address
        "#
    );
    let row = row.fetch_one(connection).instrument(statement("select pg_last_wal_replay_lsn")).await?;
    let position = |bytes| Position { cluster: row.cluster, timeline: row.timeline, database: row.database, bytes };
    Ok((row.bytes.map(position), Instance { started_at: row.started_at, address: row.address }))
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

    #[test]
    fn a_primary_that_has_less_than_its_standby_had_was_set_back() {
        let seen = Position { cluster: 7, timeline: 2, database: 5, bytes: 1000 };
        assert!(!seen.is_later_than(&seen) && seen.is_later_than(&Position { bytes: 999, ..seen }));
        // Positions on different timelines cannot be compared.
        assert!(!seen.is_later_than(&Position { bytes: 999, timeline: 3, ..seen }));
    }
}
