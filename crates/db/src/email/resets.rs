//! Passwords that are set anew by a link: requests, which name an address, and the links.

use mancala_domain::EmailAddress;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::TokenHash;
use crate::{
    connection::{DbError, statement},
    players::{self, Leftovers, Named, OwnPlayer, Updated, settings::NewSettings},
};

/// How long a link sets a password.
pub const RESET_LIFETIME: Duration = Duration::HOUR;

/// Stores that the password of an account with this address is to be set anew, if there is one. It does not look.
pub async fn request(pool: &PgPool, address: &EmailAddress, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!("insert into password_reset_request (address_key, requested_at) values ($1, $2)", address.key(), now,)
        .execute(pool)
        .instrument(statement("insert password_reset_request"))
        .await?;
    Ok(())
}

/// Turns up to `limit` requests into mails, where an account has the address, and drops the others.
pub async fn resolve(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with first as (
            select requested_at, id from password_reset_request order by requested_at, id limit $2
            for update skip locked
        ), taken as (
            delete from password_reset_request using first
            where password_reset_request.requested_at = first.requested_at and password_reset_request.id = first.id
            returning password_reset_request.address_key
        ), wanted as (
            select distinct address_key from taken
        ), owner as (
            select player.id, account_email.address from wanted
            join account_email on account_email.address_key = wanted.address_key
            join player on player.id = account_email.player_id
            where player.kind = 'account' order by player.id for share of player
        ), queued as (
            insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
            select id, 'reset_password', address, $1, $1 from owner
            on conflict on constraint mail_once_key do update set created_at = excluded.created_at
        )
        select from taken
        "#,
        now,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete password_reset_request insert mail"))
    .await?;
    Ok(())
}

/// The account whose password a link with this token sets: only one to the address that the account has.
pub async fn find(pool: &PgPool, hash: &TokenHash, now: OffsetDateTime) -> Result<Option<OwnPlayer>, DbError> {
    let player = sqlx::query_scalar!(
        r#"
        select email_token.player_id from email_token
        join account_email on account_email.player_id = email_token.player_id
        where email_token.hash = $1 and kind = 'reset_password' and expires_at > $2
            and account_email.address = email_token.address
        "#,
        &hash[..],
        now,
    );
    match player.fetch_optional(pool).instrument(statement("select email_token")).await? {
        Some(player) => players::find(pool, mancala_domain::PlayerId(player)).await,
        None => Ok(None),
    }
}

/// Sets the password of an account by the token of a link. All links of the account become void. `before` is the account as it was read,
/// for optimistic locking. `None` if the token is no longer valid.
pub async fn set_password(
    pool: &PgPool,
    before: &OwnPlayer,
    hash: &TokenHash,
    password_hash: &str,
    leftovers: Leftovers,
    now: OffsetDateTime,
) -> Result<Option<Updated>, DbError> {
    let mut transaction = pool.begin().await?;
    // The player's row is locked first, as by an erasure.
    let locked = sqlx::query_scalar!("select id from player where id = $1 for no key update", before.player.id.0);
    locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?;
    let used = sqlx::query!(
        r#"
        delete from email_token using account_email
        where hash = $1 and email_token.player_id = $2 and kind = 'reset_password' and expires_at > $3
            and account_email.player_id = $2 and account_email.address = email_token.address
        "#,
        &hash[..],
        before.player.id.0,
        now,
    );
    if used.execute(&mut *transaction).instrument(statement("delete email_token")).await?.rows_affected() == 0 {
        return Ok(None);
    }
    let settings = NewSettings::default();
    let after = &before.player;
    let updated =
        players::update_within(&mut transaction, before, after, Some(password_hash), settings, leftovers, now).await?;
    if updated.named == Named::Stored {
        transaction.commit().await?;
    }
    Ok(Some(updated))
}
