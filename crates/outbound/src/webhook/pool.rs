//! The connections that are kept for further requests, each to the address that was checked when it was opened. It opens none, and
//! knows no messages.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, MutexGuard, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio_util::sync::DropGuard;
use url::Url;

use super::{exchange::Connection, wire::Open};

/// How long connections are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ages {
    /// How long a check of a host's addresses stays valid for its idle connections. A new connection always gets its own check.
    pub check: Duration,
    /// How long a connection is kept, so that certificates, load balancers and routes are followed.
    pub open: Duration,
    /// How long a connection is kept without a request. Many servers close theirs earlier.
    pub idle: Duration,
}

impl Ages {
    /// The ages that a server uses.
    pub const USUAL: Self =
        Self { check: Duration::from_secs(10), open: Duration::from_mins(5), idle: Duration::from_secs(30) };
}

/// How many idle connections are kept for one host at one address: the number that it gets in the quick lane.
const OF_HOST_MAX: usize = 32;

/// How many are kept in all. The one that was not used for the longest time goes first.
const KEPT_MAX: usize = 256;

/// The origin for which a connection is kept. Its address is stored beside it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    pub(super) is_encrypted: bool,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Origin {
    /// The origin of a URL; `None` if its scheme has no port.
    pub(super) fn of(url: &Url) -> Option<Self> {
        Some(Self {
            is_encrypted: url.scheme() == "https",
            host: url.host_str().unwrap_or_default().to_owned(),
            port: url.port_or_known_default()?,
        })
    }
}

/// A pooled connection, with the facts that decide whether it may be used again.
pub(super) struct IdleConnection {
    pub(super) connection: Connection,
    /// The address to which it leads.
    pub(super) address: IpAddr,
    /// When it was opened.
    pub(super) opened: Instant,
    /// When the addresses of its host were checked last, and this one was among them.
    pub(super) checked: Instant,
}

/// A connection that waits.
struct Idle {
    kept: IdleConnection,
    since: Instant,
}

/// The connections of a process.
#[derive(Clone)]
pub(super) struct Pool {
    idle: Arc<Mutex<HashMap<Origin, Vec<Idle>>>>,
    open: Arc<AtomicUsize>,
    ages: Ages,
}

impl Pool {
    pub(super) fn new(ages: Ages) -> Self {
        Self { idle: Arc::default(), open: Arc::default(), ages }
    }

    /// Takes a connection to a host whose addresses were checked a moment ago.
    pub(super) fn take_checked(&self, origin: &Origin) -> Option<IdleConnection> {
        self.take(origin, |kept| kept.checked.elapsed() < self.ages.check)
    }

    /// Takes a connection to one of the addresses that were just checked. Connections of the host to other addresses are closed.
    pub(super) fn take_to(&self, origin: &Origin, addresses: &[IpAddr]) -> Option<IdleConnection> {
        if let Some(idle) = self.lock().get_mut(origin) {
            idle.retain(|idle| addresses.contains(&idle.kept.address));
            for idle in idle {
                idle.kept.checked = Instant::now();
            }
        }
        self.take(origin, |_| true)
    }

    /// The one that was used last, which the endpoint has hardly closed yet, and which leaves the others to their end.
    fn take(&self, origin: &Origin, may_serve: impl Fn(&IdleConnection) -> bool) -> Option<IdleConnection> {
        let mut all = self.lock();
        let of_host = all.get_mut(origin)?;
        let has_room =
            |kept: &IdleConnection| !matches!(&kept.connection, Connection::Http2(shared) if !shared.has_room());
        let mut taken = None;
        while taken.is_none()
            && let Some(at) = of_host.iter().rposition(|idle| has_room(&idle.kept) && may_serve(&idle.kept))
        {
            if !of_host[at].is_usable(&self.ages) {
                of_host.remove(at);
            } else if let Some(shared) = of_host[at].kept.share() {
                of_host[at].since = Instant::now();
                taken = Some(shared);
            } else {
                taken = Some(of_host.remove(at).kept);
            }
        }
        if of_host.is_empty() {
            all.remove(origin);
        }
        taken
    }

    /// Keeps a connection, unless there are enough, or it shares another one's address and could share its streams.
    pub(super) fn put(&self, origin: Origin, kept: IdleConnection) {
        let mut all = self.lock();
        let of_host = all.entry(origin).or_default();
        // An endpoint may allow no stream at all. In that case each message gets its own connection, which is of no further use.
        of_host.retain(|idle| !matches!(&idle.kept.connection, Connection::Http2(shared) if shared.is_closed()));
        let is_shared = |idle: &Idle| match (&idle.kept.connection, &kept.connection) {
            (Connection::Http2(shared), Connection::Http2(_)) => idle.kept.address == kept.address && shared.has_room(),
            _ => false,
        };
        let is_needed = !of_host.iter().any(is_shared);
        if is_needed && of_host.iter().filter(|idle| idle.kept.address == kept.address).count() < OF_HOST_MAX {
            of_host.push(Idle { kept, since: Instant::now() });
        }
        all.retain(|_, idle| !idle.is_empty());
        close_oldest(&mut all, KEPT_MAX);
    }

    /// Closes all connections of a host.
    pub(super) fn close(&self, origin: &Origin) {
        self.lock().remove(origin);
    }

    /// Gives up a shared connection: further requests get another one.
    pub(super) fn close_shared(&self, origin: &Origin, identity: &Weak<DropGuard>) {
        let is_it = |idle: &Idle| matches!(&idle.kept.connection, Connection::Http2(shared) if shared.identity().ptr_eq(identity));
        if let Some(idle) = self.lock().get_mut(origin) {
            idle.retain(|idle| !is_it(idle));
        }
    }

    /// Counts a connection that is opened. If `max` are open, idle ones are closed to make room.
    pub(super) fn open(&self, max: usize) -> Open {
        let open = Open::count(&self.open);
        let more = self.open.load(Ordering::Relaxed).saturating_sub(max);
        if more > 0 {
            let mut all = self.lock();
            let left = all.values().map(Vec::len).sum::<usize>().saturating_sub(more);
            close_oldest(&mut all, left);
        }
        open
    }

    /// Closes the connections whose time is over, and those that their endpoints have closed.
    pub(super) fn close_expired(&self) {
        self.lock().retain(|_, of_host| {
            of_host.retain_mut(|idle| idle.is_usable(&self.ages));
            !of_host.is_empty()
        });
    }

    /// How many connections are open, with those that serve a request.
    pub(super) fn count_open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// How many connections are ready for a request. A shared one counts while it serves others.
    pub(super) fn count_kept(&self) -> usize {
        self.lock().values().map(Vec::len).sum()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Origin, Vec<Idle>>> {
        self.idle.lock().expect("nothing panics while it holds the connections")
    }
}

impl IdleConnection {
    /// A further use of a connection that several requests share.
    pub(super) fn share(&self) -> Option<Self> {
        let Connection::Http2(shared) = &self.connection else { return None };
        Some(Self { connection: Connection::Http2(shared.clone()), ..*self })
    }
}

impl Idle {
    fn is_usable(&mut self, ages: &Ages) -> bool {
        let is_young = self.kept.opened.elapsed() < ages.open && self.since.elapsed() < ages.idle;
        is_young && !self.kept.connection.is_closed()
    }
}

/// Closes waiting connections until `left` are left, those first that were not used for the longest time.
fn close_oldest(all: &mut HashMap<Origin, Vec<Idle>>, left: usize) {
    let count: usize = all.values().map(Vec::len).sum();
    if count <= left {
        return;
    }
    let mut times: Vec<Instant> = all.values().flatten().map(|idle| idle.since).collect();
    times.sort_unstable();
    let until = times[count - left - 1];
    all.retain(|_, of_host| {
        of_host.retain(|idle| idle.since > until);
        !of_host.is_empty()
    });
}
