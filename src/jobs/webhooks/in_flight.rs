//! The attempts in flight of a process, by lane, player and host.
//!
//! A player may have many endpoints, and many endpoints may be at one slow host. Their attempts must not take all permits of a
//! lane. So a player or a host that has enough attempts in flight gets no further ones.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{
    db::webhooks::attempts::{Due, Full, Lane},
    domain::PlayerId,
};

/// The attempts in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    players: HashMap<(Lane, PlayerId), u32>,
    hosts: HashMap<(Lane, String), u32>,
}

/// An attempt, which is counted until it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    counts: InFlight,
    lane: Lane,
    player: PlayerId,
    host: String,
}

impl InFlight {
    /// Counts an attempt.
    pub(super) fn count(&self, lane: Lane, due: &Due) -> Counted {
        let Due { player, ref host, .. } = *due;
        let mut counts = self.lock();
        *counts.players.entry((lane, player)).or_default() += 1;
        *counts.hosts.entry((lane, host.clone())).or_default() += 1;
        Counted { counts: self.clone(), lane, player, host: host.clone() }
    }

    /// The players and hosts that get no further attempts in a lane at present.
    pub(super) fn full(&self, lane: Lane) -> Full {
        let counts = self.lock();
        let players = counts.players.iter().filter(|((of, _), count)| *of == lane && **count >= lane.of_player());
        let hosts = counts.hosts.iter().filter(|((of, _), count)| *of == lane && **count >= lane.of_host());
        Full {
            players: players.map(|((_, player), _)| *player).collect(),
            hosts: hosts.map(|((_, host), _)| host.clone()).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().expect("nothing panics while it holds the counts")
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        // Both counts include this attempt.
        if let Some(count) = counts.players.get_mut(&(self.lane, self.player)) {
            *count -= 1;
        }
        if let Some(count) = counts.hosts.get_mut(&(self.lane, self.host.clone())) {
            *count -= 1;
        }
        counts.players.retain(|_, count| *count > 0);
        counts.hosts.retain(|_, count| *count > 0);
    }
}
