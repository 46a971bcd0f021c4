//! Readiness: whether a move can be stored, which each process checks at most once a second.

use std::time::{Duration, Instant};

use sqlx::PgPool;
use tokio::sync::Mutex;

use crate::{
    db::{
        DbError, Writers,
        readiness::{Fault, NotReady},
    },
    http::answer::problem::{Problem, ReadinessCheck, chain},
};

/// How long a result is cached. Load balancers probe every few seconds.
const CACHED_FOR: Duration = Duration::from_secs(1);

/// The last check, cached for [`CACHED_FOR`]. Many probes thus cost one transaction a second.
#[derive(Debug, Default)]
pub struct Readiness {
    last: Mutex<Option<LastCheck>>,
}

/// The time and the result of a check.
#[derive(Debug)]
struct LastCheck {
    ended_at: Instant,
    result: Result<(), Problem>,
}

impl Readiness {
    /// Whether a move can be read and stored. A probe that arrives during a check waits for its result.
    pub(crate) async fn check(&self, writers: &Writers, db: &PgPool) -> Result<(), Problem> {
        let mut last = self.last.lock().await;
        if let Some(LastCheck { ended_at, result }) = &*last
            && ended_at.elapsed() < CACHED_FOR
        {
            return result.clone();
        }
        let result = check(writers, db).await.map_err(problem);
        *last = Some(LastCheck { ended_at: Instant::now(), result: result.clone() });
        result
    }
}

/// Checks the connection of a writer, and that the pool can read. A pool whose connections are all in use is busy, not broken.
async fn check(writers: &Writers, db: &PgPool) -> Result<(), NotReady> {
    writers.check().await?;
    if db.size() == 0 {
        drop(db.acquire().await.map_err(DbError::from)?);
    }
    Ok(())
}

/// The answer to a probe while the process cannot store moves.
fn problem(NotReady { fault, cause }: NotReady) -> Problem {
    let (check, detail) = match fault {
        Fault::Connection => (ReadinessCheck::Connection, "the database does not answer"),
        Fault::Connections => (ReadinessCheck::Connections, "the database has no free connection"),
        Fault::Standby => (ReadinessCheck::Standby, "the database is a standby"),
        Fault::ReadOnly => (ReadinessCheck::ReadOnly, "the database is read-only"),
        Fault::Disk => (ReadinessCheck::Disk, "a disk of the database is full"),
        Fault::Io => (ReadinessCheck::Io, "the database cannot read or write its files"),
        Fault::Memory => (ReadinessCheck::Memory, "the database lacks memory"),
        Fault::Rights => (ReadinessCheck::Rights, "the database user lacks a right on a table"),
        Fault::Migrations => {
            (ReadinessCheck::Migrations, "the database lacks migrations: run `mancala-server migrate`")
        }
        Fault::Database => (ReadinessCheck::Database, "the database cannot store a move"),
    };
    let problem = Problem::unready(check, detail);
    match cause {
        Some(cause) => problem.because(chain(&cause)),
        None => problem,
    }
}
