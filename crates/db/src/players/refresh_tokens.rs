//! Refresh tokens, by their hashes.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::rows::{OwnPlayer, OwnPlayerRow};
use crate::connection::{DbError, statement};

/// SHA-256 of a refresh token.
pub type Hash = [u8; 32];

/// How long a refresh token is valid: longer than the longest pause in a game that is still resumed.
pub const LIFETIME: Duration = Duration::days(180);

/// How many generations of a family are kept. A token that is older than a day of use is refused as unknown, and one
/// sign-in never fills the table.
const GENERATIONS_KEPT: i32 = 100;

/// How many successors of one token are valid at once, the newest. A client that loses more answers than this in a row
/// holds the last of them.
const SIBLINGS_KEPT: i64 = 32;

/// A sign-in with its first refresh token.
#[derive(Clone, Copy, Debug)]
pub struct SignIn {
    /// The id of its family of tokens.
    pub family: Uuid,
    /// The hash of the token that the client gets.
    pub first: Hash,
    /// When the token expires.
    pub expires_at: OffsetDateTime,
}

/// Stores a new family with its first token; returns whether it did. It does not if the player's credentials were revoked since
/// the player was read, or the player was erased.
pub async fn insert_family(pool: &PgPool, player: &OwnPlayer, sign_in: &SignIn) -> Result<bool, DbError> {
    let stored = sqlx::query!(
        r#"
        with family as (
            insert into refresh_family (id, player_id, used_generation, credentials_version)
            select $1, id, 0, credentials_version from player
            where id = $2 and credentials_version = $3 and kind <> 'deleted' for share
            returning id
        )
        insert into refresh_token (hash, family_id, generation, expires_at) select $4, family.id, 1, $5 from family
        "#,
        sign_in.family,
        player.player.id.0,
        player.credentials_version,
        &sign_in.first,
        sign_in.expires_at,
    )
    .execute(pool)
    .instrument(statement("insert refresh_family refresh_token"))
    .await?;
    Ok(stored.rows_affected() > 0)
}

/// The result of using a token.
#[derive(Clone, Debug)]
pub enum Rotated {
    /// Its successor is stored.
    Stored {
        /// The player.
        player: OwnPlayer,
        /// The family of the token.
        family: Uuid,
    },
    /// A successor was used before: the token may have been stolen.
    Reused,
    /// The token is unknown, expired or revoked.
    Unknown,
}

/// Uses a token: stores its successor, and returns its player.
///
/// A used token whose successor is unused gets another successor: the answer with the first one may have been lost. If the successor was
/// used, the token counts as stolen. In that case an account's whole family of tokens is revoked, and also that of a guest with an identity
/// of an `offered` issuer. Any other guest cannot sign in again, so the newer tokens of its family stay. One statement does all of it and
/// locks the family's row, so two uses at once follow each other.
pub async fn rotate(
    pool: &PgPool,
    presented: &Hash,
    successor: &Hash,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
    offered: &[String],
) -> Result<Rotated, DbError> {
    let row = sqlx::query!(
        r#"
        with presented as (
            select family.id, family.player_id, token.generation,
                player.kind = 'guest' and not exists (
                    select from player_identity where player_id = player.id and issuer = any($7)
                ) as is_lost_without,
                token.generation = family.used_generation + 1 or coalesce(family.used_hash = $1, false) as good
            from refresh_token token
            join refresh_family family on family.id = token.family_id
            join player on player.id = family.player_id
            where token.hash = $1 and token.expires_at > $3 and family.revoked_at is null
                and player.credentials_version = family.credentials_version
            for no key update of family
        ), used as (
            update refresh_family family
            set used_generation = case when presented.good then presented.generation else family.used_generation end,
                used_hash = case when presented.good then $1 else family.used_hash end,
                token_at = case when presented.good then $3 else family.token_at end,
                revoked_at = case when presented.good or presented.is_lost_without then null else $3 end
            from presented where family.id = presented.id
        ), stored as (
            insert into refresh_token (hash, family_id, generation, expires_at)
            select $2, presented.id, presented.generation + 1, $4 from presented where presented.good
        ), forgotten as (
            delete from refresh_token token using presented
            where presented.good and token.family_id = presented.id and (
                token.generation < presented.generation - $5
                or token.generation = presented.generation + 1 and token.hash not in (
                    select hash from refresh_token sibling
                    where sibling.family_id = presented.id and sibling.generation = presented.generation + 1
                    order by expires_at desc limit $6
                )
            )
        )
        select player.id, player.kind, player.name, player.created_at, player.credentials_version,
            player.network is not null as "has_network!", presented.id as family, presented.good as "good!"
        from presented join player on player.id = presented.player_id
        "#,
        presented,
        successor,
        now,
        expires_at,
        GENERATIONS_KEPT,
        SIBLINGS_KEPT,
        offered,
    )
    .fetch_optional(pool)
    .instrument(statement("update refresh_family insert refresh_token"))
    .await?;
    let Some(row) = row else { return Ok(Rotated::Unknown) };
    if !row.good {
        return Ok(Rotated::Reused);
    }
    let (id, kind, name, created_at) = (row.id, row.kind, row.name, row.created_at);
    let (credentials_version, has_network) = (row.credentials_version, row.has_network);
    let own = OwnPlayerRow { id, kind, name, created_at, credentials_version, has_network };
    Ok(Rotated::Stored { player: own.try_into()?, family: row.family })
}

/// Whether a sign-in of a player has not ended.
pub async fn is_active(pool: &PgPool, player: PlayerId, family: Uuid) -> Result<bool, DbError> {
    let active = sqlx::query_scalar!(
        r#"
        select exists (
            select from refresh_family where id = $1 and player_id = $2 and revoked_at is null
        ) as "is_active!"
        "#,
        family,
        player.0,
    );
    Ok(active.fetch_one(pool).instrument(statement("select refresh_family")).await?)
}

/// Ends one sign-in of a player; returns whether there is one.
pub async fn end(pool: &PgPool, player: PlayerId, family: Uuid, now: OffsetDateTime) -> Result<bool, DbError> {
    let ended = sqlx::query!(
        "update refresh_family set revoked_at = coalesce(revoked_at, $3) where id = $1 and player_id = $2",
        family,
        player.0,
        now,
    )
    .execute(pool)
    .instrument(statement("update refresh_family"))
    .await?;
    Ok(ended.rows_affected() > 0)
}

/// Revokes the family of a token, if the token exists.
pub async fn revoke(pool: &PgPool, presented: &Hash, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        update refresh_family family set revoked_at = $2
        from refresh_token token
        where token.hash = $1 and family.id = token.family_id and family.revoked_at is null
        "#,
        presented,
        now,
    )
    .execute(pool)
    .instrument(statement("update refresh_family"))
    .await?;
    Ok(())
}

/// A valid sign-in of a player.
#[derive(Clone, Copy, Debug)]
pub struct SignedIn {
    /// The id of its family of tokens.
    pub family: Uuid,
    /// When its newest token expires.
    pub expires_at: OffsetDateTime,
}

/// When a sign-in began, by its id: ids begin with the time of their creation. A refresh leaves the id, and so the time.
pub fn began_at(family: Uuid) -> OffsetDateTime {
    let ms = i128::try_from(family.as_u128() >> 80).unwrap_or_default();
    OffsetDateTime::from_unix_timestamp_nanos(ms * 1_000_000).unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// Up to `limit` sign-ins of a player, newest first.
pub async fn list(pool: &PgPool, player: PlayerId, now: OffsetDateTime, limit: u32) -> Result<Vec<SignedIn>, DbError> {
    let rows = sqlx::query!(
        r#"
        select family.id, max(token.expires_at) as "expires_at!"
        from refresh_family family
        join player on player.id = family.player_id and player.credentials_version = family.credentials_version
        join refresh_token token on token.family_id = family.id
        where family.player_id = $1 and family.revoked_at is null and token.expires_at > $2
        group by family.id order by family.id desc limit $3
        "#,
        player.0,
        now,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select refresh_family"))
    .await?;
    Ok(rows.into_iter().map(|row| SignedIn { family: row.id, expires_at: row.expires_at }).collect())
}

/// Deletes up to `limit` expired tokens and sign-ins, and as many revoked sign-ins; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let limit = i64::from(limit);
    // A family is deleted with its last valid token, and its tokens with it.
    let families = sqlx::query!(
        r#"
        delete from refresh_family family where id in (
            select family_id from (
                (select family_id from refresh_token where expires_at <= $1 order by expires_at limit $2)
                union (select id from refresh_family where revoked_at is not null order by revoked_at limit $2)
            ) candidate
        ) and (revoked_at is not null
            or not exists (select from refresh_token token where token.family_id = family.id and token.expires_at > $1))
        "#,
        now,
        limit,
    )
    .execute(pool)
    .instrument(statement("delete refresh_token"))
    .await?;
    let tokens = sqlx::query!(
        r#"
        delete from refresh_token where hash in (
            select hash from refresh_token where expires_at <= $1 order by expires_at limit $2
            for update skip locked
        )
        "#,
        now,
        limit,
    )
    .execute(pool)
    .instrument(statement("delete refresh_token"))
    .await?;
    Ok(families.rows_affected() + tokens.rows_affected())
}
