//! How many connections the database gives.

use std::{future::ready, time::Duration};

use futures_util::{StreamExt, future::join_all, stream};
use sqlx::{Connection, PgConnection};
use tokio::time::timeout;

use super::{Database, DbError, settings::LIMITS};

/// How long a connection may take. A pooler that has none left lets a client wait.
const OPEN_WAIT: Duration = Duration::from_secs(3);

/// How many are opened at once.
const AT_ONCE: usize = 8;

/// How many of `wanted` connections the database gives at this moment. They are opened for it, and closed again: limits of the
/// database, of the role and of a pooler count alike.
pub async fn openable(database: &Database, wanted: u32) -> u32 {
    let opening = stream::iter((0..wanted).map(|_| open(database))).buffered(AT_ONCE);
    let opened: Vec<_> =
        opening.take_while(|opened| ready(opened.is_ok())).filter_map(async |opened| opened.ok()).collect().await;
    let count = u32::try_from(opened.len()).unwrap_or(wanted);
    join_all(opened.into_iter().map(PgConnection::close)).await;
    count
}

async fn open(database: &Database) -> Result<PgConnection, DbError> {
    timeout(OPEN_WAIT, database.connect(&LIMITS)).await.unwrap_or_else(|_| Err(DbError::unreachable()))
}
