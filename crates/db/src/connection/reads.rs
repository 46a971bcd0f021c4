//! Reads that a standby may answer in the primary's place. It knows no table.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;
use tokio::time::timeout;

use super::{Database, DbError, Freshness, pool::standby_pool};

/// How long a read may take on the standby. One that freezes would keep its clients waiting for ever.
const STANDBY_WAIT: Duration = Duration::from_secs(2);

/// The pools for reads of one thread: that of the primary, and that of a standby, if there is one.
///
/// ```no_run
/// # use mancala_db::{DbError, Reads, games};
/// # async fn find(reads: &Reads, id: mancala_domain::GameId) -> Result<(), DbError> {
/// let game = reads.run(|db| async move { games::find(&db, id).await }).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Reads {
    primary: PgPool,
    standby: Option<Standby>,
}

/// The pool of a standby, with the measure of how far the standby has replayed the log.
#[derive(Clone, Debug)]
pub struct Standby {
    pool: PgPool,
    freshness: Arc<Freshness>,
}

impl Standby {
    /// A pool with at most this many connections. The whole process shares one `freshness`.
    pub fn new(database: &Database, connections_max: u32, freshness: Arc<Freshness>) -> Self {
        Self { pool: standby_pool(database, connections_max, freshness.clone()), freshness }
    }
}

impl Reads {
    /// Reads of a primary and of its standby.
    pub const fn new(primary: PgPool, standby: Option<Standby>) -> Self {
        Self { primary, standby }
    }

    /// The pool of the primary.
    pub const fn primary(&self) -> &PgPool {
        &self.primary
    }

    /// Runs a read on the standby if the standby is up to date, otherwise on the primary. A read that fails on the standby is repeated on
    /// the primary, so it must not write.
    pub async fn run<T, F>(&self, read: impl Fn(PgPool) -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let Some(Standby { pool, freshness }) = &self.standby else { return read(self.primary.clone()).await };
        if freshness.is_reached().await {
            let outcome = timeout(STANDBY_WAIT, read(pool.clone())).await;
            match outcome.unwrap_or_else(|_| Err(DbError::silent())) {
                Ok(found) => {
                    freshness.answered();
                    return Ok(found);
                }
                Err(error) => freshness.failed(&error),
            }
        }
        freshness.fell_back();
        read(self.primary.clone()).await
    }
}
