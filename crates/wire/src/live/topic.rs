//! The value of a topic, which its waiters receive. A player's topic also names the games that changed last.

use mancala_domain::{Change, GameId};

/// How many changed games a player's topic names. A reader that has missed more reads all games of the player.
pub const NAMED_GAMES_MAX: usize = 16;

/// The value of a topic.
#[derive(Debug, Default)]
pub(super) struct TopicValue {
    value: u32,
    /// The games that changed last, in the order of their last changes.
    games: Vec<NamedGame>,
    /// Changes up to this value may be of games that are not named.
    unnamed_until: u32,
}

#[derive(Debug)]
struct NamedGame {
    game: GameId,
    version: u32,
    /// The topic's value after the game's last change.
    value: u32,
}

/// The changes at a topic since an earlier value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The topic's value.
    pub latest: u32,
    /// The player's games that changed; `None` if they are not known.
    pub games: Option<Vec<GameId>>,
}

impl TopicValue {
    pub(super) const fn value(&self) -> u32 {
        self.value
    }

    /// Records a version of a game's topic. Returns whether it is new.
    pub(super) const fn raise(&mut self, version: u32) -> bool {
        let is_new = version > self.value;
        if is_new {
            self.value = version;
        }
        is_new
    }

    /// Records a change at a player's topic. Returns whether it is new, because a process is notified of its own changes twice.
    pub(super) fn add(&mut self, change: &Change) -> bool {
        let known = self.games.iter().position(|named| named.game == change.game);
        if let Some(known) = known {
            if self.games[known].version >= change.version {
                return false;
            }
            self.games.remove(known);
        }
        self.value = self.value.saturating_add(1);
        self.games.push(NamedGame { game: change.game, version: change.version, value: self.value });
        if self.games.len() > NAMED_GAMES_MAX {
            self.unnamed_until = self.games.remove(0).value;
        }
        true
    }

    /// Records that any games of the player may have changed.
    pub(super) const fn add_unnamed(&mut self) {
        self.value = self.value.saturating_add(1);
        self.unnamed_until = self.value;
    }

    pub(super) fn changed_since(&self, seen: u32) -> Changed {
        let is_named = seen >= self.unnamed_until;
        let since = || self.games.iter().filter(|named| named.value > seen).map(|named| named.game).collect();
        Changed { latest: self.value, games: is_named.then(since) }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn change(n: usize, version: u32) -> Change {
        Change { game: GameId(Uuid::from_u128(n as u128)), version, people: [None; 2] }
    }

    fn named(latest: u32, games: impl IntoIterator<Item = usize>) -> Changed {
        Changed { latest, games: Some(games.into_iter().map(|n| change(n, 0).game).collect()) }
    }

    #[test]
    fn a_reader_is_told_which_games_changed_since() {
        let mut topic = TopicValue::default();
        assert!(topic.add(&change(1, 1)) && topic.add(&change(2, 1)) && topic.add(&change(1, 2)));
        assert_eq!(topic.changed_since(0), named(3, [2, 1]));
        assert_eq!(topic.changed_since(1), named(3, [2, 1]));
        assert_eq!(topic.changed_since(2), named(3, [1]));
        assert_eq!(topic.changed_since(3), named(3, []));
        // Reported again, or late.
        assert!(!topic.add(&change(1, 2)) && !topic.add(&change(1, 1)));
        assert_eq!(topic.changed_since(2), named(3, [1]));
    }

    #[test]
    fn a_reader_that_missed_unknown_games_is_told_so() {
        let mut topic = TopicValue::default();
        topic.add(&change(1, 1));
        topic.add_unnamed();
        topic.add(&change(2, 1));
        assert_eq!(topic.changed_since(1), Changed { latest: 3, games: None });
        assert_eq!(topic.changed_since(2), named(3, [2]));
        // With more games than a topic names, only a reader that has seen the first one's change knows all others.
        for n in 2..=NAMED_GAMES_MAX + 1 {
            topic.add(&change(n, 2));
        }
        let latest = topic.value();
        assert_eq!(
            topic.changed_since(2),
            Changed { latest, games: Some(topic.changed_since(3).games.expect("names")) }
        );
        topic.add(&change(99, 1));
        assert_eq!(topic.changed_since(3), Changed { latest: latest + 1, games: None });
        assert_eq!(topic.changed_since(4), named(latest + 1, (3..=NAMED_GAMES_MAX + 1).chain([99])));
    }
}
