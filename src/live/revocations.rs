//! Revoked credentials: which access tokens a process refuses before they expire.
//!
//! The process that revokes credentials enters them before it answers. The others read them from the database twice a second
//! (`revocation_follower`). A process that has read nothing for a second accepts no token until it has: `Revocations::refreshed`.

use std::{
    collections::HashMap,
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard},
    time::{Duration, Instant},
};

use tokio::{sync::watch, time::timeout};

use crate::domain::PlayerId;

/// For so long after the start of the last successful read, tokens are accepted without a further one.
const CURRENT_FOR: Duration = Duration::from_secs(1);

/// How long a request waits for a read, before it is refused: the timeout of a statement.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// How long a revocation is kept in memory: longer than the access tokens live that it concerns, and their leeway.
const REMEMBERED: Duration = Duration::from_mins(20);

/// The revoked credentials that a process knows.
#[derive(Debug)]
pub struct Revocations {
    /// One entry for each player of the last 20 minutes. An entry costs its player a password's hash or a new account, both of
    /// which are limited; or the operator has locked out an app, and all its players have one.
    entries: RwLock<HashMap<PlayerId, Entry>>,
    /// When the last successful read began.
    read_at: watch::Sender<Option<Instant>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    least_version: i32,
    until: Instant,
}

impl Default for Revocations {
    fn default() -> Self {
        Self { entries: RwLock::default(), read_at: watch::Sender::new(None) }
    }
}

impl Revocations {
    /// The least `credentials_version` of a player that is accepted, if earlier ones were revoked of late.
    pub fn least_version(&self, player: PlayerId) -> Option<i32> {
        self.read().get(&player).map(|entry| entry.least_version)
    }

    /// Whether the revocations of the other processes are known.
    pub fn are_current(&self) -> bool {
        self.read_at.borrow().is_some_and(|at| at.elapsed() < CURRENT_FOR)
    }

    /// Waits until the revocations of the other processes are known; returns whether they are. Cancel-safe.
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
        let entry = entries.entry(player).or_insert(Entry { least_version, until });
        if least_version > entry.least_version {
            *entry = Entry { least_version, until };
        }
    }

    /// Notes a successful read of all revocations that were stored before it began.
    pub(super) fn set_read(&self, began: Instant) {
        self.read_at.send_replace(Some(began));
    }

    pub(super) fn prune(&self, now: Instant) {
        self.write().retain(|_, entry| entry.until > now);
    }

    fn read(&self) -> RwLockReadGuard<'_, HashMap<PlayerId, Entry>> {
        self.entries.read().expect("nothing panics while it holds the entries")
    }

    fn write(&self) -> RwLockWriteGuard<'_, HashMap<PlayerId, Entry>> {
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
            revocations.prune(now + Duration::from_mins(minutes));
            assert_eq!(revocations.least_version(PLAYER), expected, "after {minutes} minutes");
        }
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
