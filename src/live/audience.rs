//! The audience: the holders of streams, the number of streams of each, and the end of their right to listen.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::sync::watch;

use crate::domain::PlayerId;

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

/// The state of a player's credentials, on which the right to listen depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// Not read yet.
    Unknown,
    /// The player's `credentials_version`: sign-ins with an earlier version are void.
    Version(i32),
    /// The player was erased.
    Erased,
}

/// All holders of streams of a process.
#[derive(Debug, Default)]
pub struct Audience(Mutex<HashMap<Holder, watch::Sender<Credentials>>>);

impl Audience {
    /// Counts a new stream; `None` if the holder has reached its limit.
    pub fn enter(self: &Arc<Self>, holder: Holder) -> Option<StreamGuard> {
        let max = match holder {
            Holder::Player(_) => STREAMS_OF_PLAYER_MAX,
            Holder::Address(_) => STREAMS_OF_ADDRESS_MAX,
        };
        let mut holders = self.lock();
        let held = holders.entry(holder).or_insert_with(|| watch::Sender::new(Credentials::Unknown));
        if held.receiver_count() >= max {
            return None;
        }
        Some(StreamGuard { audience: Arc::clone(self), holder, credentials: held.subscribe() })
    }

    /// Reports the state of a player's credentials to the player's streams.
    pub fn report(&self, player: PlayerId, credentials: Credentials) {
        if let Some(held) = self.lock().get(&Holder::Player(player)) {
            held.send_if_modified(|known| {
                // A late report does not replace a newer one.
                let is_new = match (*known, credentials) {
                    (Credentials::Erased, _) | (_, Credentials::Unknown) => false,
                    (Credentials::Version(known), Credentials::Version(reported)) => reported > known,
                    (Credentials::Unknown, _) | (Credentials::Version(_), Credentials::Erased) => true,
                };
                if is_new {
                    *known = credentials;
                }
                is_new
            });
        }
    }

    /// The number of streams.
    pub fn streams(&self) -> usize {
        self.lock().values().map(watch::Sender::receiver_count).sum()
    }

    /// The players that hold streams.
    pub(super) fn players(&self) -> Vec<PlayerId> {
        let player = |holder: &Holder| match holder {
            Holder::Player(player) => Some(*player),
            Holder::Address(_) => None,
        };
        self.lock().keys().filter_map(player).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, watch::Sender<Credentials>>> {
        self.0.lock().expect("nothing panics while it holds the audience")
    }
}

/// One stream, which is counted until it is dropped.
#[derive(Debug)]
pub struct StreamGuard {
    audience: Arc<Audience>,
    holder: Holder,
    credentials: watch::Receiver<Credentials>,
}

impl StreamGuard {
    /// Waits until a sign-in with this version is void: the version has grown, or the player was erased. Cancel-safe.
    pub async fn ended(&mut self, credentials_version: i32) {
        let is_void = |credentials: &Credentials| match credentials {
            Credentials::Unknown => false,
            Credentials::Version(version) => *version > credentials_version,
            Credentials::Erased => true,
        };
        // Fails only if the audience is gone.
        let _ = self.credentials.wait_for(is_void).await;
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
    fn a_stream_ends_when_its_sign_in_becomes_void() {
        let audience = Arc::new(Audience::default());
        let mut streams = [1, 1, 2].map(|n| audience.enter(Holder::Player(player(n))).expect("there is room"));
        let [first, second, other] = &mut streams;
        audience.report(player(1), Credentials::Version(4));
        assert_eq!((first.ended(4).now_or_never(), second.ended(3).now_or_never()), (None, Some(())));
        audience.report(player(1), Credentials::Version(5));
        // A late report does not replace a newer one.
        audience.report(player(1), Credentials::Version(4));
        assert_eq!((first.ended(4).now_or_never(), second.ended(5).now_or_never()), (Some(()), None));
        audience.report(player(1), Credentials::Erased);
        assert_eq!(second.ended(5).now_or_never(), Some(()));
        assert_eq!(other.ended(0).now_or_never(), None);
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
            assert_eq!((audience.streams(), audience.players()), (0, vec![]));
        }
    }
}
