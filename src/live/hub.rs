//! The hub: games and players that somebody waits for, and their waiters.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use thiserror::Error;
use tokio::sync::watch;

use super::{audience::Audience, changes::Changes};
use crate::domain::{Change, GameId, PlayerId};

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
    /// What somebody waits for, each with what was heard of it: 0 before the first news.
    topics: HashMap<Topic, watch::Sender<u32>>,
    waiters: usize,
    released: bool,
}

/// What one may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// A game; what is heard is its version.
    Game(GameId),
    /// Any game of a player; what is heard is how often something has changed since the first began to wait.
    Player(PlayerId),
}

/// The hub lets nobody wait any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("all who waited were released")]
pub struct Released;

impl Hub {
    /// Begins to listen for changes; `None` if too many wait already, or all were released.
    ///
    /// Enter first, then read the game, then wait for what comes after the version that was read: so no change in between is
    /// missed. Of a player's games, wait for what comes after what had been [heard](Waiter::heard) before they were read.
    pub fn enter(self: &Arc<Self>, topic: Topic) -> Option<Waiter> {
        let mut waiting = self.lock();
        if waiting.released || waiting.waiters >= WAITERS_MAX {
            return None;
        }
        waiting.waiters += 1;
        let news = waiting.topics.entry(topic).or_insert_with(|| watch::Sender::new(0)).subscribe();
        Some(Waiter { hub: Arc::clone(self), topic, news })
    }

    /// Wakes those who wait for a game, and who have seen an earlier version of it. To be called after the commit.
    pub fn tell(&self, game: GameId, version: u32) {
        if let Some(heard) = self.lock().topics.get(&Topic::Game(game)) {
            heard.send_if_modified(|heard| {
                let is_new = version > *heard;
                *heard = version.max(*heard);
                is_new
            });
        }
    }

    /// Wakes those who wait for a game that has changed, and those who wait for any game of its people's. To be called after
    /// the commit.
    pub fn tell_change(&self, change: &Change) {
        self.tell(change.game, change.version);
        let waiting = self.lock();
        for player in change.people.into_iter().flatten() {
            if let Some(heard) = waiting.topics.get(&Topic::Player(player)) {
                heard.send_modify(|changes| *changes = changes.saturating_add(1));
            }
        }
    }

    /// Wakes all who wait for any game of a player's: it is not known whose has changed.
    pub(super) fn tell_all_players(&self) {
        for (_, heard) in self.lock().topics.iter().filter(|(topic, _)| matches!(topic, Topic::Player(_))) {
            heard.send_modify(|changes| *changes = changes.saturating_add(1));
        }
    }

    /// The same as [`Self::tell_change`] of what this process has stored, which the others do not know yet.
    pub fn stored(&self, change: Change) {
        self.tell_change(&change);
        self.changes.add(change);
    }

    /// Who holds streams.
    pub const fn audience(&self) -> &Arc<Audience> {
        &self.audience
    }

    /// Lets everybody go at once, and nobody wait again: the process is about to end.
    pub fn release_all(&self) {
        let mut waiting = self.lock();
        waiting.released = true;
        waiting.topics.clear();
    }

    /// How many wait.
    pub fn waiters(&self) -> usize {
        self.lock().waiters
    }

    /// The games that somebody waits for.
    pub(super) fn games(&self) -> Vec<GameId> {
        let game = |topic: &Topic| match topic {
            Topic::Game(game) => Some(*game),
            Topic::Player(_) => None,
        };
        self.lock().topics.keys().filter_map(game).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().expect("nothing panics while it holds the hub")
    }
}

/// One who waits, and leaves the hub by being dropped.
#[derive(Debug)]
pub struct Waiter {
    hub: Arc<Hub>,
    topic: Topic,
    news: watch::Receiver<u32>,
}

impl Waiter {
    /// What was heard until now.
    pub fn heard(&self) -> u32 {
        *self.news.borrow()
    }

    /// Waits until more is heard than this; says what.
    pub async fn past(&mut self, known: u32) -> Result<u32, Released> {
        self.news.wait_for(|heard| *heard > known).await.map(|heard| *heard).map_err(|_| Released)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.hub.lock();
        waiting.waiters -= 1;
        // Its own receiver is still there.
        if waiting.topics.get(&self.topic).is_some_and(|heard| heard.receiver_count() == 1) {
            waiting.topics.remove(&self.topic);
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
        let mut waiters = [1, 1, 2].map(|n| hub.enter(Topic::Game(game(n))).expect("there is room"));
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
    fn a_change_wakes_those_who_wait_for_any_game_of_its_people() {
        let hub = Arc::new(Hub::default());
        let players = [1, 2, 3].map(|n| PlayerId(Uuid::from_u128(n)));
        let mut waiters = players.map(|player| hub.enter(Topic::Player(player)).expect("there is room"));
        assert_eq!(hub.games(), vec![]);
        hub.stored(Change { game: game(1), version: 9, people: [Some(players[0]), Some(players[2])] });
        let [first, second, third] = &mut waiters;
        assert_eq!((first.heard(), second.heard(), third.heard()), (1, 0, 1));
        assert_eq!((first.past(0).now_or_never(), second.past(0).now_or_never()), (Some(Ok(1)), None));
        // The same change may be heard of twice.
        hub.tell_change(&Change { game: game(1), version: 9, people: [Some(players[0]), None] });
        assert_eq!((first.past(1).now_or_never(), third.past(1).now_or_never()), (Some(Ok(2)), None));
        hub.tell_all_players();
        assert_eq!((first.heard(), second.heard(), third.heard()), (3, 1, 2));
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
                let mut waiter = hub.enter(Topic::Game(game(1))).expect("there is room");
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
        let (first, second) = (hub.enter(Topic::Game(game(1))), hub.enter(Topic::Game(game(1))));
        assert_eq!((hub.waiters(), hub.games()), (2, vec![game(1)]));
        drop(first);
        assert_eq!((hub.waiters(), hub.games()), (1, vec![game(1)]));
        drop(second);
        assert_eq!((hub.waiters(), hub.games()), (0, vec![]));
    }

    #[test]
    fn only_so_many_may_wait() {
        let hub = Arc::new(Hub::default());
        let waiters: Vec<_> = (0..).map_while(|n| hub.enter(Topic::Game(game(n)))).collect();
        assert_eq!(waiters.len(), WAITERS_MAX);
        assert!(hub.enter(Topic::Game(game(0))).is_none());
        drop(waiters);
        assert!(hub.enter(Topic::Game(game(0))).is_some());
    }

    #[test]
    fn all_are_released_at_once_and_nobody_waits_again() {
        let hub = Arc::new(Hub::default());
        let mut waiters = [1, 2].map(|n| hub.enter(Topic::Game(game(n))).expect("there is room"));
        hub.release_all();
        for waiter in &mut waiters {
            assert_eq!(waiter.past(0).now_or_never(), Some(Err(Released)));
        }
        assert!(hub.enter(Topic::Game(game(1))).is_none());
        drop(waiters);
        assert_eq!((hub.waiters(), hub.games()), (0, vec![]));
    }
}
