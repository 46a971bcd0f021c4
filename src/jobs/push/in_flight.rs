//! The devices that are served at the moment, by host and by player. One that has enough of them gets no further ones.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{
    db::push::sending::{DueDevice, Full, PushLane},
    domain::PlayerId,
};

/// Of one lane.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    players: HashMap<PlayerId, usize>,
    hosts: HashMap<String, usize>,
}

/// A device, which is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    counts: InFlight,
    player: PlayerId,
    host: String,
}

impl InFlight {
    pub(super) fn count(&self, device: &DueDevice) -> Counted {
        let mut counts = self.lock();
        *counts.players.entry(device.player).or_default() += 1;
        *counts.hosts.entry(device.host.clone()).or_default() += 1;
        Counted { counts: self.clone(), player: device.player, host: device.host.clone() }
    }

    /// The players and hosts that get no further attempts at present.
    pub(super) fn full(&self, lane: PushLane) -> Full {
        let counts = self.lock();
        let players = counts.players.iter().filter(|(_, count)| **count >= lane.of_player());
        let hosts = counts.hosts.iter().filter(|(_, count)| **count >= lane.of_host());
        Full {
            players: players.map(|(player, _)| *player).collect(),
            hosts: hosts.map(|(host, _)| host.clone()).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().expect("nothing panics while it holds the counts")
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.players.get_mut(&self.player) {
            *count -= 1;
        }
        if let Some(count) = counts.hosts.get_mut(&self.host) {
            *count -= 1;
        }
        counts.players.retain(|_, count| *count > 0);
        counts.hosts.retain(|_, count| *count > 0);
    }
}
