//! Settles games whose time has run out though nobody looks at them.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    db::{DbError, Writers, games, wakes},
    domain::GameId,
};

/// How many games are taken at once: some ten milliseconds' work.
const BATCH: u32 = 200;

/// How long a game that was taken is left to whoever took it.
const AGAIN_AFTER: Duration = Duration::MINUTE;

/// Settles all games that are due by now; those that other processes have taken are left to them.
pub async fn settle(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    loop {
        let taken = wakes::take(pool, now, now + AGAIN_AFTER, BATCH).await?;
        for id in taken.due {
            settle_game(pool, writers, id, now).await?;
        }
        if taken.looked_at < BATCH as usize {
            return Ok(());
        }
    }
}

/// A game that changes meanwhile, or that somebody else has settled, is left as it is.
async fn settle_game(pool: &PgPool, writers: &Writers, id: GameId, now: OffsetDateTime) -> Result<(), DbError> {
    let Some(mut game) = games::find_whole(pool, id).await?.map(|seated| seated.game) else { return Ok(()) };
    let due = game.due(now);
    if due.is_empty() || due.iter().try_for_each(|event| game.apply(event)).is_err() {
        return Ok(());
    }
    games::append(writers, &game, &due).await?;
    Ok(())
}
