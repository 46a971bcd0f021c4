//! How many connections the database gives.

use std::time::Duration;

use futures_util::{StreamExt, future::join_all, stream};
use sqlx::{Connection, PgConnection};
use tokio::time::timeout;

use super::{Database, DbError, settings::LIMITS};

/// How long a connection may take.
const OPEN_WAIT: Duration = Duration::from_secs(3);

/// How many are opened at once.
const AT_ONCE: usize = 8;

/// How many of `wanted` connections the database gives now. They are opened and closed again, so that the limits of the database, of the
/// role and of a pooler all count.
pub async fn openable(database: &Database, wanted: u32) -> Result<u32, DbError> {
    let mut opening = stream::iter((0..wanted).map(|_| open(database))).buffered(AT_ONCE);
    let (mut opened, mut failure) = (vec![], None);
    while let Some(tried) = opening.next().await {
        match tried {
            Ok(connection) => opened.push(connection),
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    drop(opening);
    let count = u32::try_from(opened.len()).unwrap_or(wanted);
    join_all(opened.into_iter().map(PgConnection::close)).await;
    match failure {
        Some(error) if !is_full(&error, count) => Err(error),
        _ => Ok(count),
    }
}

/// Whether the database, or the pooler in front of it, has no connection left. A pooler reports that with an error of its own, or lets a
/// client wait.
fn is_full(error: &DbError, opened: u32) -> bool {
    match error.sqlstate().as_deref() {
        // too_many_connections
        Some("53300") => true,
        // protocol_violation
        Some("08P01") => opened > 0,
        Some(_) => false,
        None => opened > 0 && matches!(error, DbError::Unreachable(_)),
    }
}

async fn open(database: &Database) -> Result<PgConnection, DbError> {
    timeout(OPEN_WAIT, database.connect(&LIMITS)).await.unwrap_or_else(|_| Err(DbError::unreachable()))
}
