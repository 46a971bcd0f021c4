//! Games to which something happens though nobody does anything.

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use crate::connection::{DbError, statement};

/// Takes up to `limit` games that were to be looked at by now, by this process's clock and by the database's (a clock that is
/// ahead of the time would end games for ever), the longest due first, and no other process's: says which of them
/// are due. Of the others the deadline has moved on, and they are put off until it; one that is due is put off until
/// `again_at`, in case whoever took it ends before it is settled.
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

/// Games that were taken to be looked at.
#[derive(Debug)]
pub struct Taken {
    /// Those to which something has happened.
    pub due: Vec<GameId>,
    pub looked_at: usize,
}
