//! A game's events as they happen.
//!
//! Whoever is woken reads the log after the last event that it has sent: so nothing is missed, sent twice or out of order, whichever
//! process stored it, and whatever of the news got lost.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Arc, Mutex, MutexGuard, Weak},
};

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};
use tokio::sync::OnceCell;

use super::{
    game_events::{Follows, Place, REMATCH_AWAITED, VARIES, what_follows},
    stream::{self, ALWAYS_TAKEN, Feed, Piece, Reading as Read, write_event},
    view::views,
};
use crate::{
    clock::now,
    db::events::game_log,
    domain::{GameId, Refusal},
    http::{
        answer::problem::Problem,
        games::lifecycle::{find, find_visible, in_turn},
        players::me,
        request::auth::Caller,
        state::AppState,
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
        me::find(&state, caller).await?;
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
