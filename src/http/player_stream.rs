//! The events of all of a player's games as they happen.
//!
//! Whoever is woken reads what was not over when it last read (`db::player_events`): so nothing is missed, whichever process stored
//! it, and whatever of the news got lost.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};
use tokio::time::{Duration, Instant};

use super::{
    AppState,
    auth::Caller,
    error::Problem,
    event_stream::{self, Feed, Piece, Reading, Stay, write_event},
    games::in_turn,
    me,
    player_events::{self, Place, Said},
};
use crate::{domain::PlayerId, live::Topic};

/// How many events are read at once: a few milliseconds' work.
const EVENTS_AT_ONCE: u32 = 32;

/// How often it is looked for changes of which no notice told.
const CATCH_UP: Duration = Duration::from_mins(1);

/// Answers with a stream of what comes after a place.
pub async fn open(
    state: Data<AppState>,
    request: &HttpRequest,
    caller: Caller,
    said: Option<Said>,
) -> Result<HttpResponse, Problem> {
    // Before anything is read, so that nothing that happens from then on is missed.
    let stay = event_stream::enter(&state, request, Some(caller), Topic::Player(caller.player));
    let known = stay.as_ref().map_or(0, Stay::heard);
    me::find(&state, caller).await?;
    let place = player_events::begin(&state, said).await?;
    let feed = PlayerFeed { state, player: caller.player, place, known, next_read: Some(Instant::now()), marked: None };
    Ok(event_stream::tell(request, stay, feed))
}

/// What happens in a player's games as a stream goes along it.
struct PlayerFeed {
    state: Data<AppState>,
    player: PlayerId,
    place: Place,
    /// How many changes were heard of.
    known: u32,
    /// When to read; `None`: at once.
    next_read: Option<Instant>,
    /// The place of which the client was told last.
    marked: Option<Place>,
}

impl Feed for PlayerFeed {
    async fn read(&mut self) -> Result<Reading, Problem> {
        while self.next_read.is_none_or(|at| at <= Instant::now()) {
            let read = Box::pin(player_events::read(&self.state, self.player, &self.place, EVENTS_AT_ONCE));
            let portion = in_turn(&self.state, read).await?;
            // Should something happen while this is read, it will have been heard.
            self.next_read = portion.is_all.then(|| Instant::now() + CATCH_UP);
            self.place = portion.place;
            if !portion.events.is_empty() {
                let mut text = vec![];
                for event in &portion.events {
                    write_event(&mut text, &event.id, event.event.fact.word(), event);
                }
                self.marked = Some(self.place.clone());
                return Ok(Reading::Some(Piece::of(text)));
            }
        }
        // Who is cut off before anything has happened must know where to go on.
        let first = if self.marked.is_none() { self.mark() } else { None };
        Ok(first.map_or(Reading::Nothing, |text| Reading::Some(Piece::of(text))))
    }

    fn past(&self) -> u32 {
        self.known
    }

    fn hear(&mut self, heard: u32) {
        self.known = heard;
        self.next_read = None;
    }

    fn mark(&mut self) -> Option<Bytes> {
        if self.marked.as_ref() == Some(&self.place) {
            return None;
        }
        self.marked = Some(self.place.clone());
        // An event without data is none, but its id counts.
        Some(format!("id: {}\n\n", self.place.seal(&self.state.cursors, self.player)).into())
    }
}
