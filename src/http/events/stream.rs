//! Streams of events: server-sent events, as the HTML standard defines them.
//!
//! A stream waits in the hub, as a request does that waits for a game, and holds no connection to the database meanwhile. What it
//! tells comes from a [`Feed`].

use std::{convert::Infallible, fmt::Display, future::pending, io::Write, time::Duration};

use actix_web::{HttpMessage, HttpRequest, HttpResponse, http::header, web::Bytes};
use futures_util::stream::{self, Stream};
use serde::Serialize;
use tokio::time::{Instant, sleep};
use tracing_actix_web::RequestId;

use super::place::VARIES;
use crate::{
    http::{
        answer::problem::{Code, Problem},
        layers::{client_address, head::AsksForHead, limits},
        request::accept::EVENT_STREAM,
        state::{AppState, tokens::Caller},
        view::wire::ALWAYS_JSON,
    },
    live::{Holder, Listening, Topic, Waiter},
};

/// How often a stream says that it is there, when nothing happens: what lies between client and server often gives up a connection
/// that is silent for half a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A comment, which clients skip.
const COMMENT: &[u8] = b":\n\n";

/// How long a stream lasts at most: less than a ticket, so that a browser comes back once with the one that it has. Then the client
/// comes back with the last id, and shows again who it is; so streams spread over the servers again after one was replaced.
const LIFETIME: Duration = Duration::from_mins(50);

/// After how many milliseconds a client comes back whose stream ended, at least; up to as many more are drawn by lot, so that those
/// of a server that stops do not all come at once.
const RETRY_MS: u32 = 1000;

/// The same for a client that was told what there is and could not stay.
const RETRY_LATER_MS: u32 = 10_000;

/// How long to wait with the next attempt after the log could not be read.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// Where a stream's events come from.
pub trait Feed: 'static {
    /// What has happened and was not sent yet, some of it at least.
    fn read(&mut self) -> impl Future<Output = Result<Reading, Problem>>;

    /// What was heard of before the last reading: the stream waits for what is past it.
    fn past(&self) -> u32;

    /// There may be news.
    fn hear(&mut self, heard: u32);

    /// Where a client goes on that has everything, if that is no event and has changed.
    fn mark(&mut self) -> Option<Bytes>;
}

/// What a feed has to tell.
pub enum Reading {
    Some(Piece),
    Nothing,
    /// There may be something, but it is not read before so much time has gone by.
    Later(Duration),
    /// There is something, but it cannot be read yet.
    NotYet,
}

/// What is sent at once.
pub struct Piece {
    pub text: Bytes,
    /// Whether the stream ends with it.
    pub is_last: bool,
    /// How much longer the stream lasts at most, if this says so.
    pub stays_for: Option<Duration>,
}

impl Piece {
    pub fn of(text: impl Into<Bytes>) -> Self {
        Self { text: text.into(), is_last: false, stays_for: None }
    }
}

/// The right to wait for more.
pub struct Stay {
    waiter: Waiter,
    listening: Listening,
    /// Of a player who says who they are.
    credentials_version: Option<i32>,
    until: Instant,
}

/// Begins to listen. `None` if too many streams are open, of the process or of this player or address, or the server is about to
/// stop: then the client is told what there is and comes back, which is asking now and then instead of waiting, and misses
/// nothing.
pub fn enter(state: &AppState, request: &HttpRequest, caller: Option<Caller>, topic: Topic) -> Option<Stay> {
    let address = || Holder::Address(limits::network(client_address::client_address(request)));
    let holder = caller.map_or_else(address, |caller| Holder::Player(caller.player));
    let listening = state.hub.audience().enter(holder)?;
    let waiter = state.hub.enter(topic)?;
    let credentials_version = caller.map(|caller| caller.credentials_version);
    Some(Stay { waiter, listening, credentials_version, until: Instant::now() + LIFETIME })
}

impl Stay {
    /// What was heard until now.
    pub fn heard(&self) -> u32 {
        self.waiter.heard()
    }
}

/// The answer: a stream of what the feed tells.
pub fn tell(request: &HttpRequest, stay: Option<Stay>, feed: impl Feed) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, EVENT_STREAM)).insert_header(VARIES);
    // A proxy that gathers an answer would keep events back.
    response.insert_header((header::CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    if request.extensions().get::<AsksForHead>().is_some() {
        return response.streaming(stream::empty::<Result<Bytes, Infallible>>());
    }
    let retry_ms = if stay.is_some() { RETRY_MS } else { RETRY_LATER_MS };
    let request = request.extensions().get::<RequestId>().copied();
    response.streaming(told(Telling { feed, request, retry_ms: Some(retry_ms), stay }))
}

/// A stream as it goes on.
struct Telling<F> {
    feed: F,
    request: Option<RequestId>,
    /// What the stream begins with.
    retry_ms: Option<u32>,
    /// `None`: it ends when all is sent that there is.
    stay: Option<Stay>,
}

/// What happens next to a stream that has sent all it knows.
enum Next {
    /// There may be news.
    Read,
    /// Nothing happened for a while.
    Beat,
    End,
}

/// The text of a stream. Each piece is made when the client has taken most of those before.
fn told(telling: Telling<impl Feed>) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(Some(telling), |telling| async {
        let mut telling = telling?;
        let piece = telling.piece().await?;
        Some((Ok(piece.text), (!piece.is_last).then_some(telling)))
    })
}

impl<F: Feed> Telling<F> {
    /// What to send next; `None` at the end.
    async fn piece(&mut self) -> Option<Piece> {
        if let Some(retry_ms) = self.retry_ms.take() {
            return Some(Piece::of(format!("retry: {}\n\n", retry_ms + rand::random_range(0..=retry_ms))));
        }
        loop {
            // In a box of its own: otherwise who waits would keep the room that reading takes.
            match Box::pin(self.feed.read()).await {
                Ok(Reading::Some(piece)) => {
                    if let (Some(longer), Some(stay)) = (piece.stays_for, &mut self.stay) {
                        stay.until = stay.until.min(Instant::now() + longer);
                    }
                    return Some(piece);
                }
                Ok(Reading::Nothing) => match self.wait(self.feed.past(), HEARTBEAT).await {
                    Next::Read => {}
                    Next::Beat => return Some(Piece::of(self.feed.mark().unwrap_or(Bytes::from_static(COMMENT)))),
                    Next::End => return self.feed.mark().map(|text| Piece { is_last: true, ..Piece::of(text) }),
                },
                Ok(Reading::Later(pause)) => match self.wait(u32::MAX, pause).await {
                    Next::Read | Next::Beat => {}
                    Next::End => return None,
                },
                Ok(Reading::NotYet) => return self.pause().await,
                Err(problem) if problem.code() == Code::Unavailable => return self.pause().await,
                // It comes back, and is told why.
                Err(problem) if problem.code() == Code::ValidationFailed => return None,
                Err(problem) => {
                    problem.log(self.request.map(|request| request.to_string()).unwrap_or_default());
                    return None;
                }
            }
        }
    }

    /// Waits for news of what is past an event, but only so long, or until there is a reason to end.
    async fn wait(&mut self, past: u32, patience: Duration) -> Next {
        let Some(Stay { waiter, listening, credentials_version, until }) = &mut self.stay else { return Next::End };
        let ended = async {
            match *credentials_version {
                Some(version) => listening.ended(version).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = ended => Next::End,
            heard = waiter.past(past) => match heard {
                Ok(heard) => {
                    self.feed.hear(heard);
                    Next::Read
                }
                // The server is about to stop.
                Err(_) => Next::End,
            },
            () = sleep(patience) => if Instant::now() < *until { Next::Beat } else { Next::End },
        }
    }

    /// Lets some time go by before the log is read again, and says that the stream is still there.
    async fn pause(&mut self) -> Option<Piece> {
        // No event is past this one.
        match self.wait(u32::MAX, READ_PAUSE).await {
            Next::Read | Next::Beat => Some(Piece::of(COMMENT)),
            Next::End => None,
        }
    }
}

/// Why writing to memory does not fail.
pub const ALWAYS_TAKEN: &str = "a Vec takes everything";

/// One event, in the form of the standard.
pub fn write_event(text: &mut Vec<u8>, id: impl Display, word: &str, event: &impl Serialize) {
    write!(text, "id: {id}\nevent: {word}\ndata: ").expect(ALWAYS_TAKEN);
    // JSON has no line breaks but in its texts, where they are escaped.
    serde_json::to_writer(&mut *text, event).expect(ALWAYS_JSON);
    text.extend(b"\n\n");
}
