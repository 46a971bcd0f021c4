//! The open connections of a worker by their addresses, and which of them is closed when the worker has little room left.

use std::{
    collections::{HashMap, hash_map::Entry},
    net::IpAddr,
    rc::{Rc, Weak},
    time::Instant,
};

/// Open connections by address. Addresses of trusted proxies are not counted, because each serves many clients.
pub struct Crowd<T> {
    connections: HashMap<IpAddr, Vec<Weak<T>>>,
}

impl<T> Crowd<T> {
    pub fn new() -> Self {
        Self { connections: HashMap::new() }
    }

    pub fn enter(&mut self, address: IpAddr, connection: &Rc<T>) {
        self.connections.entry(address).or_default().push(Rc::downgrade(connection));
    }

    /// Removes a connection that is closed. Its last reference is gone already.
    pub fn leave(&mut self, address: IpAddr) {
        if let Entry::Occupied(mut open) = self.connections.entry(address) {
            open.get_mut().retain(|connection| connection.strong_count() > 0);
            if open.get().is_empty() {
                open.remove();
            }
        }
    }

    /// The connection to close: at the address with most connections, the one that idles longest. `None` if that address has no
    /// idle one.
    pub fn most_dispensable(&self, idle_since: impl Fn(&T) -> Option<Instant>) -> Option<Rc<T>> {
        let most = self.connections.values().max_by_key(|open| open.len())?;
        let idle = most.iter().filter_map(Weak::upgrade).filter_map(|open| Some((idle_since(&open)?, open)));
        idle.min_by_key(|(since, _)| *since).map(|(_, connection)| connection)
    }

    /// The number of an address's connections.
    pub fn count(&self, address: IpAddr) -> usize {
        self.connections.get(&address).map_or(0, Vec::len)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn address(n: u8) -> IpAddr {
        [192, 0, 2, n].into()
    }

    #[test]
    fn the_longest_idle_connection_of_the_fullest_address_goes_first() {
        let begin = Instant::now();
        let idle = |since_s: u64| Rc::new(Some(begin + Duration::from_secs(since_s)));
        let (busy, old, older, lonely) = (Rc::new(None), idle(90), idle(80), idle(1));
        let mut crowd = Crowd::new();
        for connection in [&busy, &old, &older] {
            crowd.enter(address(1), connection);
        }
        crowd.enter(address(2), &lonely);
        let next = |crowd: &Crowd<Option<Instant>>| crowd.most_dispensable(|since| *since);
        assert!(Rc::ptr_eq(&next(&crowd).expect("one idles"), &older));
        drop(older);
        crowd.leave(address(1));
        assert_eq!((crowd.count(address(1)), crowd.count(address(2))), (2, 1));
        assert!(Rc::ptr_eq(&next(&crowd).expect("one idles"), &old));
        drop(old);
        crowd.leave(address(1));
        crowd.enter(address(1), &busy);
        assert!(next(&crowd).is_none(), "no other address pays for it");
        drop(busy);
        crowd.leave(address(1));
        assert_eq!(crowd.count(address(1)), 0);
    }
}
