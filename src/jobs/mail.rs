//! Sends the mails of the outbox. Runs only where the operator has named an SMTP server.
//!
//! A link's token is made here, right before the mail is sent, so that only its hash is ever stored. An attempt whose outcome is lost is repeated with another token, and
//! both are good.

use std::{sync::Arc, time::Duration as StdDuration};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::{StreamExt, stream};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    clock::now,
    db::{
        DbError,
        email::{
            addresses::VERIFICATION_LIFETIME,
            outbox::{self, AddressLimit, Counted, Mail},
            resets::{self, RESET_LIFETIME},
        },
    },
    domain::MailKind,
    mail::{Letter, Sender, Subject, Unsent},
    outage::Outage,
    repeats,
};

/// The pause between two polls.
const PAUSE: StdDuration = StdDuration::from_secs(1);

/// How many requests for a new password a poll resolves.
const REQUESTS_MAX: u32 = 500;

/// How many mails a poll takes, and how many it sends at the same time.
const BATCH: u32 = 20;
const AT_ONCE: usize = 4;

/// The lease: longer than a batch takes if every attempt runs into its timeout.
const LEASE: Duration = Duration::minutes(5);

/// The backoff after the first failure; it doubles with each further one.
const BACKOFF_MIN: Duration = Duration::seconds(30);

/// The longest backoff.
const BACKOFF_MAX: Duration = Duration::minutes(30);

/// How long a notice is tried.
const NOTICE_LIFETIME: Duration = Duration::DAY;

/// How many links an address gets, and how many notices, which no link may use up: a client asks for links to any address.
const LIMIT: AddressLimit = AddressLimit { hourly: 3, daily: 10 };

/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The log's lines about an SMTP server that cannot be reached.
const MAIL_FAILS: &str = "mail cannot be sent";
const MAIL_WORKS: &str = "mail is sent again";

/// What the job needs.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sender: Arc<Sender>,
    /// Hashes addresses for the limits.
    pub key: [u8; 32],
    outage: Arc<Outage>,
}

impl Settings {
    pub fn new(sender: Sender, key: [u8; 32]) -> Self {
        Self { sender: Arc::new(sender), key, outage: Arc::new(Outage::new(MAIL_FAILS, MAIL_WORKS)) }
    }
}

/// Runs until it is dropped. A mail that is dropped in an attempt is sent again when its lease has run out.
pub async fn run(pool: PgPool, settings: Settings) {
    let mut failing = false;
    loop {
        tokio::time::sleep(PAUSE).await;
        let sent = send_due(&pool, &settings, now()).await;
        if let (Err(error), false) = (&sent, failing) {
            tracing::warn!("mails wait until the database answers again: {error}");
        }
        failing = sent.is_err();
    }
}

/// Resolves requests for new passwords, and sends all mails that are due.
pub async fn send_due(pool: &PgPool, settings: &Settings, now: OffsetDateTime) -> Result<(), DbError> {
    resets::resolve(pool, now, REQUESTS_MAX).await?;
    loop {
        let mails = outbox::take(pool, now, now + LEASE, BATCH).await?;
        let is_last = mails.len() < BATCH as usize;
        let sent = stream::iter(mails).map(async |mail| send(pool, settings, &mail, now).await);
        let outcomes: Vec<_> = sent.buffer_unordered(AT_ONCE).collect().await;
        outcomes.into_iter().collect::<Result<(), DbError>>()?;
        if is_last {
            return Ok(());
        }
    }
}

/// Makes one attempt to send a mail, and notes what came of it.
async fn send(pool: &PgPool, settings: &Settings, mail: &Mail, now: OffsetDateTime) -> Result<(), DbError> {
    let recipient = recipient_hash(settings, mail);
    let counted = Counted { recipient: &recipient, class: if mail.kind.is_link() { "links" } else { "notices" } };
    let lifetime = lifetime(mail.kind);
    if mail.created_at + lifetime <= now || !outbox::may_get(pool, counted, LIMIT, now).await? {
        return outbox::drop(pool, mail).await;
    }
    let Some(letter) = write(pool, settings, mail, now + lifetime).await? else {
        return outbox::drop(pool, mail).await;
    };
    match settings.sender.send(&letter).await {
        Ok(()) => {
            settings.outage.works();
            outbox::finish(pool, mail, counted, now).await
        }
        Err(Unsent::Refused(reply)) => {
            settings.outage.works();
            let kind = mail.kind.as_str();
            if let Some(line) = repeats::admit("mails that were refused", kind) {
                tracing::warn!(left_out = line.left_out, mail.id = %mail.id, kind, reply, "the SMTP server has refused a mail");
            }
            outbox::drop(pool, mail).await
        }
        Err(Unsent::PutOff(_)) => outbox::put_off(pool, mail, now + backoff(mail.attempts)).await,
        Err(Unsent::Unreachable(cause)) => {
            settings.outage.failed(&cause);
            outbox::put_off(pool, mail, now + backoff(mail.attempts)).await
        }
    }
}

/// The text of a mail, with a new token if it has a link; `None` if it is obsolete.
async fn write(
    pool: &PgPool,
    settings: &Settings,
    mail: &Mail,
    expires_at: OffsetDateTime,
) -> Result<Option<Letter>, DbError> {
    let letter = |subject| Letter::new(mail.id.to_string(), mail.recipient.clone(), subject, settings.sender.links());
    let player = mail.player_name.as_str();
    if !mail.kind.is_link() {
        return Ok(Some(letter(Subject::Notice { kind: mail.kind, player })));
    }
    if mail.kind == MailKind::VerifyEmail && mail.is_of_other {
        return Ok(Some(letter(Subject::InUse)));
    }
    let token = BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; TOKEN_BYTES]>());
    let hash = Sha256::digest(&token).into();
    if !outbox::store_token(pool, mail, &hash, expires_at).await? {
        return Ok(None);
    }
    let token = token.as_str();
    Ok(Some(letter(match mail.kind {
        MailKind::ResetPassword => Subject::Reset { token, player },
        _ => Subject::Verify { token },
    })))
}

/// How long a mail is tried, and its link is good.
const fn lifetime(kind: MailKind) -> Duration {
    match kind {
        MailKind::VerifyEmail => VERIFICATION_LIFETIME,
        MailKind::ResetPassword => RESET_LIFETIME,
        MailKind::PasswordChanged | MailKind::EmailChanged | MailKind::EmailRemoved => NOTICE_LIFETIME,
    }
}

/// How long the next attempt waits after so many.
fn backoff(attempts: u32) -> Duration {
    (BACKOFF_MIN * 2_i32.saturating_pow(attempts.saturating_sub(1).min(10))).min(BACKOFF_MAX)
}

fn recipient_hash(settings: &Settings, mail: &Mail) -> Vec<u8> {
    let hash = Sha256::new().chain_update(settings.key).chain_update(mail.recipient.key());
    hash.finalize()[..16].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backoff_doubles_up_to_its_bound() {
        let seconds: Vec<_> = [0, 1, 2, 3, 7, 8, u32::MAX].map(|n| backoff(n).whole_seconds()).to_vec();
        assert_eq!(seconds, [30, 30, 60, 120, 1800, 1800, 1800]);
    }
}
