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
    /// What it says.
    pub kind: MailKind,
    /// Where it goes.
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
}

/// The limit that a mail counts for.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    /// A keyed hash of the recipient's address.
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
            select id from mail where next_attempt_at <= $1 order by next_attempt_at limit $3 for update skip locked
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

/// Whether an address may get one more mail.
pub async fn may_get(
    pool: &PgPool,
    counted: Counted<'_>,
    limit: AddressLimit,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let row = sqlx::query!(
        r#"
        select count(*) as "daily!", count(*) filter (where sent_at > $4) as "hourly!" from mail_sent
        where recipient_hash = $1 and class = $2 and sent_at > $3
        "#,
        counted.recipient,
        counted.class,
        now - Duration::DAY,
        now - Duration::HOUR,
    );
    let row = row.fetch_one(pool).instrument(statement("select mail_sent")).await?;
    Ok(row.daily < limit.daily && row.hourly < limit.hourly)
}

/// Stores the token of a mail's link. Returns whether it did: it does not if the mail is obsolete, or its player was erased.
pub async fn store_token(
    pool: &PgPool,
    mail: &Mail,
    hash: &TokenHash,
    expires_at: OffsetDateTime,
) -> Result<bool, DbError> {
    let stored = sqlx::query!(
        r#"
        insert into email_token (hash, player_id, kind, address, expires_at)
        select $2, mail.player_id, mail.kind, mail.recipient, $3 from player
        join mail on mail.player_id = player.id
        where mail.id = $1 and player.kind = 'account' for share of player
        "#,
        mail.id,
        &hash[..],
        expires_at,
    );
    Ok(stored.execute(pool).instrument(statement("insert email_token")).await?.rows_affected() > 0)
}

/// Notes that a mail was sent, and takes it out of the outbox.
pub async fn finish(pool: &PgPool, mail: &Mail, counted: Counted<'_>, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with gone as (
            delete from mail where id = $1
        )
        insert into mail_sent (recipient_hash, class, sent_at) values ($2, $3, $4)
        "#,
        mail.id,
        counted.recipient,
        counted.class,
        now,
    )
    .execute(pool)
    .instrument(statement("delete mail insert mail_sent"))
    .await?;
    Ok(())
}

/// Takes a mail out of the outbox that is not sent.
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
