//! Fills the explorer with the games that have ended: a little at a time, beside everything else.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::{
    clock::now,
    db::{
        self, DbError,
        study::explorer_index::{self, Explored},
    },
    metrics::Metrics,
};

/// How many games a server looks at in one transaction: some ten milliseconds' work.
const BATCH: u32 = 50;

/// How many a command does, which has nothing else to do: the more, the more often a position comes in several of them.
const LARGE_BATCH: u32 = 250;

/// How long between two looks for games that have ended.
const PAUSE: Duration = Duration::from_secs(2);

/// While more games wait, nine times as long is rested as was worked: so each server takes a tenth of a core of PostgreSQL's time at
/// most from moves, and what ends faster waits.
const REST: u32 = 9;

/// How long a command waits for a server that is at it.
const WAIT: Duration = Duration::from_millis(100);

/// Works until it is told to stop; then at once, and what was begun has not happened.
pub async fn run(database: PgConnectOptions, metrics: Arc<Metrics>, stopping: CancellationToken) {
    let (pool, mut failing) = (db::pool(database, 1), false);
    while !stopping.is_cancelled() {
        let begun = Instant::now();
        let explored = tokio::select! {
            () = stopping.cancelled() => return,
            explored = explorer_index::explore(&pool, now(), BATCH) => explored,
        };
        if let (Err(error), false) = (&explored, failing) {
            tracing::warn!("the explorer learns nothing until it can be written again: {error}");
        }
        failing = explored.is_err();
        if let Ok((waiting, put_off)) = explorer_index::count_waiting(&pool).await {
            metrics.unexplored(waiting, put_off);
        }
        let pause = match explored {
            Ok(Some(explored)) => {
                log_unreadable(&explored);
                if explored.is_full { begun.elapsed() * REST } else { PAUSE }
            }
            Ok(None) | Err(_) => PAUSE,
        };
        tokio::select! {
            () = stopping.cancelled() => {}
            () = sleep(pause) => {}
        }
    }
}

/// Works until no game waits any more; tells after each batch what was done. Servers may be at it as well.
pub async fn explore_all(pool: &PgPool, mut tell: impl FnMut(Explored)) -> Result<(), DbError> {
    loop {
        match explorer_index::explore(pool, now(), LARGE_BATCH).await? {
            Some(explored) => {
                let is_full = explored.is_full;
                tell(explored);
                if !is_full {
                    return Ok(());
                }
            }
            None => sleep(WAIT).await,
        }
    }
}

fn log_unreadable(explored: &Explored) {
    for (game, error) in &explored.unreadable {
        tracing::error!(game.id = %game.0, "a game is put off that the explorer cannot read: {error}");
    }
}
