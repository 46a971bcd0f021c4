//! Revoked credentials and suspensions: which access tokens a process refuses before they expire, and which players may not reach others.
//!
//! The process that revokes credentials enters them before it answers. The others read them from the database twice a second
//! (`revocation_follower`). A process that has read nothing for a second accepts no token until it has: `Revocations::refreshed`.

use std::{
    collections::{HashMap, HashSet},
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, Instant},
};

use mancala_db::players::suspensions::Term;
use mancala_domain::PlayerId;
use time::OffsetDateTime;
use tokio::{sync::watch, time::timeout};

/// How long after the start of the last successful read tokens are accepted without a further one.
const CURRENT_FOR: Duration = Duration::from_secs(1);

/// How long a request waits for a read, before it is refused: the timeout of a statement.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a revocation is kept in memory: longer than the lifetime of the access tokens that it revokes, with their leeway.
const REMEMBERED: Duration = Duration::from_mins(20);

/// The revoked credentials that a process knows.
#[derive(Debug)]
pub struct Revocations {
    /// An entry for each player of the last 20 minutes, and for each that is suspended. An entry costs its player a
    /// password's hash or a new account, both of which are limited, or an operator an act. If the operator has locked
    /// out an app, all its players have an entry.
    entries: RwLock<HashMap<PlayerId, RevocationEntry>>,
    /// When the last successful read began.
    read_at: watch::Sender<Option<Instant>>,
    /// When the process began to read.
    begin: Instant,
}

#[derive(Clone, Debug)]
struct RevocationEntry {
    least_version: i32,
    until: Instant,
    suspension: Option<Term>,
}

/// The restrictions of a player that a process knows: one look-up for a request.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The least `credentials_version` that is accepted.
    pub least_version: i32,
    /// The player's suspension, also one that is over.
    pub suspension: Option<Term>,
}

impl Default for Revocations {
    fn default() -> Self {
        Self { entries: RwLock::default(), read_at: watch::Sender::new(None), begin: Instant::now() }
    }
}

impl Revocations {
    /// The least `credentials_version` of a player that is accepted, if earlier ones were revoked recently.
    pub fn least_version(&self, player: PlayerId) -> Option<i32> {
        self.read().get(&player).map(|entry| entry.least_version)
    }

    /// The stored restrictions of a player: the least accepted version of the credentials, and a suspension. `None` without any.
    pub fn standing(&self, player: PlayerId) -> Option<Standing> {
        let entries = self.read();
        let RevocationEntry { least_version, suspension, .. } = entries.get(&player)?;
        Some(Standing { least_version: *least_version, suspension: *suspension })
    }

    /// A player's suspension, if it counts at a moment.
    pub fn suspension(&self, player: PlayerId, now: OffsetDateTime) -> Option<Term> {
        self.standing(player)?.suspension.filter(|suspension| suspension.is_active(now))
    }

    /// Whether the revocations of the other processes are up to date.
    pub fn are_current(&self) -> bool {
        self.read_at.borrow().is_some_and(|at| at.elapsed() < CURRENT_FOR)
    }

    /// The age of the last successful read; before the first one, the time since the start.
    pub fn age(&self) -> Duration {
        self.read_at.borrow().unwrap_or(self.begin).elapsed()
    }

    /// Waits until the revocations of the other processes are up to date; returns whether they are. Cancel-safe.
    pub async fn refreshed(&self) -> bool {
        let since = Instant::now().checked_sub(CURRENT_FOR);
        let mut read_at = self.read_at.subscribe();
        let read = read_at.wait_for(|at| *at > since);
        matches!(timeout(WAIT_MAX, read).await, Ok(Ok(_)))
    }

    /// Enters a revocation. A late one does not replace a newer one.
    pub(super) fn enter(&self, player: PlayerId, least_version: i32, now: Instant) {
        let until = now + REMEMBERED;
        let mut entries = self.write();
        let entry = entries.entry(player).or_insert(RevocationEntry { least_version, until, suspension: None });
        if least_version > entry.least_version {
            (entry.least_version, entry.until) = (least_version, until);
        }
    }

    /// Enters a suspension, or that it was lifted. A late one does not replace a newer one.
    pub fn enter_suspension(&self, player: PlayerId, suspension: Term, now: Instant) {
        let until = now + REMEMBERED;
        let mut entries = self.write();
        let entry =
            entries.entry(player).or_insert(RevocationEntry { least_version: i32::MIN, until, suspension: None });
        if entry.suspension.as_ref().is_none_or(|known| known.changed_at < suspension.changed_at) {
            (entry.suspension, entry.until) = (Some(suspension), entry.until.max(until));
        }
    }

    /// Removes the suspensions of all other players: a database that was set back may have fewer.
    pub(super) fn keep_suspensions_of(&self, suspended: &HashSet<PlayerId>) {
        for (player, entry) in self.write().iter_mut() {
            if !suspended.contains(player) {
                entry.suspension = None;
            }
        }
    }

    /// Notes a successful read of all revocations that were stored before it began.
    pub(super) fn set_read(&self, began: Instant) {
        self.read_at.send_replace(Some(began));
    }

    /// Removes expired entries; `clock` is the database's clock at about `now`.
    pub(super) fn prune(&self, now: Instant, clock: OffsetDateTime) {
        self.write()
            .retain(|_, entry| entry.until > now || entry.suspension.is_some_and(|known| known.is_active(clock)));
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<PlayerId, RevocationEntry>> {
        self.entries.read().expect("nothing panics while it holds the entries")
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<PlayerId, RevocationEntry>> {
        self.entries.write().expect("nothing panics while it holds the entries")
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;

    const PLAYER: PlayerId = PlayerId(Uuid::from_u128(1));

    #[test]
    fn a_revocation_is_kept_until_its_tokens_have_expired() {
        let (revocations, now) = (Revocations::default(), Instant::now());
        assert_eq!(revocations.least_version(PLAYER), None);
        revocations.enter(PLAYER, 4, now);
        // A late report does not replace a newer one.
        revocations.enter(PLAYER, 3, now);
        for (minutes, expected) in [(16, Some(4)), (20, None)] {
            revocations.prune(now + Duration::from_mins(minutes), OffsetDateTime::UNIX_EPOCH);
            assert_eq!(revocations.least_version(PLAYER), expected, "after {minutes} minutes");
        }
    }

    #[test]
    fn a_suspension_is_kept_until_it_is_lifted_or_over() {
        let (revocations, now) = (Revocations::default(), Instant::now());
        let at = |second: i64| OffsetDateTime::from_unix_timestamp(second).expect("a moment");
        let made = |second: i64, is_lifted| Term { until: None, plays_on: false, is_lifted, changed_at: at(second) };
        let is_suspended = || {
            let standing = revocations.standing(PLAYER)?;
            Some((standing.least_version, standing.suspension.is_some_and(|known| !known.is_lifted)))
        };
        assert_eq!(is_suspended(), None);
        revocations.enter_suspension(PLAYER, made(2, false), now);
        // A late report does not replace a newer one, and a revocation leaves the suspension.
        revocations.enter_suspension(PLAYER, made(1, true), now);
        assert_eq!(is_suspended(), Some((i32::MIN, true)));
        revocations.enter(PLAYER, 4, now);
        assert_eq!(is_suspended(), Some((4, true)));
        revocations.prune(now + Duration::from_hours(1), at(9));
        assert_eq!(is_suspended(), Some((4, true)));
        revocations.enter_suspension(PLAYER, made(3, true), now);
        assert_eq!(is_suspended(), Some((4, false)));
        revocations.prune(now + Duration::from_hours(1), at(9));
        assert_eq!(is_suspended(), None);
        revocations.enter_suspension(PLAYER, Term { until: Some(at(10)), ..made(1, false) }, now);
        for (second, expected) in [(9, Some((i32::MIN, true))), (10, None)] {
            revocations.prune(now + Duration::from_hours(1), at(second));
            assert_eq!(is_suspended(), expected, "at {second}");
        }
        // A database that was set back no longer has the suspension.
        revocations.enter_suspension(PLAYER, made(2, false), now);
        revocations.keep_suspensions_of(&HashSet::new());
        assert_eq!(is_suspended(), Some((i32::MIN, false)));
    }

    #[test]
    fn without_a_recent_read_a_request_waits_for_one() {
        let revocations = Revocations::default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
        let _entered = runtime.enter();
        assert_eq!((revocations.are_current(), revocations.refreshed().now_or_never()), (false, None));
        // A read that began too early says too little, however long it took.
        let now = Instant::now();
        revocations.set_read(now.checked_sub(CURRENT_FOR).expect("the machine runs for longer"));
        assert_eq!((revocations.are_current(), revocations.refreshed().now_or_never()), (false, None));
        revocations.set_read(now + Duration::from_mins(1));
        assert_eq!((revocations.are_current(), revocations.refreshed().now_or_never()), (true, Some(true)));
    }
}
