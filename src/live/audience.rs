//! The audience: who holds streams, how many each, and whether they may still listen.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::sync::watch;

use crate::domain::PlayerId;

/// How many streams a player may hold at once, on all devices: ten devices with ten games each.
pub const STREAMS_OF_PLAYER_MAX: usize = 100;

/// How many streams those may hold together who call from one address without saying who they are: a school that watches a final.
pub const STREAMS_OF_ADDRESS_MAX: usize = 1000;

/// Who holds a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Holder {
    Player(PlayerId),
    /// Of IPv6, the network that counts as one.
    Address(IpAddr),
}

/// What is known of a player's right to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing was heard yet.
    Unknown,
    /// The player's `credentials_version`: a sign-in of an earlier one is void.
    Credentials(i32),
    /// The player was erased.
    Gone,
}

/// All who hold streams of a process.
#[derive(Debug, Default)]
pub struct Audience(Mutex<HashMap<Holder, watch::Sender<Standing>>>);

impl Audience {
    /// Begins to count a stream; `None` if the holder has too many already.
    pub fn enter(self: &Arc<Self>, holder: Holder) -> Option<Listening> {
        let max = match holder {
            Holder::Player(_) => STREAMS_OF_PLAYER_MAX,
            Holder::Address(_) => STREAMS_OF_ADDRESS_MAX,
        };
        let mut holders = self.lock();
        let held = holders.entry(holder).or_insert_with(|| watch::Sender::new(Standing::Unknown));
        if held.receiver_count() >= max {
            return None;
        }
        Some(Listening { audience: Arc::clone(self), holder, standing: held.subscribe() })
    }

    /// Says what has become of a player's right to listen.
    pub fn tell(&self, player: PlayerId, standing: Standing) {
        if let Some(held) = self.lock().get(&Holder::Player(player)) {
            held.send_if_modified(|known| {
                // News that come late take nothing back.
                let is_new = match (*known, standing) {
                    (Standing::Gone, _) | (_, Standing::Unknown) => false,
                    (Standing::Credentials(known), Standing::Credentials(told)) => told > known,
                    (Standing::Unknown, _) | (Standing::Credentials(_), Standing::Gone) => true,
                };
                if is_new {
                    *known = standing;
                }
                is_new
            });
        }
    }

    /// How many streams there are.
    pub fn streams(&self) -> usize {
        self.lock().values().map(watch::Sender::receiver_count).sum()
    }

    /// The players who hold streams.
    pub(super) fn players(&self) -> Vec<PlayerId> {
        let player = |holder: &Holder| match holder {
            Holder::Player(player) => Some(*player),
            Holder::Address(_) => None,
        };
        self.lock().keys().filter_map(player).collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Holder, watch::Sender<Standing>>> {
        self.0.lock().expect("nothing panics while it holds the audience")
    }
}

/// One stream, which is counted until it is dropped.
#[derive(Debug)]
pub struct Listening {
    audience: Arc<Audience>,
    holder: Holder,
    standing: watch::Receiver<Standing>,
}

impl Listening {
    /// Waits until a sign-in of these credentials is void: there are later ones, or none. May be given up.
    pub async fn ended(&mut self, credentials_version: i32) {
        let is_void = |standing: &Standing| match standing {
            Standing::Unknown => false,
            Standing::Credentials(version) => *version > credentials_version,
            Standing::Gone => true,
        };
        // Nobody can say anything any more only if the audience is gone.
        let _ = self.standing.wait_for(is_void).await;
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut holders = self.audience.lock();
        // Its own receiver is still there.
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
    fn a_stream_ends_with_the_sign_in_that_it_was_opened_under() {
        let audience = Arc::new(Audience::default());
        let mut streams = [1, 1, 2].map(|n| audience.enter(Holder::Player(player(n))).expect("there is room"));
        let [first, second, other] = &mut streams;
        audience.tell(player(1), Standing::Credentials(4));
        assert_eq!((first.ended(4).now_or_never(), second.ended(3).now_or_never()), (None, Some(())));
        audience.tell(player(1), Standing::Credentials(5));
        // News that come late take nothing back.
        audience.tell(player(1), Standing::Credentials(4));
        assert_eq!((first.ended(4).now_or_never(), second.ended(5).now_or_never()), (Some(()), None));
        audience.tell(player(1), Standing::Gone);
        assert_eq!(second.ended(5).now_or_never(), Some(()));
        assert_eq!(other.ended(0).now_or_never(), None);
    }

    #[test]
    fn each_holder_has_only_so_many_streams_and_leaves_nothing_behind() {
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
