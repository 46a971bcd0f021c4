//! The hub: games that somebody waits for, and their waiters.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use thiserror::Error;
use tokio::sync::watch;

use super::{audience::Audience, changes::Changes};
use crate::domain::GameId;

/// How many may wait at once in one process, for an answer or with a stream: each holds a connection and some 20 KiB, so that all
/// of them cost 200 MiB.
pub const WAITERS_MAX: usize = 10_000;

/// All waiters of a process, whichever of its threads they are on, and what is known of them.
#[derive(Debug, Default)]
pub struct Hub {
    /// Held for a few instructions at a time.
    waiting: Mutex<Waiting>,
    /// What the other processes are to be told.
    pub(super) changes: Arc<Changes>,
    audience: Arc<Audience>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// The games that somebody waits for, each with the last version heard of: 0 before the first.
    games: HashMap<GameId, watch::Sender<u32>>,
    waiters: usize,
    released: bool,
}

/// The hub lets nobody wait any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("all who waited were released")]
pub struct Released;

impl Hub {
    /// Begins to listen for a game's changes; `None` if too many wait already, or all were released.
    ///
    /// Enter first, then read the game, then wait for what comes after the version that was read: so no change in between is
    /// missed.
    pub fn enter(self: &Arc<Self>, game: GameId) -> Option<Waiter> {
        let mut waiting = self.lock();
        if waiting.released || waiting.waiters >= WAITERS_MAX {
            return None;
        }
        waiting.waiters += 1;
        let version = waiting.games.entry(game).or_insert_with(|| watch::Sender::new(0)).subscribe();
        Some(Waiter { hub: Arc::clone(self), game, version })
    }

    /// Wakes those who wait for a game, and who have seen an earlier version of it. To be called after the commit.
    pub fn tell(&self, game: GameId, version: u32) {
        if let Some(heard) = self.lock().games.get(&game) {
            heard.send_if_modified(|heard| {
                let is_new = version > *heard;
                *heard = version.max(*heard);
                is_new
            });
        }
    }

    /// The same of what this process has stored, which the others do not know yet.
    pub fn stored(&self, game: GameId, version: u32) {
        self.tell(game, version);
        self.changes.add(game, version);
    }

    /// Who holds streams.
    pub const fn audience(&self) -> &Arc<Audience> {
        &self.audience
    }

    /// Lets everybody go at once, and nobody wait again: the process is about to end.
    pub fn release_all(&self) {
        let mut waiting = self.lock();
        waiting.released = true;
        waiting.games.clear();
    }

    /// How many wait.
    pub fn waiters(&self) -> usize {
        self.lock().waiters
    }

    /// The games that somebody waits for.
    pub(super) fn games(&self) -> Vec<GameId> {
        self.lock().games.keys().copied().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nothing panics while it holds the hub")
    }
}

/// One who waits for a game, and leaves the hub by being dropped.
#[derive(Debug)]
pub struct Waiter {
    hub: Arc<Hub>,
    game: GameId,
    version: watch::Receiver<u32>,
}

impl Waiter {
    /// Waits until the game has gone past a version; says which one it is at.
    pub async fn past(&mut self, version: u32) -> Result<u32, Released> {
        self.version.wait_for(|heard| *heard > version).await.map(|heard| *heard).map_err(|_| Released)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.hub.lock();
        waiting.waiters -= 1;
        // Its own receiver is still there.
        if waiting.games.get(&self.game).is_some_and(|heard| heard.receiver_count() == 1) {
            waiting.games.remove(&self.game);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicU32, Ordering},
        thread,
        time::Duration,
    };

    use futures_util::FutureExt;
    use tokio::{runtime::Builder, time::timeout};
    use uuid::Uuid;

    use super::*;

    fn game(n: u128) -> GameId {
        GameId(Uuid::from_u128(n))
    }

    #[test]
    fn a_change_wakes_those_who_wait_for_its_game_and_have_not_seen_it() {
        let hub = Arc::new(Hub::default());
        let mut waiters = [1, 1, 2].map(|n| hub.enter(game(n)).expect("there is room"));
        hub.tell(game(1), 5);
        let [first, second, other] = &mut waiters;
        assert_eq!(first.past(4).now_or_never(), Some(Ok(5)));
        assert_eq!(second.past(5).now_or_never(), None);
        assert_eq!(other.past(0).now_or_never(), None);
        // News that come late take nothing back.
        hub.tell(game(1), 3);
        assert_eq!(first.past(4).now_or_never(), Some(Ok(5)));
        hub.tell(game(1), 6);
        assert_eq!(second.past(5).now_or_never(), Some(Ok(6)));
    }

    #[test]
    fn no_change_between_the_read_and_the_wait_is_missed() {
        const LAST: u32 = 20_000;
        let (hub, stored) = (Arc::new(Hub::default()), AtomicU32::new(0));
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime starts");
        thread::scope(|scope| {
            scope.spawn(|| {
                for version in 1..=LAST {
                    stored.store(version, Ordering::SeqCst);
                    hub.tell(game(1), version);
                }
            });
            loop {
                let mut waiter = hub.enter(game(1)).expect("there is room");
                let read = stored.load(Ordering::SeqCst);
                if read == LAST {
                    break;
                }
                let woken = runtime.block_on(async { timeout(Duration::from_secs(30), waiter.past(read)).await });
                assert!(woken.expect("it is woken").expect("nobody was released") > read);
            }
        });
    }

    #[test]
    fn who_leaves_leaves_nothing_behind() {
        let hub = Arc::new(Hub::default());
        let (first, second) = (hub.enter(game(1)), hub.enter(game(1)));
        assert_eq!((hub.waiters(), hub.games()), (2, vec![game(1)]));
        drop(first);
        assert_eq!((hub.waiters(), hub.games()), (1, vec![game(1)]));
        drop(second);
        assert_eq!((hub.waiters(), hub.games()), (0, vec![]));
    }

    #[test]
    fn only_so_many_may_wait() {
        let hub = Arc::new(Hub::default());
        let waiters: Vec<_> = (0..).map_while(|n| hub.enter(game(n))).collect();
        assert_eq!(waiters.len(), WAITERS_MAX);
        assert!(hub.enter(game(0)).is_none());
        drop(waiters);
        assert!(hub.enter(game(0)).is_some());
    }

    #[test]
    fn all_are_released_at_once_and_nobody_waits_again() {
        let hub = Arc::new(Hub::default());
        let mut waiters = [1, 2].map(|n| hub.enter(game(n)).expect("there is room"));
        hub.release_all();
        for waiter in &mut waiters {
            assert_eq!(waiter.past(0).now_or_never(), Some(Err(Released)));
        }
        assert!(hub.enter(game(1)).is_none());
        drop(waiters);
        assert_eq!((hub.waiters(), hub.games()), (0, vec![]));
    }
}
