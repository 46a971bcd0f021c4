//! The changes to send to the other processes, and the format of the notifications.

use std::{
    collections::HashMap,
    fmt::Write,
    mem,
    sync::{Mutex, MutexGuard},
};

use mancala_db::connection::notifications::PAYLOAD_BYTES_MAX;
use mancala_domain::{Change, GameId, PlayerId};
use tokio::sync::Notify;
use uuid::Uuid;

/// The most games that are named in notifications: several times what a process changes between two of them. With more, a
/// notification asks the other processes to poll.
const GAMES_MAX: usize = 2000;

/// The notification that asks the other processes to poll.
const ANYTHING: &str = "*";

/// The games that this process has changed since its last notification.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Held for a few instructions at a time.
    pending: Mutex<PendingChanges>,
    added: Notify,
}

#[derive(Debug, Default)]
struct PendingChanges {
    /// The last change of each game.
    games: HashMap<GameId, Change>,
    /// Whether other games changed as well, which are not named here.
    are_others: bool,
    /// Whether a notification was lost, with games that may not be among them.
    was_lost: bool,
}

impl PendingChanges {
    fn is_empty(&self) -> bool {
        self.games.is_empty() && !self.are_others && !self.was_lost
    }
}

/// The content of a notification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notification {
    /// The versions that these games have reached, or passed.
    Games(Vec<Change>),
    /// Any games have changed: the receiver must poll.
    Anything,
}

impl Changes {
    pub(super) fn add(&self, change: Change) {
        let mut pending = self.lock();
        if pending.games.len() < GAMES_MAX || pending.games.contains_key(&change.game) {
            let known = pending.games.entry(change.game).or_insert(change);
            if change.version > known.version {
                *known = change;
            }
        } else {
            pending.are_others = true;
        }
        drop(pending);
        self.added.notify_one();
    }

    /// Records that a notification was lost. Later notifications then request a poll.
    pub(super) fn add_lost(&self) {
        self.lock().was_lost = true;
        self.added.notify_one();
    }

    /// Waits until there is a change. Cancel-safe.
    pub(super) async fn wait_for_some(&self) {
        while self.lock().is_empty() {
            self.added.notified().await;
        }
    }

    /// Removes all changes, and returns them as notifications.
    pub(super) fn take(&self) -> Vec<String> {
        let PendingChanges { games, are_others, was_lost } = mem::take(&mut *self.lock());
        if are_others {
            return vec![ANYTHING.to_owned()];
        }
        // A receiver polls only now and then, so known games are named all the same.
        let mut all = notifications(games.into_values());
        if was_lost {
            all.push(ANYTHING.to_owned());
        }
        all
    }

    fn lock(&self) -> MutexGuard<'_, PendingChanges> {
        self.pending.lock().expect("nothing panics while it holds the changes")
    }
}

/// `<game>:<version>:<player>:<player>,…`, in as many notifications as needed.
fn notifications(changes: impl IntoIterator<Item = Change>) -> Vec<String> {
    const ALWAYS: &str = "writing to a string does not fail";
    let mut notifications = vec![];
    let mut text = String::new();
    let mut entry = String::new();
    for Change { game, version, people } in changes {
        entry.clear();
        write!(entry, "{}:{version}", game.0.simple()).expect(ALWAYS);
        for player in people.into_iter().flatten() {
            write!(entry, ":{}", player.0.simple()).expect(ALWAYS);
        }
        if text.len() + 1 + entry.len() > PAYLOAD_BYTES_MAX {
            notifications.push(mem::take(&mut text));
        }
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&entry);
    }
    notifications.extend(Some(text).filter(|text| !text.is_empty()));
    notifications
}

impl Notification {
    /// Reads a notification. An unreadable one, perhaps of another release, requests a poll.
    pub(super) fn read(text: &str) -> Self {
        text.split(',').map(change).collect::<Option<_>>().map_or(Self::Anything, Self::Games)
    }
}

fn change(entry: &str) -> Option<Change> {
    let mut parts = entry.split(':');
    let game = GameId(Uuid::try_parse(parts.next()?).ok()?);
    let version = parts.next()?.parse().ok()?;
    let mut people = [None; 2];
    for (entry, player) in people.iter_mut().zip(parts.by_ref()) {
        *entry = Some(PlayerId(Uuid::try_parse(player).ok()?));
    }
    parts.next().is_none().then_some(Change { game, version, people })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use futures_util::FutureExt;

    use super::*;

    fn game(n: usize) -> GameId {
        GameId(Uuid::from_u128(n as u128))
    }

    fn change_of(n: usize, version: u32) -> Change {
        let player = |m: usize| Some(PlayerId(Uuid::from_u128((n + m) as u128)));
        // No player, one, and two.
        Change { game: game(n), version, people: [player(1).filter(|_| n > 3), player(2).filter(|_| n > 7)] }
    }

    fn read_all(notifications: &[String]) -> BTreeMap<GameId, Change> {
        let games = |text: &String| match Notification::read(text) {
            Notification::Games(games) => games,
            Notification::Anything => panic!("{text}"),
        };
        notifications.iter().flat_map(games).map(|change| (change.game, change)).collect()
    }

    #[test]
    fn notifications_have_each_game_once_and_are_not_too_long() {
        let changes = Changes::default();
        let mut expected = BTreeMap::new();
        for n in 0..GAMES_MAX {
            for version in [3, u32::MAX, 7] {
                changes.add(change_of(n, version));
            }
            expected.insert(game(n), change_of(n, u32::MAX));
        }
        let notifications = changes.take();
        assert!(notifications.iter().all(|text| text.len() <= PAYLOAD_BYTES_MAX) && notifications.len() > 1);
        assert_eq!(read_all(&notifications), expected);
        assert_eq!(changes.take(), Vec::<String>::new());
    }

    #[test]
    fn changes_of_too_many_games_become_a_request_to_poll() {
        let changes = Changes::default();
        for n in 0..=GAMES_MAX {
            changes.add(change_of(n, 1));
        }
        assert_eq!(changes.take(), [ANYTHING]);
        assert_eq!(Notification::read(ANYTHING), Notification::Anything);
        changes.add(change_of(1, 1));
        assert_eq!(read_all(&changes.take()), BTreeMap::from([(game(1), change_of(1, 1))]));
    }

    #[test]
    fn a_notification_that_cannot_be_read_asks_for_a_poll() {
        let id = game(1).0;
        for text in [
            "",
            ",",
            ":",
            "x:1",
            &format!("{id}"),
            &format!("{id}:"),
            &format!("{id}:-1"),
            &format!("{id}:1,"),
            &format!("{id}:9999999999"),
            &format!("{id}:1:"),
            &format!("{id}:1:x"),
            &format!("{id}:1:{id}:{id}:{id}"),
        ] {
            assert_eq!(Notification::read(text), Notification::Anything, "{text}");
        }
        assert_eq!(
            Notification::read(&format!("{id}:1")),
            Notification::Games(vec![Change { people: [None; 2], ..change_of(1, 1) }])
        );
    }

    #[test]
    fn a_change_before_the_wait_ends_the_wait() {
        let changes = Changes::default();
        assert_eq!(changes.wait_for_some().now_or_never(), None);
        changes.add(change_of(1, 1));
        assert_eq!(changes.wait_for_some().now_or_never(), Some(()));
        changes.take();
        assert_eq!(changes.wait_for_some().now_or_never(), None);
    }

    #[test]
    fn a_lost_notification_is_followed_by_a_request_to_poll() {
        let changes = Changes::default();
        changes.add(change_of(1, 1));
        changes.take();
        changes.add_lost();
        assert_eq!(changes.wait_for_some().now_or_never(), Some(()));
        changes.add(change_of(2, 1));
        let mut taken = changes.take();
        assert_eq!(taken.pop().as_deref(), Some(ANYTHING));
        assert_eq!(read_all(&taken), BTreeMap::from([(game(2), change_of(2, 1))]));
        assert_eq!(changes.wait_for_some().now_or_never(), None);
    }
}
