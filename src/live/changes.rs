//! Changes that the other processes are to be told, and how they are written in notices.

use std::{
    collections::HashMap,
    fmt::Write,
    mem,
    sync::{Mutex, MutexGuard},
};

use tokio::sync::Notify;
use uuid::Uuid;

use crate::{
    db::connection::notifications::PAYLOAD_BYTES_MAX,
    domain::{Change, GameId, PlayerId},
};

/// Of how many games the changes are told one by one: several times what a process stores between two notices. If there are more,
/// the others are told to ask.
const GAMES_MAX: usize = 2000;

/// The notice that says that something has changed, and not what.
const ANYTHING: &str = "*";

/// Games that this process has changed since it last told the others.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Held for a few instructions at a time.
    pending: Mutex<Pending>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Pending {
    /// Each as it was changed last.
    games: HashMap<GameId, Change>,
    are_too_many: bool,
}

/// What a notice says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// These games are at these versions at least.
    Games(Vec<Change>),
    /// Whoever wants to know what has changed must ask.
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
            pending.are_too_many = true;
        }
        drop(pending);
        self.news.notify_one();
    }

    /// Waits until there is something to tell. May be given up.
    pub(super) async fn there_are_some(&self) {
        while self.lock().games.is_empty() {
            self.news.notified().await;
        }
    }

    /// All of them, as notices.
    pub(super) fn take(&self) -> Vec<String> {
        let Pending { games, are_too_many } = mem::take(&mut *self.lock());
        if are_too_many { vec![ANYTHING.to_owned()] } else { notices(games.into_values()) }
    }

    fn lock(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().expect("nothing panics while it holds the changes")
    }
}

/// `<game>:<version>:<player>:<player>,…`, in as many notices as it needs.
fn notices(changes: impl IntoIterator<Item = Change>) -> Vec<String> {
    const ALWAYS_TAKEN: &str = "writing to a string does not fail";
    let mut notices = vec![];
    let mut notice = String::new();
    let mut entry = String::new();
    for Change { game, version, people } in changes {
        entry.clear();
        write!(entry, "{}:{version}", game.0.simple()).expect(ALWAYS_TAKEN);
        for player in people.into_iter().flatten() {
            write!(entry, ":{}", player.0.simple()).expect(ALWAYS_TAKEN);
        }
        if notice.len() + 1 + entry.len() > PAYLOAD_BYTES_MAX {
            notices.push(mem::take(&mut notice));
        }
        if !notice.is_empty() {
            notice.push(',');
        }
        notice.push_str(&entry);
    }
    notices.extend(Some(notice).filter(|notice| !notice.is_empty()));
    notices
}

impl Notice {
    /// Reads a notice. What is none of ours, of an older or a later release, is a reason to ask.
    pub(super) fn read(text: &str) -> Self {
        text.split(',').map(change).collect::<Option<_>>().map_or(Self::Anything, Self::Games)
    }
}

fn change(entry: &str) -> Option<Change> {
    let mut parts = entry.split(':');
    let game = GameId(Uuid::try_parse(parts.next()?).ok()?);
    let version = parts.next()?.parse().ok()?;
    let mut people = [None; 2];
    for (place, player) in people.iter_mut().zip(parts.by_ref()) {
        *place = Some(PlayerId(Uuid::try_parse(player).ok()?));
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
        // Nobody, one, and two.
        Change { game: game(n), version, people: [player(1).filter(|_| n > 3), player(2).filter(|_| n > 7)] }
    }

    fn told(notices: &[String]) -> BTreeMap<GameId, Change> {
        let games = |notice: &String| match Notice::read(notice) {
            Notice::Games(games) => games,
            Notice::Anything => panic!("{notice}"),
        };
        notices.iter().flat_map(games).map(|change| (change.game, change)).collect()
    }

    #[test]
    fn each_game_is_told_once_with_its_last_version_in_notices_that_are_not_too_long() {
        let changes = Changes::default();
        let mut expected = BTreeMap::new();
        for n in 0..GAMES_MAX {
            for version in [3, u32::MAX, 7] {
                changes.add(change_of(n, version));
            }
            expected.insert(game(n), change_of(n, u32::MAX));
        }
        let notices = changes.take();
        assert!(notices.iter().all(|notice| notice.len() <= PAYLOAD_BYTES_MAX) && notices.len() > 1);
        assert_eq!(told(&notices), expected);
        assert_eq!(changes.take(), Vec::<String>::new());
    }

    #[test]
    fn of_too_many_games_it_is_only_told_that_something_has_changed() {
        let changes = Changes::default();
        for n in 0..=GAMES_MAX {
            changes.add(change_of(n, 1));
        }
        assert_eq!(changes.take(), [ANYTHING]);
        assert_eq!(Notice::read(ANYTHING), Notice::Anything);
        changes.add(change_of(1, 1));
        assert_eq!(told(&changes.take()), BTreeMap::from([(game(1), change_of(1, 1))]));
    }

    #[test]
    fn what_cannot_be_read_is_a_reason_to_ask() {
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
            assert_eq!(Notice::read(text), Notice::Anything, "{text}");
        }
        assert_eq!(
            Notice::read(&format!("{id}:1")),
            Notice::Games(vec![Change { people: [None; 2], ..change_of(1, 1) }])
        );
    }

    #[test]
    fn who_waits_for_changes_is_woken_by_one_that_came_before() {
        let changes = Changes::default();
        assert_eq!(changes.there_are_some().now_or_never(), None);
        changes.add(change_of(1, 1));
        assert_eq!(changes.there_are_some().now_or_never(), Some(()));
        changes.take();
        assert_eq!(changes.there_are_some().now_or_never(), None);
    }
}
