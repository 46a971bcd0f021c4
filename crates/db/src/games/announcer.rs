//! Announces changes of games after their commit: to an observer, to the job of webhooks, and to the computer.

use std::sync::{Arc, OnceLock};

use mancala_domain::{Change, Game};
use tokio::sync::Notify;

use super::append::{Append, Stored};

/// Whom changes are announced to. The writers of a process share it with the transactions that append beside them, and announcing is
/// the last step of both.
#[derive(Default)]
pub struct Announcer {
    observer: OnceLock<Box<dyn Fn(Change) + Send + Sync>>,
    webhook_events: Arc<Notify>,
    computer_turns: Arc<Notify>,
}

impl Announcer {
    /// Calls `observer` with every change from now on. There is one observer, the first.
    pub(super) fn observe(&self, observer: impl Fn(Change) + Send + Sync + 'static) {
        let _ = self.observer.set(Box::new(observer));
    }

    /// Notified when an append has queued a row of `webhook_event`.
    pub(super) fn webhook_events(&self) -> Arc<Notify> {
        self.webhook_events.clone()
    }

    /// Notified when the computer is to move in a game.
    pub(super) fn computer_turns(&self) -> Arc<Notify> {
        self.computer_turns.clone()
    }

    /// Announces those appends of a group that were stored.
    pub(super) fn appended<'a>(&self, group: impl IntoIterator<Item = &'a Append>, stored: &Stored) {
        let mut computer_to_move = false;
        for append in group.into_iter().filter(|append| stored.games.contains(&append.game())) {
            computer_to_move |= append.computer_to_move();
            self.changed(append.change());
        }
        if stored.has_webhook_events {
            self.webhook_events.notify_one();
        }
        if computer_to_move {
            self.computer_turns.notify_one();
        }
    }

    /// Announces a new game.
    pub fn created(&self, game: &Game) {
        self.changed(game.change());
        if game.computer_to_move().is_some() {
            self.computer_turns.notify_one();
        }
    }

    /// Announces that seats of games were given to another player.
    pub fn reseated(&self, changes: impl IntoIterator<Item = Change>) {
        changes.into_iter().for_each(|change| self.changed(change));
        self.webhook_events.notify_one();
        self.computer_turns.notify_one();
    }

    fn changed(&self, change: Change) {
        if let Some(observer) = self.observer.get() {
            observer(change);
        }
    }
}
