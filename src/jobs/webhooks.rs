//! Tells players of what happens in their games, by their webhooks: makes appends into deliveries, and sends these until they arrive.
//!
//! Any number of processes share the work. What one has taken and not finished, another one takes when its lease has run out: so
//! everything arrives at least once, and with the same id each time.

use std::{sync::Arc, time::Duration as StdDuration};

use sqlx::{PgPool, postgres::PgConnectOptions};
use time::{Duration, OffsetDateTime};
use tokio::{sync::Notify, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    clock::now,
    db::{
        self, DbError,
        games::{self, SeatedGame},
        webhook_deliveries::{self, Due, Lane, Next, Outcome},
        webhook_events::{self, Listener, NewDelivery, Told, Untold},
        webhooks,
    },
    domain::{Event, Fact, Game, GameId, Notice, PlayerId, Previous, notices},
    metrics::{DeliveryOutcome, Metrics},
    webhook::{Answer, Attempt, SendError, Sender},
};

/// Writes what an endpoint is sent. Wire types are none of our business here: whoever starts this brings it.
pub type WriteNotice = fn(&Told<'_>) -> Result<String, String>;

/// After how long a failed attempt is made again, each time: the schedule that Standard Webhooks recommend, three days in all.
const SCHEDULE: [Duration; 9] = [
    Duration::seconds(5),
    Duration::minutes(5),
    Duration::minutes(30),
    Duration::hours(2),
    Duration::hours(5),
    Duration::hours(10),
    Duration::hours(14),
    Duration::hours(20),
    Duration::hours(24),
];

/// By how much of itself a time is made longer, drawn by lot, so that those who failed together do not come back together.
const JITTER: f64 = 0.2;

/// The longest time after which an endpoint may ask to be tried again.
const RETRY_AFTER_MAX: Duration = Duration::hours(24);

/// An endpoint that has failed for so long without a success is disabled.
const FAILING_FOR: Duration = Duration::days(5);

/// How long whoever took a delivery has for it: longer than an attempt takes, and the record of it.
const LEASE: Duration = Duration::seconds(30);

/// How many appends are made into deliveries at once.
const TOLD_AT_ONCE: u32 = 100;

/// How many attempts are on their way at once, to endpoints that answer, and to the others. Each holds a connection and a TLS session:
/// some 50 KiB.
const QUICK_MAX: u32 = 128;
const SLOW_MAX: u32 = 64;

/// How long between two looks, if nothing is heard of in this process.
const PAUSE: StdDuration = StdDuration::from_secs(1);

/// How long a server that stops waits for what is on its way. What takes longer is sent again by another.
const END_WAIT: StdDuration = StdDuration::from_secs(2);

/// How many webhooks have their player's games flagged at once.
const FLAGGED_AT_ONCE: u32 = 100;

/// What sending needs.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sender: Sender,
    pub write: WriteNotice,
    pub metrics: Arc<Metrics>,
}

/// Works until it is told to stop. `woken` is notified when there is something to tell.
pub async fn run(database: PgConnectOptions, woken: Arc<Notify>, settings: Settings, stopping: CancellationToken) {
    let pool = db::pool(database, CONNECTIONS);
    let mut sending = Sending::default();
    let mut failing = false;
    while !stopping.is_cancelled() {
        // What it had taken when it was told to stop, another takes when the lease has run out.
        let Some(done) = stopping.run_until_cancelled(work(&pool, &settings, &mut sending)).await else { break };
        if let (Err(error), false) = (&done, failing) {
            tracing::warn!("webhooks are not sent until the database answers again: {error}");
        }
        failing = done.is_err();
        tokio::select! {
            () = stopping.cancelled() => {}
            () = woken.notified(), if !failing => {}
            () = sending.one_ended(), if !failing => {}
            () = tokio::time::sleep(PAUSE) => {}
        }
    }
    let _ = timeout(END_WAIT, sending.all_ended()).await;
}

/// For what is told, and for the records of what was sent.
const CONNECTIONS: u32 = 3;

async fn work(pool: &PgPool, settings: &Settings, sending: &mut Sending) -> Result<(), DbError> {
    webhooks::flag_again(pool, now(), FLAGGED_AT_ONCE).await?;
    while tell(pool, settings.write, now()).await? {}
    for lane in [Lane::Quick, Lane::Slow] {
        let room = sending.room(lane);
        if room > 0 {
            for due in take(pool, lane, room, now()).await? {
                sending.begin(lane, deliver(pool.clone(), settings.clone(), due));
            }
        }
    }
    Ok(())
}

/// One round, until all that was due is recorded; says how much that was.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    let mut sending = Sending::default();
    work(pool, settings, &mut sending).await?;
    let count = sending.quick.len() + sending.slow.len();
    sending.all_ended().await;
    Ok(count)
}

/// What is on its way.
#[derive(Default)]
struct Sending {
    quick: JoinSet<()>,
    slow: JoinSet<()>,
}

impl Sending {
    fn of(&mut self, lane: Lane) -> (&mut JoinSet<()>, u32) {
        match lane {
            Lane::Quick => (&mut self.quick, QUICK_MAX),
            Lane::Slow => (&mut self.slow, SLOW_MAX),
        }
    }

    fn room(&mut self, lane: Lane) -> u32 {
        let (tasks, max) = self.of(lane);
        // Those that have ended make room.
        while tasks.try_join_next().is_some() {}
        max.saturating_sub(u32::try_from(tasks.len()).unwrap_or(u32::MAX))
    }

    fn begin(&mut self, lane: Lane, delivery: impl Future<Output = ()> + Send + 'static) {
        self.of(lane).0.spawn(delivery);
    }

    /// Waits until one has ended; for ever if there is none.
    async fn one_ended(&mut self) {
        tokio::select! {
            Some(_) = self.quick.join_next() => {}
            Some(_) = self.slow.join_next() => {}
            else => std::future::pending().await,
        }
    }

    async fn all_ended(&mut self) {
        while self.quick.join_next().await.is_some() {}
        while self.slow.join_next().await.is_some() {}
    }
}

/// Makes some appends into deliveries; says whether there may be more.
pub async fn tell(pool: &PgPool, write: WriteNotice, now: OffsetDateTime) -> Result<bool, DbError> {
    let untold = webhook_events::list(pool, TOLD_AT_ONCE).await?;
    if untold.is_empty() {
        return Ok(false);
    }
    let mut deliveries = vec![];
    for appends in untold.chunk_by(|one, next| one.game == next.game) {
        match of_game(pool, appends, write).await {
            Ok(of_game) => deliveries.extend(of_game),
            // A game that cannot be read keeps nobody else from being told.
            Err(error @ DbError::Inconsistent { .. }) => {
                let id = appends[0].game.0;
                tracing::error!(game.id = %id, "players are not told of what happened in a game: {error}");
            }
            Err(error) => return Err(error),
        }
    }
    webhook_events::tell(pool, &untold, &deliveries, now).await?;
    Ok(untold.len() == TOLD_AT_ONCE as usize)
}

/// What some appends to one game are made into, in their order.
async fn of_game(pool: &PgPool, appends: &[Untold], write: WriteNotice) -> Result<Vec<NewDelivery>, DbError> {
    let id: GameId = appends[0].game;
    let Some(seated) = games::find(pool, id).await? else { return Ok(vec![]) };
    let players: Vec<PlayerId> =
        [seated.game.players.first, seated.game.players.second, seated.game.invited()].into_iter().flatten().collect();
    let listeners = webhook_events::listeners(pool, &players).await?;
    if listeners.is_empty() {
        return Ok(vec![]);
    }
    let log = games::log(pool, id).await?;
    Ok(replay(&seated, &log, appends, &listeners, write))
}

/// Goes through a game's log, so that everything is told as it was then.
fn replay(
    seated: &SeatedGame,
    log: &[Event],
    appends: &[Untold],
    listeners: &[Listener],
    write: WriteNotice,
) -> Vec<NewDelivery> {
    let mut game: Option<Game> = None;
    let mut previous = Previous::opening(&seated.game);
    let mut rest = log;
    let mut deliveries = vec![];
    for append in appends {
        let before = usize::try_from(append.from_seq - 1).unwrap_or(0).saturating_sub(log.len() - rest.len());
        let (earlier, from) = rest.split_at(before.min(rest.len()));
        let count = usize::try_from(append.to_seq - append.from_seq + 1).unwrap_or(0);
        let (events, later) = from.split_at(count.min(from.len()));
        rest = later;
        game = advanced(game, earlier, seated.game.id);
        for event in earlier {
            pass(&mut previous, event);
        }
        let after = advanced(game.clone(), events, seated.game.id);
        let Some(present) = after else { return deliveries };
        let notices = notices(game.as_ref(), events, &present);
        for event in events {
            for notice in notices.iter().copied().filter(|notice| notice.seq == event.seq) {
                let told = Told { notice, event, game: &present, previous: &previous, seated };
                deliveries.extend(for_listeners(&told, append, listeners, write));
            }
            pass(&mut previous, event);
        }
        game = Some(present);
    }
    deliveries
}

/// The game after some events; `None` before the first.
fn advanced(game: Option<Game>, events: &[Event], id: GameId) -> Option<Game> {
    let Some(mut game) = game else { return Game::replay(id, events).ok() };
    events.iter().try_for_each(|event| game.apply(event)).ok()?;
    Some(game)
}

fn pass(previous: &mut Previous, event: &Event) {
    if let Fact::Moved(moved) = &event.fact {
        *previous = Previous { position: moved.position.clone(), at: event.at };
    }
}

/// One notice for each endpoint that wants it.
fn for_listeners(told: &Told<'_>, append: &Untold, listeners: &[Listener], write: WriteNotice) -> Vec<NewDelivery> {
    let Notice { player, kind, seq } = told.notice;
    let mut wanting = listeners.iter().filter(|listener| listener.player == player && listener.wants(kind)).peekable();
    if wanting.peek().is_none() {
        return vec![];
    }
    let payload = match write(told) {
        Ok(payload) => payload,
        Err(error) => {
            tracing::error!(game.id = %append.game.0, seq, "a player is not told of an event: {error}");
            return vec![];
        }
    };
    wanting
        .map(|listener| NewDelivery {
            id: Uuid::now_v7(),
            webhook: listener.webhook,
            game: append.game,
            seq,
            kind,
            payload: payload.clone(),
            from_seq: append.from_seq,
        })
        .collect()
}

/// Takes what is due, for a while.
pub async fn take(pool: &PgPool, lane: Lane, room: u32, now: OffsetDateTime) -> Result<Vec<Due>, DbError> {
    webhook_deliveries::take(pool, lane, now, now + LEASE, room).await
}

/// Sends a delivery, and records what became of it. If that cannot be recorded, it is sent again when its lease has run out.
async fn deliver(pool: PgPool, settings: Settings, due: Due) {
    let sent = send(&settings.sender, &due, now()).await;
    let ended = now();
    let outcome = outcome_of(sent, due.attempt, ended, rand::random());
    settings.metrics.webhook_sent(match outcome.next {
        Next::Delivered => DeliveryOutcome::Delivered,
        Next::Again(_) => DeliveryOutcome::Retried,
        Next::GivenUp | Next::Gone => DeliveryOutcome::Failed,
    });
    let recorded = webhook_deliveries::record(&pool, (due.id, due.attempt), &outcome, ended, ended - FAILING_FOR).await;
    if let Err(error) = recorded {
        tracing::warn!(delivery.id = %due.id, "what became of a delivery is not recorded, it is sent again: {error}");
    }
}

/// Makes one attempt.
pub async fn send(sender: &Sender, due: &Due, now: OffsetDateTime) -> Result<Answer, SendError> {
    let previous = due.previous.as_ref().filter(|(_, until)| *until > now).map(|(secret, _)| secret.as_slice());
    let secrets: Vec<&[u8]> = [Some(due.secret.as_slice()), previous].into_iter().flatten().collect();
    let id = due.id.to_string();
    let attempt =
        Attempt { url: &due.url, id: &id, now_s: now.unix_timestamp(), payload: &due.payload, secrets: &secrets };
    sender.send(attempt).await
}

/// What follows from an attempt. `lot` is from 0 to 1.
fn outcome_of(sent: Result<Answer, SendError>, attempt: i32, now: OffsetDateTime, lot: f64) -> Outcome {
    let (status, error) = match sent {
        Ok(answer) if answer.is_success() => {
            return Outcome { status: Some(answer.status), error: None, next: Next::Delivered };
        }
        Ok(answer) if answer.is_gone() => {
            return Outcome { status: Some(answer.status), error: Some("gone"), next: Next::Gone };
        }
        Ok(answer) => (Some(answer), "status"),
        Err(error) => (None, error.as_str()),
    };
    let tried = usize::try_from(attempt - 1).unwrap_or(0);
    let next = SCHEDULE.get(tried).map_or(Next::GivenUp, |pause| {
        let wanted = status.and_then(|answer| answer.retry_after_s).map(|seconds| Duration::seconds(seconds.into()));
        let wanted = wanted.map_or(Duration::ZERO, |wanted| wanted.min(RETRY_AFTER_MAX));
        Next::Again(now + (*pause * (1.0 + JITTER * lot)).max(wanted))
    });
    Outcome { status: status.map(|answer| answer.status), error: Some(error), next }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn answered(status: u16, retry_after_s: Option<u32>) -> Answer {
        Answer { status, retry_after_s }
    }

    #[test]
    fn a_failed_attempt_is_made_again_for_three_days_and_then_given_up() {
        let mut at = NOW;
        let mut attempt = 1;
        while let Next::Again(next) = outcome_of(Err(SendError::Timeout), attempt, at, 0.0).next {
            assert_eq!(next - at, SCHEDULE[usize::try_from(attempt - 1).expect("it is counted from 1")]);
            let latest = outcome_of(Ok(answered(500, None)), attempt, at, 1.0).next;
            assert_eq!(latest, Next::Again(at + (next - at) * 1.2));
            (at, attempt) = (next, attempt + 1);
        }
        assert_eq!((attempt, (at - NOW).whole_hours()), (10, 75));
    }

    #[test]
    fn an_endpoint_may_ask_for_more_time_but_not_for_ever() {
        for (asked, seconds) in [(3, 5), (120, 120), (u32::MAX, 24 * 60 * 60)] {
            let outcome = outcome_of(Ok(answered(503, Some(asked))), 1, NOW, 0.0);
            assert_eq!(outcome.next, Next::Again(NOW + Duration::seconds(seconds)));
        }
    }

    #[test]
    fn what_an_answer_means_its_status_says() {
        for (status, next) in
            [(200, Next::Delivered), (204, Next::Delivered), (299, Next::Delivered), (410, Next::Gone)]
        {
            assert_eq!(outcome_of(Ok(answered(status, None)), 1, NOW, 0.0).next, next);
        }
        for status in [101, 301, 302, 307, 400, 404, 429, 500, 600] {
            assert!(matches!(outcome_of(Ok(answered(status, None)), 1, NOW, 0.0).next, Next::Again(_)), "{status}");
            assert_eq!(outcome_of(Ok(answered(status, None)), 10, NOW, 0.0).next, Next::GivenUp);
        }
    }
}
