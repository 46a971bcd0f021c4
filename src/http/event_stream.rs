//! A game's events as they happen: server-sent events, as the HTML standard defines them.
//!
//! A stream waits in the hub, as a request does that waits for a game, and holds no connection to the database meanwhile. Whoever is
//! woken reads the log after the last event that it has sent: so nothing is missed, sent twice or out of order, whichever
//! process stored it, and whatever of the news got lost.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::pending,
    io::Write,
    sync::{Arc, Mutex, MutexGuard, Weak},
    time::Duration,
};

use actix_web::{
    HttpMessage, HttpRequest, HttpResponse,
    http::header,
    web::{Bytes, Data},
};
use futures_util::stream::{self, Stream};
use tokio::{
    sync::OnceCell,
    time::{Instant, sleep},
};
use tracing_actix_web::RequestId;

use super::{
    AppState,
    accept::EVENT_STREAM,
    auth::Caller,
    error::{Code, Problem},
    event_view::{EventView, views},
    events::{Follows, Place, REMATCH_AWAITED, VARIES, what_follows},
    games::{find, find_visible, in_turn},
    limits, me, now, proxies,
    routes::AsksForHead,
    wire::ALWAYS_JSON,
};
use crate::{
    db::events,
    domain::{GameId, Refusal},
    live::{Holder, Listening, Waiter},
};

/// How often a stream says that it is there, when nothing happens: what lies between client and server often gives up a connection
/// that is silent for half a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A comment, which clients skip.
const COMMENT: &[u8] = b":\n\n";

/// How long a stream lasts at most. Then the client comes back with the last id, and shows again who it is; so streams spread over
/// the servers again after one was replaced.
const LIFETIME: Duration = Duration::from_hours(1);

/// After how many milliseconds a client comes back whose stream ended, at least; up to as many more are drawn by lot, so that those
/// of a server that stops do not all come at once.
const RETRY_MS: u32 = 1000;

/// The same for a client that was told what there is and could not stay.
const RETRY_LATER_MS: u32 = 10_000;

/// How long to wait with the next attempt after the log could not be read.
const READ_PAUSE: Duration = Duration::from_secs(1);

/// How many events are read at once: a few milliseconds' work. What is read is kept until the client has taken most of it.
const EVENTS_AT_ONCE: u32 = 32;

/// Answers with a stream of what comes after `place`.
///
/// If too many streams are open, of the process or of this player or address, or the server is about to stop, it tells what there is
/// and ends: then the client comes back, which is asking now and then instead of waiting, and misses nothing.
pub async fn open(
    state: Data<AppState>,
    request: &HttpRequest,
    caller: Option<Caller>,
    game: GameId,
    place: Place,
) -> Result<HttpResponse, Problem> {
    let address = || Holder::Address(limits::network(proxies::client_address(request)));
    let holder = caller.map_or_else(address, |caller| Holder::Player(caller.player));
    // Before anything is read, so that nothing that happens from then on is missed.
    let listening = state.hub.audience().enter(holder);
    let waiter = listening.as_ref().and_then(|_| state.hub.enter(game));
    if let Some(caller) = caller {
        // A stream may outlive a token, so it begins and ends with the player's sign-in.
        me::find(&state, caller).await?;
    }
    let found = in_turn(&state, Box::pin(find_visible(&state, game, caller.map(|caller| caller.player)))).await?;
    let present = &found.seated.game;
    place.check(present)?;
    if place.after == present.version && what_follows(present, now()) == Follows::Nothing {
        return Ok(HttpResponse::NoContent().insert_header(VARIES).finish());
    }
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CONTENT_TYPE, EVENT_STREAM)).insert_header(VARIES);
    // A proxy that gathers an answer would keep events back.
    response.insert_header((header::CACHE_CONTROL, "no-store")).insert_header(("x-accel-buffering", "no"));
    if request.extensions().get::<AsksForHead>().is_some() {
        return Ok(response.streaming(stream::empty::<Result<Bytes, Infallible>>()));
    }
    let known = present.version;
    let chunk = if place.after < known {
        Some(Box::pin(read(&state, Asked { game, after: place.after, until: known })).await?)
    } else {
        None
    };
    let retry_ms = if waiter.is_some() { RETRY_MS } else { RETRY_LATER_MS };
    let stay = waiter.zip(listening).map(|(waiter, listening)| Stay {
        waiter,
        listening,
        credentials_version: caller.map(|caller| caller.credentials_version),
        until: Instant::now() + LIFETIME,
    });
    let request = request.extensions().get::<RequestId>().copied();
    let telling = Telling { state, request, game, sent: place.after, known, retry_ms: Some(retry_ms), chunk, stay };
    Ok(response.streaming(told(telling)))
}

/// A stream as it goes on.
struct Telling {
    state: Data<AppState>,
    request: Option<RequestId>,
    game: GameId,
    /// The last event that was sent.
    sent: u32,
    /// The last one that is known of.
    known: u32,
    /// What the stream begins with.
    retry_ms: Option<u32>,
    /// What was read and not sent yet.
    chunk: Option<Arc<Chunk>>,
    /// `None`: it ends when all is sent that there is.
    stay: Option<Stay>,
}

/// The right to wait for more.
struct Stay {
    waiter: Waiter,
    listening: Listening,
    /// Of a player who says who they are.
    credentials_version: Option<i32>,
    until: Instant,
}

/// Some events as they are sent.
#[derive(Debug)]
pub struct Chunk {
    text: Bytes,
    /// The last of them.
    last: u32,
    /// The game's version when they were read.
    version: u32,
    /// What may come after the last of them that there was.
    follows: Follows,
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
fn told(telling: Telling) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(Some(telling), |telling| async {
        let mut telling = telling?;
        let piece = telling.piece().await?;
        let is_last = piece.is_last;
        Some((Ok(piece.text), (!is_last).then_some(telling)))
    })
}

/// What is sent at once.
struct Piece {
    text: Bytes,
    is_last: bool,
}

impl Piece {
    fn of(text: impl Into<Bytes>) -> Self {
        Self { text: text.into(), is_last: false }
    }
}

impl Telling {
    /// What to send next; `None` at the end.
    async fn piece(&mut self) -> Option<Piece> {
        if let Some(retry_ms) = self.retry_ms.take() {
            return Some(Piece::of(format!("retry: {}\n\n", retry_ms + rand::random_range(0..=retry_ms))));
        }
        loop {
            if let Some(chunk) = self.chunk.take() {
                (self.sent, self.known) = (chunk.last, self.known.max(chunk.version));
                if let (Follows::Rematch, Some(stay)) = (chunk.follows, &mut self.stay) {
                    stay.until = stay.until.min(Instant::now() + REMATCH_AWAITED.unsigned_abs());
                }
                let is_last = chunk.follows == Follows::Nothing && chunk.last == chunk.version;
                return Some(Piece { text: chunk.text.clone(), is_last });
            }
            if self.known <= self.sent {
                match self.wait(self.sent, HEARTBEAT).await {
                    Next::Read => {}
                    Next::Beat => return Some(Piece::of(COMMENT)),
                    Next::End => return None,
                }
            }
            let asked = Asked { game: self.game, after: self.sent, until: self.known };
            // In a box of its own: otherwise who waits would keep the room that reading takes.
            match Box::pin(read(&self.state, asked)).await {
                Ok(chunk) if chunk.last > self.sent => self.chunk = Some(chunk),
                // The news were of a state that is lost.
                Ok(_) => return self.pause().await,
                Err(problem) if problem.code() == Code::Unavailable => return self.pause().await,
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
                Ok(version) => {
                    self.known = version;
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

/// Events that somebody asks for: those after one, of a log that was seen to go as far as another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Asked {
    game: GameId,
    after: u32,
    until: u32,
}

/// What is read for streams right now: of those who are woken together, one reads for all.
#[derive(Debug, Default)]
pub struct Readings(Mutex<HashMap<Asked, Weak<Reading>>>);

/// One such reading, by whoever came first; if that one goes away, by another.
type Reading = OnceCell<Arc<Chunk>>;

impl Readings {
    fn enter(&self, asked: Asked) -> Taking<'_> {
        let mut readings = self.lock();
        let reading = readings.get(&asked).and_then(Weak::upgrade).unwrap_or_else(|| {
            let reading = Arc::<Reading>::default();
            readings.insert(asked, Arc::downgrade(&reading));
            reading
        });
        Taking { readings: self, asked, reading }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Asked, Weak<Reading>>> {
        self.0.lock().expect("nothing panics while it holds the readings")
    }
}

/// Somebody's part in a reading, which is forgotten with the last of them.
struct Taking<'a> {
    readings: &'a Readings,
    asked: Asked,
    reading: Arc<Reading>,
}

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        let mut readings = self.readings.lock();
        if Arc::strong_count(&self.reading) == 1 {
            readings.remove(&self.asked);
        }
    }
}

/// Reads events, or has them read.
async fn read(state: &AppState, asked: Asked) -> Result<Arc<Chunk>, Problem> {
    let taking = state.readings.enter(asked);
    let read = || in_turn(state, read_chunk(state, asked));
    taking.reading.get_or_try_init(read).await.cloned()
}

async fn read_chunk(state: &AppState, asked: Asked) -> Result<Arc<Chunk>, Problem> {
    let found = find(state, asked.game).await?.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
    let game = &found.seated.game;
    let part = events::read(&state.db, game, asked.after, EVENTS_AT_ONCE).await?;
    let events = views(&found.seated, &part)?;
    let last = events.last().map_or(asked.after, |event| event.seq);
    let follows = what_follows(game, now());
    let mut text = vec![];
    for event in &events {
        write_event(&mut text, event);
    }
    if follows == Follows::Nothing && last == game.version {
        // So that a client need not come back to be told so.
        write!(text, "event: end\ndata: {{\"game_id\":\"{}\",\"seq\":{last}}}\n\n", game.id.0).expect(ALWAYS_TAKEN);
    }
    Ok(Arc::new(Chunk { text: text.into(), last, version: game.version, follows }))
}

/// Why writing to memory does not fail.
const ALWAYS_TAKEN: &str = "a Vec takes everything";

fn write_event(text: &mut Vec<u8>, event: &EventView) {
    write!(text, "id: {}\nevent: {}\ndata: ", event.seq, event.fact.word()).expect(ALWAYS_TAKEN);
    // JSON has no line breaks but in its texts, where they are escaped.
    serde_json::to_writer(&mut *text, event).expect(ALWAYS_JSON);
    text.extend(b"\n\n");
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn who_asks_for_the_same_shares_a_reading_and_nothing_is_left_of_it() {
        let readings = Readings::default();
        let asked = |until| Asked { game: GameId(Uuid::nil()), after: 1, until };
        let (first, second, later) = (readings.enter(asked(2)), readings.enter(asked(2)), readings.enter(asked(3)));
        assert!(Arc::ptr_eq(&first.reading, &second.reading) && !Arc::ptr_eq(&first.reading, &later.reading));
        drop(first);
        assert!(Arc::ptr_eq(&second.reading, &readings.enter(asked(2)).reading));
        drop((second, later));
        assert!(readings.lock().is_empty());
    }
}
