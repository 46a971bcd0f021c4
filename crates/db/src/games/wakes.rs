//! The times at which a job must look at a game: a deadline, or the end of an open game.

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// Takes up to `limit` games whose `wake_at` has passed, the longest due first, and returns those that are due. Both
/// this process's clock and the database's must say so, because a clock that is ahead would end games for good. Games
/// that another process has locked are skipped. Where the deadline has moved, `wake_at` is set to it. A game that is
/// due is put off until `again_at`, in case the process ends before it has handled the game.
pub async fn take(pool: &PgPool, now: OffsetDateTime, again_at: OffsetDateTime, limit: u32) -> Result<Taken, DbError> {
    let rows = sqlx::query!(
        r#"
        with woken as (
            select id from game where wake_at is not null and wake_at < least($1, now())
            order by wake_at limit $3
            for no key update skip locked
        )
        update game set wake_at = case
            when coalesce(deadline, expires_at) >= least($1, now()) then coalesce(deadline, expires_at)
            else $2
        end
        from woken where game.id = woken.id
        returning game.id, coalesce(deadline, expires_at) < least($1, now()) as "is_due!"
        "#,
        now,
        again_at,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("update game wake_at"))
    .await?;
    let due = rows.iter().filter(|row| row.is_due).map(|row| GameId(row.id)).collect();
    Ok(Taken { due, looked_at: rows.len() })
}

/// Games that were taken.
#[derive(Debug)]
pub struct Taken {
    /// Games whose deadline has passed.
    pub due: Vec<GameId>,
    /// How many games were taken, due or not.
    pub looked_at: usize,
}
