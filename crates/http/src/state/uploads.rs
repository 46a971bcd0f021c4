//! The room of a process for bodies that arrive or are worked on: those of imports, and all others above a few KiB. Their memory is
//! bounded, in all and by address.
//!
//! An import counts as its bytes arrive, so a client that declares much and sends little takes nothing from others. Another body is
//! short, and counts whole before it is read.

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use mancala_domain::PlayerId;

use crate::answer::{code::Code, problem::Problem};

/// The imports from one network: a few seconds' work. Few clients upload at the same moment, even in a school.
const NETWORK_IMPORTS_MAX: usize = 8;

/// `Retry-After` of a refused body, in seconds: the time in which a stalled one is cut off.
const RETRY_AFTER_S: u64 = 5;

/// All bodies of a process that take room.
#[derive(Debug, Default)]
pub struct Uploads(Mutex<Held>);

/// The bytes that bodies hold in memory now.
#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    /// The players whose imports arrive or are worked on.
    importers: HashSet<PlayerId>,
    shares: HashMap<(Option<IpAddr>, Kind), Share>,
}

/// The bytes that bodies of a kind hold in memory for one network.
#[derive(Debug, Default)]
struct Share {
    bodies: usize,
    bytes: usize,
}

/// The kinds of body. Each has its own share, so that stalled bodies of a network leave room for its imports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Import,
    Other,
}

impl Kind {
    /// The bytes from one network. Imports: two of the largest, which leaves most of the room to others. Other bodies: 32 of the largest at
    /// the same moment, of which each takes milliseconds.
    const fn bytes_max(self) -> usize {
        match self {
            Self::Import => 16 * 1024 * 1024,
            Self::Other => 2 * 1024 * 1024,
        }
    }
}

impl Uploads {
    /// The bytes of all bodies together.
    pub const BYTES_MAX: usize = 64 * 1024 * 1024;

    /// The bytes of all bodies now.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Begins an import, unless the player already has one, or the network has too many. Without limits the network is unknown.
    pub fn begin(self: &Arc<Self>, player: PlayerId, network: Option<IpAddr>) -> Result<Upload, Problem> {
        let mut held = self.lock();
        if held.importers.contains(&player) {
            return Err(refusal(Code::RateLimited, "another upload of this player is not done; one at a time"));
        }
        let share = held.shares.entry((network, Kind::Import)).or_default();
        if network.is_some() && share.bodies >= NETWORK_IMPORTS_MAX {
            return Err(refusal(Code::RateLimited, "too many uploads from this address at once"));
        }
        share.bodies += 1;
        held.importers.insert(player);
        let room = Room { uploads: Arc::clone(self), share: (network, Kind::Import), bytes: 0 };
        Ok(Upload { room, player })
    }

    /// Reserves room for a body that is no import.
    pub fn reserve(self: &Arc<Self>, network: Option<IpAddr>, bytes: usize) -> Result<Room, Problem> {
        self.lock().shares.entry((network, Kind::Other)).or_default().bodies += 1;
        let mut room = Room { uploads: Arc::clone(self), share: (network, Kind::Other), bytes: 0 };
        room.grow(bytes)?;
        Ok(room)
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().expect("nothing panics while it holds the uploads")
    }
}

/// The room of one body. It is free when this is dropped.
#[derive(Debug)]
pub struct Room {
    uploads: Arc<Uploads>,
    share: (Option<IpAddr>, Kind),
    bytes: usize,
}

impl Room {
    /// Takes more room, unless the bodies would hold too much.
    fn grow(&mut self, bytes: usize) -> Result<(), Problem> {
        let mut held = self.uploads.lock();
        if held.bytes + bytes > Uploads::BYTES_MAX {
            return Err(refusal(Code::Unavailable, "too much is being uploaded at once; try again"));
        }
        let (network, kind) = self.share;
        let share = held.shares.entry(self.share).or_default();
        if network.is_some() && share.bytes + bytes > kind.bytes_max() {
            return Err(refusal(Code::RateLimited, "too much is being uploaded from this address at once"));
        }
        share.bytes += bytes;
        held.bytes += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut held = self.uploads.lock();
        held.bytes -= self.bytes;
        let is_last = held.shares.get_mut(&self.share).is_some_and(|share| {
            share.bytes -= self.bytes;
            share.bodies -= 1;
            share.bodies == 0
        });
        if is_last {
            held.shares.remove(&self.share);
        }
    }
}

/// An import, which ends when this is dropped.
#[derive(Debug)]
pub struct Upload {
    room: Room,
    player: PlayerId,
}

impl Upload {
    /// Counts bytes that have arrived, or refuses them if the bodies would hold too many.
    pub fn add(&mut self, bytes: usize) -> Result<(), Problem> {
        self.room.grow(bytes)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.room.uploads.lock().importers.remove(&self.player);
    }
}

fn refusal(code: Code, detail: &str) -> Problem {
    let problem = if code == Code::Unavailable { Problem::busy(detail) } else { Problem::new(code, detail) };
    problem.retry_after(RETRY_AFTER_S)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use uuid::Uuid;

    use super::*;

    const MIB: usize = 1024 * 1024;

    fn begin(uploads: &Arc<Uploads>, player: u128, network: u32) -> Result<Upload, Code> {
        let network = IpAddr::V4(Ipv4Addr::from_bits(network));
        uploads.begin(PlayerId(Uuid::from_u128(player)), Some(network)).map_err(|problem| problem.code())
    }

    #[test]
    fn a_player_has_one_upload_at_a_time_and_a_network_a_few() {
        let uploads = Arc::<Uploads>::default();
        let first = begin(&uploads, 0, 1).expect("the first");
        assert_eq!(begin(&uploads, 0, 2).err(), Some(Code::RateLimited));
        let others: Vec<_> = (1..).map_while(|player| begin(&uploads, player, 1).ok()).collect();
        assert_eq!(others.len() + 1, NETWORK_IMPORTS_MAX);
        assert!(begin(&uploads, 100, 2).is_ok(), "another network is not affected");
        drop(first);
        assert!(begin(&uploads, 0, 1).is_ok());
        drop(others);
        let held = uploads.lock();
        assert!(held.importers.is_empty() && held.shares.is_empty());
    }

    #[test]
    fn the_bytes_of_uploads_are_bounded_by_network_and_in_all() {
        let uploads = Arc::<Uploads>::default();
        let mut all: Vec<_> = (0..4).map(|n| begin(&uploads, n.into(), n).expect("an upload")).collect();
        for upload in &mut all {
            upload.add(16 * MIB).expect("as much as a network may hold");
            // The last one fills the process as well.
            let is_full = uploads.lock().bytes == Uploads::BYTES_MAX;
            let expected = if is_full { Code::Unavailable } else { Code::RateLimited };
            assert_eq!(upload.add(1).map_err(|problem| problem.code()), Err(expected));
        }
        let mut late = begin(&uploads, 9, 9).expect("an upload");
        assert_eq!(late.add(1).map_err(|problem| problem.code()), Err(Code::Unavailable));
        all.pop();
        assert!(late.add(MIB).is_ok());
        drop((all, late));
        assert_eq!(uploads.lock().bytes, 0);
    }
    #[test]
    fn bodies_that_are_no_imports_have_a_small_share_of_the_same_room() {
        let uploads = Arc::<Uploads>::default();
        let network = |n| Some(IpAddr::V4(Ipv4Addr::from_bits(n)));
        let reserve = |n, bytes| uploads.reserve(network(n), bytes).map_err(|problem| problem.code());
        let held: Vec<_> = (0..32).map(|_| reserve(1, MIB / 16).expect("a share of 2 MiB")).collect();
        assert_eq!(reserve(1, 1).err(), Some(Code::RateLimited));
        assert!(begin(&uploads, 0, 1).expect("an import").add(16 * MIB).is_ok(), "imports have a share of their own");
        let others: Vec<_> = (2..33).map(|n| reserve(n, 2 * MIB).expect("another network")).collect();
        assert_eq!(reserve(40, 1).err(), Some(Code::Unavailable));
        drop((held, others));
        let all = uploads.lock();
        assert!(all.bytes == 0 && all.shares.is_empty());
    }
}
