//! What was answered to creations that may be sent again, by the keys that their clients gave them.
//!
//! The answer is stored by the statement that creates: see [`super::games::insert`].

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::{DbError, refresh_tokens::Hash, statement};
use crate::domain::PlayerId;

/// How long a key is good for.
pub const KEPT: Duration = Duration::hours(24);

/// A creation that may be sent again.
#[derive(Clone, Debug)]
pub struct Keyed {
    pub player: PlayerId,
    pub key: String,
    /// SHA-256 of what is asked for.
    pub request_hash: Hash,
    pub answer: Answer,
}

/// An answer to a creation: a 201.
#[derive(Clone, Debug)]
pub struct Answer {
    pub location: String,
    pub etag: String,
    pub body: String,
}

/// What was stored under a player's key, if it is still good: the answer, and the hash of what was asked for.
pub async fn find(
    pool: &PgPool,
    player: PlayerId,
    key: &str,
    now: OffsetDateTime,
) -> Result<Option<(Answer, Vec<u8>)>, DbError> {
    let row = sqlx::query!(
        r#"
        select location, etag, body, request_hash from idempotency_key
        where player_id = $1 and key = $2 and created_at > $3
        "#,
        player.0,
        key,
        now - KEPT,
    )
    .fetch_optional(pool)
    .instrument(statement("select idempotency_key"))
    .await?;
    Ok(row.map(|row| {
        let answer = Answer { location: row.location, etag: row.etag, body: row.body };
        (answer, row.request_hash)
    }))
}

/// Up to `limit` keys of a player that are still good, with when they were given; newest first.
pub async fn list(
    pool: &PgPool,
    player: PlayerId,
    now: OffsetDateTime,
    limit: u32,
) -> Result<Vec<(String, OffsetDateTime)>, DbError> {
    let rows = sqlx::query!(
        r#"
        select key, created_at from idempotency_key where player_id = $1 and created_at > $2
        order by created_at desc limit $3
        "#,
        player.0,
        now - KEPT,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select idempotency_keys of a player"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.key, row.created_at)).collect())
}

/// Deletes up to `limit` keys that have run out; says how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from idempotency_key where (player_id, key) in (
            select player_id, key from idempotency_key where created_at <= $1 order by created_at limit $2
            for update skip locked
        )
        "#,
        now - KEPT,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete idempotency_key"))
    .await?;
    Ok(deleted.rows_affected())
}
