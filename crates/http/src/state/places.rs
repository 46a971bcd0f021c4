//! The queue of the thread that hashes passwords. It has a lane for known callers, and a lane for strangers.
//!
//! A known caller has a token of the account, or a link of its mails. Or it comes from a network from which the account was signed in to.
//! The thread serves the lanes alternately, and some places are reserved for known callers. So an owner can sign in from the usual network,
//! even while strangers from any number of addresses try.

use std::{
    collections::{HashMap, VecDeque},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// How many wait in all: a second or two of work, after which a client would give up.
const PLACES_MAX: usize = 64;

/// How many of them strangers have at most.
const STRANGERS_MAX: usize = 48;

/// The longest wait that an answer announces, however slow a busy machine has been.
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The limits on the places of a network in one lane: its bits of IPv4 and of IPv6, and its places. A customer has a /24 or a /48, and a
/// provider divides a /16 or a /32 among its customers.
const SHARES: [(u8, u8, usize); 2] = [(24, 48, 8), (16, 32, 16)];

/// The caller for whom a password is hashed.
#[derive(Clone, Copy, Debug)]
pub struct Asker {
    /// `None` where addresses are not counted: all clients may come through one proxy.
    pub address: Option<IpAddr>,
    pub is_known: bool,
}

/// A queue of two lanes.
pub(super) struct Places<T> {
    waiting: Mutex<Waiting<T>>,
    changed: Condvar,
}

struct Waiting<T> {
    known: Lane<T>,
    strangers: Lane<T>,
    /// Whether the known are next, if both wait.
    known_are_next: bool,
    /// How long one takes: an average in which the last ones count most.
    each: Duration,
    is_closed: bool,
}

/// The tasks that wait in one lane, and how many each network has there.
struct Lane<T> {
    tasks: VecDeque<(T, Option<IpAddr>)>,
    held: HashMap<Network, usize>,
}

/// The first bits of an address, and how many.
type Network = (u128, u8);

/// All places are taken, or those of the asker's network. There may be one after this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full(pub Duration);

impl<T> Places<T> {
    pub(super) fn new() -> Self {
        let waiting = Waiting {
            known: Lane::new(),
            strangers: Lane::new(),
            known_are_next: true,
            each: Duration::ZERO,
            is_closed: false,
        };
        Self { waiting: Mutex::new(waiting), changed: Condvar::new() }
    }

    /// Queues a task, if there is a place for its asker.
    pub(super) fn enter(&self, task: T, asker: Asker) -> Result<(), Full> {
        let mut waiting = self.lock();
        let (known, strangers) = (waiting.known.tasks.len(), waiting.strangers.tasks.len());
        let wait = (waiting.each * u32::try_from(known + strangers).unwrap_or(u32::MAX)).min(WAIT_MAX);
        let has_room = !waiting.is_closed
            && known + strangers < PLACES_MAX
            && (asker.is_known || asker.address.is_none() || strangers < STRANGERS_MAX);
        let lane = if asker.is_known { &mut waiting.known } else { &mut waiting.strangers };
        if !has_room || !lane.enter(task, asker.address) {
            return Err(Full(wait));
        }
        self.changed.notify_one();
        Ok(())
    }

    /// Waits for the next task; `None` once the queue is closed.
    pub(super) fn next(&self) -> Option<T> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            if let Some(task) = waiting.leave() {
                return Some(task);
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Notes how long a task took.
    pub(super) fn took(&self, time: Duration) {
        let mut waiting = self.lock();
        waiting.each = (waiting.each * 7 + time) / 8;
    }

    /// Ends the thread that takes tasks, and drops those that wait.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        (waiting.known, waiting.strangers, waiting.is_closed) = (Lane::new(), Lane::new(), true);
        self.changed.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Waiting<T> {
    /// Takes the next task, from the two lanes alternately.
    fn leave(&mut self) -> Option<T> {
        let lanes = (&mut self.known, &mut self.strangers);
        let (first, second) = if self.known_are_next { lanes } else { (lanes.1, lanes.0) };
        self.known_are_next = !self.known_are_next;
        first.leave().or_else(|| second.leave())
    }
}

impl<T> Lane<T> {
    fn new() -> Self {
        Self { tasks: VecDeque::new(), held: HashMap::new() }
    }

    /// Queues a task; returns whether the networks of its address had room for it.
    fn enter(&mut self, task: T, address: Option<IpAddr>) -> bool {
        let networks = address.map(networks).into_iter().flatten();
        if networks.clone().any(|(network, places)| self.held.get(&network).is_some_and(|held| *held >= places)) {
            return false;
        }
        for (network, _) in networks {
            *self.held.entry(network).or_default() += 1;
        }
        self.tasks.push_back((task, address));
        true
    }

    fn leave(&mut self) -> Option<T> {
        let (task, address) = self.tasks.pop_front()?;
        for (network, _) in address.map(networks).into_iter().flatten() {
            if let Some(held) = self.held.get_mut(&network) {
                *held -= 1;
            }
        }
        self.held.retain(|_, held| *held > 0);
        Some(task)
    }
}

/// The networks of an address that have a share of the places, and how many.
fn networks(address: IpAddr) -> [(Network, usize); 2] {
    SHARES.map(|(v4, v6, places)| match address.to_canonical() {
        IpAddr::V4(address) => ((u128::from(address.to_bits() >> (Ipv4Addr::BITS - u32::from(v4))), v4), places),
        IpAddr::V6(address) => ((address.to_bits() >> (Ipv6Addr::BITS - u32::from(v6)), v6), places),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asker(address: impl Into<IpAddr>, is_known: bool) -> Asker {
        Asker { address: Some(address.into()), is_known }
    }

    /// An address of a /16 of its own.
    fn far(n: u8) -> IpAddr {
        Ipv4Addr::new(10, n, 0, 1).into()
    }

    #[test]
    fn strangers_leave_places_for_the_known_who_take_turns_with_them() {
        let places = Places::new();
        let entered = (0..200).filter(|n| places.enter("stranger", asker(far(*n), false)).is_ok()).count();
        assert_eq!(entered, STRANGERS_MAX);
        let known = (0..200).filter(|n| places.enter("known", asker(far(*n), true)).is_ok()).count();
        assert_eq!(known, PLACES_MAX - STRANGERS_MAX);
        let next: Vec<_> = (0..4).filter_map(|_| places.next()).collect();
        assert_eq!(next, ["known", "stranger", "known", "stranger"]);
        assert_eq!(places.enter("known", asker(far(201), true)), Ok(()));
        for _ in 0..PLACES_MAX - 3 {
            assert!(places.next().is_some());
        }
        places.close();
        assert_eq!(places.next(), None);
    }

    #[test]
    fn a_network_has_few_of_the_places() {
        for (address, other, wide) in [
            ("192.0.2.", "192.0.3.", "192.1.2.1"),
            ("2001:db8:1:2::", "2001:db8:2:2::", "2001:db9:1:2::1"),
            ("::ffff:198.51.100.", "::ffff:198.51.101.", "198.52.100.1"),
        ] {
            let places = Places::new();
            let enter = |text: String, is_known| {
                places.enter((), asker(text.parse::<IpAddr>().expect("an address"), is_known)).is_ok()
            };
            let count = |network: &str, is_known| (1..100).filter(|n| enter(format!("{network}{n}"), is_known)).count();
            assert_eq!((count(address, false), count(other, false)), (8, 8));
            assert!(!enter(format!("{other}200"), false));
            assert!(enter(wide.to_owned(), false), "{wide}");
            // Known callers have a share of their own.
            assert_eq!(count(address, true), 8);
            // A task that leaves the queue makes room.
            while count(address, true) == 0 {
                assert!(places.next().is_some());
            }
        }
    }

    #[test]
    fn without_addresses_all_places_are_anyones_and_the_wait_is_told() {
        let places = Places::new();
        for _ in 0..100 {
            places.took(Duration::from_millis(50));
        }
        let anyone = Asker { address: None, is_known: false };
        assert_eq!((0..100).filter(|_| places.enter((), anyone).is_ok()).count(), PLACES_MAX);
        let Err(Full(wait)) = places.enter((), anyone) else { panic!("there was a place") };
        assert!(wait > Duration::from_secs(3) && wait <= Duration::from_millis(3200), "{wait:?}");
        places.took(Duration::from_secs(100));
        assert_eq!(places.enter((), anyone), Err(Full(WAIT_MAX)));
    }
}
