//! Notices from process to process, by PostgreSQL's `listen` and `notify`: what they say, `live` knows.

use std::{mem, time::Duration};

use sqlx::{
    Acquire, Connection, PgPool,
    postgres::{PgConnectOptions, PgListener},
};
use tokio::{runtime::Handle, time::timeout};
use tracing::Instrument;

use super::{DbError, pool, statement};

/// Where all servers of one database listen.
const CHANNEL: &str = "mancala_changes";

/// PostgreSQL takes no longer text, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = 7999;

/// How long a connection is waited for that has to say whether it is alive.
const ANSWER_WAIT: Duration = Duration::from_secs(3);

/// A connection for sending notices, and for what is asked beside them. A notice that is lost with the database's memory is of no use any
/// more, so nobody waits for the disk.
pub fn sender(options: PgConnectOptions) -> PgPool {
    pool(options.options([("synchronous_commit", "off")]), 1)
}

/// Sends notices to all who listen.
pub async fn send(pool: &PgPool, notifications: &[String]) -> Result<(), DbError> {
    sqlx::query!("select pg_notify($1, notice) from unnest($2::text[]) as notice", CHANNEL, notifications)
        .execute(pool)
        .instrument(statement("notify"))
        .await?;
    Ok(())
}

/// A connection on which notices arrive. What was sent before it was there, or while it was lost, never does.
pub struct Listener(
    /// There until it is dropped.
    Option<PgListener>,
);

impl Listener {
    pub async fn start(options: &PgConnectOptions) -> Result<Self, DbError> {
        // A pool for each: the library's last word on a connection that has gone silent may keep its place for long.
        let mut started = Self(Some(PgListener::connect_with(&pool(options.clone(), 1)).await?));
        if let Some(listener) = &mut started.0 {
            // Whoever listens again has to ask what has happened meanwhile, so it is not done here.
            listener.eager_reconnect(false);
            listener.listen(CHANNEL).await?;
        }
        Ok(started)
    }

    /// Waits for the next notice; `None` if the connection was lost. May be given up and called again.
    pub async fn next(&mut self) -> Option<String> {
        let notification = self.0.as_mut()?.try_recv().await.ok()??;
        Some(notification.payload().to_owned())
    }

    /// Whether the connection still answers: one that has gone silent is like one on which nothing happens.
    pub async fn is_alive(&mut self) -> bool {
        let Some(listener) = &mut self.0 else { return false };
        let answer = async { listener.acquire().await?.ping().await };
        matches!(timeout(ANSWER_WAIT, answer).await, Ok(Ok(())))
    }
}

/// The library says goodbye to the database in a task of its own, and panics where there is no runtime any more: at the end of the
/// process, which closes the connection as well.
impl Drop for Listener {
    fn drop(&mut self) {
        if Handle::try_current().is_err() {
            mem::forget(self.0.take());
        }
    }
}
