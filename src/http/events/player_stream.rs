//! The events of all of a player's games as a stream.
//!
//! On each notification a stream reads the transactions that were not over at its last read (`db::events::player_feed`). So it misses
//! no event, whichever process stored it, even if notifications are lost. `stream` knows how to wait and what to send.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};
use tokio::time::{Duration, Instant};

use super::{
    player_reading::{self, FeedPosition, ResumeFrom},
    stream::{self, BodyChunk, Feed, FeedRead, Subscription, write_event},
};
use crate::{
    domain::PlayerId,
    http::{
        answer::problem::Problem,
        games::find::with_read_permit,
        request::player,
        state::{AppState, tokens::Caller},
    },
    live::Topic,
};

/// Events of one read: a few milliseconds' work.
const EVENTS_AT_ONCE: u32 = 32;

/// The minimum time between two reads. In a fast game, events are sent in batches, and the database is not read for each of them.
const READ_INTERVAL_MIN: Duration = Duration::from_millis(100);

/// The interval of polls for changes whose notification was lost.
const POLL_INTERVAL: Duration = Duration::from_mins(1);

/// Answers with a stream of the events after a position.
pub async fn open(
    state: Data<AppState>,
    request: &HttpRequest,
    caller: Caller,
    resume: Option<ResumeFrom>,
) -> Result<HttpResponse, Problem> {
    // Subscribe before anything is read, so that no later event is missed.
    let subscription = stream::subscribe(&state, request, Some(caller), Topic::Player(caller.player));
    let seen = subscription.as_ref().map_or(0, Subscription::latest);
    player::find(&state, caller).await?;
    let position = player_reading::begin(&state, resume).await?;
    let feed =
        PlayerFeed { state, player: caller.player, position, seen, last_read: None, is_due: true, sent_position: None };
    Ok(stream::respond(request, subscription, feed))
}

/// The events of a player's games, and how far a stream has sent them.
struct PlayerFeed {
    state: Data<AppState>,
    player: PlayerId,
    position: FeedPosition,
    /// The latest notification.
    seen: u32,
    last_read: Option<Instant>,
    /// Whether there may be unread events.
    is_due: bool,
    /// The last position that the client has received.
    sent_position: Option<FeedPosition>,
}

impl Feed for PlayerFeed {
    async fn read(&mut self) -> Result<FeedRead, Problem> {
        let since_last = self.last_read.map_or(POLL_INTERVAL, |last| last.elapsed());
        self.is_due |= since_last >= POLL_INTERVAL;
        if self.is_due && since_last < READ_INTERVAL_MIN {
            return Ok(FeedRead::NotBefore(READ_INTERVAL_MIN.saturating_sub(since_last)));
        }
        while self.is_due {
            let read = Box::pin(player_reading::read(&self.state, self.player, &self.position, EVENTS_AT_ONCE));
            let batch = with_read_permit(&self.state, read).await?;
            // Later events come with a notification.
            self.is_due = !batch.is_last;
            self.last_read = Some(Instant::now()).filter(|_| batch.is_last);
            self.position = batch.position;
            if !batch.events.is_empty() {
                let mut text = vec![];
                for event in &batch.events {
                    write_event(&mut text, &event.id, event.event.fact.word(), event);
                }
                self.sent_position = Some(self.position.clone());
                return Ok(FeedRead::Ready(BodyChunk::of(text)));
            }
        }
        // A client that is cut off before the first event needs a position to resume from.
        let first = if self.sent_position.is_none() { self.checkpoint() } else { None };
        Ok(first.map_or(FeedRead::Empty, |text| FeedRead::Ready(BodyChunk::of(text))))
    }

    fn seen(&self) -> u32 {
        self.seen
    }

    fn notified(&mut self, latest: u32) {
        self.seen = latest;
        self.is_due = true;
    }

    fn checkpoint(&mut self) -> Option<Bytes> {
        if self.sent_position.as_ref() == Some(&self.position) {
            return None;
        }
        self.sent_position = Some(self.position.clone());
        // Clients dispatch no event without data, but keep its id.
        Some(format!("id: {}\n\n", self.position.seal(&self.state.cursors, self.player)).into())
    }
}
