//! Connections: how many there may be, and how long one may be open without a request.
//!
//! actix-web has a timeout for the first request of a connection, and one for the beginning of the next request. It has none
//! for the rest of that request's head, the end of an unread body, or a client that does not read its answer. This module adds
//! those timeouts.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    error::Error as StdError,
    future::poll_fn,
    io, mem,
    net::{IpAddr, TcpStream as StdTcpStream},
    os::fd::AsFd,
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use actix_web::{
    body::{BodySize, BoxBody, MessageBody},
    dev::{Extensions, ServiceRequest, ServiceResponse},
    http::{ConnectionType, Version, header},
    middleware::Next,
    rt,
    web::Bytes,
};
use ipnet::IpNet;
use rustix::net::{Shutdown, shutdown};
use tokio::{io::Interest, net::TcpStream, select, time::sleep};

use super::crowd::Crowd;
use crate::address::site;

/// How long a connection may idle between two requests. Reverse proxies close theirs after 60 seconds, so the proxy closes
/// first and never sends a request into a connection that the server is closing.
pub const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long a client may take to send the head of its request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// The lowest rate at which a client must read its answer, in bytes a second: that of a slow connection.
const RATE_MIN: u64 = 10 * 1024;

/// The connections of a worker and the addresses that have no share of them.
///
/// An address has no maximum while there is room, because a school shares one address. When a worker has little room, the
/// fullest address loses its idle connections, and gets no new ones above its share. Trusted proxies have no share: they
/// limit their clients themselves.
#[derive(Clone, Debug)]
pub struct Room {
    pub connections_max: usize,
    pub trusted_proxies: Vec<IpNet>,
    /// Whether addresses have shares. Without rate limits they have none, because all clients may come through one proxy.
    pub has_shares: bool,
    /// The workers of the process.
    pub workers: u32,
    /// The watched connections of all workers, for the metrics.
    pub open: Arc<AtomicUsize>,
}

impl Room {
    pub fn of_worker(connections_max: usize, workers: u32, trusted_proxies: &[IpNet], has_shares: bool) -> Self {
        Self { connections_max, trusted_proxies: trusted_proxies.to_vec(), has_shares, workers, open: Arc::default() }
    }

    /// From here on the worker has little room: three quarters are taken.
    const fn crowded_from(&self) -> usize {
        self.connections_max / 4 * 3
    }

    /// The share of an address in a crowded worker: a quarter.
    const fn share(&self) -> usize {
        self.connections_max / 4
    }
}

/// How many connections of an address a worker accepts at once in a second. Further connections wait in a queue.
const AT_ONCE: u32 = 8;

/// The interval between the queued connections of all addresses. Accepting one takes a seventh of it, so a worker answers other connections
/// in between.
const TURN: Duration = Duration::from_millis(1);

/// The new connections of a worker.
struct Begun {
    /// The second that is counted began then.
    since: Instant,
    of_address: HashMap<IpAddr, Turns>,
    /// How many addresses have connections that wait.
    waiting: u32,
}

/// The new connections of an address.
struct Turns {
    /// How many connections the address has begun in the counted second.
    begun: u32,
    next: Instant,
    is_waiting: bool,
}

impl Begun {
    fn new(now: Instant) -> Self {
        Self { since: now, of_address: HashMap::new(), waiting: 0 }
    }

    /// How long a new connection of an address waits. The queues of all addresses are served in rotation, so a long queue of one address
    /// does not delay the others.
    fn wait(&mut self, address: IpAddr, now: Instant) -> Duration {
        if now.saturating_duration_since(self.since) >= Duration::from_secs(1) {
            self.begin_second(now);
        }
        let turns = self.of_address.entry(address).or_insert(Turns { begun: 0, next: now, is_waiting: false });
        turns.begun += 1;
        if turns.begun <= AT_ONCE {
            return Duration::ZERO;
        }
        if !mem::replace(&mut turns.is_waiting, true) {
            self.waiting += 1;
        }
        let turn = turns.next.max(now);
        turns.next = turn + TURN * self.waiting;
        turn - now
    }

    /// Removes all addresses except those whose connections still wait.
    fn begin_second(&mut self, now: Instant) {
        self.since = now;
        self.of_address.retain(|_, turns| turns.next > now);
        self.of_address.values_mut().for_each(|turns| turns.begun = 0);
        self.waiting = u32::try_from(self.of_address.len()).unwrap_or(u32::MAX);
    }
}

thread_local! {
    static BEGUN: RefCell<Begun> = RefCell::new(Begun::new(Instant::now()));
    /// The connections of this worker.
    static OPEN: RefCell<Crowd<Connection>> = RefCell::new(Crowd::new());
    /// Their number, with those of proxies.
    static OPEN_COUNT: Cell<usize> = const { Cell::new(0) };
}

/// How late the system may report bytes that were read already.
const REPORT_DELAY: Duration = Duration::from_secs(1);

/// A connection, as its requests see it.
struct Connection {
    /// A duplicate of the socket that actix-web reads. The system reports arriving bytes for both.
    socket: TcpStream,
    /// The address whose share it takes; `None` for a trusted proxy.
    address: Option<IpAddr>,
    deadlines: Deadlines,
    /// The connections of the process, this one among them.
    open: Arc<AtomicUsize>,
}

/// When a connection is shut down.
struct Deadlines {
    /// How long it may idle between two requests.
    keep_alive: Duration,
    /// The deadline for its next request; `None` while one is answered.
    until: Cell<Option<Instant>>,
    /// The deadline for reading what was sent so far, at [`RATE_MIN`].
    read_until: Cell<Instant>,
    /// When the last answer was given to actix-web, until bytes arrive after it.
    answered_at: Cell<Option<Instant>>,
}

/// Waits until a new connection may begin. Thousands of connections that come at once from few addresses delay only each other: not open
/// connections, and not those of other addresses.
pub async fn take_turn(stream: &TcpStream, room: &Room) {
    let Some(address) = address_of(stream, room) else { return };
    let wait = BEGUN.with_borrow_mut(|begun| begun.wait(address, Instant::now()));
    if !wait.is_zero() {
        sleep(wait).await;
    }
}

/// Watches a new connection, and shuts it down after its deadline. Its requests can find it until it closes.
pub fn watch(stream: &TcpStream, data: &mut Extensions, keep_alive: Duration, room: &Room) {
    // Without a free file the connection is served but not watched. In that case the process has many watched ones.
    let socket = stream.as_fd().try_clone_to_owned().ok();
    let socket = socket.map(StdTcpStream::from).and_then(|socket| TcpStream::from_std(socket).ok());
    let Some(socket) = socket else { return };
    let address = address_of(&socket, room);
    if !make_room(address, room) {
        // The shutdown fails if the connection is closed already.
        let _ = shutdown(&socket, Shutdown::Both);
        return;
    }
    let connection =
        Rc::new(Connection { socket, address, deadlines: Deadlines::new(keep_alive), open: room.open.clone() });
    OPEN_COUNT.set(OPEN_COUNT.get() + 1);
    room.open.fetch_add(1, Ordering::Relaxed);
    if let Some(address) = address {
        OPEN.with_borrow_mut(|open| open.enter(address, &connection));
    }
    let watched = Rc::downgrade(&connection);
    data.insert(connection);
    rt::spawn(async move {
        while let Some(connection) = watched.upgrade() {
            let wait = connection.deadlines.until.get().map(|until| until.saturating_duration_since(Instant::now()));
            if wait.is_some_and(|wait| wait.is_zero()) {
                // The shutdown fails if the connection is closed already.
                let _ = shutdown(&connection.socket, Shutdown::Both);
                return;
            }
            // The task does not own the connection while it waits, so that the last request closes it.
            drop(connection);
            select! {
                // The deadline may move closer meanwhile.
                () = sleep(wait.unwrap_or(REQUEST_TIMEOUT).min(REQUEST_TIMEOUT)) => {}
                () = poll_fn(|cx| watched.upgrade().map_or(Poll::Ready(()), |connection| connection.poll_head(cx))) => {}
            }
        }
    });
}

/// The address to whose share a connection counts. `None` for proxies, and if there are no shares.
fn address_of(socket: &TcpStream, room: &Room) -> Option<IpAddr> {
    let peer = socket.peer_addr().ok()?.ip().to_canonical();
    let is_proxy = room.trusted_proxies.iter().any(|network| network.contains(&peer));
    (room.has_shares && !is_proxy).then(|| site(peer))
}

/// Makes room for a new connection in a crowded worker: closes an idle one of the address with the most. `false` if there is no idle one,
/// and the new connection's address has used up its share.
fn make_room(address: Option<IpAddr>, room: &Room) -> bool {
    if OPEN_COUNT.get() < room.crowded_from() {
        return true;
    }
    let (idle, is_over_share) = OPEN.with_borrow(|open| {
        let is_over_share = address.is_some_and(|address| open.count(address) >= room.share());
        (open.most_dispensable(Connection::idle_since), is_over_share)
    });
    let Some(idle) = idle else { return !is_over_share };
    let _ = shutdown(&idle.socket, Shutdown::Both);
    // A paused connection is not chosen again before it is closed.
    idle.deadlines.pause();
    true
}

/// Stops a connection's deadline while a request is answered, and then sets the one for the next request.
pub async fn follow(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let Some(connection) = request.conn_data::<Rc<Connection>>().cloned() else {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    };
    connection.deadlines.pause();
    let version = request.version();
    // actix-web reads and discards the rest of a body of unknown length, which may never end. So the connection gets no idle
    // time.
    let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
    let outcome = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    let idle = if is_chunked { Duration::ZERO } else { connection.deadlines.keep_alive };
    let size = outcome.as_ref().map_or(BodySize::None, |response| response.response().body().size());
    let bytes = match size {
        BodySize::None => 0,
        BodySize::Sized(bytes) => bytes,
        BodySize::Stream => {
            let streamed = |body| BoxBody::new(Streamed { body, connection, idle });
            return outcome.map(|response| {
                response.map_body(|head, body| {
                    // Clients of HTTP/1.0 do not know chunks, so the end of the connection marks the end of the body.
                    if version < Version::HTTP_11 {
                        head.no_chunking(true);
                        head.set_connection_type(ConnectionType::Close);
                    }
                    streamed(body)
                })
            });
        }
    };
    connection.deadlines.answer(bytes, idle);
    outcome
}

/// A streamed body. actix-web asks for the next piece when the client has read most of those before.
struct Streamed {
    body: BoxBody,
    connection: Rc<Connection>,
    idle: Duration,
}

impl MessageBody for Streamed {
    type Error = Box<dyn StdError>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let piece = Pin::new(&mut self.body).poll_next(cx);
        match &piece {
            Poll::Ready(Some(Ok(bytes))) => {
                self.connection.deadlines.answer(u64::try_from(bytes.len()).unwrap_or(u64::MAX), self.idle);
            }
            Poll::Ready(_) => self.connection.deadlines.answer(0, self.idle),
            // The handler is awaited, not the client.
            Poll::Pending => self.connection.deadlines.pause(),
        }
        piece
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        // A thread that ends may have dropped them.
        let _ = OPEN_COUNT.try_with(|count| count.set(count.get() - 1));
        if let Some(address) = self.address {
            let _ = OPEN.try_with(|open| open.borrow_mut().leave(address));
        }
    }
}

impl Connection {
    /// When the connection's last answer was read, or might have been; `None` while a request is answered.
    fn idle_since(&self) -> Option<Instant> {
        self.deadlines.until.get().map(|_| self.deadlines.read_until.get())
    }

    /// Ready when the head of a next request has begun to arrive. actix-web may have read its bytes already.
    fn poll_head(&self, cx: &mut Context<'_>) -> Poll<()> {
        if ready!(self.socket.poll_read_ready(cx)).is_ok() {
            // Takes the report, and reads nothing.
            let _ = self.socket.try_io(Interest::READABLE, || Err::<(), _>(io::ErrorKind::WouldBlock.into()));
            if self.deadlines.receive(Instant::now()) {
                return Poll::Ready(());
            }
            // This poll registers for the next report of bytes. After the client has closed its end, the report comes at once and is
            // ignored.
            let _ = self.socket.poll_read_ready(cx);
        }
        Poll::Pending
    }
}

impl Deadlines {
    /// The deadlines of a new connection: actix-web has a timeout for the first head, which answers 408.
    fn new(keep_alive: Duration) -> Self {
        let now = Instant::now();
        Self {
            keep_alive,
            until: Cell::new(Some(now + 2 * REQUEST_TIMEOUT)),
            read_until: Cell::new(now),
            answered_at: Cell::new(None),
        }
    }

    /// No deadline: the server works on an answer.
    fn pause(&self) {
        self.until.set(None);
    }

    /// Sets the deadline: time to read these bytes after all earlier ones, and then to send the next request.
    fn answer(&self, bytes: u64, idle: Duration) {
        let now = Instant::now();
        let reading = Duration::from_millis(bytes.saturating_mul(1000) / RATE_MIN);
        let read_until = self.read_until.get().max(now) + reading;
        self.read_until.set(read_until);
        self.until.set(Some(read_until + idle + REQUEST_TIMEOUT));
        self.answered_at.set(Some(now));
    }

    /// Handles bytes that have arrived. After an answer they belong to the head of the next request. The head gets a time of its own, from
    /// its first byte, after the time for reading the answer. Returns whether the deadline moved closer.
    fn receive(&self, now: Instant) -> bool {
        let Some(until) = self.until.get() else { return false };
        // The report of the answered request itself may come after its answer. It is one report.
        let is_late = self.answered_at.take().is_some_and(|at| now.saturating_duration_since(at) < REPORT_DELAY);
        let by = self.read_until.get().max(now) + REQUEST_TIMEOUT;
        let is_closer = !is_late && by < until;
        if is_closer {
            self.until.set(Some(by));
        }
        is_closer
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Opens `count` connections to a worker, and watches the worker's ends.
    async fn connect(room: &Room, count: usize) -> Vec<(Extensions, StdTcpStream)> {
        let listener = rt::net::TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("an address");
        let mut ends = vec![];
        for _ in 0..count {
            let client = StdTcpStream::connect(address).expect("it listens");
            client.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout is set");
            let (accepted, _) = listener.accept().await.expect("a client connects");
            let mut data = Extensions::new();
            watch(&accepted, &mut data, KEEP_ALIVE, room);
            ends.push((data, client));
        }
        ends
    }

    fn is_closed((_, client): &(Extensions, StdTcpStream)) -> bool {
        matches!((&mut &*client).read(&mut [0]), Ok(0))
    }

    #[test]
    fn connections_that_an_address_begins_at_once_take_turns() {
        let now = Instant::now();
        let mut begun = Begun::new(now);
        let (many, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let waits: Vec<_> = (0..AT_ONCE + 3).map(|_| begun.wait(many, now)).collect();
        let (at_once, turns) = waits.split_at(AT_ONCE as usize);
        assert!(at_once.iter().all(Duration::is_zero));
        assert_eq!(turns, [Duration::ZERO, TURN, 2 * TURN]);
        assert_eq!(begun.wait(other, now), Duration::ZERO);
        // With any number of waiting connections of one address, another address waits for one connection of each.
        let queue = (0..6000).map(|_| begun.wait(many, now)).last();
        assert_eq!(queue, Some(6002 * TURN));
        let last = (0..=AT_ONCE).map(|_| begun.wait(other, now)).last();
        assert_eq!(last, Some(2 * TURN));
        // A second later the address may open connections at once again.
        assert_eq!(begun.wait(many, now + Duration::from_secs(1)), Duration::ZERO);
    }

    #[actix_web::test]
    async fn a_crowded_worker_closes_idle_connections_then_refuses_new_ones() {
        let room =
            Room { connections_max: 8, trusted_proxies: vec![], has_shares: true, workers: 1, open: Arc::default() };
        let mut ends = connect(&room, 8).await;
        assert_eq!(ends.iter().map(is_closed).filter(|closed| *closed).count(), 2, "two came above six");
        assert!(is_closed(&ends[0]) && is_closed(&ends[1]) && !is_closed(&ends[7]));
        ends.drain(..2);
        for (data, _) in &ends {
            data.get::<Rc<Connection>>().expect("it is watched").deadlines.pause();
        }
        let refused = connect(&room, 1).await;
        assert!(is_closed(&refused[0]) && !ends.iter().any(is_closed));
        let proxies = Room { trusted_proxies: vec!["127.0.0.0/8".parse().expect("a network")], ..room };
        let more = connect(&proxies, 4).await;
        assert!(!more.iter().any(is_closed) && !ends.iter().any(is_closed));
    }

    #[test]
    fn a_streamed_body_has_the_same_minimum_rate_as_a_whole_one() {
        let begin = Instant::now();
        let deadlines = Deadlines::new(KEEP_ALIVE);
        for _ in 0..100 {
            deadlines.answer(RATE_MIN, KEEP_ALIVE);
        }
        deadlines.answer(0, KEEP_ALIVE);
        let given = deadlines.until.get().expect("a deadline is set") - begin;
        let expected = Duration::from_secs(100) + KEEP_ALIVE + REQUEST_TIMEOUT;
        assert!(given >= expected && given < expected + Duration::from_secs(5), "{given:?}");
    }

    #[test]
    fn a_next_head_has_its_time_from_its_first_byte_on() {
        let deadlines = Deadlines::new(KEEP_ALIVE);
        let first = deadlines.until.get().expect("a deadline is set");
        assert!(!deadlines.receive(first) && deadlines.until.get() == Some(first), "actix-web times the first head");
        deadlines.pause();
        assert!(!deadlines.receive(Instant::now()), "the body of a request that is being answered");
        deadlines.answer(0, KEEP_ALIVE);
        let answered_at = deadlines.read_until.get();
        assert!(!deadlines.receive(answered_at), "the answered request may be reported late");
        let begins_at = answered_at + KEEP_ALIVE / 2;
        assert!(deadlines.receive(begins_at));
        assert!(!deadlines.receive(begins_at + Duration::from_secs(1)), "no byte after the first gives more time");
        assert_eq!(deadlines.until.get(), Some(begins_at + REQUEST_TIMEOUT));
        deadlines.pause();
        deadlines.answer(10 * RATE_MIN, KEEP_ALIVE);
        let answered_at = Instant::now();
        let read_until = deadlines.read_until.get();
        assert!(deadlines.receive(answered_at + 2 * REPORT_DELAY), "more than the delay of a report");
        assert_eq!(
            deadlines.until.get(),
            Some(read_until + REQUEST_TIMEOUT),
            "the answer before it is still being read"
        );
    }
}
