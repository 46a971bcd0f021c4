//! Sends the mails of the outbox. Runs only where the operator has named an SMTP server.
//!
//! A link's token is made here, right before the mail is sent, so that only its hash is ever stored. An attempt whose outcome is lost is
//! repeated with another token, and both are good.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::{Duration as StdDuration, Instant},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::{FutureExt, StreamExt, stream};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use time::Duration;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::rounds::Rounds;
use crate::{
    clock::now,
    db::{
        DbError,
        email::{
            addresses::VERIFICATION_LIFETIME,
            outbox::{self, AddressLimit, Counted, LinkKind, Mail},
            resets::{self, RESET_LIFETIME},
            restoration::RESTORATION_LIFETIME,
        },
    },
    domain::MailKind,
    mail::{Letter, Sender, Subject, Unsent},
    metrics::{MailOutcome, Metrics},
    outage::Outage,
    repeats,
};

/// The pause between two polls.
const PAUSE: StdDuration = StdDuration::from_secs(1);

/// How long a stopping server waits for the attempts in flight. They are repeated after the next start.
const STOP_TIMEOUT: StdDuration = StdDuration::from_secs(2);

/// How often the age of the oldest mail is read: it reads the whole outbox.
const AGE_INTERVAL: StdDuration = StdDuration::from_secs(15);

/// How many requests for a new password a poll resolves.
const REQUESTS_MAX: u32 = 500;

/// How many mails a poll takes, and how many it sends at the same time.
const BATCH: u32 = 20;
const AT_ONCE: usize = 4;

/// The lease: longer than a batch takes if every attempt runs into its timeout.
const LEASE: Duration = Duration::minutes(15);

/// The backoff after the first failure; it doubles with each further one.
const BACKOFF_MIN: Duration = Duration::seconds(30);

/// The longest backoff.
const BACKOFF_MAX: Duration = Duration::minutes(30);

/// How long a notice is tried.
const NOTICE_LIFETIME: Duration = Duration::DAY;

/// How many refusals in a row, with no mail sent between them, are taken for the mails' fault. Further ones may be the fault of the
/// sender's name or address.
const REFUSALS_MAX: u32 = 3;

/// Random bytes of a token.
const TOKEN_BYTES: usize = 32;

/// The log's lines about an SMTP server that cannot be reached, or takes nothing.
const MAIL_FAILS: &str = "mail cannot be sent";
const MAIL_WORKS: &str = "mail is sent again";

/// What the job needs. Clones share what was seen of the SMTP server.
#[derive(Clone, Debug)]
pub struct Settings {
    sender: Arc<Sender>,
    /// Hashes addresses and accounts for the limits.
    key: [u8; 32],
    outage: Arc<Outage>,
    /// Whether the last attempt found no server.
    is_away: Arc<AtomicBool>,
    refusals: Arc<AtomicU32>,
    metrics: Arc<Metrics>,
    /// When the age of the oldest mail was read.
    aged_at: Arc<Mutex<Option<Instant>>>,
}

impl Settings {
    pub fn new(sender: Sender, key: [u8; 32], metrics: Arc<Metrics>) -> Self {
        Self {
            sender: Arc::new(sender),
            key,
            outage: Arc::new(Outage::new(MAIL_FAILS, MAIL_WORKS)),
            is_away: Arc::default(),
            refusals: Arc::default(),
            metrics,
            aged_at: Arc::default(),
        }
    }

    /// Notes that the server has taken a mail, or has answered to one.
    fn works(&self) {
        self.is_away.store(false, Ordering::Relaxed);
        self.outage.works();
    }

    fn fails(&self, cause: &str) {
        self.is_away.store(true, Ordering::Relaxed);
        self.outage.failed(cause);
    }
}

/// Runs until `stopping` is cancelled.
pub async fn run(pool: PgPool, settings: Settings, stopping: CancellationToken) {
    let (begins, ends) = ("mails wait for the database", "mails are taken from the database again");
    let rounds = Rounds::new(&settings.metrics, "mail", begins, ends);
    while !stopping.is_cancelled() {
        if rounds.run(send_due(&pool, &settings, &stopping)).await != Some(true) {
            stopping.run_until_cancelled(sleep(PAUSE)).await;
        }
    }
}

/// One round: resolves requests for new passwords, and sends a batch of mails that are due. While the SMTP server is away it sends only
/// one. Returns whether there may be more.
pub async fn send_due(pool: &PgPool, settings: &Settings, stopping: &CancellationToken) -> Result<bool, DbError> {
    resets::resolve(pool, now(), REQUESTS_MAX).await?;
    let limit = if settings.is_away.load(Ordering::Relaxed) { 1 } else { BATCH };
    let begun = now();
    let mails = outbox::take(pool, begun, begun + LEASE, limit).await?;
    let is_full = mails.len() == BATCH as usize;
    let sent = stream::iter(mails.into_iter().enumerate()).map(async |(n, mail)| {
        if stopping.is_cancelled() {
            // Not tried: another process, or the next start, does not wait for the lease.
            return outbox::put_off(pool, &mail, now()).await;
        }
        if n > 0 && settings.is_away.load(Ordering::Relaxed) {
            // Not tried: another of this batch has found no server.
            return outbox::put_off(pool, &mail, now() + BACKOFF_MIN).await;
        }
        attempt(pool, settings, &mail, stopping).await
    });
    let outcomes: Vec<_> = sent.buffer_unordered(AT_ONCE).collect().await;
    outcomes.into_iter().collect::<Result<(), DbError>>()?;
    measure_age(pool, settings).await?;
    Ok(is_full && !settings.is_away.load(Ordering::Relaxed))
}

/// Makes one attempt, and gives the mail back if it panics, or takes too long for a server that stops. It counts for its recipient then:
/// the SMTP server may have taken it.
async fn attempt(pool: &PgPool, settings: &Settings, mail: &Mail, stopping: &CancellationToken) -> Result<(), DbError> {
    let late = async {
        stopping.cancelled().await;
        sleep(STOP_TIMEOUT).await;
    };
    tokio::select! {
        sent = AssertUnwindSafe(send(pool, settings, mail)).catch_unwind() => {
            if let Ok(sent) = sent {
                return sent;
            }
            tracing::error!(mail.id = %mail.id, "sending a mail panicked, and is tried again");
            settings.metrics.mail_ended(MailOutcome::Retried);
            outbox::put_off(pool, mail, now() + backoff(mail.attempts)).await
        }
        () = late => {
            settings.metrics.mail_ended(MailOutcome::Retried);
            outbox::put_off(pool, mail, now()).await
        }
    }
}

/// Reads the age of the oldest mail for the metrics, now and then.
async fn measure_age(pool: &PgPool, settings: &Settings) -> Result<(), DbError> {
    {
        let mut aged_at = settings.aged_at.lock().unwrap_or_else(PoisonError::into_inner);
        if aged_at.is_some_and(|at| at.elapsed() < AGE_INTERVAL) {
            return Ok(());
        }
        *aged_at = Some(Instant::now());
    }
    let oldest = outbox::oldest(pool).await?;
    settings.metrics.set_oldest_mail(oldest.map_or(0, |at| (now() - at).whole_seconds().max(0)));
    Ok(())
}

/// Makes one attempt to send a mail, and notes what came of it.
async fn send(pool: &PgPool, settings: &Settings, mail: &Mail) -> Result<(), DbError> {
    if mail.created_at + lifetime(mail.kind) <= now() {
        note(mail, None, "a mail was given up, because it could not be sent in time");
        settings.metrics.mail_ended(MailOutcome::Failed);
        return outbox::drop(pool, mail).await;
    }
    let Some(reserved) = reserve(pool, settings, mail).await? else {
        settings.metrics.mail_ended(MailOutcome::Limited);
        return outbox::drop(pool, mail).await;
    };
    let Some(letter) = write(pool, settings, mail).await? else {
        give_back(pool, &reserved).await?;
        return outbox::drop(pool, mail).await;
    };
    let later = || now() + backoff(mail.attempts);
    let sent = settings.sender.send(&letter).await;
    let is_refused = matches!(sent, Err(Unsent::Refused(_)));
    // Many refusals in a row are a fault of the settings: the mail is kept.
    let is_kept = is_refused && settings.refusals.fetch_add(1, Ordering::Relaxed) >= REFUSALS_MAX;
    settings.metrics.mail_ended(match sent {
        Ok(()) => MailOutcome::Sent,
        Err(Unsent::Refused(_)) if !is_kept => MailOutcome::Failed,
        Err(_) => MailOutcome::Retried,
    });
    match sent {
        Ok(()) => {
            settings.works();
            settings.refusals.store(0, Ordering::Relaxed);
            outbox::drop(pool, mail).await
        }
        Err(Unsent::Refused(reply)) => {
            give_back(pool, &reserved).await?;
            note(mail, Some(reply), "the SMTP server has refused a mail");
            if !is_kept {
                settings.works();
                return outbox::drop(pool, mail).await;
            }
            settings.fails(&format!("the server refuses every mail, the last one with {reply}"));
            outbox::put_off(pool, mail, later()).await
        }
        Err(Unsent::PutOff(reply)) => {
            give_back(pool, &reserved).await?;
            settings.works();
            note(mail, Some(reply), "the SMTP server has put off a mail");
            outbox::put_off(pool, mail, later()).await
        }
        // The server may have taken the mail, so it counts.
        Err(Unsent::Unknown(cause)) => {
            settings.fails(&cause);
            outbox::put_off(pool, mail, later()).await
        }
        Err(Unsent::Unreachable(cause)) => {
            give_back(pool, &reserved).await?;
            settings.fails(&cause);
            outbox::put_off(pool, mail, later()).await
        }
    }
}

/// Counts a mail for its recipient, and a link that confirms an address for the account that asks as well; `None` if there are too many.
async fn reserve(pool: &PgPool, settings: &Settings, mail: &Mail) -> Result<Option<Vec<Uuid>>, DbError> {
    let recipient = hash(settings, &[b"address", mailbox(&mail.recipient.key()).as_bytes()]);
    let asker = hash(settings, &[b"player", mail.player.0.as_bytes()]);
    let (class, limit) = class(mail.kind);
    let mut counted = vec![(recipient, class, limit)];
    if mail.kind == MailKind::VerifyEmail {
        counted.push((asker, "asker", ASKER_LIMIT));
    }
    let mut reserved = vec![];
    for (recipient, class, limit) in &counted {
        let Some(one) = outbox::reserve(pool, Counted { recipient, class }, *limit, now()).await? else {
            give_back(pool, &reserved).await?;
            return Ok(None);
        };
        reserved.push(one);
    }
    Ok(Some(reserved))
}

async fn give_back(pool: &PgPool, reserved: &[Uuid]) -> Result<(), DbError> {
    for one in reserved {
        outbox::give_back(pool, *one).await?;
    }
    Ok(())
}

/// Logs what has become of a mail, without the address.
fn note(mail: &Mail, reply: Option<u16>, message: &'static str) {
    let kind = mail.kind.as_str();
    if let Some(line) = repeats::admit(message, kind) {
        tracing::warn!(left_out = line.left_out, mail.id = %mail.id, kind, reply, "{message}");
    }
}

/// The text of a mail, with a new token if it has a link; `None` if it is obsolete.
async fn write(pool: &PgPool, settings: &Settings, mail: &Mail) -> Result<Option<Letter>, DbError> {
    let letter = |subject| Letter::new(mail.id.to_string(), mail.recipient.clone(), subject, settings.sender.links());
    let player = mail.player_name.as_str();
    // An address stops waiting when it was asked for a day ago. The other links are good for their time, however late they come.
    let (link, expires_at) = match mail.kind {
        MailKind::VerifyEmail if mail.is_of_other => return Ok(Some(letter(Subject::InUse))),
        MailKind::AccountErased => return Ok(Some(letter(Subject::Erased))),
        MailKind::VerifyEmail => (LinkKind::VerifyEmail, mail.created_at + VERIFICATION_LIFETIME),
        MailKind::ResetPassword => (LinkKind::ResetPassword, now() + RESET_LIFETIME),
        MailKind::PasswordChanged
        | MailKind::EmailChanged
        | MailKind::EmailRemoved
        | MailKind::RecoveryCodeChanged
        | MailKind::IdentityLinked
        | MailKind::IdentityUnlinked => (LinkKind::RestoreAccount, now() + RESTORATION_LIFETIME),
    };
    let token = BASE64_URL_SAFE_NO_PAD.encode(rand::random::<[u8; TOKEN_BYTES]>());
    if !outbox::store_token(pool, mail, (link, &Sha256::digest(&token).into()), expires_at).await? {
        return Ok(None);
    }
    let token = token.as_str();
    Ok(Some(letter(match link {
        LinkKind::VerifyEmail => Subject::Verify { token },
        LinkKind::ResetPassword => Subject::Reset { token, player },
        LinkKind::RestoreAccount => Subject::Notice { kind: mail.kind, token, player },
    })))
}

/// How long a mail is tried.
const fn lifetime(kind: MailKind) -> Duration {
    match kind {
        MailKind::VerifyEmail => VERIFICATION_LIFETIME,
        MailKind::ResetPassword => RESET_LIFETIME,
        _ => NOTICE_LIFETIME,
    }
}

/// The limit of an address for a kind of mail. One kind does not use up another's. Links that confirm an address are sent to any address
/// that a client names. They must keep away neither a link for a new password nor a notice. One link for a new password always works,
/// because it is sent if none was within an hour.
const fn class(kind: MailKind) -> (&'static str, AddressLimit) {
    match kind {
        MailKind::VerifyEmail => ("verify", AddressLimit { hourly: 3, daily: 10, has_hourly_one: false }),
        MailKind::ResetPassword => ("reset", AddressLimit { hourly: 3, daily: 10, has_hourly_one: true }),
        _ => ("notice", AddressLimit { hourly: 10, daily: 30, has_hourly_one: true }),
    }
}

/// How many links that confirm an address one account causes.
const ASKER_LIMIT: AddressLimit = AddressLimit { hourly: 5, daily: 10, has_hourly_one: false };

/// The mailbox of an address, for the limits: what stands behind a `+` is its owner's own.
fn mailbox(key: &str) -> String {
    let (local, domain) = key.rsplit_once('@').unwrap_or((key, ""));
    format!("{}@{domain}", local.split('+').next().unwrap_or(local))
}

fn hash(settings: &Settings, parts: &[&[u8]]) -> Vec<u8> {
    let mut hash = Sha256::new().chain_update(settings.key);
    for part in parts {
        hash.update(part);
    }
    hash.finalize()[..16].to_vec()
}

/// How long the next attempt waits after so many.
fn backoff(attempts: u32) -> Duration {
    (BACKOFF_MIN * 2_i32.saturating_pow(attempts.saturating_sub(1).min(10))).min(BACKOFF_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_backoff_doubles_up_to_its_bound() {
        let seconds: Vec<_> = [0, 1, 2, 3, 7, 8, u32::MAX].map(|n| backoff(n).whole_seconds()).to_vec();
        assert_eq!(seconds, [30, 30, 60, 120, 1800, 1800, 1800]);
    }

    #[test]
    fn what_stands_behind_a_plus_is_the_same_mailbox() {
        assert_eq!(mailbox("ana+1+2@mail.example"), "ana@mail.example");
        assert_eq!(mailbox("ana@mail.example"), "ana@mail.example");
    }
}
