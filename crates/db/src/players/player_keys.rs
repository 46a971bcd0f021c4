//! The players that were created under an idempotency key. The statement that creates a player also stores its key: see
//! [`super::insert`].

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::{
    refresh_tokens::Hash,
    rows::{OwnPlayer, OwnPlayerRow},
};
use crate::connection::{DbError, statement};

/// How long a key is valid.
pub const KEPT: Duration = Duration::hours(24);

/// A stored key.
#[derive(Clone, Copy, Debug)]
pub struct PlayerKey {
    /// The hash of the key.
    pub key_hash: Hash,
    /// The hash of the request, with the key.
    pub request_hash: Hash,
}

/// The player that was created under a valid key, and whether by the same request. A player whose credentials have changed
/// since is left out: then the key proves nothing any more.
pub async fn find(
    pool: &PgPool,
    key: &PlayerKey,
    now: OffsetDateTime,
) -> Result<Option<(Option<OwnPlayer>, bool)>, DbError> {
    let row = sqlx::query!(
        r#"
        select player.id, player.kind, player.name, player.created_at, player.credentials_version,
            player.network is not null as "has_network!", player_key.request_hash = $2 as "is_same!"
        from player_key join player on player.id = player_key.player_id
        where player_key.key_hash = $1 and player_key.created_at > $3
        "#,
        &key.key_hash[..],
        &key.request_hash[..],
        now - KEPT,
    )
    .fetch_optional(pool)
    .instrument(statement("select player_key"))
    .await?;
    row.map(|row| {
        let (id, kind, name, created_at) = (row.id, row.kind, row.name, row.created_at);
        let (credentials_version, has_network) = (row.credentials_version, row.has_network);
        let own = OwnPlayerRow { id, kind, name, created_at, credentials_version, has_network };
        let own = OwnPlayer::try_from(own)?;
        Ok(((own.credentials_version == 0).then_some(own), row.is_same))
    })
    .transpose()
}

/// Deletes up to `limit` expired keys; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from player_key where key_hash in (
            select key_hash from player_key where created_at <= $1 order by created_at limit $2
            for update skip locked
        )
        "#,
        now - KEPT,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete player_key"))
    .await?;
    Ok(deleted.rows_affected())
}
