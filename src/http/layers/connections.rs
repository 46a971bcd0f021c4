//! Connections: how many there may be, and how long one may be open without a request.
//!
//! actix-web waits only so long for the first request of a connection, and for the next one to begin. Not for the rest of
//! that one, nor for the end of a body that nobody reads, nor for a client that does not take its answer: these waits end
//! here.

use std::{
    any::Any,
    cell::Cell,
    error::Error as StdError,
    net::{Shutdown, TcpStream},
    os::fd::AsFd,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll},
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
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::time::sleep;

/// How long a connection may idle between two requests: longer than the 60 seconds that reverse proxies keep theirs, so that
/// it is the proxy that closes one, and never sends a request into a connection that is just being closed.
pub const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// How long a client may take to send the head of its request.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);

/// Bytes a second in which a client must take its answer at least: a bad line.
const RATE_MIN: u64 = 10 * 1024;

/// How many connections a process has at most; more wait to be accepted: those who wait for a game
/// (`live::WAITERS_MAX`) and as many as call. An idle one takes some 10 KiB. There is no maximum
/// for each address: a school has one, and so has a reverse proxy, which can tell its clients apart.
const CONNECTIONS_MAX: u64 = 12_288;

/// Files that are left for everything else: the database's connections, the log, the embedded PostgreSQL.
const FILES_RESERVED: u64 = 128;

/// Files that each connection has open: it, and a second name for it to close it by.
const FILES_EACH: u64 = 2;

/// How many connections the process can have. Asks the system for as many open files as it may, for what is usual (1,024)
/// is meant for programs of another kind.
pub fn maximum() -> usize {
    let (usual, allowed) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((1024, 1024));
    let wanted = (CONNECTIONS_MAX * FILES_EACH + FILES_RESERVED).min(allowed).max(usual);
    let files = if setrlimit(Resource::RLIMIT_NOFILE, wanted, allowed).is_ok() { wanted } else { usual };
    let connections = (files.saturating_sub(FILES_RESERVED) / FILES_EACH).clamp(1, CONNECTIONS_MAX);
    usize::try_from(connections).expect("12,288 is a usize everywhere")
}

/// A connection, as its requests see it.
struct Connection {
    socket: TcpStream,
    /// How long it may idle between two requests.
    keep_alive: Duration,
    /// Until when it must have sent its next request; `None` while one is answered.
    until: Cell<Option<Instant>>,
    /// Until when the client may be taking what it was sent, at [`RATE_MIN`].
    taking_until: Cell<Instant>,
}

/// Watches a connection that has just been made. It is known to its requests, and forgotten when it closes.
pub fn watch(io: &dyn Any, data: &mut Extensions, keep_alive: Duration) {
    // Without another file the connection is served, but not watched; whoever used up all files has many that are.
    let socket = io.downcast_ref::<rt::net::TcpStream>().and_then(|io| io.as_fd().try_clone_to_owned().ok());
    let Some(socket) = socket else { return };
    let now = Instant::now();
    let (until, taking_until) = (Cell::new(Some(now + 2 * REQUEST_TIMEOUT)), Cell::new(now));
    let connection = Rc::new(Connection { socket: socket.into(), keep_alive, until, taking_until });
    let watched = Rc::downgrade(&connection);
    data.insert(connection);
    rt::spawn(async move {
        while let Some(connection) = watched.upgrade() {
            let wait = connection.until.get().map(|until| until.saturating_duration_since(Instant::now()));
            if wait.is_some_and(|wait| wait.is_zero()) {
                // It may be closed already.
                let _ = connection.socket.shutdown(Shutdown::Both);
                return;
            }
            drop(connection);
            // It may be less by then.
            sleep(wait.unwrap_or(REQUEST_TIMEOUT).min(REQUEST_TIMEOUT)).await;
        }
    });
}

/// Says of a connection that it has a request, and then until when it must have the next one.
pub async fn follow(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let Some(connection) = request.conn_data::<Rc<Connection>>().cloned() else {
        return next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    };
    connection.until.set(None);
    let version = request.version();
    // What is left of a body of unknown length is read and thrown away, without an end if the client knows none.
    let is_chunked = request.headers().contains_key(header::TRANSFER_ENCODING);
    let outcome = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    let idle = if is_chunked { Duration::ZERO } else { connection.keep_alive };
    let size = outcome.as_ref().map_or(BodySize::None, |response| response.response().body().size());
    let bytes = match size {
        BodySize::None => 0,
        BodySize::Sized(bytes) => bytes,
        BodySize::Stream => {
            let piecewise = |body| BoxBody::new(Piecewise { body, connection, idle });
            return outcome.map(|response| {
                response.map_body(|head, body| {
                    // Clients of HTTP/1.0 do not know chunks: the end of the connection tells them the end.
                    if version < Version::HTTP_11 {
                        head.no_chunking(true);
                        head.set_connection_type(ConnectionType::Close);
                    }
                    piecewise(body)
                })
            });
        }
    };
    connection.answer(bytes, idle);
    outcome
}

/// A body that is sent piece by piece, the next one when the client has taken most of those before.
struct Piecewise {
    body: BoxBody,
    connection: Rc<Connection>,
    idle: Duration,
}

impl MessageBody for Piecewise {
    type Error = Box<dyn StdError>;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let piece = Pin::new(&mut self.body).poll_next(cx);
        match &piece {
            Poll::Ready(Some(Ok(bytes))) => {
                self.connection.answer(u64::try_from(bytes.len()).unwrap_or(u64::MAX), self.idle);
            }
            Poll::Ready(_) => self.connection.answer(0, self.idle),
            // It is not the client who is waited for.
            Poll::Pending => self.connection.until.set(None),
        }
        piece
    }
}

impl Connection {
    /// Gives the client the time to take so much, after what it was sent before, and then to come with its next request.
    fn answer(&self, bytes: u64, idle: Duration) {
        let taking = Duration::from_millis(bytes.saturating_mul(1000) / RATE_MIN);
        let taking_until = self.taking_until.get().max(Instant::now()) + taking;
        self.taking_until.set(taking_until);
        self.until.set(Some(taking_until + idle + REQUEST_TIMEOUT));
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn what_is_sent_piece_by_piece_may_be_taken_as_slowly_as_all_of_it_at_once_and_no_slower() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let socket = TcpStream::connect(listener.local_addr().expect("an address")).expect("it listens");
        let begin = Instant::now();
        let (until, taking_until) = (Cell::new(None), Cell::new(begin));
        let connection = Connection { socket, keep_alive: KEEP_ALIVE, until, taking_until };
        for _ in 0..100 {
            connection.answer(RATE_MIN, KEEP_ALIVE);
        }
        connection.answer(0, KEEP_ALIVE);
        let given = connection.until.get().expect("the client is waited for") - begin;
        let expected = Duration::from_secs(100) + KEEP_ALIVE + REQUEST_TIMEOUT;
        assert!(given >= expected && given < expected + Duration::from_secs(5), "{given:?}");
    }
}
