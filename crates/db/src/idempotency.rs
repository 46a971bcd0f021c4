//! Stored answers to creations, by their idempotency keys.
//!
//! The statement or transaction that creates also stores the answer: see [`crate::games::insert`].

use mancala_domain::PlayerId;
use sqlx::{PgExecutor, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    players::refresh_tokens::Hash,
};

/// How long a key is valid.
pub const KEPT: Duration = Duration::hours(24);

/// A creation with an idempotency key.
#[derive(Clone, Debug)]
pub struct Keyed {
    /// The player whose key it is.
    pub player: PlayerId,
    /// The key, as the client sent it.
    pub key: String,
    /// SHA-256 of the request.
    pub request_hash: Hash,
    /// The answer that is stored under the key.
    pub answer: StoredAnswer,
}

/// The answer to a creation: a 201.
#[derive(Clone, Debug)]
pub struct StoredAnswer {
    /// The header `Location`.
    pub location: String,
    /// The header `ETag`; empty if there is none.
    pub etag: String,
    /// The body.
    pub body: String,
}

/// Claims a key for a request and stores its answer, in the caller's transaction. `false` if the key is in use, or the player
/// is deleted. Among several requests with one key, the first locks its row, and the others wait. The player's row is locked
/// too, so that an erasure waits for the transaction, and then finds the answer.
pub(super) async fn claim(executor: impl PgExecutor<'_>, keyed: &Keyed, now: OffsetDateTime) -> Result<bool, DbError> {
    let claimed = sqlx::query!(
        r#"
        insert into idempotency_key as kept (player_id, key, request_hash, created_at, location, etag, body)
        select id, $2, $3, $4, $5, $6, $7 from player where id = $1 and kind <> 'deleted' for share
        on conflict (player_id, key) do update
        set request_hash = excluded.request_hash, created_at = excluded.created_at,
            location = excluded.location, etag = excluded.etag, body = excluded.body
        where kept.created_at <= $8
        "#,
        keyed.player.0,
        keyed.key,
        keyed.request_hash.as_slice(),
        now,
        keyed.answer.location,
        keyed.answer.etag,
        keyed.answer.body,
        now - KEPT,
    )
    .execute(executor)
    .instrument(statement("insert idempotency_key"))
    .await?;
    Ok(claimed.rows_affected() > 0)
}

/// The answer that is stored under a player's valid key, and the hash of its request.
pub async fn find(
    pool: &PgPool,
    player: PlayerId,
    key: &str,
    now: OffsetDateTime,
) -> Result<Option<(StoredAnswer, Vec<u8>)>, DbError> {
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
        let answer = StoredAnswer { location: row.location, etag: row.etag, body: row.body };
        (answer, row.request_hash)
    }))
}

/// Up to `limit` valid keys of a player, with the times of their requests; newest first.
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

/// Deletes up to `limit` expired keys; returns how many.
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
