//! The attempts in flight of a process in one lane, by player and host.
//!
//! A player may have many addresses, and many addresses may be at one slow host. Their attempts must not take all places of a
//! lane. So a player or a host that has enough attempts in flight gets no further ones.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use mancala_db::outbound::{Full, Limits};
use mancala_domain::PlayerId;

/// The attempts in flight in a lane.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<HashMap<Recipient, u32>>>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Recipient {
    Player(PlayerId),
    Host(String),
}

/// Counts an attempt until it is dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard {
    counts: InFlight,
    recipients: [Recipient; 2],
}

impl InFlight {
    /// Counts an attempt.
    pub(super) fn count(&self, player: PlayerId, host: &str) -> InFlightGuard {
        let recipients = [Recipient::Player(player), Recipient::Host(host.to_owned())];
        for recipient in &recipients {
            *self.lock().entry(recipient.clone()).or_default() += 1;
        }
        InFlightGuard { counts: self.clone(), recipients }
    }

    /// The players and hosts that get no further attempts at present.
    pub(super) fn full(&self, limits: Limits) -> Full {
        let mut full = Full::default();
        for (recipient, count) in self.lock().iter() {
            match recipient {
                Recipient::Player(player) if *count >= limits.of_player => full.players.push(*player),
                Recipient::Host(host) if *count >= limits.of_host => full.hosts.push(host.clone()),
                Recipient::Player(_) | Recipient::Host(_) => {}
            }
        }
        full
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Recipient, u32>> {
        self.0.lock().expect("nothing panics while it holds the counts")
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        for recipient in &self.recipients {
            if let Some(count) = counts.get_mut(recipient) {
                *count -= 1;
            }
        }
        counts.retain(|_, count| *count > 0);
    }
}
