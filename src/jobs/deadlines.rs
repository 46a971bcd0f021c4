//! Settles games whose time has run out though nobody looks at them.

use futures_util::{StreamExt, stream};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    db::{
        DbError, Writers,
        games::{self, wakes},
    },
    domain::GameId,
};

/// How many games are taken at once: some ten milliseconds' work.
const BATCH: u32 = 200;

/// How many of them are settled at once, so that the writers store many together.
const AT_ONCE: usize = 64;

/// How long a game that was taken is left to whoever took it.
const AGAIN_AFTER: Duration = Duration::MINUTE;

/// Settles all games that are due by now; those that other processes have taken are left to them. One that cannot be settled
/// keeps no other from it.
pub async fn settle(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    loop {
        let taken = wakes::take(pool, now, now + AGAIN_AFTER, BATCH).await?;
        let settled = stream::iter(taken.due).map(async |id| (id, settle_game(pool, writers, id, now).await));
        let mut settled = std::pin::pin!(settled.buffer_unordered(AT_ONCE));
        while let Some((id, outcome)) = settled.next().await {
            if let Err(error) = outcome {
                tracing::error!(game.id = %id.0, "a game whose time has run out is not settled: {error}");
            }
        }
        if taken.looked_at < BATCH as usize {
            return Ok(());
        }
    }
}

/// A game that changes meanwhile, or that somebody else has settled, is left as it is.
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
