//! Deletes, in small batches, what has run out.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    db::{DbError, idempotency, players, refresh_tokens},
    domain::PlayerId,
};

/// Rows a statement deletes at most, so that none holds its locks for long.
const BATCH: u32 = 1000;

/// Statements a round at most; what is left waits for the next round.
const BATCHES_MAX: u32 = 100;

/// What is kept for how long.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Guests without a game who have not been seen for so long are deleted; `None`: never.
    pub guest_retention: Option<Duration>,
}

/// How far the guests have been looked through: all of them once in a while, a part each round.
#[derive(Debug, Default)]
pub struct Guests {
    after: Option<PlayerId>,
}

/// One round.
pub async fn run(pool: &PgPool, settings: Settings, guests: &mut Guests, now: OffsetDateTime) -> Result<(), DbError> {
    for _ in 0..BATCHES_MAX {
        if refresh_tokens::purge(pool, now, BATCH).await? == 0 {
            break;
        }
    }
    for _ in 0..BATCHES_MAX {
        if idempotency::purge(pool, now, BATCH).await? == 0 {
            break;
        }
    }
    let Some(retention) = settings.guest_retention else { return Ok(()) };
    for _ in 0..BATCHES_MAX {
        guests.after = players::purge_guests(pool, now - retention, guests.after, BATCH).await?;
        if guests.after.is_none() {
            break;
        }
    }
    Ok(())
}
