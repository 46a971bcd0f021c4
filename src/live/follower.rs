//! Changes that other processes have stored, asked for as long as somebody waits.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::PgPool;
use tokio::time::{sleep, timeout};

use super::Hub;
use crate::db::{DbError, games};

/// The pause between two questions: how much later a change by another process is noticed than one by this process.
const PAUSE: Duration = Duration::from_secs(1);

/// How many games one query asks for: a few milliseconds' work.
const BATCH_MAX: usize = 1000;

/// How long an answer is waited for: longer than the pool and PostgreSQL let it take, so that only a connection that has gone
/// silent is given up.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Asks the database again and again at which version the games are that somebody waits for, and tells the hub; until the hub
/// is gone. While the database is away nobody is woken: whoever waits runs into its time.
pub async fn follow(hub: Weak<Hub>, pool: PgPool) {
    let mut failing = false;
    loop {
        sleep(PAUSE).await;
        let Some(hub) = hub.upgrade() else { return };
        let cause = match timeout(ANSWER_WAIT, ask(&hub, &pool)).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the database does not answer".to_owned()),
        };
        match cause {
            Some(cause) if !failing => {
                tracing::warn!(cause, "changes by other servers are not noticed until the database answers again");
                failing = true;
            }
            Some(_) => {}
            None => failing = false,
        }
    }
}

async fn ask(hub: &Arc<Hub>, pool: &PgPool) -> Result<(), DbError> {
    for batch in hub.games().chunks(BATCH_MAX) {
        for (game, version) in games::versions(pool, batch).await? {
            hub.tell(game, version);
        }
    }
    Ok(())
}
