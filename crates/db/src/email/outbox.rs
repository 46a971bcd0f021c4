//! The outbox: mails are taken with a lease, and deleted when they are sent or given up.

use mancala_domain::{EmailAddress, MailKind, PlayerId};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::TokenHash;
use crate::connection::{DbError, statement};

/// A mail that is to be sent.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Its id.
    pub id: Uuid,
    /// The kind of mail, which chooses its text.
    pub kind: MailKind,
    /// The recipient's address.
    pub recipient: EmailAddress,
    /// The account that it is about, and its name.
    pub player: PlayerId,
    /// See `player`.
    pub player_name: String,
    /// When it was queued.
    pub created_at: OffsetDateTime,
    /// How often it was taken, this time included.
    pub attempts: u32,
    /// Whether another account has the address already.
    pub is_of_other: bool,
}

/// How many mails an address gets within an hour, and within a day.
#[derive(Clone, Copy, Debug)]
pub struct AddressLimit {
    /// Within an hour.
    pub hourly: i64,
    /// Within a day.
    pub daily: i64,
    /// Whether one is sent beyond that if none was within an hour.
    pub has_hourly_one: bool,
}

/// The limit against which a mail is counted.
#[derive(Clone, Copy, Debug)]
pub struct MailQuota<'a> {
    /// A keyed hash of the recipient's address, or of the account that asks.
    pub recipient: &'a [u8],
    /// The name of the limit.
    pub class: &'static str,
}

/// Takes up to `limit` mails that are due, the oldest first. No other process takes them until `leased_until`.
pub async fn take(
    pool: &PgPool,
    now: OffsetDateTime,
    leased_until: OffsetDateTime,
    limit: u32,
) -> Result<Vec<Mail>, DbError> {
    let rows = sqlx::query!(
        r#"
        with due as (
            select id from mail where next_attempt_at <= $1 and kind = any($4) order by next_attempt_at limit $3
            for update skip locked
        )
        update mail set attempts = attempts + 1, next_attempt_at = $2
        from due, player where mail.id = due.id and player.id = mail.player_id
        returning mail.id, mail.kind, mail.recipient, mail.player_id, player.name, mail.created_at, mail.attempts,
            exists (
                select from account_email other
                where other.address_key = lower(mail.recipient) and other.player_id <> mail.player_id
            ) as "is_of_other!"
        "#,
        now,
        leased_until,
        i64::from(limit),
        // A release after this one may have others.
        &MailKind::ALL.map(|kind| kind.as_str().to_owned()),
    )
    .fetch_all(pool)
    .instrument(statement("update mail"))
    .await?;
    let mails = rows.into_iter().map(|row| {
        let kind =
            MailKind::of_word(&row.kind).ok_or_else(|| DbError::inconsistent("mail", "kind", row.id, &row.kind))?;
        Ok(Mail {
            id: row.id,
            kind,
            recipient: EmailAddress::from_stored(row.recipient),
            player: PlayerId(row.player_id),
            player_name: row.name,
            created_at: row.created_at,
            attempts: row.attempts.unsigned_abs(),
            is_of_other: row.is_of_other,
        })
    });
    mails.collect()
}

/// Counts one more mail, unless the limit is reached. The mail stays counted even if the attempt fails, unless it is [given
/// back](give_back).
pub async fn reserve(
    pool: &PgPool,
    counted: MailQuota<'_>,
    limit: AddressLimit,
    now: OffsetDateTime,
) -> Result<Option<Uuid>, DbError> {
    let mut transaction = pool.begin().await?;
    // Mails to one recipient are stored one after the other, so that each is counted with those before it.
    let key = counted.recipient.first_chunk().map_or(0, |first| i64::from_be_bytes(*first));
    let lock = sqlx::query!("select pg_advisory_xact_lock($1)", key);
    lock.execute(&mut *transaction).instrument(statement("lock recipient")).await?;
    let reserved = sqlx::query_scalar!(
        r#"
        with sent as (
            select count(*) as daily, count(*) filter (where sent_at > $4) as hourly from mail_sent
            where recipient_hash = $1 and class = $2 and sent_at > $3
        )
        insert into mail_sent (recipient_hash, class, sent_at)
        select $1, $2, $5 from sent where daily < $6 and hourly < $7 or $8 and hourly = 0
        returning id
        "#,
        counted.recipient,
        counted.class,
        now - Duration::DAY,
        now - Duration::HOUR,
        now,
        limit.daily,
        limit.hourly,
        limit.has_hourly_one,
    );
    let reserved = reserved.fetch_optional(&mut *transaction).instrument(statement("insert mail_sent")).await?;
    transaction.commit().await?;
    Ok(reserved)
}

/// Removes the count of a mail that was certainly not sent.
pub async fn give_back(pool: &PgPool, reserved: Uuid) -> Result<(), DbError> {
    let given_back = sqlx::query!("delete from mail_sent where id = $1", reserved);
    given_back.execute(pool).instrument(statement("delete mail_sent")).await?;
    Ok(())
}

/// The purpose of the link in a mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// Confirms the address.
    VerifyEmail,
    /// Sets a new password.
    ResetPassword,
    /// Reverts a change of the account, and undoes what was added to it since.
    RestoreAccount,
}

impl LinkKind {
    /// The word for it in the database.
    const fn as_str(self) -> &'static str {
        match self {
            LinkKind::VerifyEmail => "verify_email",
            LinkKind::ResetPassword => "reset_password",
            LinkKind::RestoreAccount => "restore_account",
        }
    }
}

/// Stores the token of a mail's link. Returns whether it did: it does not if the mail is obsolete, or its player was erased.
pub async fn store_token(
    pool: &PgPool,
    mail: &Mail,
    (kind, hash): (LinkKind, &TokenHash),
    expires_at: OffsetDateTime,
) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    // The statement after it sees what a change of the password or of the address, or an erasure, has deleted: they hold the row.
    let locked =
        sqlx::query_scalar!("select id from player where id = $1 and kind = 'account' for share", mail.player.0);
    if locked.fetch_optional(&mut *transaction).instrument(statement("lock player")).await?.is_none() {
        return Ok(false);
    }
    let stored = sqlx::query!(
        r#"
        insert into email_token (hash, player_id, kind, address, expires_at, since)
        select $2, player_id, $4, recipient, $3, case $4 when 'restore_account' then created_at end from mail where id = $1
        "#,
        mail.id,
        &hash[..],
        expires_at,
        kind.as_str(),
    );
    let stored = stored.execute(&mut *transaction).instrument(statement("insert email_token")).await?;
    transaction.commit().await?;
    Ok(stored.rows_affected() > 0)
}

/// When the oldest mail was queued that is to be sent.
pub async fn oldest(pool: &PgPool) -> Result<Option<OffsetDateTime>, DbError> {
    let oldest = sqlx::query_scalar!("select min(created_at) from mail");
    Ok(oldest.fetch_one(pool).instrument(statement("select mail")).await?)
}

/// Takes a mail out of the outbox, because it was sent or is given up.
pub async fn drop(pool: &PgPool, mail: &Mail) -> Result<(), DbError> {
    let dropped = sqlx::query!("delete from mail where id = $1", mail.id);
    dropped.execute(pool).instrument(statement("delete mail")).await?;
    Ok(())
}

/// Puts off the next attempt to send a mail.
pub async fn put_off(pool: &PgPool, mail: &Mail, until: OffsetDateTime) -> Result<(), DbError> {
    let put_off = sqlx::query!(
        "update mail set next_attempt_at = $2 where id = $1 and attempts = $3",
        mail.id,
        until,
        mail.attempts.cast_signed(),
    );
    put_off.execute(pool).instrument(statement("update mail next_attempt_at")).await?;
    Ok(())
}
