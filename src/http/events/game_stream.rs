//! A game's events as they happen.
//!
//! Whoever is woken reads the log after the last event that it has sent: so nothing is missed, sent twice or out of order, whichever
//! process stored it, and whatever of the news got lost.

use std::{io::Write, sync::Arc};

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};

use super::{
    place::{Place, VARIES},
    stream::{self, ALWAYS_TAKEN, Feed, Piece, Reading as Read, write_event},
};
use crate::{
    clock::now,
    db::events::game_log,
    domain::{GameId, Refusal},
    http::{
        answer::problem::Problem,
        games::find::{find, find_visible, in_turn},
        request::player,
        state::{
            AppState,
            readings::{Asked, Chunk},
            tokens::Caller,
        },
        view::event::{Follows, REMATCH_AWAITED, views, what_follows},
    },
    live::Topic,
};

/// How many events are read at once: a few milliseconds' work. What is read is kept until the client has taken most of it.
const EVENTS_AT_ONCE: u32 = 32;

/// Answers with a stream of what comes after `place`.
pub async fn open(
    state: Data<AppState>,
    request: &HttpRequest,
    caller: Option<Caller>,
    game: GameId,
    place: Place,
) -> Result<HttpResponse, Problem> {
    // Before anything is read, so that nothing that happens from then on is missed.
    let stay = stream::enter(&state, request, caller, Topic::Game(game));
    if let Some(caller) = caller {
        // A stream may outlive a token, so it begins and ends with the player's sign-in.
        player::find(&state, caller).await?;
    }
    let found = in_turn(&state, Box::pin(find_visible(&state, game, caller.map(|caller| caller.player)))).await?;
    let present = &found.seated.game;
    place.check(present)?;
    if place.after == present.version() && what_follows(present, now()) == Follows::Nothing {
        return Ok(HttpResponse::NoContent().insert_header(VARIES).finish());
    }
    let known = present.version();
    let chunk = if place.after < known {
        Some(Box::pin(read(&state, Asked { game, after: place.after, until: known })).await?)
    } else {
        None
    };
    let feed = GameFeed { state, game, sent: place.after, known, chunk };
    Ok(stream::tell(request, stay, feed))
}

/// A game's log as a stream goes along it.
struct GameFeed {
    state: Data<AppState>,
    game: GameId,
    /// The last event that was sent.
    sent: u32,
    /// The last one that is known of.
    known: u32,
    /// What was read and not sent yet.
    chunk: Option<Arc<Chunk>>,
}

impl Feed for GameFeed {
    async fn read(&mut self) -> Result<Read, Problem> {
        if self.chunk.is_none() {
            if self.known <= self.sent {
                return Ok(Read::Nothing);
            }
            let asked = Asked { game: self.game, after: self.sent, until: self.known };
            let chunk = read(&self.state, asked).await?;
            if chunk.last == self.sent {
                // The news were of a state that is lost.
                return Ok(Read::NotYet);
            }
            self.chunk = Some(chunk);
        }
        let Some(chunk) = self.chunk.take() else { return Ok(Read::Nothing) };
        (self.sent, self.known) = (chunk.last, self.known.max(chunk.version));
        let stays_for = (chunk.follows == Follows::Rematch).then(|| REMATCH_AWAITED.unsigned_abs());
        let is_last = chunk.follows == Follows::Nothing && chunk.last == chunk.version;
        Ok(Read::Some(Piece { text: chunk.text.clone(), is_last, stays_for }))
    }

    fn past(&self) -> u32 {
        self.sent
    }

    fn hear(&mut self, version: u32) {
        self.known = version;
    }

    fn mark(&mut self) -> Option<Bytes> {
        None
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
    let part = game_log::read(&state.db, game, asked.after, EVENTS_AT_ONCE).await?;
    let events = views(&found.seated, &part)?;
    let last = events.last().map_or(asked.after, |event| event.seq);
    let follows = what_follows(game, now());
    let mut text = vec![];
    for event in &events {
        write_event(&mut text, event.seq, event.fact.word(), event);
    }
    if follows == Follows::Nothing && last == game.version() {
        // So that a client need not come back to be told so.
        write!(text, "event: end\ndata: {{\"game_id\":\"{}\",\"seq\":{last}}}\n\n", game.id().0).expect(ALWAYS_TAKEN);
    }
    Ok(Arc::new(Chunk { text: text.into(), last, version: game.version(), follows }))
}
