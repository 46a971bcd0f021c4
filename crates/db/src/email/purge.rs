//! Deletes expired rows of e-mail.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;

use super::addresses::VERIFICATION_LIFETIME;
use crate::connection::{DbError, statement};

/// How long a mail stays that no process sends, because none has an SMTP server.
const UNSENT_KEPT: Duration = Duration::DAY;

/// How long a request for a new password stays in that case.
const REQUESTS_KEPT: Duration = Duration::HOUR;

/// How long a sent mail counts towards the limits of its address.
const SENT_KEPT: Duration = Duration::DAY;

/// Deletes up to `limit` rows of each kind. Returns the most that one kind had.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let limit = i64::from(limit);
    let mut most = 0;
    let deletions = [
        sqlx::query!(
            r#"
            delete from email_token where hash in (
                select hash from email_token where expires_at <= $1 order by expires_at limit $2 for update skip locked
            )
            "#,
            now,
            limit,
        ),
        sqlx::query!(
            r#"
            delete from mail where id in (
                select id from mail where next_attempt_at <= $1 order by next_attempt_at limit $2
                for update skip locked
            )
            "#,
            now - UNSENT_KEPT,
            limit,
        ),
        sqlx::query!(
            r#"
            delete from mail_sent where id in (
                select id from mail_sent where sent_at <= $1 order by sent_at limit $2 for update skip locked
            )
            "#,
            now - SENT_KEPT,
            limit,
        ),
        sqlx::query!(
            r#"
            delete from password_reset_request where (requested_at, id) in (
                select requested_at, id from password_reset_request where requested_at <= $1
                order by requested_at limit $2 for update skip locked
            )
            "#,
            now - REQUESTS_KEPT,
            limit,
        ),
        sqlx::query!(
            r#"
            delete from account_email where player_id in (
                select player_id from account_email
                where pending is not null and address is null and pending_since <= $1
                order by pending_since limit $2 for update skip locked
            )
            "#,
            now - VERIFICATION_LIFETIME,
            limit,
        ),
        sqlx::query!(
            r#"
            update account_email set pending = null, pending_since = null where player_id in (
                select player_id from account_email
                where pending is not null and address is not null and pending_since <= $1
                order by pending_since limit $2 for update skip locked
            )
            "#,
            now - VERIFICATION_LIFETIME,
            limit,
        ),
    ];
    for deletion in deletions {
        let deleted = deletion.execute(pool).instrument(statement("delete email")).await?.rows_affected();
        most = most.max(deleted);
    }
    Ok(most)
}
