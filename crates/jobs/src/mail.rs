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
use futures_util::FutureExt;
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tokio::{sync::Notify, time::sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{
    outbound::{self, Channel, Taken},
    rounds::Rounds,
};
use mancala_db::{
    DbError,
    email::{
        addresses::VERIFICATION_LIFETIME,
        outbox::{self, AddressLimit, LinkKind, Mail, MailQuota},
        resets::{self, RESET_LIFETIME},
        restoration::RESTORATION_LIFETIME,
    },
    outbound::{Backoff, Full, Lane, Limits},
};
use mancala_domain::{MailKind, PlayerId};
use mancala_outbound::mail::{Letter, Sender, Subject, Unsent};
use mancala_process::{
    clock::now,
    metrics::{MailOutcome, Metrics},
    outage::Outage,
    repeats,
};

/// The least pause between two attempts while the SMTP server is away.
const AWAY_PAUSE: StdDuration = StdDuration::from_secs(1);

/// How long after a stop an attempt in flight is abandoned, so that the next start repeats it. There is still time to record that.
const GIVEN_BACK_AFTER: StdDuration = StdDuration::from_millis(1500);

/// How often the age of the oldest mail is read: it reads the whole outbox.
const AGE_INTERVAL: StdDuration = StdDuration::from_secs(15);

/// How many requests for a new password a poll resolves.
const REQUESTS_MAX: u32 = 500;

/// How many mails are sent at the same time.
const AT_ONCE: usize = 4;

/// How long a mail waits after a failure.
const BACKOFF: Backoff = Backoff { min: Duration::seconds(30), max: Duration::minutes(30) };

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

/// The settings of the job. Clones share the last known state of the SMTP server.
#[derive(Clone, Debug)]
pub struct Settings {
    sender: Arc<Sender>,
    /// Hashes addresses and accounts for the limits.
    key: [u8; 32],
    outage: Arc<Outage>,
    is_away: Arc<AtomicBool>,
    refusals: Arc<AtomicU32>,
    metrics: Arc<Metrics>,
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
        }
    }

    /// Notes that the server has taken a mail, or has answered to one.
    fn works(&self) {
        self.is_away.store(false, Ordering::Relaxed);
        self.outage.works();
    }

    /// Whether the last attempt has found no server.
    fn is_away(&self) -> bool {
        self.is_away.load(Ordering::Relaxed)
    }

    fn fails(&self, cause: &str) {
        self.is_away.store(true, Ordering::Relaxed);
        self.outage.failed(cause);
    }
}

/// The data that a poll needs.
struct MailContext {
    pool: PgPool,
    settings: Settings,
    stopping: CancellationToken,
    /// When mails were leased the last time, and when the age of the oldest one was read.
    taken_at: Mutex<Option<Instant>>,
    aged_at: Mutex<Option<Instant>>,
}

/// The fate of a mail in the outbox.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The mail was sent, was given up, or is obsolete.
    Over,
    /// The mail is sent again at this time.
    Again(OffsetDateTime),
}

/// Runs until `stopping` is cancelled.
pub async fn run(pool: PgPool, settings: Settings, stopping: CancellationToken) {
    let (begins, ends) = ("mails wait for the database", "mails are taken from the database again");
    let rounds = Rounds::new(&settings.metrics, "mail", begins, ends);
    outbound::run(MailContext::new(&pool, &settings, &stopping), &rounds, &Notify::new(), &stopping).await;
}

/// Runs a round: resolves requests for new passwords, and sends mails that are due; returns how many were leased.
pub async fn round(pool: &PgPool, settings: &Settings, stopping: &CancellationToken) -> Result<usize, DbError> {
    outbound::round(MailContext::new(pool, settings, stopping)).await
}

impl MailContext {
    fn new(pool: &PgPool, settings: &Settings, stopping: &CancellationToken) -> Self {
        Self {
            pool: pool.clone(),
            settings: settings.clone(),
            stopping: stopping.clone(),
            taken_at: Mutex::default(),
            aged_at: Mutex::default(),
        }
    }

    /// Makes one attempt. A mail is tried again if its attempt panics, or takes too long for a stopping server. Such an attempt counts for
    /// the recipient, because the SMTP server may have taken the mail.
    async fn attempt(&self, mail: &Mail) -> Fate {
        let late = async {
            self.stopping.cancelled().await;
            sleep(GIVEN_BACK_AFTER).await;
        };
        let again_at = tokio::select! {
            sent = AssertUnwindSafe(send(&self.pool, &self.settings, mail)).catch_unwind() => match sent {
                Ok(Ok(fate)) => return fate,
                // The loop waits for the database, too, and logs it.
                Ok(Err(_)) => return Fate::Again(later(mail)),
                Err(_) => {
                    tracing::error!(mail.id = %mail.id, "sending a mail panicked, and is tried again");
                    later(mail)
                }
            },
            () = late => now(),
        };
        self.settings.metrics.mail_ended(MailOutcome::Retried);
        Fate::Again(again_at)
    }
}

impl Channel for MailContext {
    type Due = Mail;
    type Sent = (Mail, Fate);

    const NAME: &'static str = "mail";
    /// All mails go to the operator's SMTP server: one lane is enough.
    const LANES: &'static [Lane] = &[Lane::Quick];
    const LEASE: Duration = Duration::minutes(15);

    fn limits(_: Lane) -> Limits {
        Limits { places: AT_ONCE, of_player: u32::MAX, of_host: u32::MAX }
    }

    fn attempts_max(&self) -> usize {
        AT_ONCE
    }

    /// Resolves requests for new passwords, and reads the age of the oldest mail.
    async fn housekeep(&self) -> Result<(), DbError> {
        resets::resolve(&self.pool, now(), REQUESTS_MAX).await?;
        if !is_within(&self.aged_at, AGE_INTERVAL) {
            let oldest = outbox::oldest(&self.pool).await?;
            self.settings.metrics.set_oldest_mail(oldest.map_or(0, |at| (now() - at).whole_seconds().max(0)));
            note_time(&self.aged_at);
        }
        Ok(())
    }

    /// Leases mails. While the SMTP server is away it leases one in a while.
    async fn take(&self, _: Lane, room: u32, _: &Full) -> Result<Taken<Mail>, DbError> {
        let is_away = self.settings.is_away();
        let room = match is_away {
            true if is_within(&self.taken_at, AWAY_PAUSE) => 0,
            true => 1,
            false => room,
        };
        let due = outbox::take(&self.pool, now(), now() + Self::LEASE, room).await?;
        if room > 0 {
            note_time(&self.taken_at);
        }
        Ok(Taken { due, has_more: false })
    }

    fn recipient(mail: &Mail) -> (PlayerId, &str) {
        (mail.player, "")
    }

    async fn send(&self, mail: Mail) -> (Mail, Fate) {
        let fate = self.attempt(&mail).await;
        (mail, fate)
    }

    async fn record(&self, (mail, fate): &Self::Sent) -> Result<(), String> {
        let recorded = match fate {
            Fate::Over => outbox::drop(&self.pool, mail).await,
            Fate::Again(at) => outbox::put_off(&self.pool, mail, *at).await,
        };
        recorded.map_err(|error| error.to_string())
    }
}

/// Makes one attempt to send a mail, and decides its fate.
async fn send(pool: &PgPool, settings: &Settings, mail: &Mail) -> Result<Fate, DbError> {
    if mail.created_at + lifetime(mail.kind) <= now() {
        note(mail, None, "a mail was given up, because it could not be sent in time");
        settings.metrics.mail_ended(MailOutcome::Failed);
        return Ok(Fate::Over);
    }
    let Some(reserved) = reserve(pool, settings, mail).await? else {
        settings.metrics.mail_ended(MailOutcome::Limited);
        return Ok(Fate::Over);
    };
    let Some(letter) = write(pool, settings, mail).await? else {
        give_back(pool, &reserved).await?;
        return Ok(Fate::Over);
    };
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
            Ok(Fate::Over)
        }
        Err(Unsent::Refused(reply)) => {
            give_back(pool, &reserved).await?;
            note(mail, Some(reply), "the SMTP server has refused a mail");
            if !is_kept {
                settings.works();
                return Ok(Fate::Over);
            }
            settings.fails(&format!("the server refuses every mail, the last one with {reply}"));
            Ok(Fate::Again(later(mail)))
        }
        Err(Unsent::PutOff(reply)) => {
            give_back(pool, &reserved).await?;
            settings.works();
            note(mail, Some(reply), "the SMTP server has put off a mail");
            Ok(Fate::Again(later(mail)))
        }
        // The server may have taken the mail, so it counts.
        Err(Unsent::Unknown(cause)) => {
            settings.fails(&cause);
            Ok(Fate::Again(later(mail)))
        }
        Err(Unsent::Unreachable(cause)) => {
            give_back(pool, &reserved).await?;
            settings.fails(&cause);
            Ok(Fate::Again(later(mail)))
        }
    }
}

/// Counts a mail against the limit of its recipient. A link that confirms an address also counts for the account that asks. `None` if a
/// limit is reached.
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
        let Some(one) = outbox::reserve(pool, MailQuota { recipient, class }, *limit, now()).await? else {
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

/// Logs the fate of a mail, without the address.
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

/// The limit of an address for a class of mails. The classes have separate limits. Links that confirm an address go to any address that a
/// client names, so they must not use up the limit of other mails. A link for a new password always works, because one is sent if none was
/// within an hour.
const fn class(kind: MailKind) -> (&'static str, AddressLimit) {
    match kind {
        MailKind::VerifyEmail => ("verify", AddressLimit { hourly: 3, daily: 10, has_hourly_one: false }),
        MailKind::ResetPassword => ("reset", AddressLimit { hourly: 3, daily: 10, has_hourly_one: true }),
        _ => ("notice", AddressLimit { hourly: 10, daily: 30, has_hourly_one: true }),
    }
}

/// How many links that confirm an address one account causes.
const ASKER_LIMIT: AddressLimit = AddressLimit { hourly: 5, daily: 10, has_hourly_one: false };

/// The mailbox to which an address belongs, for the limits: addresses that differ only after a `+` have the same owner.
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

/// When a mail is tried again whose attempt has failed.
fn later(mail: &Mail) -> OffsetDateTime {
    now() + BACKOFF.after(mail.attempts.cast_signed() - 1)
}

/// Whether something was done within a time.
fn is_within(done_at: &Mutex<Option<Instant>>, time: StdDuration) -> bool {
    done_at.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|at| at.elapsed() < time)
}

fn note_time(done_at: &Mutex<Option<Instant>>) {
    *done_at.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_plus_is_the_same_mailbox() {
        assert_eq!(mailbox("ana+1+2@mail.example"), "ana@mail.example");
        assert_eq!(mailbox("ana@mail.example"), "ana@mail.example");
    }
}
