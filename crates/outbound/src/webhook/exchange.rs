//! A request and its answer over an open connection, and whether the connection can be used again. Knows no addresses.

use std::{
    convert::Infallible,
    future::poll_fn,
    pin::{Pin, pin},
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use futures_util::FutureExt;
use http_body_util::{BodyExt, Collected, Full, Limited};
use hyper::{
    Request, Response,
    body::{Body, Bytes, Frame, Incoming, SizeHint},
    client::conn::{http1, http2},
    header::{HeaderMap, RETRY_AFTER},
    rt::Executor,
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;
use tokio_util::{
    either::Either,
    sync::{CancellationToken, DropGuard},
};

use super::wire::{Meter, Talk, Wire};

/// The most bytes that the heads of an answer may have together: interim answers (1xx) may precede the final one.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The most bytes that are read of the body of an answer: a little more than a challenge in JSON. A connection whose answer is longer
/// is closed.
pub(super) const BODY_BYTES_MAX: usize = 4096;

/// How long the body of an answer may take after its head. A connection whose answer takes longer is closed. The body that answers a
/// challenge is read as long as the attempt may take.
const BODY_TIMEOUT: Duration = Duration::from_millis(100);

/// How many requests one HTTP/2 connection carries at once: the number that a host gets in the quick lane.
const STREAMS_MAX: usize = 32;

/// The window of a stream and of a connection of HTTP/2: a server may send so much of a body before it is read.
const WINDOW_BYTES: u32 = 16 * 1024;

/// A stream with or without TLS.
pub(super) type Stream = Either<Wire, Box<TlsStream<Wire>>>;

/// The future that drives an HTTP/1.1 connection.
type Driver = Pin<Box<http1::Connection<TokioIo<Talk<Stream>>, Full<Bytes>>>>;

/// A connection that is ready for a request.
pub(super) enum Connection {
    Http1(Http1),
    Http2(Http2),
}

/// HTTP/1.1: one request at a time. The connection makes progress only while it is used.
pub(super) struct Http1 {
    requests: http1::SendRequest<Full<Bytes>>,
    driver: Driver,
    meter: Arc<Meter>,
}

/// HTTP/2: requests of several attempts share a connection, which tasks of its own keep in progress.
#[derive(Clone)]
pub(super) struct Http2 {
    requests: http2::SendRequest<Sent>,
    meter: Arc<Meter>,
    /// A clone for each request under way, and one in the pool. The last one ends the connection's tasks.
    users: Arc<DropGuard>,
    /// How many requests at once the endpoint allows, as far as its settings have come.
    streams: Arc<AtomicUsize>,
}

/// The body of a request, which notes that it was taken to be sent.
struct Sent {
    body: Full<Bytes>,
    is_taken: Arc<AtomicBool>,
}

/// The answer of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndpointResponse {
    pub status: u16,
    /// The pause in seconds that the endpoint asks for.
    pub retry_after_s: Option<u32>,
    /// Whether it lacks the challenge that it must repeat.
    pub lacks_challenge: bool,
}

/// The part of an answer's body that the caller needs.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    Nothing,
    /// The challenge that it must repeat.
    Challenge(&'a str),
    /// The text of the answer, which is put here if it is not longer than this number of bytes.
    Text(&'a OnceLock<Bytes>, usize),
}

impl Wanted<'_> {
    const fn bytes_max(self) -> usize {
        match self {
            Wanted::Text(_, bytes_max) => bytes_max,
            Wanted::Challenge(_) | Wanted::Nothing => BODY_BYTES_MAX,
        }
    }
}

/// The connection ended without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    /// Whether anything was read of an answer.
    pub(super) has_answered: bool,
}

impl Http1 {
    pub(super) async fn open(stream: Stream, meter: Arc<Meter>) -> Result<Self, Lost> {
        let mut connecting = http1::Builder::new();
        connecting.max_buf_size(HEAD_BYTES_MAX);
        let opened = connecting.handshake(TokioIo::new(meter.note(stream))).await;
        let (requests, driver) = opened.map_err(|_| Lost { has_answered: false })?;
        Ok(Self { requests, driver: Box::pin(driver), meter })
    }

    /// Sends a request, and reads the answer's head and the start of its body. Returns the connection if it can be used again: then
    /// the answer was read to its end, and nothing came behind it.
    pub(super) async fn send(
        mut self,
        request: Request<Full<Bytes>>,
        wanted: Wanted<'_>,
    ) -> Result<(EndpointResponse, Option<Self>), Lost> {
        let Self { requests, driver, meter } = &mut self;
        let mut is_over = false;
        let answered = drive(driver, &mut is_over, requests.send_request(request)).await;
        let response = answered.map_err(|_| Lost { has_answered: meter.has_answered() })?;
        let mut answer = EndpointResponse::of(&response);
        let body = response.into_body();
        let body = match wanted {
            Wanted::Challenge(_) | Wanted::Text(..) => {
                drive(driver, &mut is_over, collect(body, wanted.bytes_max())).await
            }
            Wanted::Nothing if body.is_end_stream() => Some(Bytes::new()),
            Wanted::Nothing if body.size_hint().lower() > BODY_BYTES_MAX as u64 => None,
            Wanted::Nothing => {
                timeout(BODY_TIMEOUT, drive(driver, &mut is_over, collect(body, BODY_BYTES_MAX))).await.unwrap_or(None)
            }
        };
        answer.check(wanted, body.as_ref());
        let is_whole = body.is_some();
        // The driver runs once more without new bytes: it also detects unexpected bytes after the answer.
        let is_open = !is_over && is_whole && driver.as_mut().now_or_never().is_none() && requests.is_ready();
        Ok((answer, is_open.then_some(self)))
    }

    /// Prepares the connection for one more request.
    pub(super) fn begin(&self) {
        self.meter.begin();
    }

    /// Whether the endpoint has closed the connection, or has sent bytes without a request.
    pub(super) fn is_closed(&mut self) -> bool {
        self.driver.as_mut().now_or_never().is_some() || self.requests.is_closed()
    }
}

impl Http2 {
    pub(super) async fn open(stream: Stream, meter: Arc<Meter>) -> Result<Self, Lost> {
        let ended = CancellationToken::new();
        let (tasks, users) = (Tasks { ended: ended.clone() }, Arc::new(ended.drop_guard()));
        let mut connecting = http2::Builder::new(tasks.clone());
        connecting
            .max_header_list_size(u32::try_from(HEAD_BYTES_MAX).unwrap_or(u32::MAX))
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES * 4)
            .initial_max_send_streams(STREAMS_MAX);
        let opened = connecting.handshake(TokioIo::new(stream)).await;
        let (requests, mut driver) = opened.map_err(|_| Lost { has_answered: false })?;
        let streams = Arc::new(AtomicUsize::new(STREAMS_MAX));
        let allowed = streams.clone();
        tasks.execute(poll_fn(move |cx| {
            let done = Pin::new(&mut driver).poll(cx).map(drop);
            allowed.store(driver.current_max_send_streams(), Ordering::Relaxed);
            done
        }));
        Ok(Self { requests, meter, users, streams })
    }

    /// Sends a request, and reads the answer's head, and its body if the caller wants it. The rest of the body is cancelled. Also returns
    /// whether further requests may use the connection. They may not if the endpoint has answered before it took the request.
    pub(super) async fn send(
        mut self,
        request: Request<Full<Bytes>>,
        wanted: Wanted<'_>,
    ) -> Result<(EndpointResponse, bool), Lost> {
        self.meter.renew();
        let is_taken = Arc::new(AtomicBool::new(false));
        let request = request.map(|body| Sent { body, is_taken: is_taken.clone() });
        let response = self.requests.send_request(request).await.map_err(|_| Lost { has_answered: false })?;
        let mut answer = EndpointResponse::of(&response);
        if !matches!(wanted, Wanted::Nothing) {
            let body = collect(response.into_body(), wanted.bytes_max()).await;
            answer.check(wanted, body.as_ref());
        }
        Ok((answer, is_taken.load(Ordering::Relaxed)))
    }

    /// Whether it serves no further request: it is closed, or the endpoint allows none.
    pub(super) fn is_closed(&self) -> bool {
        self.requests.is_closed() || self.streams.load(Ordering::Relaxed) == 0
    }

    /// Whether it has room for one more request.
    pub(super) fn has_room(&self) -> bool {
        Arc::strong_count(&self.users) <= self.streams.load(Ordering::Relaxed).min(STREAMS_MAX)
    }

    /// Identifies the connection, and does not use it.
    pub(super) fn identity(&self) -> Weak<DropGuard> {
        Arc::downgrade(&self.users)
    }
}

impl Connection {
    pub(super) fn is_closed(&mut self) -> bool {
        match self {
            Connection::Http1(connection) => connection.is_closed(),
            Connection::Http2(connection) => connection.is_closed(),
        }
    }
}

/// Drives a connection until `done` is ready. `is_over` tells whether the connection has ended meanwhile; bytes that it has read before are
/// still available then.
async fn drive<T>(driver: &mut Driver, is_over: &mut bool, done: impl Future<Output = T>) -> T {
    let mut done = pin!(done);
    if !*is_over {
        tokio::select! {
            biased;
            done = &mut done => return done,
            _ = &mut *driver => *is_over = true,
        }
    }
    done.await
}

/// The body of an answer; `None` if it is too long, or the connection ends before it is complete.
async fn collect(body: Incoming, bytes_max: usize) -> Option<Bytes> {
    Limited::new(body, bytes_max).collect().await.ok().map(Collected::to_bytes)
}

/// Runs the tasks of one HTTP/2 connection until they are done, or the connection has no user left. The endpoint decides when they
/// are done: one of them waits until it takes the rest of a request.
#[derive(Clone)]
struct Tasks {
    ended: CancellationToken,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Tasks {
    fn execute(&self, task: F) {
        tokio::spawn(self.ended.clone().run_until_cancelled_owned(task));
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        self.is_taken.store(true, Ordering::Relaxed);
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Whether a body repeats a challenge: as text, or as JSON like `{"challenge": "…"}`. A service that echoes every body does not pass,
/// because the message has the challenge in another field.
fn repeats(challenge: &str, body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Repeated<'a> {
        challenge: &'a str,
    }
    body.trim_ascii() == challenge.as_bytes()
        || serde_json::from_slice::<Repeated<'_>>(body).is_ok_and(|repeated| repeated.challenge == challenge)
}

impl EndpointResponse {
    fn of<B>(response: &Response<B>) -> Self {
        let retry_after_s = retry_after_s(response.headers());
        Self { status: response.status().as_u16(), retry_after_s, lacks_challenge: false }
    }

    /// Notes whether a body lacks the challenge that it must repeat, or hands out the body.
    fn check(&mut self, wanted: Wanted<'_>, body: Option<&Bytes>) {
        match (wanted, body) {
            (Wanted::Challenge(challenge), body) => {
                self.lacks_challenge = !body.is_some_and(|body| repeats(challenge, body));
            }
            // An answer that reports a tired connection is dropped, because the request is sent again.
            (Wanted::Text(text, _), Some(body)) if !self.is_tired() => drop(text.set(body.clone())),
            (Wanted::Text(..) | Wanted::Nothing, _) => {}
        }
    }

    /// Whether the endpoint took the message: by the status, and for a challenge also by the body.
    pub const fn is_success(self) -> bool {
        matches!(self.status, 200..=299) && !self.lacks_challenge
    }

    /// Whether the endpoint tired of waiting for a request, which another one may just have crossed. It says nothing about that one.
    pub(super) const fn is_tired(self) -> bool {
        self.status == 408
    }

    /// Whether the endpoint unsubscribes.
    pub const fn is_gone(self) -> bool {
        self.status == 410
    }
}

/// The seconds of `Retry-After`. A date is ignored, and the schedule applies.
fn retry_after_s(headers: &HeaderMap) -> Option<u32> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_repeated_as_text_or_as_json_and_not_by_an_echo() {
        for body in ["abc", " abc\r\n", r#"{"challenge":"abc"}"#, r#"{"ok": true, "challenge": "abc"}"#] {
            assert!(repeats("abc", body.as_bytes()), "{body}");
        }
        let echo = r#"{"type":"webhook.challenge","data":{"challenge":"abc"}}"#;
        for body in ["", "ab", "abcd", r#""abc""#, r#"{"challenge":"abcd"}"#, "{", echo] {
            assert!(!repeats("abc", body.as_bytes()), "{body}");
        }
    }
}
