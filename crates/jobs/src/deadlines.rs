//! Settles games whose time has run out without a request for them.

use std::{sync::Arc, time::Duration as StdDuration};

use futures_util::{StreamExt, stream};
use mancala_db::{
    DbError, Writers,
    games::{self, wakes},
};
use mancala_domain::GameId;
use mancala_process::{clock::now, metrics::Metrics, repeats};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::rounds::Rounds;

/// The pause between two polls.
const PAUSE: StdDuration = StdDuration::from_secs(1);

/// How many games one batch takes: about ten milliseconds of work.
const BATCH: u32 = 200;

/// How many games of a batch are settled concurrently, so that the writers can group their appends.
const AT_ONCE: usize = 64;

/// The lease, during which no other process takes the same game.
const LEASE: Duration = Duration::MINUTE;

/// Runs until it is dropped.
pub async fn run(pool: PgPool, writers: Arc<Writers>, metrics: Arc<Metrics>) {
    let (begins, ends) = ("games whose time has run out stay unsettled", "games whose time has run out are settled");
    let rounds = Rounds::new(&metrics, "deadlines", begins, ends);
    loop {
        tokio::time::sleep(PAUSE).await;
        rounds.run(settle_due(&pool, &writers, now())).await;
    }
}

/// Settles all games that are due, except those leased by other processes. A game that fails is logged and skipped.
pub async fn settle_due(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    loop {
        let taken = wakes::take(pool, now, now + LEASE, BATCH).await?;
        let settled = stream::iter(taken.due).map(async |id| (id, settle_game(pool, writers, id, now).await));
        let mut settled = std::pin::pin!(settled.buffer_unordered(AT_ONCE));
        while let Some((id, outcome)) = settled.next().await {
            if let Err(error) = outcome
                && let Some(line) = repeats::admit("games whose time has run out", &error.to_string())
            {
                tracing::error!(left_out = line.left_out, game.id = %id.0, "a game whose time has run out cannot be settled: {error}");
            }
        }
        if taken.looked_at < BATCH as usize {
            return Ok(());
        }
    }
}

/// Settles one game, if it is due. After a version conflict the other change stands.
pub(super) async fn settle_game(
    pool: &PgPool,
    writers: &Writers,
    id: GameId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    let Some(mut game) = games::find_whole(pool, id).await?.map(|seated| seated.game) else { return Ok(()) };
    let due = game.due(now);
    if !due.is_empty() && due.iter().all(|event| game.apply(event).is_ok()) {
        games::append(writers, &game, &due).await?;
    }
    Ok(())
}
