//! Refresh tokens, by their hashes.

use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use super::{DbError, players::PlayerRow};
use crate::domain::{Player, PlayerId};

/// SHA-256 of a refresh token.
pub type Hash = [u8; 32];

/// Begins a family with its first token.
pub async fn insert_family(
    pool: &PgPool,
    family: Uuid,
    player: PlayerId,
    first: &Hash,
    expires_at: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with family as (
            insert into refresh_family (id, player_id, used_generation) values ($1, $2, 0) returning id
        )
        insert into refresh_token (hash, family_id, generation, expires_at) select $3, family.id, 1, $4 from family
        "#,
        family,
        player.0,
        first,
        expires_at,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Uses a token: its successor is stored, and its player given. `None`: the token is unknown, expired or revoked.
///
/// A used token whose successor has not been used yet gets another successor: the answer with the first may have been lost
/// on the way. Once a successor has been used, whoever brings the token back has stolen it or was stolen from: then the
/// whole family is revoked. All in one statement, which holds the family's row, so two uses at once follow each other.
pub async fn rotate(
    pool: &PgPool,
    presented: &Hash,
    successor: &Hash,
    now: OffsetDateTime,
    expires_at: OffsetDateTime,
) -> Result<Option<Player>, DbError> {
    let row = sqlx::query_as!(
        PlayerRow,
        r#"
        with presented as (
            select family.id, family.player_id, token.generation,
                token.generation = family.used_generation + 1 or coalesce(family.used_hash = $1, false) as good
            from refresh_token token join refresh_family family on family.id = token.family_id
            where token.hash = $1 and token.expires_at > $3 and family.revoked_at is null
            for no key update of family
        ), used as (
            update refresh_family family
            set used_generation = case when presented.good then presented.generation else family.used_generation end,
                used_hash = case when presented.good then $1 else family.used_hash end,
                revoked_at = case when presented.good then null else $3 end
            from presented where family.id = presented.id
        ), stored as (
            insert into refresh_token (hash, family_id, generation, expires_at)
            select $2, presented.id, presented.generation + 1, $4 from presented where presented.good
        )
        select player.id, player.kind, player.name, player.created_at
        from presented join player on player.id = presented.player_id
        where presented.good
        "#,
        presented,
        successor,
        now,
        expires_at,
    )
    .fetch_optional(pool)
    .await?;
    row.map(Player::try_from).transpose()
}

/// Revokes the family of a token, if the token is known.
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
    .await?;
    Ok(())
}
