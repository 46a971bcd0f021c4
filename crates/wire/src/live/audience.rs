//! The audience: the holders of streams, the number of streams of each, and the end of their right to listen when their
//! credentials are revoked.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
    time::Instant,
};

use tokio::sync::watch;

use super::revocations::Revocations;
use mancala_domain::PlayerId;

/// The most streams of a player, on all devices: ten devices with ten games each.
pub const STREAMS_OF_PLAYER_MAX: usize = 100;

/// The most streams of unauthenticated clients at one address: a school that watches a final.
pub const STREAMS_OF_ADDRESS_MAX: usize = 1000;

/// The holder of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    Player(PlayerId),
    /// The address of an unauthenticated client; for IPv6, its network.
    Address(IpAddr),
}

/// All holders of streams of a process.
#[derive(Debug, Default)]
pub struct Audience {
    /// For each holder, the least `credentials_version` that may listen.
    holders: Mutex<HashMap<Holder, watch::Sender<i32>>>,
    revocations: Revocations,
}

impl Audience {
    /// Counts a new stream; `None` if the holder has reached its limit.
    pub fn enter(self: &Arc<Self>, holder: Holder) -> Option<StreamGuard> {
        let max = match holder {
            Holder::Player(_) => STREAMS_OF_PLAYER_MAX,
            Holder::Address(_) => STREAMS_OF_ADDRESS_MAX,
        };
        let mut holders = self.lock();
        let held = holders.entry(holder).or_insert_with(|| watch::Sender::new(self.least_version(holder)));
        if held.receiver_count() >= max {
            return None;
        }
        Some(StreamGuard { audience: Arc::clone(self), holder, least_version: held.subscribe() })
    }

    /// The revoked credentials.
    pub const fn revocations(&self) -> &Revocations {
        &self.revocations
    }

    /// Revokes a player's credentials below a version: the process refuses their tokens, and ends their streams.
    pub fn revoke(&self, player: PlayerId, least_version: i32) {
        // The entry comes first, so that a stream that enters after the report reads it.
        self.revocations.enter(player, least_version, Instant::now());
        if let Some(held) = self.lock().get(&Holder::Player(player)) {
            held.send_if_modified(|least| {
                let is_new = least_version > *least;
                *least = least_version.max(*least);
                is_new
            });
        }
    }

    /// The number of streams.
    pub fn streams(&self) -> usize {
        self.lock().values().map(watch::Sender::receiver_count).sum()
    }

    fn least_version(&self, holder: Holder) -> i32 {
        match holder {
            Holder::Player(player) => self.revocations.least_version(player).unwrap_or(i32::MIN),
            Holder::Address(_) => i32::MIN,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, watch::Sender<i32>>> {
        self.holders.lock().expect("nothing panics while it holds the audience")
    }
}

/// An open stream, which counts until it is dropped.
#[derive(Debug)]
pub struct StreamGuard {
    audience: Arc<Audience>,
    holder: Holder,
    least_version: watch::Receiver<i32>,
}

impl StreamGuard {
    /// Waits until the credentials of this version are revoked. Cancel-safe.
    pub async fn ended(&mut self, credentials_version: i32) {
        // Fails only if the audience is gone.
        let _ = self.least_version.wait_for(|least| *least > credentials_version).await;
    }
}

impl Drop for StreamGuard {
    fn drop(&mut self) {
        let mut holders = self.audience.lock();
        // The receiver of this guard is still there.
        if holders.get(&self.holder).is_some_and(|held| held.receiver_count() == 1) {
            holders.remove(&self.holder);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use uuid::Uuid;

    use super::*;

    fn player(n: u128) -> PlayerId {
        PlayerId(Uuid::from_u128(n))
    }

    #[test]
    fn a_stream_ends_when_its_credentials_are_revoked() {
        let audience = Arc::new(Audience::default());
        let mut streams = [1, 1, 2].map(|n| audience.enter(Holder::Player(player(n))).expect("there is room"));
        let [first, second, other] = &mut streams;
        audience.revoke(player(1), 4);
        assert_eq!((first.ended(4).now_or_never(), second.ended(3).now_or_never()), (None, Some(())));
        audience.revoke(player(1), 5);
        // A late report does not replace a newer one.
        audience.revoke(player(1), 4);
        assert_eq!((first.ended(4).now_or_never(), second.ended(5).now_or_never()), (Some(()), None));
        assert_eq!(other.ended(0).now_or_never(), None);
        // A stream that begins after the revocation ends as well.
        audience.revoke(player(3), 1);
        let mut late = audience.enter(Holder::Player(player(3))).expect("there is room");
        assert_eq!((late.ended(0).now_or_never(), late.ended(1).now_or_never()), (Some(()), None));
    }

    #[test]
    fn the_streams_of_a_holder_are_limited_and_counted_until_dropped() {
        let audience = Arc::new(Audience::default());
        let address = Holder::Address("192.0.2.1".parse().expect("an address"));
        for (holder, max) in [(Holder::Player(player(1)), STREAMS_OF_PLAYER_MAX), (address, STREAMS_OF_ADDRESS_MAX)] {
            let streams: Vec<_> = (0..=max).map_while(|_| audience.enter(holder)).collect();
            assert_eq!((streams.len(), audience.streams()), (max, max));
            assert!(audience.enter(Holder::Player(player(2))).is_some());
            drop(streams);
            assert_eq!((audience.streams(), audience.lock().len()), (0, 0));
        }
    }
}
