//! The uploads of a process: large bodies that arrive or are worked on. Their memory is bounded, in all and by address.
//!
//! A body counts as its bytes arrive, so a client that declares much and sends little takes nothing from others.

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::{
    domain::PlayerId,
    http::answer::{code::Code, problem::Problem},
};

/// The bytes of the uploads from one network: two of the largest bodies. So one address leaves most of the memory to others.
const NETWORK_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The uploads from one network: a few seconds' work. Few clients upload at the same moment, even in a school.
const NETWORK_UPLOADS_MAX: usize = 8;

/// `Retry-After` of a refused upload, in seconds: the time in which a stalled one is cut off.
const RETRY_AFTER_S: u64 = 5;

/// All uploads of a process.
#[derive(Debug, Default)]
pub struct Uploads(Mutex<Held>);

/// What the uploads hold at this moment.
#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    players: HashSet<PlayerId>,
    networks: HashMap<Option<IpAddr>, HeldByNetwork>,
}

#[derive(Debug, Default)]
struct HeldByNetwork {
    uploads: usize,
    bytes: usize,
}

impl Uploads {
    /// The bytes of all uploads together.
    pub const BYTES_MAX: usize = 64 * 1024 * 1024;

    /// The bytes of all uploads now.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    /// Begins an upload, unless the player has one already, or the network has too many. Without limits no network is known.
    pub fn begin(self: &Arc<Self>, player: PlayerId, network: Option<IpAddr>) -> Result<Upload, Problem> {
        let mut held = self.lock();
        if held.players.contains(&player) {
            return Err(refusal(Code::RateLimited, "another upload of this player is not done; one at a time"));
        }
        let of_network = held.networks.entry(network).or_default();
        if network.is_some() && of_network.uploads >= NETWORK_UPLOADS_MAX {
            return Err(refusal(Code::RateLimited, "too many uploads from this address at once"));
        }
        of_network.uploads += 1;
        held.players.insert(player);
        Ok(Upload { uploads: Arc::clone(self), player, network, bytes: 0 })
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.0.lock().expect("nothing panics while it holds the uploads")
    }
}

/// One upload. It ends when this is dropped.
#[derive(Debug)]
pub struct Upload {
    uploads: Arc<Uploads>,
    player: PlayerId,
    network: Option<IpAddr>,
    bytes: usize,
}

impl Upload {
    /// Counts bytes that have arrived, unless the uploads would hold too many.
    pub fn add(&mut self, bytes: usize) -> Result<(), Problem> {
        let mut held = self.uploads.lock();
        if held.bytes + bytes > Uploads::BYTES_MAX {
            return Err(refusal(Code::Unavailable, "too much is being uploaded at once; try again"));
        }
        let of_network = held.networks.entry(self.network).or_default();
        if self.network.is_some() && of_network.bytes + bytes > NETWORK_BYTES_MAX {
            return Err(refusal(Code::RateLimited, "too much is being uploaded from this address at once"));
        }
        of_network.bytes += bytes;
        held.bytes += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut held = self.uploads.lock();
        held.bytes -= self.bytes;
        held.players.remove(&self.player);
        let is_last = held.networks.get_mut(&self.network).is_some_and(|of_network| {
            of_network.bytes -= self.bytes;
            of_network.uploads -= 1;
            of_network.uploads == 0
        });
        if is_last {
            held.networks.remove(&self.network);
        }
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
        assert_eq!(others.len() + 1, NETWORK_UPLOADS_MAX);
        assert!(begin(&uploads, 100, 2).is_ok(), "another network is not affected");
        drop(first);
        assert!(begin(&uploads, 0, 1).is_ok());
        drop(others);
        let held = uploads.lock();
        assert!(held.players.is_empty() && held.networks.is_empty());
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
}
