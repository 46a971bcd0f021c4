//! Tells the other processes what this one has stored.

use std::{sync::Weak, time::Duration};

use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use super::Hub;
use crate::db::connection::notifications;

/// The least time between two notices. The first change after a while is told at once; those that come in this time are told
/// together, which costs the database next to nothing, however many there are.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a notice may take: longer than the pool and PostgreSQL let it.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// How often it is looked whether there still is a hub.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tells the others of changes until the hub is gone. None of it is part of a change, or waited for by one: a notice that is lost
/// delays the others until they ask (`follow`).
pub async fn announce(hub: Weak<Hub>, pool: PgPool) {
    let mut failing = false;
    while let Some(changes) = hub.upgrade().map(|hub| hub.changes.clone()) {
        if timeout(PATIENCE, changes.there_are_some()).await.is_err() {
            continue;
        }
        let cause = match timeout(ANSWER_WAIT, notifications::send(&pool, &changes.take())).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        if let Some(cause) = &cause
            && !failing
        {
            tracing::warn!(cause, "other servers notice changes later, until the database answers again");
        }
        failing = cause.is_some();
        sleep(PAUSE).await;
    }
}
