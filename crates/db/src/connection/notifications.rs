//! Notifications between processes, by PostgreSQL's `listen` and `notify`. Their text belongs to `live`; this module
//! carries it.

use std::{mem, time::Duration};

use sqlx::{Acquire, Connection, PgPool, postgres::PgListener};
use tokio::{runtime::Handle, time::timeout};
use tracing::Instrument;

use super::{Database, DbError, pool::unregistered_pool, settings::LIMITS, statement};

/// The channel on which all servers of one database listen.
const CHANNEL: &str = "mancala_changes";

/// PostgreSQL's limit for the text of a notification, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 7999;

/// How long `is_alive` waits for a reply.
const ANSWER_WAIT: Duration = Duration::from_secs(3);

/// A connection for sending notifications, and for the queries that go with them. A notification that is lost in a
/// crash of the database is of no use afterwards, so a commit does not wait for the disk.
pub fn sender(database: &Database) -> PgPool {
    let mut settings = LIMITS.to_vec();
    settings.push(("synchronous_commit", "off"));
    let pool = unregistered_pool(database, settings.clone(), 1);
    database.register(&pool, settings);
    pool
}

/// Sends notifications to all listeners.
pub async fn send(pool: &PgPool, notifications: &[String]) -> Result<(), DbError> {
    sqlx::query!("select pg_notify($1, notice) from unnest($2::text[]) as notice", CHANNEL, notifications)
        .execute(pool)
        .instrument(statement("notify"))
        .await?;
    Ok(())
}

/// A connection on which notifications arrive. Notifications sent before it was open, or while it was lost, never arrive.
pub struct Listener(
    /// `Some` until it is dropped.
    Option<PgListener>,
);

impl Listener {
    /// Opens a connection and listens on it. Behind a pooler that lends connections for single transactions, no notification
    /// would arrive, so there is none.
    pub async fn start(database: &Database) -> Result<Self, DbError> {
        if database.is_pooled_by_transaction() {
            return Err(DbError::unreachable());
        }
        // A pool for each listener: on a connection that no longer answers, the library's goodbye may hold the pool's
        // place for long.
        let mut started = Self(Some(PgListener::connect_with(&unregistered_pool(database, LIMITS.to_vec(), 1)).await?));
        if let Some(listener) = &mut started.0 {
            // After a reconnect the caller must read what it has missed, so the listener does not reconnect by itself.
            listener.eager_reconnect(false);
            listener.listen(CHANNEL).await?;
        }
        Ok(started)
    }

    /// Waits for the next notification; `None` if the connection was lost. Cancel safe.
    pub async fn next(&mut self) -> Option<String> {
        let notification = self.0.as_mut()?.try_recv().await.ok()??;
        Some(notification.payload().to_owned())
    }

    /// Whether the connection still answers: one that no longer does looks like one on which nothing happens.
    pub async fn is_alive(&mut self) -> bool {
        let Some(listener) = &mut self.0 else { return false };
        let answer = async { listener.acquire().await?.ping().await };
        matches!(timeout(ANSWER_WAIT, answer).await, Ok(Ok(())))
    }
}

/// The library closes the connection in a task of its own, and panics where no runtime is left. That is at the end of
/// the process, which closes the connection as well.
impl Drop for Listener {
    fn drop(&mut self) {
        if Handle::try_current().is_err() {
            mem::forget(self.0.take());
        }
    }
}
