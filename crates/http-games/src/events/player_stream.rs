//! The events of all of a player's games as a stream.
//!
//! On a notification a stream reads the games that it names. At intervals, and whenever the changed games are unknown,
//! it reads all games of the player. This read covers the transactions that were not over at the last one
//! (`db::events::player_feed`). So it misses no event, whichever process stored it, even if notifications are lost.
//! `stream` knows how to wait and what to send.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Bytes, Data},
};
use tokio::time::{Duration, Instant};

use super::{
    player_position::FeedPosition,
    player_reading::{self, Batch, ResumeFrom},
    stream::{self, BodyChunk, Feed, FeedRead, Subscription, write_event},
};
use mancala_domain::{GameId, PlayerId};
use mancala_http::{
    answer::problem::Problem,
    request::player,
    state::{AppState, tokens::Caller},
};
use mancala_wire::live::{Topic, Waiter};

use crate::games::find::with_read_permit;

/// Events of one read: a few milliseconds' work.
const EVENTS_AT_ONCE: u32 = 32;

/// The time between two reads on average. In a fast game, events are sent in batches, and the database is not read for each of them.
const READ_INTERVAL: Duration = Duration::from_millis(100);

/// How many reads may follow each other without that time, after a pause: a move and the answer to it.
const READS_AT_ONCE: u32 = 4;

/// The longest time between two reads of all games; the shortest is half of it. They find changes whose notification was lost. At
/// random, so that streams that opened together do not read together.
const SWEEP_INTERVAL_MAX: Duration = Duration::from_secs(45);

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
    // A new client has no earlier events to read, and is notified of later ones.
    let is_sweep_due = resume.is_some();
    let position = player_reading::begin(&state, resume).await?;
    let feed = PlayerFeed {
        state,
        player: caller.player,
        position,
        seen,
        changed: vec![],
        is_sweep_due,
        sweep_at: next_sweep(),
        next_read: Instant::now(),
        sent_position: None,
    };
    Ok(stream::respond(request, subscription, feed))
}

fn next_sweep() -> Instant {
    Instant::now() + SWEEP_INTERVAL_MAX.mul_f64(rand::random_range(0.5..1.0))
}

/// The events of a player's games, and how far a stream has sent them.
struct PlayerFeed {
    state: Data<AppState>,
    player: PlayerId,
    position: FeedPosition,
    /// The latest notification.
    seen: u32,
    /// The games that notifications have named since they were read.
    changed: Vec<GameId>,
    /// Whether all games are to be read.
    is_sweep_due: bool,
    /// When they are to be read without a notification.
    sweep_at: Instant,
    /// When the next read would be due if reads were evenly spaced.
    next_read: Instant,
    /// The last position that the client has received.
    sent_position: Option<FeedPosition>,
}

impl PlayerFeed {
    fn is_due(&self) -> bool {
        self.is_sweep_due || !self.changed.is_empty()
    }

    async fn read_batch(&mut self) -> Result<Batch, Problem> {
        self.is_sweep_due |= !self.position.has_room_for(&self.changed);
        if !self.is_sweep_due {
            let named =
                player_reading::read_named(&self.state, self.player, &self.position, &self.changed, EVENTS_AT_ONCE);
            let batch = with_read_permit(&self.state, Box::pin(named)).await?;
            if batch.is_last {
                self.changed.clear();
            }
            return Ok(batch);
        }
        if self.position.rest.is_none() {
            // The read that begins now covers them.
            self.changed.clear();
        }
        let all = player_reading::read(&self.state, self.player, &self.position, EVENTS_AT_ONCE);
        let batch = with_read_permit(&self.state, Box::pin(all)).await?;
        if batch.is_last {
            (self.is_sweep_due, self.sweep_at) = (false, next_sweep());
        }
        Ok(batch)
    }
}

impl Feed for PlayerFeed {
    async fn read(&mut self) -> Result<FeedRead, Problem> {
        self.is_sweep_due |= Instant::now() >= self.sweep_at;
        let early = Instant::now() + READ_INTERVAL * (READS_AT_ONCE - 1);
        let pause = self.next_read.saturating_duration_since(early);
        if self.is_due() && !pause.is_zero() {
            return Ok(FeedRead::NotBefore(pause));
        }
        while self.is_due() {
            let batch = self.read_batch().await?;
            if batch.is_last {
                // Later events come with a notification.
                self.next_read = self.next_read.max(Instant::now()) + READ_INTERVAL;
            }
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

    fn notified(&mut self, waiter: &Waiter) {
        let changed = waiter.changed_since(self.seen);
        self.seen = changed.latest;
        match changed.games {
            Some(games) => {
                let new = games.into_iter().filter(|game| !self.changed.contains(game));
                self.changed.extend(new.collect::<Vec<_>>());
            }
            None => self.is_sweep_due = true,
        }
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
