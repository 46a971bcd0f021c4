//! Deletes, in small batches, what has run out.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    db::{
        DbError, idempotency,
        players::{self, refresh_tokens},
        study::analyses,
        webhooks::deliveries,
    },
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

/// How long after all guests have been looked through they are looked through again.
const GUESTS_PAUSE: Duration = Duration::days(1);

/// How far the guests have been looked through: a part each round, and all of them once a day.
#[derive(Debug, Default)]
pub struct Guests {
    after: Option<PlayerId>,
    again_at: Option<OffsetDateTime>,
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
    for _ in 0..BATCHES_MAX {
        if deliveries::purge(pool, now, BATCH).await? == 0 {
            break;
        }
    }
    for _ in 0..BATCHES_MAX {
        if deliveries::purge_abandoned(pool, now, BATCH).await? == 0 {
            break;
        }
    }
    for _ in 0..BATCHES_MAX {
        if analyses::purge(pool, now, BATCH).await? == 0 {
            break;
        }
    }
    match settings.guest_retention {
        Some(retention) if guests.again_at.is_none_or(|again_at| now >= again_at) => {
            purge_guests(pool, now - retention, guests, now).await
        }
        _ => Ok(()),
    }
}

async fn purge_guests(
    pool: &PgPool,
    before: OffsetDateTime,
    guests: &mut Guests,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    for _ in 0..BATCHES_MAX {
        guests.after = players::purge_guests(pool, before, guests.after, BATCH).await?;
        if guests.after.is_none() {
            guests.again_at = Some(now + GUESTS_PAUSE);
            break;
        }
    }
    Ok(())
}
