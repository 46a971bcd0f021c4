//! A game's events as a stream.
//!
//! On each notification a stream reads the log after the last event that it has sent. So it sends every event once and in order,
//! whichever process stored it, even if notifications are lost. `stream` knows how to wait and what to send.

use std::{io::Write, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};

use super::{
    resume::{LogPosition, VARIES},
    stream::{self, BodyChunk, Feed, FeedRead, WRITES_TO_MEMORY, write_event},
};
use mancala_db::events::game_log;
use mancala_domain::{GameId, Refusal};
use mancala_http::{
    answer::problem::Problem,
    request::player,
    state::{
        AppState,
        readings::{Chunk, EventRange},
        tokens::Caller,
    },
};
use mancala_process::clock::now;
use mancala_wire::{
    live::{Topic, Waiter},
    view::event::{Follows, REMATCH_AWAITED, views, what_follows},
};

use crate::games::find::{find, find_visible, with_read_permit};

/// Events of one read: a few milliseconds' work. They stay in memory until the client has received most of them.
const EVENTS_AT_ONCE: u32 = 32;

/// Answers with a stream of the events after `position`.
pub async fn open(
    state: Data<AppState>,
    request: &HttpRequest,
    caller: Option<Caller>,
    game: GameId,
    position: LogPosition,
) -> Result<HttpResponse, Problem> {
    // Subscribe before the game is read, so that no later event is missed.
    let subscription = stream::subscribe(&state, request, caller, Topic::Game(game));
    if let Some(caller) = caller {
        // A stream may outlive the token. It is bound to the player's sign-in instead: it is checked here, and the stream ends with it.
        player::find(&state, caller).await?;
    }
    let found =
        with_read_permit(&state, Box::pin(find_visible(&state, game, caller.map(|caller| caller.player)))).await?;
    let present = &found.seated.game;
    position.check(present)?;
    if position.after == present.version() && what_follows(present, now()) == Follows::Nothing {
        return Ok(HttpResponse::NoContent().insert_header(VARIES).finish());
    }
    let known = present.version();
    let chunk = if position.after < known {
        Some(Box::pin(read(&state, EventRange { game, after: position.after, until: known })).await?)
    } else {
        None
    };
    let feed = GameFeed { state, game, sent: position.after, known, chunk };
    Ok(stream::respond(request, subscription, feed))
}

/// A game's log, and how far a stream has sent it.
struct GameFeed {
    state: Data<AppState>,
    game: GameId,
    /// The `seq` of the last event that was sent.
    sent: u32,
    /// The `seq` of the last event that is known to exist.
    known: u32,
    /// Events that are read and not sent yet.
    chunk: Option<Arc<Chunk>>,
}

impl Feed for GameFeed {
    async fn read(&mut self) -> Result<FeedRead, Problem> {
        if self.chunk.is_none() {
            if self.known <= self.sent {
                return Ok(FeedRead::Empty);
            }
            let range = EventRange { game: self.game, after: self.sent, until: self.known };
            let chunk = read(&self.state, range).await?;
            if chunk.last == self.sent {
                // The notification was of a state that the database has lost.
                return Ok(FeedRead::Unavailable);
            }
            self.chunk = Some(chunk);
        }
        let Some(chunk) = self.chunk.take() else { return Ok(FeedRead::Empty) };
        (self.sent, self.known) = (chunk.last, self.known.max(chunk.version));
        let ends_within = (chunk.follows == Follows::Rematch).then(|| REMATCH_AWAITED.unsigned_abs());
        let is_last = chunk.follows == Follows::Nothing && chunk.last == chunk.version;
        Ok(FeedRead::Ready(BodyChunk { text: chunk.text.clone(), is_last, ends_within }))
    }

    fn seen(&self) -> u32 {
        self.sent
    }

    fn notified(&mut self, waiter: &Waiter) {
        self.known = waiter.latest();
    }

    fn checkpoint(&mut self) -> Option<Bytes> {
        None
    }
}

/// Reads events, or shares the read of another stream that needs the same ones.
async fn read(state: &AppState, range: EventRange) -> Result<Arc<Chunk>, Problem> {
    let share = state.readings.enter(range);
    let read = || with_read_permit(state, read_chunk(state, range));
    share.reading.get_or_try_init(read).await.cloned()
}

async fn read_chunk(state: &AppState, range: EventRange) -> Result<Arc<Chunk>, Problem> {
    let found = find(state, range.game).await?.ok_or_else(|| Problem::from(&Refusal::Unknown))?;
    let game = &found.seated.game;
    let slice = game_log::read(&state.db, game, range.after, EVENTS_AT_ONCE).await?;
    let events = views(&found.seated, &slice)?;
    let last = events.last().map_or(range.after, |event| event.seq);
    let follows = what_follows(game, now());
    let mut text = vec![];
    for event in &events {
        write_event(&mut text, event.seq, event.fact.word(), event);
    }
    if follows == Follows::Nothing && last == game.version() {
        // The last event tells the client that the game is over: without it, the client would reconnect to learn that.
        write!(text, "event: end\ndata: {{\"game_id\":\"{}\",\"seq\":{last}}}\n\n", game.id().0)
            .expect(WRITES_TO_MEMORY);
    }
    Ok(Arc::new(Chunk { text: text.into(), last, version: game.version(), follows }))
}
