//! The hub: the topics that requests wait for, and their waiters.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use mancala_domain::{Change, GameId, PlayerId};
use thiserror::Error;
use tokio::sync::watch;

use super::{
    audience::{Audience, Holder},
    changes::Changes,
    topic::{Changed, TopicValue},
};

/// The most waiters of one process, long polls and streams together. Each holds a connection and about 20 KiB, so all of them take
/// 200 MiB.
pub const WAITERS_MAX: usize = 10_000;

/// The most waiters of a player: streams, and as many long polls.
pub const WAITERS_OF_PLAYER_MAX: usize = 200;

/// The share of an address in all waiters, a quarter: a school, each of whose players waits for several games.
const ADDRESSES: usize = 4;

/// The client that waits, for its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// The player, if the client has a token.
    pub player: Option<PlayerId>,
    /// The address; `None` where addresses are not limited.
    pub address: Option<IpAddr>,
}

impl Client {
    fn holders(self, waiters_max: usize) -> impl Iterator<Item = (Holder, usize)> {
        let player = self.player.map(|player| (Holder::Player(player), WAITERS_OF_PLAYER_MAX));
        let address = self.address.map(|address| (Holder::Address(address), waiters_max / ADDRESSES));
        player.into_iter().chain(address)
    }
}

/// All waiters of a process, on all its threads.
#[derive(Debug, Default)]
pub struct Hub {
    /// Held for a few instructions at a time.
    state: Mutex<State>,
    /// The changes to send to the other processes.
    pub(super) changes: Arc<Changes>,
    audience: Arc<Audience>,
}

#[derive(Debug, Default)]
struct State {
    /// The topics with waiters, each with its last reported value: 0 before the first report.
    topics: HashMap<Topic, watch::Sender<TopicValue>>,
    waiters: usize,
    /// The most waiters, if the process has fewer connections than usual.
    max: Option<usize>,
    /// The number of waiters of each player and address that has some.
    held: HashMap<Holder, usize>,
    released: bool,
}

/// The topic that a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// A game; its value is the game's version.
    Game(GameId),
    /// Any game of a player; its value is the number of changes since the topic has waiters.
    Player(PlayerId),
}

/// The hub has released its waiters, because the process stops or the database was set back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("all waiters were released")]
pub struct Released;

impl Hub {
    /// Starts to listen for changes; `None` if the hub is full, if the client has its share of the waiters, or if the hub has
    /// released them.
    ///
    /// To miss no change, enter first, then read the game, then wait for a version after the one that was read. For a player's
    /// games, wait for a value after the [latest](Waiter::latest) one before they were read.
    pub fn enter(self: &Arc<Self>, topic: Topic, client: Client) -> Option<Waiter> {
        let mut state = self.lock();
        let is_over = |(holder, max)| state.held.get(&holder).is_some_and(|held| *held >= max);
        let max = state.max.unwrap_or(WAITERS_MAX);
        if state.released || state.waiters >= max || client.holders(max).any(is_over) {
            return None;
        }
        state.waiters += 1;
        for (holder, _) in client.holders(max) {
            *state.held.entry(holder).or_default() += 1;
        }
        let value = state.topics.entry(topic).or_default().subscribe();
        Some(Waiter { hub: Arc::clone(self), topic, client, value })
    }

    /// Limits the number of waiters, to at most [`WAITERS_MAX`].
    pub fn limit(&self, max: usize) {
        self.lock().max = Some(max.min(WAITERS_MAX));
    }

    /// Wakes the waiters for a game that have seen an earlier version. Call it after the commit.
    pub fn notify(&self, game: GameId, version: u32) {
        if let Some(value) = self.lock().topics.get(&Topic::Game(game)) {
            value.send_if_modified(|latest| latest.raise(version));
        }
    }

    /// Wakes the waiters for a game, and those for any game of its players. Call it after the commit.
    pub fn notify_change(&self, change: &Change) {
        self.notify(change.game, change.version);
        let state = self.lock();
        for player in change.people.into_iter().flatten() {
            if let Some(value) = state.topics.get(&Topic::Player(player)) {
                value.send_if_modified(|latest| latest.add(change));
            }
        }
    }

    /// Wakes all waiters for players, because the changed games are unknown.
    pub(super) fn notify_all_players(&self) {
        for (_, value) in self.lock().topics.iter().filter(|(topic, _)| matches!(topic, Topic::Player(_))) {
            value.send_modify(TopicValue::add_unnamed);
        }
    }

    /// Notifies the waiters of a change that this process has stored, here and in the other processes.
    pub fn stored(&self, change: Change) {
        self.notify_change(&change);
        self.changes.add(change);
    }

    /// The holders of streams.
    pub const fn audience(&self) -> &Arc<Audience> {
        &self.audience
    }

    /// Releases all waiters, because the database was set back and has lost events that they have seen. New waiters are accepted.
    pub fn set_back(&self) {
        self.lock().topics.clear();
    }

    /// Releases all waiters, and refuses new ones: the process is about to stop.
    pub fn release_all(&self) {
        let mut state = self.lock();
        state.released = true;
        state.topics.clear();
    }

    /// The number of waiters.
    pub fn waiters(&self) -> usize {
        self.lock().waiters
    }

    /// The games with waiters.
    pub(super) fn games(&self) -> Vec<GameId> {
        let game = |topic: &Topic| match topic {
            Topic::Game(game) => Some(*game),
            Topic::Player(_) => None,
        };
        self.lock().topics.keys().filter_map(game).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the hub")
    }
}

/// A waiter for changes of a topic, which leaves the hub when it is dropped.
#[derive(Debug)]
pub struct Waiter {
    hub: Arc<Hub>,
    topic: Topic,
    client: Client,
    value: watch::Receiver<TopicValue>,
}

impl Waiter {
    /// The last reported value.
    pub fn latest(&self) -> u32 {
        self.value.borrow().value()
    }

    /// The changes of a player's topic since an earlier value.
    pub fn changed_since(&self, seen: u32) -> Changed {
        self.value.borrow().changed_since(seen)
    }

    /// Waits until the value is greater than `seen`, and returns it.
    pub async fn past(&mut self, seen: u32) -> Result<u32, Released> {
        self.value.wait_for(|latest| latest.value() > seen).await.map(|latest| latest.value()).map_err(|_| Released)
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut state = self.hub.lock();
        state.waiters -= 1;
        for (holder, _) in self.client.holders(WAITERS_MAX) {
            if let Entry::Occupied(mut held) = state.held.entry(holder) {
                *held.get_mut() -= 1;
                if *held.get() == 0 {
                    held.remove();
                }
            }
        }
        // The receiver of this waiter is still there. After a release, the topic may be a new one.
        let is_last = |value: &watch::Sender<TopicValue>| {
            value.receiver_count() == 1 && value.subscribe().same_channel(&self.value)
        };
        if state.topics.get(&self.topic).is_some_and(is_last) {
            state.topics.remove(&self.topic);
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

    const ANYONE: Client = Client { player: None, address: None };

    fn game(n: u128) -> GameId {
        GameId(Uuid::from_u128(n))
    }

    #[test]
    fn a_change_wakes_the_waiters_for_its_game_that_have_not_seen_it() {
        let hub = Arc::new(Hub::default());
        let mut waiters = [1, 1, 2].map(|n| hub.enter(Topic::Game(game(n)), ANYONE).expect("there is room"));
        hub.notify(game(1), 5);
        let [first, second, other] = &mut waiters;
        assert_eq!(first.past(4).now_or_never(), Some(Ok(5)));
        assert_eq!(second.past(5).now_or_never(), None);
        assert_eq!(other.past(0).now_or_never(), None);
        // A late report does not replace a newer one.
        hub.notify(game(1), 3);
        assert_eq!(first.past(4).now_or_never(), Some(Ok(5)));
        hub.notify(game(1), 6);
        assert_eq!(second.past(5).now_or_never(), Some(Ok(6)));
    }

    #[test]
    fn a_change_wakes_the_waiters_for_its_players() {
        let hub = Arc::new(Hub::default());
        let players = [1, 2, 3].map(|n| PlayerId(Uuid::from_u128(n)));
        let mut waiters = players.map(|player| hub.enter(Topic::Player(player), ANYONE).expect("there is room"));
        assert_eq!(hub.games(), vec![]);
        hub.stored(Change { game: game(1), version: 9, people: [Some(players[0]), Some(players[2])] });
        let [first, second, third] = &mut waiters;
        assert_eq!((first.latest(), second.latest(), third.latest()), (1, 0, 1));
        assert_eq!((first.past(0).now_or_never(), second.past(0).now_or_never()), (Some(Ok(1)), None));
        // The same change may be reported twice.
        hub.notify_change(&Change { game: game(1), version: 9, people: [Some(players[0]), None] });
        assert_eq!((first.past(1).now_or_never(), third.past(1).now_or_never()), (None, None));
        hub.notify_change(&Change { game: game(2), version: 1, people: [Some(players[0]), None] });
        assert_eq!((first.past(1).now_or_never(), third.past(1).now_or_never()), (Some(Ok(2)), None));
        assert_eq!(first.changed_since(1), Changed { latest: 2, games: Some(vec![game(2)]) });
        hub.notify_all_players();
        assert_eq!((first.latest(), second.latest(), third.latest()), (3, 1, 2));
        assert_eq!(first.changed_since(2), Changed { latest: 3, games: None });
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
                    hub.notify(game(1), version);
                }
            });
            loop {
                let mut waiter = hub.enter(Topic::Game(game(1)), ANYONE).expect("there is room");
                let read = stored.load(Ordering::SeqCst);
                if read == LAST {
                    break;
                }
                let woken = runtime.block_on(async { timeout(Duration::from_secs(30), waiter.past(read)).await });
                assert!(woken.expect("it is woken").expect("no waiter was released") > read);
            }
        });
    }

    #[test]
    fn a_topic_is_removed_with_its_last_waiter() {
        let hub = Arc::new(Hub::default());
        let (first, second) = (hub.enter(Topic::Game(game(1)), ANYONE), hub.enter(Topic::Game(game(1)), ANYONE));
        assert_eq!((hub.waiters(), hub.games()), (2, vec![game(1)]));
        drop(first);
        assert_eq!((hub.waiters(), hub.games()), (1, vec![game(1)]));
        drop(second);
        assert_eq!((hub.waiters(), hub.games()), (0, vec![]));
    }

    #[test]
    fn the_number_of_waiters_is_limited() {
        let hub = Arc::new(Hub::default());
        let waiters: Vec<_> = (0..).map_while(|n| hub.enter(Topic::Game(game(n)), ANYONE)).collect();
        assert_eq!(waiters.len(), WAITERS_MAX);
        assert!(hub.enter(Topic::Game(game(0)), ANYONE).is_none());
        drop(waiters);
        assert!(hub.enter(Topic::Game(game(0)), ANYONE).is_some());
        hub.limit(8);
        let here = Client { address: Some([192, 0, 2, 1].into()), ..ANYONE };
        let one_address: Vec<_> = (0..).map_while(|n| hub.enter(Topic::Game(game(n)), here)).collect();
        let rest: Vec<_> = (0..).map_while(|n| hub.enter(Topic::Game(game(n)), ANYONE)).collect();
        assert_eq!((one_address.len(), rest.len()), (2, 6));
    }

    #[test]
    fn a_player_and_an_address_have_a_share_of_the_waiters() {
        let hub = Arc::new(Hub::default());
        let of = |n: u8, address: u8| Client {
            player: Some(PlayerId(Uuid::from_u128(n.into()))),
            address: Some([192, 0, 2, address].into()),
        };
        let enter = |client| hub.enter(Topic::Game(game(0)), client);
        let own: Vec<_> = (0..).map_while(|_| enter(of(0, 0))).collect();
        assert_eq!(own.len(), WAITERS_OF_PLAYER_MAX);
        assert!(enter(of(0, 1)).is_none(), "the same player elsewhere");
        let others: Vec<_> = (1..=u8::MAX).flat_map(|n| std::iter::repeat_n(n, WAITERS_OF_PLAYER_MAX)).collect();
        let others: Vec<_> = others.into_iter().map_while(|n| enter(of(n, 0))).collect();
        assert_eq!(own.len() + others.len(), WAITERS_MAX / ADDRESSES);
        assert!(enter(of(200, 1)).is_some() && enter(ANYONE).is_some());
        drop((own, others));
        assert!(enter(of(0, 0)).is_some());
        assert!(hub.lock().held.is_empty());
    }

    #[test]
    fn waiters_are_released_when_the_database_was_set_back_and_new_ones_wait() {
        let hub = Arc::new(Hub::default());
        let mut before = hub.enter(Topic::Game(game(1)), ANYONE).expect("there is room");
        hub.notify(game(1), 7);
        hub.set_back();
        assert_eq!(before.past(7).now_or_never(), Some(Err(Released)));
        let mut after = hub.enter(Topic::Game(game(1)), ANYONE).expect("there is room");
        drop(before);
        assert_eq!(after.past(5).now_or_never(), None, "it is not told of a version from before");
        hub.notify(game(1), 6);
        assert_eq!(after.past(5).now_or_never(), Some(Ok(6)));
    }

    #[test]
    fn a_release_wakes_all_waiters_and_refuses_new_ones() {
        let hub = Arc::new(Hub::default());
        let mut waiters = [1, 2].map(|n| hub.enter(Topic::Game(game(n)), ANYONE).expect("there is room"));
        hub.release_all();
        for waiter in &mut waiters {
            assert_eq!(waiter.past(0).now_or_never(), Some(Err(Released)));
        }
        assert!(hub.enter(Topic::Game(game(1)), ANYONE).is_none());
        drop(waiters);
        assert_eq!((hub.waiters(), hub.games()), (0, vec![]));
    }
}
