//! The events of all of a player's games as they happen.
//!
//! Whoever is woken reads what was not over when it last read (`db::events::player_feed`): so nothing is missed, whichever process stored
//! it, and whatever of the news got lost.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};
use tokio::time::{Duration, Instant};

use super::{
    player_reading::{self, Place, Said},
    stream::{self, Feed, Piece, Reading, Stay, write_event},
};
use crate::{
    domain::PlayerId,
    http::{
        answer::problem::Problem,
        games::find::in_turn,
        request::player,
        state::{AppState, tokens::Caller},
    },
    live::Topic,
};

/// How many events are read at once: a few milliseconds' work.
const EVENTS_AT_ONCE: u32 = 32;

/// How long to wait at least between two readings: who plays fast is told of some events together, and does not make the
/// database read anew for each of them.
const GAP: Duration = Duration::from_millis(100);

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
    let stay = stream::enter(&state, request, Some(caller), Topic::Player(caller.player));
    let known = stay.as_ref().map_or(0, Stay::heard);
    player::find(&state, caller).await?;
    let place = player_reading::begin(&state, said).await?;
    let feed = PlayerFeed { state, player: caller.player, place, known, last_read: None, is_due: true, marked: None };
    Ok(stream::tell(request, stay, feed))
}

/// What happens in a player's games as a stream goes along it.
struct PlayerFeed {
    state: Data<AppState>,
    player: PlayerId,
    place: Place,
    /// How many changes were heard of.
    known: u32,
    last_read: Option<Instant>,
    /// Whether there may be something to read, for all that is known.
    is_due: bool,
    /// The place of which the client was told last.
    marked: Option<Place>,
}

impl Feed for PlayerFeed {
    async fn read(&mut self) -> Result<Reading, Problem> {
        let since_last = self.last_read.map_or(CATCH_UP, |last| last.elapsed());
        self.is_due |= since_last >= CATCH_UP;
        if self.is_due && since_last < GAP {
            return Ok(Reading::Later(GAP.saturating_sub(since_last)));
        }
        while self.is_due {
            let read = Box::pin(player_reading::read(&self.state, self.player, &self.place, EVENTS_AT_ONCE));
            let portion = in_turn(&self.state, read).await?;
            // Should something have happened since, it will be heard.
            self.is_due = !portion.is_all;
            self.last_read = Some(Instant::now()).filter(|_| portion.is_all);
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
        self.is_due = true;
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
