//! Reads that a standby may answer in the primary's place. It knows no table.

use std::sync::Arc;

use sqlx::PgPool;

use super::{DbError, Freshness};

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

/// The pool of a standby, and what knows how fresh it is.
#[derive(Clone, Debug)]
pub struct Standby {
    /// Its connections.
    pub pool: PgPool,
    /// One for the whole process.
    pub freshness: Arc<Freshness>,
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

    /// Reads on the standby if it is as fresh as the primary, and otherwise on the primary. A read that fails on the standby is
    /// repeated on the primary, so it must only read.
    pub async fn run<T, F>(&self, read: impl Fn(PgPool) -> F) -> Result<T, DbError>
    where
        F: Future<Output = Result<T, DbError>>,
    {
        let Some(Standby { pool, freshness }) = &self.standby else { return read(self.primary.clone()).await };
        if freshness.is_reached().await {
            match read(pool.clone()).await {
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
