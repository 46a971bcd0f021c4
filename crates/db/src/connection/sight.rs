//! The state of a database at a moment: its clock, and the trace that shows whether its history was set back.
//!
//! A database that was restored, or one that took over from another, may lack what a process has read. It may also give
//! the same versions to other events. A process compares the cluster and its timeline, and the ids of the database and
//! of the tables of games. It also compares the position in PostgreSQL's log (WAL), which only grows.

use std::time::{Duration, Instant};

use sqlx::PgConnection;
use time::OffsetDateTime;
use tracing::Instrument;

use super::{DbError, statement};

/// The state of the database at a moment.
#[derive(Clone, Debug)]
pub struct Sight {
    /// The database's clock when it answered.
    pub clock: OffsetDateTime,
    /// When the question was sent.
    pub asked_at: Instant,
    /// How long the answer took.
    pub took: Duration,
    /// `None` for a standby, and while a restoration has removed the tables.
    trace: Option<Trace>,
}

/// The trace that identifies the history of a primary.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Trace {
    /// The cluster, its timeline, the database, and the tables of games and events with their files.
    identity: [i64; 7],
    /// The start of PostgreSQL, in microseconds.
    started_at: i64,
    /// The position up to which the log is on disk, in bytes.
    position: i64,
}

/// The relation of a sight to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuity {
    /// The database has gone on.
    Same,
    /// PostgreSQL was started anew. Nothing says that the database was set back, but while it was down it may have been.
    Restarted,
    /// Another database, another history, or an earlier state.
    SetBack,
}

impl Sight {
    /// Whether this sight was requested after the `earlier` one had been answered. Otherwise two connections read at the same time, and the
    /// order is unknown.
    pub fn is_later_than(&self, earlier: &Self) -> bool {
        self.asked_at >= earlier.asked_at + earlier.took
    }

    /// Whether this sight continues the `earlier` one.
    pub fn after(&self, earlier: &Self) -> Continuity {
        let (Some(now), Some(then)) = (&self.trace, &earlier.trace) else { return Continuity::Same };
        if now.identity != then.identity || now.position < then.position {
            Continuity::SetBack
        } else if now.started_at != then.started_at {
            Continuity::Restarted
        } else {
            Continuity::Same
        }
    }

    /// Whether it says anything about the history.
    pub const fn has_history(&self) -> bool {
        self.trace.is_some()
    }
}

/// Reads the state of the database.
pub(crate) async fn read(connection: &mut PgConnection) -> Result<Sight, DbError> {
    let asked_at = Instant::now();
    let row = sqlx::query!(
        r#"
        select clock_timestamp() as "clock!",
            (select system_identifier from pg_control_system()) as "cluster!",
            case when not pg_is_in_recovery()
                then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint end as timeline,
            case when not pg_is_in_recovery() then (pg_current_wal_flush_lsn() - '0/0')::bigint end as position,
            (select oid::bigint from pg_database where datname = current_database()) as "database!",
            to_regclass('game')::oid::bigint as game, pg_relation_filenode(to_regclass('game'))::bigint as game_file,
            to_regclass('event')::oid::bigint as event, pg_relation_filenode(to_regclass('event'))::bigint as event_file,
            (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint as "started_at!"
        "#
    )
    .fetch_one(connection)
    .instrument(statement("select pg_control_system"))
    .await?;
    let took = asked_at.elapsed();
    let tables = [row.game, row.game_file, row.event, row.event_file];
    let trace = match (row.timeline, row.position, tables) {
        (Some(timeline), Some(position), [Some(game), Some(game_file), Some(event), Some(event_file)]) => Some(Trace {
            identity: [row.cluster, timeline, row.database, game, game_file, event, event_file],
            started_at: row.started_at,
            position,
        }),
        _ => None,
    };
    Ok(Sight { clock: row.clock, asked_at, took, trace })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(trace: Option<Trace>) -> Sight {
        Sight { clock: OffsetDateTime::UNIX_EPOCH, asked_at: Instant::now(), took: Duration::ZERO, trace }
    }

    #[test]
    fn sights_of_the_same_moment_have_no_order() {
        let first = Sight { took: Duration::from_secs(5), ..sight(None) };
        let during = Sight { asked_at: first.asked_at + Duration::from_secs(1), ..sight(None) };
        let afterwards = Sight { asked_at: first.asked_at + Duration::from_secs(5), ..sight(None) };
        assert!(!during.is_later_than(&first) && afterwards.is_later_than(&first));
    }

    #[test]
    fn a_sight_tells_a_restart_from_another_history() {
        let then = Trace { identity: [1, 1, 2, 3, 4, 5, 6], started_at: 10, position: 1000 };
        let later = Trace { position: 2000, ..then.clone() };
        for (now, told) in [
            (Some(then.clone()), Continuity::Same),
            (Some(later.clone()), Continuity::Same),
            (Some(Trace { started_at: 11, ..later.clone() }), Continuity::Restarted),
            (Some(Trace { position: 999, ..then.clone() }), Continuity::SetBack),
            (Some(Trace { position: 999, started_at: 11, ..then.clone() }), Continuity::SetBack),
            (Some(Trace { identity: [1, 2, 2, 3, 4, 5, 6], ..later.clone() }), Continuity::SetBack),
            (Some(Trace { identity: [1, 1, 9, 3, 4, 5, 6], ..later }), Continuity::SetBack),
            (None, Continuity::Same),
        ] {
            assert_eq!(sight(now.clone()).after(&sight(Some(then.clone()))), told, "{now:?}");
        }
    }
}
