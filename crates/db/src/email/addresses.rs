//! The addresses of accounts: proposed, verified, removed.

use mancala_domain::{EmailAddress, PlayerId};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::TokenHash;
use crate::{
    connection::{DbError, statement},
    players::OwnPlayer,
};

/// How long a link confirms an address, and how long an address waits for that.
pub const VERIFICATION_LIFETIME: Duration = Duration::DAY;

/// The constraint that a second account violates with the same address.
pub(super) const ONE_ACCOUNT: &str = "account_email_address_key";

/// The address of an account, and the one that is to take its place.
#[derive(Clone, Debug, Default)]
pub struct AccountEmail {
    /// The verified address, and since when it is.
    pub verified: Option<(EmailAddress, OffsetDateTime)>,
    /// The address that waits to be confirmed, and since when.
    pub pending: Option<(EmailAddress, OffsetDateTime)>,
}

/// The addresses of a player.
pub async fn find(pool: &PgPool, player: PlayerId, now: OffsetDateTime) -> Result<AccountEmail, DbError> {
    let row = sqlx::query!(
        "select address, verified_at, pending, pending_since from account_email where player_id = $1",
        player.0
    );
    let row = row.fetch_optional(pool).instrument(statement("select account_email")).await?;
    Ok(row.map_or_else(AccountEmail::default, |row| AccountEmail {
        verified: row.address.map(EmailAddress::from_stored).zip(row.verified_at),
        pending: row
            .pending
            .map(EmailAddress::from_stored)
            .zip(row.pending_since.filter(|since| *since > now - VERIFICATION_LIFETIME)),
    }))
}

/// Stores an address that waits to be confirmed, in place of another one, and the mail with the link. Links to another one are void.
/// Returns whether it did: it does not if the player's credentials were revoked since the player was read, or it is no account.
pub async fn propose(
    pool: &PgPool,
    own: &OwnPlayer,
    address: &EmailAddress,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let stored = sqlx::query_scalar!(
        r#"
        with owner as (
            select id from player where id = $1 and credentials_version = $2 and kind = 'account' for no key update
        ), void as (
            delete from email_token using owner
            where player_id = owner.id and kind = 'verify_email' and address <> $3
        ), obsolete as (
            delete from mail using owner where player_id = owner.id and kind = 'verify_email' and recipient <> $3
        ), stored as (
            insert into account_email (player_id, pending, pending_since) select id, $3, $4 from owner
            on conflict (player_id) do update set pending = excluded.pending, pending_since = excluded.pending_since
            returning player_id
        ), queued as (
            insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
            select player_id, 'verify_email', $3, $4, $4 from stored
            on conflict on constraint mail_once_key do update set created_at = excluded.created_at
        )
        select player_id from stored
        "#,
        own.player.id.0,
        own.credentials_version,
        address.as_str(),
        now,
    )
    .fetch_optional(pool)
    .instrument(statement("insert account_email"))
    .await?;
    Ok(stored.is_some())
}

/// Gives up the address that waits to be confirmed, and its links. Returns whether the player's credentials are still as they were read.
pub async fn withdraw(pool: &PgPool, own: &OwnPlayer) -> Result<bool, DbError> {
    let withdrawn = sqlx::query_scalar!(
        r#"
        with owner as (
            select id from player where id = $1 and credentials_version = $2 and kind = 'account' for no key update
        ), void as (
            delete from email_token using owner where player_id = owner.id and kind = 'verify_email'
        ), obsolete as (
            delete from mail using owner where player_id = owner.id and kind = 'verify_email'
        ), kept as (
            update account_email set pending = null, pending_since = null from owner
            where player_id = owner.id and address is not null and pending is not null
        )
        select id from owner
        "#,
        own.player.id.0,
        own.credentials_version,
    );
    Ok(withdrawn.fetch_optional(pool).instrument(statement("update account_email pending")).await?.is_some())
}

/// Removes the addresses of a player with all links but those that restore them, and notifies the verified one. Returns whether
/// the player's credentials are still as they were read.
pub async fn remove(pool: &PgPool, own: &OwnPlayer, now: OffsetDateTime) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let locked = sqlx::query_scalar!(
        "select id from player where id = $1 and credentials_version = $2 and kind <> 'deleted' for no key update",
        own.player.id.0,
        own.credentials_version,
    );
    if locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
        return Ok(false);
    }
    sqlx::query!(
        r#"
        with void as (
            delete from email_token where player_id = $1 and kind <> 'restore_account'
        ), obsolete as (
            delete from mail where player_id = $1 and kind in ('verify_email', 'reset_password')
        ), removed as (
            delete from account_email where player_id = $1 returning player_id, address
        )
        insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
        select player_id, 'email_removed', address, $2, $2 from removed where address is not null
        on conflict on constraint mail_once_key do nothing
        "#,
        own.player.id.0,
        now,
    )
    .execute(&mut *transaction)
    .instrument(statement("delete account_email"))
    .await?;
    transaction.commit().await?;
    Ok(true)
}

/// Confirms the address to which a link with this token was sent, and notifies the address before. All links of the account are
/// void with that, except the links that restore the address before. `None` if the token is no longer good, or another account
/// has the address.
pub async fn verify(pool: &PgPool, hash: &TokenHash, now: OffsetDateTime) -> Result<Option<EmailAddress>, DbError> {
    let found = sqlx::query!(
        "select player_id, address from email_token where hash = $1 and kind = 'verify_email' and expires_at > $2",
        &hash[..],
        now,
    );
    let Some(found) = found.fetch_optional(pool).instrument(statement("select email_token")).await? else {
        return Ok(None);
    };
    let address = EmailAddress::from_stored(found.address);
    let mut transaction = pool.begin().await?;
    // The player's row is locked first, as by an erasure.
    let locked = sqlx::query_scalar!("select id from player where id = $1 for no key update", found.player_id);
    locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?;
    let confirmed = sqlx::query_scalar!(
        r#"
        with used as (
            delete from email_token where hash = $1 returning player_id
        ), before as (
            select player_id, address from account_email where player_id = $2
        ), confirmed as (
            update account_email set address = pending, address_key = $4, verified_at = $5, pending = null, pending_since = null
            from used where account_email.player_id = used.player_id and pending = $3
            returning account_email.player_id
        ), void as (
            delete from email_token using confirmed where email_token.player_id = confirmed.player_id and hash <> $1 and kind <> 'restore_account'
        ), obsolete as (
            delete from mail using confirmed
            where mail.player_id = confirmed.player_id and kind in ('verify_email', 'reset_password')
        ), told as (
            insert into mail (player_id, kind, recipient, created_at, next_attempt_at)
            select player_id, 'email_changed', before.address, $5, $5 from confirmed join before using (player_id)
            where before.address is not null
            on conflict on constraint mail_once_key do nothing
        )
        select player_id from confirmed
        "#,
        &hash[..],
        found.player_id,
        address.as_str(),
        address.key(),
        now,
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("update account_email"))
    .await;
    match confirmed.map_err(DbError::from) {
        Ok(Some(_)) => {
            transaction.commit().await?;
            Ok(Some(address))
        }
        Ok(None) => Ok(None),
        Err(DbError::Constraint { name }) if name == ONE_ACCOUNT => Ok(None),
        Err(error) => Err(error),
    }
}
