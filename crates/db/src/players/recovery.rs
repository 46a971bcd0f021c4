//! Recovery codes, by their hashes: with one another device becomes the same player.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    refresh_tokens::Hash,
    rows::{OwnPlayer, OwnPlayerRow},
};
use crate::connection::{DbError, statement};

/// Whether a mail to the account's address reports a new code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Telling {
    /// The account's address is notified by mail.
    Address,
    /// No mail: the code comes with a new player, or with a new password, which is reported itself.
    None,
}

/// Gives a player a code, in place of the one before. Returns whether it did: it does not if the player's credentials were
/// revoked since the player was read, or the player was erased.
pub async fn store(
    pool: &PgPool,
    player: &OwnPlayer,
    hash: &Hash,
    telling: Telling,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let stored = sqlx::query_scalar!(
        r#"
        with stored as (
            insert into recovery_code (player_id, hash, created_at)
            select id, $3, $4 from player
            where id = $1 and credentials_version = $2 and kind in ('guest', 'account') for share
            on conflict (player_id) do update set hash = excluded.hash, created_at = excluded.created_at
            returning player_id
        ), told as (
            insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
            select player_id, 'recovery_code_changed', address, $4, $4 from stored join account_email using (player_id)
            where $5 and address is not null
            on conflict on constraint mail_once_key do nothing
        )
        select player_id from stored
        "#,
        player.player.id.0,
        player.credentials_version,
        &hash[..],
        now,
        telling == Telling::Address,
    )
    .fetch_optional(pool)
    .instrument(statement("insert recovery_code"))
    .await?;
    Ok(stored.is_some())
}

/// The player whose code has this hash.
pub async fn find(pool: &PgPool, hash: &Hash) -> Result<Option<OwnPlayer>, DbError> {
    let row = sqlx::query_as!(
        OwnPlayerRow,
        r#"
        select player.id, player.kind, player.name, player.created_at, player.credentials_version,
            player.network is not null as "has_network!"
        from recovery_code join player on player.id = recovery_code.player_id
        where recovery_code.hash = $1 and player.kind in ('guest', 'account')
        "#,
        &hash[..],
    )
    .fetch_optional(pool)
    .instrument(statement("select recovery_code"))
    .await?;
    row.map(OwnPlayer::try_from).transpose()
}

/// When a player got its code, if it has one.
pub async fn created_at(pool: &PgPool, player: PlayerId) -> Result<Option<OffsetDateTime>, DbError> {
    let at = sqlx::query_scalar!("select created_at from recovery_code where player_id = $1", player.0);
    Ok(at.fetch_optional(pool).instrument(statement("select recovery_code")).await?)
}
