//! Accounts that are given back to the owner of their former address, by the link in the mail that reported the change.
//!
//! A thief who has changed the account holds its later links. So a link voids later ones alone, and the earliest wins.

use mancala_domain::{EmailAddress, PlayerId};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::{TokenHash, addresses::ONE_ACCOUNT, resets::RESET_LIFETIME};
use crate::connection::{DbError, statement};

/// How long a link restores an account.
pub const RESTORATION_LIFETIME: Duration = Duration::days(7);

/// The most that the times of a change and of its mail may differ: one is the server's, the other may be the database's.
const TIMES_DIFFER: Duration = Duration::minutes(1);

/// The new credentials of a restored account, which replace the former ones.
#[derive(Clone, Copy, Debug)]
pub struct NewCredentials<'a> {
    /// The hash of a random password, which is given to no person.
    pub password_hash: &'a str,
    /// The token by which the owner sets a password.
    pub reset: &'a TokenHash,
}

/// An account that was restored.
#[derive(Clone, Copy, Debug)]
pub struct Restored {
    /// The account.
    pub player: PlayerId,
    /// Tokens before this version are void.
    pub credentials_version: i32,
}

/// Whether a link with this token restores an account.
pub async fn is_valid(pool: &PgPool, hash: &TokenHash, now: OffsetDateTime) -> Result<bool, DbError> {
    let valid = sqlx::query_scalar!(
        r#"
        select exists (
            select from email_token where hash = $1 and kind = 'restore_account' and expires_at > $2
        ) as "is_valid!"
        "#,
        &hash[..],
        now,
    );
    Ok(valid.fetch_one(pool).instrument(statement("select email_token")).await?)
}

/// Restores the account to whose address a link with this token was sent. The address is verified again, and all sign-ins end. Identities
/// and recovery codes that were made since the change are gone, and the password is void. `None` if the token is no longer valid, or
/// another account has the address meanwhile.
pub async fn restore(
    pool: &PgPool,
    hash: &TokenHash,
    new: NewCredentials<'_>,
    now: OffsetDateTime,
) -> Result<Option<Restored>, DbError> {
    let found = sqlx::query_scalar!("select player_id from email_token where hash = $1", &hash[..]);
    let Some(player) = found.fetch_optional(pool).instrument(statement("select email_token")).await? else {
        return Ok(None);
    };
    let mut transaction = pool.begin().await?;
    // The player's row is locked first, as by an erasure.
    let locked = sqlx::query_scalar!("select id from player where id = $1 for no key update", player);
    locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?;
    let used = sqlx::query!(
        r#"
        delete from email_token where hash = $1 and kind = 'restore_account' and expires_at > $2
        returning address, since as "since!"
        "#,
        &hash[..],
        now,
    );
    let Some(used) = used.fetch_optional(&mut *transaction).instrument(statement("delete email_token")).await? else {
        return Ok(None);
    };
    let address = EmailAddress::from_stored(used.address);
    let addressed = sqlx::query!(
        r#"
        insert into account_email as present (player_id, address, address_key, verified_at) values ($1, $2, $3, $4)
        on conflict (player_id) do update
        set address = excluded.address, address_key = excluded.address_key, pending = null, pending_since = null,
            verified_at = case present.address_key when excluded.address_key then present.verified_at else $4 end
        "#,
        player,
        address.as_str(),
        address.key(),
        now,
    );
    match addressed
        .execute(&mut *transaction)
        .instrument(statement("insert account_email"))
        .await
        .map_err(DbError::from)
    {
        Ok(_) => {}
        Err(DbError::Constraint { name }) if name == ONE_ACCOUNT => return Ok(None),
        Err(error) => return Err(error),
    }
    // Triggers void the other links and the push devices with the version.
    let credentials_version = sqlx::query_scalar!(
        r#"
        with later as (
            delete from email_token where player_id = $1 and since >= $2
        ), sign_ins as (
            update refresh_family set revoked_at = $4 where player_id = $1 and revoked_at is null
        ), codes as (
            delete from recovery_code where player_id = $1 and created_at >= $3
        ), identities as (
            delete from player_identity where player_id = $1 and created_at >= $3
        ), networks as (
            delete from sign_in_network where player_id = $1
        ), password as (
            update account set password_hash = $5 where player_id = $1
        )
        update player set credentials_version = credentials_version + 1 where id = $1 returning credentials_version
        "#,
        player,
        used.since,
        used.since - TIMES_DIFFER,
        now,
        new.password_hash,
    );
    let credentials_version = credentials_version
        .fetch_one(&mut *transaction)
        .instrument(statement("update player credentials_version"))
        .await?;
    // The queued mails report changes that are now reverted, or that the owner makes in this request.
    sqlx::query!(
        r#"
        with told as (
            delete from mail where player_id = $1
        )
        insert into email_token (hash, player_id, kind, address, expires_at) values ($2, $1, 'reset_password', $3, $4)
        "#,
        player,
        &new.reset[..],
        address.as_str(),
        now + RESET_LIFETIME,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert email_token"))
    .await?;
    transaction.commit().await?;
    Ok(Some(Restored { player: PlayerId(player), credentials_version }))
}
