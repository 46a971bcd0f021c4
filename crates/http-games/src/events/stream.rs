//! Streams of events: server-sent events, as the HTML standard defines them.
//!
//! A stream waits in the hub, like a request that waits for a game, and holds no database connection meanwhile. Its events come
//! from a [`Feed`]; this module knows neither games nor players' lists.

use std::{convert::Infallible, fmt::Display, future::pending, io::Write, time::Duration};

use actix_web::{HttpMessage, HttpRequest, HttpResponse, http::header, web::Bytes};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use tokio::time::{Instant, sleep};
use tracing_actix_web::RequestId;

use super::resume::VARIES;
use mancala_http::{
    answer::{code::Code, problem::Problem},
    layers::{head::AsksForHead, limits},
    request::accept::EVENT_STREAM,
    state::{AppState, tokens::Caller},
};
use mancala_wire::{
    live::{Client, Holder, StreamGuard, Topic, Waiter},
    view::wire::ALWAYS_JSON,
};

/// How often an idle stream sends a comment. Proxies often close a connection that is silent for half a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A comment, which clients skip.
const COMMENT: &[u8] = b":\n\n";

/// The maximum lifetime of a stream: less than that of a ticket, so that a browser can reconnect once with the ticket that it has.
/// The client reconnects with the last id and authenticates again. So streams spread over the servers after one was replaced.
const LIFETIME: Duration = Duration::from_mins(50);

/// The minimum delay before a client reconnects, in milliseconds. Random jitter of up to the same length is added, so that the
/// clients of a server that stops do not reconnect all at once.
const RETRY_MS: u32 = 1000;

/// The delay for a client whose stream ends at once because too many streams are open.
const RETRY_LATER_MS: u32 = 10_000;

/// The delay before the log is read again after a failed read.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// The source of a stream's events.
pub trait Feed: 'static {
    /// The next events that were not sent yet: a batch of them.
    fn read(&mut self) -> impl Future<Output = Result<FeedRead, Problem>>;

    /// The last notification that the last read covers. The stream waits for a greater one.
    fn seen(&self) -> u32;

    /// Records the notifications so far: there may be new events.
    fn notified(&mut self, waiter: &Waiter);

    /// The text of a new position for a client that has every event, if the position has changed since the last text. It is no
    /// event.
    fn checkpoint(&mut self) -> Option<Bytes>;
}

/// The outcome of a read.
pub enum FeedRead {
    Ready(BodyChunk),
    Empty,
    /// There may be events, but the feed reads no sooner than after this time.
    NotBefore(Duration),
    /// There are events, but they cannot be read yet.
    Unavailable,
}

/// A chunk of the response body.
pub struct BodyChunk {
    pub text: Bytes,
    /// Whether the stream ends with it.
    pub is_last: bool,
    /// The longest time until the stream ends after this chunk, if it is bounded.
    pub ends_within: Option<Duration>,
}

impl BodyChunk {
    pub fn of(text: impl Into<Bytes>) -> Self {
        Self { text: text.into(), is_last: false, ends_within: None }
    }
}

/// The right to wait for more events.
pub struct Subscription {
    waiter: Waiter,
    listening: StreamGuard,
    /// Set if the caller is an authenticated player.
    credentials_version: Option<i32>,
    deadline: Instant,
}

/// Subscribes to a topic. `None` if too many streams are open in the process, or for this player or address, or if the server is
/// about to stop. Then the stream sends what is stored and ends, and the client polls by reconnecting; it misses no event.
pub fn subscribe(
    state: &AppState,
    request: &HttpRequest,
    caller: Option<Caller>,
    topic: Topic,
) -> Option<Subscription> {
    let address = || Holder::Address(limits::network_of(request));
    let holder = caller.map_or_else(address, |caller| Holder::Player(caller.player));
    let listening = state.hub.audience().enter(holder)?;
    let client = limits::client(request);
    let waiter = state.hub.enter(topic, Client { player: caller.map(|caller| caller.player), ..client })?;
    let credentials_version = caller.map(|caller| caller.credentials_version);
    Some(Subscription { waiter, listening, credentials_version, deadline: Instant::now() + LIFETIME })
}

impl Subscription {
    /// The latest notification.
    pub fn latest(&self) -> u32 {
        self.waiter.latest()
    }
}

/// The answer: a stream of the feed's events.
pub fn respond(request: &HttpRequest, subscription: Option<Subscription>, feed: impl Feed) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, EVENT_STREAM)).insert_header(VARIES);
    // A proxy that buffers the answer would delay events.
    response.insert_header((header::CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    if request.extensions().get::<AsksForHead>().is_some() {
        return response.streaming(stream::empty::<Result<Bytes, Infallible>>());
    }
    let retry_ms = if subscription.is_some() { RETRY_MS } else { RETRY_LATER_MS };
    let request = request.extensions().get::<RequestId>().copied();
    response.streaming(body(EventStream { feed, request, retry_ms: Some(retry_ms), subscription }))
}

/// The state of a stream.
struct EventStream<F> {
    feed: F,
    request: Option<RequestId>,
    /// The reconnection delay, which is sent first.
    retry_ms: Option<u32>,
    /// `None`: the stream ends when all stored events are sent.
    subscription: Option<Subscription>,
}

/// Why a stream stops waiting.
enum Wakeup {
    /// There may be new events.
    Notified,
    /// The time is over without a notification.
    TimedOut,
    End,
}

/// The body of a stream. Back-pressure: a chunk is made when the client has received most of the earlier ones.
fn body(events: EventStream<impl Feed>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(Some(events), |events| async {
        let mut events = events?;
        let chunk = events.next_chunk().await?;
        Some((Ok(chunk.text), (!chunk.is_last).then_some(events)))
    })
}

impl<F: Feed> EventStream<F> {
    /// The next chunk to send; `None` at the end.
    async fn next_chunk(&mut self) -> Option<BodyChunk> {
        if let Some(retry_ms) = self.retry_ms.take() {
            return Some(BodyChunk::of(format!("retry: {}\n\n", retry_ms + rand::random_range(0..=retry_ms))));
        }
        loop {
            // The future is boxed: otherwise a waiting stream would keep the memory of a read.
            match Box::pin(self.feed.read()).await {
                Ok(FeedRead::Ready(chunk)) => {
                    if let (Some(rest), Some(subscription)) = (chunk.ends_within, &mut self.subscription) {
                        subscription.deadline = subscription.deadline.min(Instant::now() + rest);
                    }
                    return Some(chunk);
                }
                Ok(FeedRead::Empty) => match self.wait(self.feed.seen(), HEARTBEAT).await {
                    Wakeup::Notified => {}
                    Wakeup::TimedOut => {
                        let text = self.feed.checkpoint().unwrap_or(Bytes::from_static(COMMENT));
                        return Some(BodyChunk::of(text));
                    }
                    Wakeup::End => {
                        let text = self.feed.checkpoint()?;
                        return Some(BodyChunk { is_last: true, ..BodyChunk::of(text) });
                    }
                },
                Ok(FeedRead::NotBefore(pause)) => match self.wait(u32::MAX, pause).await {
                    Wakeup::Notified | Wakeup::TimedOut => {
                        // The next read also covers all notifications up to now.
                        if let Some(subscription) = &self.subscription {
                            self.feed.notified(&subscription.waiter);
                        }
                    }
                    Wakeup::End => return None,
                },
                Ok(FeedRead::Unavailable) => return self.pause().await,
                Err(problem) if problem.code() == Code::Unavailable => return self.pause().await,
                // The client reconnects, and is answered with the problem.
                Err(problem) if problem.code() == Code::ValidationFailed => return None,
                Err(problem) => {
                    problem.log(self.request.map(|request| request.to_string()).unwrap_or_default());
                    return None;
                }
            }
        }
    }

    /// Waits for a notification greater than `seen`, for `at_most`, or until there is a reason to end.
    async fn wait(&mut self, seen: u32, at_most: Duration) -> Wakeup {
        let Some(Subscription { waiter, listening, credentials_version, deadline }) = &mut self.subscription else {
            return Wakeup::End;
        };
        let ended = async {
            match *credentials_version {
                Some(version) => listening.ended(version).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = ended => Wakeup::End,
            latest = waiter.past(seen) => match latest {
                Ok(_) => {
                    self.feed.notified(waiter);
                    Wakeup::Notified
                }
                // The server is about to stop.
                Err(_) => Wakeup::End,
            },
            () = sleep(at_most) => if Instant::now() < *deadline { Wakeup::TimedOut } else { Wakeup::End },
        }
    }

    /// Waits before the log is read again; then a comment keeps the connection open.
    async fn pause(&mut self) -> Option<BodyChunk> {
        // No notification is greater, so only the time or an end wakes it.
        match self.wait(u32::MAX, READ_PAUSE).await {
            Wakeup::Notified | Wakeup::TimedOut => Some(BodyChunk::of(COMMENT)),
            Wakeup::End => None,
        }
    }
}

/// Why writing to memory does not fail.
pub const WRITES_TO_MEMORY: &str = "a Vec accepts every write";

/// Writes one event in the standard's format.
pub fn write_event(text: &mut Vec<u8>, id: impl Display, word: &str, event: &impl Serialize) {
    write!(text, "id: {id}\nevent: {word}\ndata: ").expect(WRITES_TO_MEMORY);
    // JSON has line breaks in strings only, where they are escaped.
    serde_json::to_writer(&mut *text, event).expect(ALWAYS_JSON);
    text.extend(b"\n\n");
}
