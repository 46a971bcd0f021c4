//! Tells players of what happens in their games, by their webhooks: makes appends into deliveries, and sends these until they arrive.
//!
//! Any number of processes share the work. What one has taken and not finished, another one takes when its lease has run out: so
//! everything arrives at least once, and with the same id each time.

use std::{
    collections::HashMap, future::pending, panic::AssertUnwindSafe, pin::pin, sync::Arc, time::Duration as StdDuration,
};

use futures_util::FutureExt;
use sqlx::{PgPool, postgres::PgConnectOptions};
use thiserror::Error;
use time::{Duration, OffsetDateTime};
use tokio::{
    sync::{Notify, Semaphore},
    task::JoinSet,
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    clock::now,
    db::{
        self, DbError,
        events::game_log::{self, LogRange, LogSlice},
        games::{self, SeatedGame},
        webhooks::{
            deliveries::{self, AttemptOutcome, Due, KEPT, Lane, NextStep},
            flags,
            queue::{self, Batch, MessageContent, NewDelivery, Reminder, Subscriber},
        },
    },
    domain::{GameId, Notice, NoticeKind, PlayerId, deadline_soon, notices},
    metrics::{DeliveryOutcome, Metrics},
    webhook::{Answer, Attempt, SendError, Sender},
};

/// Writes what an endpoint is sent. Wire types are none of our business here: whoever starts this brings it.
pub type WriteNotice = fn(&MessageContent<'_>) -> Result<String, String>;

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

/// It is not given up sooner, however often it was tried.
const GIVEN_UP_AFTER: Duration = Duration::days(3);

/// By how much of itself a time is made longer, drawn by lot, so that those who failed together do not come back together.
const JITTER: f64 = 0.2;

/// The longest time after which an endpoint may ask to be tried again.
const RETRY_AFTER_MAX: Duration = Duration::hours(24);

/// How long whoever took a delivery has for it: longer than an attempt takes, and the record of it.
const LEASE: Duration = Duration::seconds(30);

/// Of how many games appends are made into deliveries at once.
const TOLD_AT_ONCE: u32 = 100;

/// By how much the clocks of servers may differ. What happened longer before a webhook was made is not sent to it.
const CLOCKS_DIFFER: Duration = Duration::minutes(1);

/// How long a game is left alone of which players could not be told.
const PUT_OFF: Duration = Duration::seconds(10);

/// How long between two attempts to record what became of a delivery, as long as nobody else may take it.
const RECORD_PAUSE: StdDuration = StdDuration::from_secs(2);

/// How many attempts are begun at once, to each kind of endpoints, and how many are on their way at most. Each holds a connection and a TLS
/// session: some 50 KiB.
const PLACES: [(Lane, usize); 3] = [(Lane::Quick, 128), (Lane::Unproven, 64), (Lane::Failing, 64)];
const ATTEMPTS_MAX: usize = 512;

/// An attempt that takes longer keeps its place to nobody else; but of an endpoint that fails that is to be expected.
const PLACE_TIME: StdDuration = StdDuration::from_secs(2);

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
        let working = AssertUnwindSafe(work(&pool, &settings, &mut sending)).catch_unwind();
        let Some(worked) = stopping.run_until_cancelled(working).await else { break };
        let worked = worked.unwrap_or_else(|_| {
            tracing::error!("sending webhooks panicked; it goes on");
            Worked { is_all: true, failure: None }
        });
        if let (Some(error), false) = (&worked.failure, failing) {
            tracing::warn!("webhooks are not all sent until the database answers again: {error}");
        }
        failing = worked.failure.is_some();
        if failing || worked.is_all {
            tokio::select! {
                () = stopping.cancelled() => {}
                () = woken.notified(), if !failing => {}
                () = sending.one_ended(), if !failing => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }
    let _ = timeout(END_WAIT, sending.all_ended()).await;
}

/// For what is told, and for the records of what was sent.
const CONNECTIONS: u32 = 3;

/// What came of a look at all there is to do.
struct Worked {
    /// Whether it is done, as far as that can be said.
    is_all: bool,
    failure: Option<DbError>,
}

/// Does some of each thing there is to do. What fails keeps nothing else from being done.
async fn work(pool: &PgPool, settings: &Settings, sending: &mut Sending) -> Worked {
    let flagged = flags::flag_again(pool, now(), FLAGGED_AT_ONCE).await;
    let told = tell(pool, &mut sending.told_until, settings.write, now()).await;
    let mut failure = flagged.err();
    for lane in Lane::ALL {
        let room = sending.room(lane);
        if room == 0 {
            continue;
        }
        match take(pool, lane, room, now()).await {
            Ok(taken) => {
                for due in taken {
                    sending.begin(lane, deliver(pool.clone(), settings.clone(), due));
                }
            }
            Err(error) => failure = Some(error),
        }
    }
    match told {
        Ok(is_all) => Worked { is_all, failure },
        Err(error) => Worked { is_all: true, failure: Some(error) },
    }
}

/// One round, until all that was due is recorded; says how much that was.
pub async fn round(pool: &PgPool, settings: &Settings) -> Result<usize, DbError> {
    let mut sending = Sending::default();
    let worked = work(pool, settings, &mut sending).await;
    sending.all_ended().await;
    worked.failure.map_or(Ok(sending.begun), Err)
}

/// What is on its way.
struct Sending {
    tasks: JoinSet<()>,
    places: [(Lane, Arc<Semaphore>); 3],
    /// How many attempts were begun.
    begun: usize,
    /// The last game of which was told: the next ones are those after it, so that all have their turn.
    told_until: GameId,
}

impl Default for Sending {
    fn default() -> Self {
        let places = PLACES.map(|(lane, places)| (lane, Arc::new(Semaphore::new(places))));
        Self { tasks: JoinSet::new(), places, begun: 0, told_until: GameId(Uuid::nil()) }
    }
}

impl Sending {
    fn places(&self, lane: Lane) -> &Arc<Semaphore> {
        let (_, places) = self.places.iter().find(|(of, _)| *of == lane).expect("each lane has places");
        places
    }

    fn room(&mut self, lane: Lane) -> u32 {
        // Those that have ended make room.
        while self.tasks.try_join_next().is_some() {}
        let room = self.places(lane).available_permits().min(ATTEMPTS_MAX.saturating_sub(self.tasks.len()));
        u32::try_from(room).unwrap_or(u32::MAX)
    }

    fn begin(&mut self, lane: Lane, delivery: impl Future<Output = ()> + Send + 'static) {
        self.begun += 1;
        let place = self.places(lane).clone().try_acquire_owned().ok();
        self.tasks.spawn(async move {
            let mut delivery = pin!(delivery);
            if lane != Lane::Failing && timeout(PLACE_TIME, &mut delivery).await.is_ok() {
                return;
            }
            let _place = place.filter(|_| lane == Lane::Failing);
            delivery.await;
        });
    }

    /// Waits until one has ended; for ever if there is none.
    async fn one_ended(&mut self) {
        if self.tasks.join_next().await.is_none() {
            pending::<()>().await;
        }
    }

    async fn all_ended(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// Makes some appends into deliveries, of games after one; says whether that was all. Should that fail because of one game, it alone is put
/// off.
async fn tell(
    pool: &PgPool,
    told_until: &mut GameId,
    write: WriteNotice,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let batch = Batch::begin(pool, *told_until, now, TOLD_AT_ONCE).await?;
    let is_all = batch.last.is_none() && *told_until == GameId(Uuid::nil());
    *told_until = batch.last.unwrap_or(GameId(Uuid::nil()));
    let games = batch.games();
    if games.is_empty() {
        return Ok(is_all);
    }
    if tell_batch(pool, batch, write, now).await.is_err() {
        for game in games {
            if let Err(error) = tell_batch(pool, Batch::of_game(pool, game).await?, write, now).await {
                tracing::error!(game.id = %game.0, "players are not yet told of what happened in a game: {error}");
                queue::put_off(pool, game, now + PUT_OFF).await?;
            }
        }
    }
    Ok(is_all)
}

/// Why players were not told of something.
#[derive(Debug, Error)]
enum TellError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error("it cannot be written: {0}")]
    Unwritable(String),
    #[error("it panicked")]
    Panicked,
}

async fn tell_batch(pool: &PgPool, mut batch: Batch, write: WriteNotice, now: OffsetDateTime) -> Result<(), TellError> {
    let made = AssertUnwindSafe(make_deliveries(pool, &mut batch, write, now)).catch_unwind().await;
    match made.unwrap_or(Err(TellError::Panicked)) {
        Ok(()) => Ok(batch.commit().await?),
        Err(error) => {
            batch.roll_back().await;
            Err(error)
        }
    }
}

async fn make_deliveries(
    pool: &PgPool,
    batch: &mut Batch,
    write: WriteNotice,
    now: OffsetDateTime,
) -> Result<(), TellError> {
    let games: HashMap<_, _> =
        games::find_all(pool, &batch.games()).await?.into_iter().map(|seated| (seated.game.id(), seated)).collect();
    let of_game =
        |seated: &SeatedGame| [seated.game.players().first, seated.game.players().second, seated.game.invited()];
    let players: Vec<PlayerId> = games.values().flat_map(of_game).flatten().collect();
    let subscribers = queue::subscribers(pool, &players).await?;
    // Of each append its events, with what they were played upon.
    let known = batch.pending.iter().filter_map(|append| Some((append, games.get(&append.game)?)));
    let known: Vec<_> = if subscribers.is_empty() { vec![] } else { known.collect() };
    let wanted = known.iter().map(|(append, seated)| LogRange {
        game: &seated.game,
        after: u32::try_from(append.from_seq - 1).unwrap_or(0),
        until: u32::try_from(append.to_seq).unwrap_or(0),
    });
    let parts = game_log::read_all(pool, &wanted.collect::<Vec<_>>()).await?;
    let mut deliveries = vec![];
    for ((_, seated), part) in known.iter().zip(&parts) {
        deliveries.extend(of_append(seated, part, &subscribers, write)?);
    }
    let present = games.values().flat_map(|seated| {
        let here = subscribers.iter().filter(|subscriber| of_game(seated).contains(&Some(subscriber.player)));
        here.map(|subscriber| (subscriber.webhook, seated.game.id(), seated.game.time().deadline))
    });
    let present: Vec<_> = present.collect();
    batch.store_deliveries(&deliveries, &present, now).await?;
    Ok(())
}

/// What an append is made into: what happened, and when a deadline that it set will be near.
fn of_append(
    seated: &SeatedGame,
    part: &LogSlice,
    subscribers: &[Subscriber],
    write: WriteNotice,
) -> Result<Vec<NewDelivery>, TellError> {
    let game = &seated.game;
    let mut deliveries = vec![];
    let mut previous = part.previous.clone();
    for event in &part.events {
        for notice in notices(game, &part.previous, &part.events).into_iter().filter(|notice| notice.seq == event.seq) {
            let told = MessageContent { notice, at: event.at, happened: Some((event, &previous)), seated };
            deliveries.extend(for_listeners(&told, None, subscribers, write)?);
        }
        previous = previous.after(event);
    }
    let last = part.events.last().filter(|last| last.seq == game.version());
    if let (Some(deadline), Some(last)) = (game.time().deadline, last)
        && let Some((player, at)) = deadline_soon(game, last.at)
    {
        let notice = Notice { player, kind: NoticeKind::DeadlineSoon, seq: last.seq };
        let told = MessageContent { notice, at, happened: None, seated };
        deliveries.extend(for_listeners(&told, Some(Reminder { at, deadline }), subscribers, write)?);
    }
    Ok(deliveries)
}

/// One notice for each endpoint that wants it.
fn for_listeners(
    told: &MessageContent<'_>,
    due: Option<Reminder>,
    subscribers: &[Subscriber],
    write: WriteNotice,
) -> Result<Vec<NewDelivery>, TellError> {
    let Notice { player, kind, seq } = told.notice;
    let wanting: Vec<_> = subscribers
        .iter()
        .filter(|subscriber| {
            subscriber.player == player && subscriber.wants(kind) && subscriber.created_at <= told.at + CLOCKS_DIFFER
        })
        .collect();
    if wanting.is_empty() {
        return Ok(vec![]);
    }
    let payload = write(told).map_err(TellError::Unwritable)?;
    let of_subscriber = |subscriber: &&Subscriber| NewDelivery {
        id: Uuid::now_v7(),
        webhook: subscriber.webhook,
        game: told.seated.game.id(),
        seq,
        kind,
        payload: payload.clone(),
        reminder: due,
    };
    Ok(wanting.iter().map(of_subscriber).collect())
}

/// Takes what is due, for a while.
pub async fn take(pool: &PgPool, lane: Lane, room: u32, now: OffsetDateTime) -> Result<Vec<Due>, DbError> {
    deliveries::take(pool, lane, now, now + LEASE, room).await
}

/// Sends a delivery, and records what became of it. If that cannot be recorded, it is sent again when its lease has run out.
async fn deliver(pool: PgPool, settings: Settings, due: Due) {
    let begun = now();
    if let Some((game, deadline)) = due.deadline
        && let Ok(false) = deliveries::has_deadline(&pool, game, deadline).await
    {
        if let Err(error) = deliveries::drop_stale(&pool, &due, now()).await {
            tracing::warn!(delivery.id = %due.id, "what nobody wants to know any more is not deleted yet: {error}");
        }
        return;
    }
    let sent = AssertUnwindSafe(send(&settings.sender, &due, now())).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(delivery.id = %due.id, "sending to a webhook panicked");
        Err(SendError::NoAnswer)
    });
    let ended = now();
    let outcome = outcome_of(sent, &due, ended, rand::random());
    settings.metrics.webhook_sent(match outcome.next {
        NextStep::Delivered => DeliveryOutcome::Delivered,
        NextStep::Again(_) => DeliveryOutcome::Retried,
        NextStep::GivenUp | NextStep::Gone => DeliveryOutcome::Failed,
    });
    while let Err(error) = deliveries::record(&pool, &due, &outcome, ended - begun, ended).await {
        if now() + RECORD_PAUSE >= begun + LEASE {
            tracing::warn!(delivery.id = %due.id, "what became of a delivery is not recorded, it is sent again: {error}");
            break;
        }
        tokio::time::sleep(RECORD_PAUSE).await;
    }
}

/// Makes one attempt.
pub async fn send(sender: &Sender, due: &Due, now: OffsetDateTime) -> Result<Answer, SendError> {
    let previous = due.previous.iter().filter(|(_, until)| *until > now).map(|(secret, _)| secret.as_slice());
    let secrets: Vec<&[u8]> = [due.secret.as_slice()].into_iter().chain(previous).collect();
    let id = due.id.to_string();
    let attempt =
        Attempt { url: &due.url, id: &id, now_s: now.unix_timestamp(), payload: &due.payload, secrets: &secrets };
    sender.send(attempt).await
}

/// What follows from an attempt. `lot` is from 0 to 1.
fn outcome_of(sent: Result<Answer, SendError>, due: &Due, now: OffsetDateTime, lot: f64) -> AttemptOutcome {
    let outcome = |status, error, next| AttemptOutcome { status, error, retry_after: Duration::ZERO, next };
    let (answer, error) = match sent {
        Ok(answer) if answer.is_success() => return outcome(Some(answer.status), None, NextStep::Delivered),
        Ok(answer) if answer.is_gone() => return outcome(Some(answer.status), Some("gone"), NextStep::Gone),
        Ok(answer) => (Some(answer), "status"),
        Err(error) => (None, error.as_str()),
    };
    let retry_after = answer.and_then(|answer| answer.retry_after_s).map(|seconds| Duration::seconds(seconds.into()));
    let retry_after = retry_after.map_or(Duration::ZERO, |wanted| wanted.min(RETRY_AFTER_MAX));
    let tried = usize::try_from(due.attempt - due.attempts_before - 1).unwrap_or(0);
    let age = now - due.created_at;
    // Whatever succeeds may bring it forward, so it is not enough to count; what has waited for days behind others is tried once.
    let next = if tried >= SCHEDULE.len() && age >= GIVEN_UP_AFTER || age >= KEPT {
        NextStep::GivenUp
    } else {
        let pause = SCHEDULE[tried.min(SCHEDULE.len() - 1)];
        NextStep::Again(now + (pause * (1.0 + JITTER * lot)).max(retry_after))
    };
    AttemptOutcome { status: answer.map(|answer| answer.status), error: Some(error), retry_after, next }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

    fn answered(status: u16, retry_after_s: Option<u32>) -> Answer {
        Answer { status, retry_after_s }
    }

    /// An attempt of something that has happened just now.
    fn due(attempt: i32) -> Due {
        let (id, created_at) = (Uuid::nil(), NOW);
        let (payload, url, secret, previous) = (String::new(), String::new(), vec![], vec![]);
        Due { id, webhook: id, created_at, attempt, attempts_before: 0, payload, url, secret, previous, deadline: None }
    }

    #[test]
    fn a_failed_attempt_is_made_again_for_three_days_and_then_given_up() {
        let mut at = NOW;
        let mut attempt = 1;
        while let NextStep::Again(next) = outcome_of(Err(SendError::Timeout), &due(attempt), at, 0.0).next {
            assert_eq!(next - at, SCHEDULE[usize::try_from(attempt - 1).expect("it is counted from 1")]);
            let latest = outcome_of(Ok(answered(500, None)), &due(attempt), at, 1.0).next;
            assert_eq!(latest, NextStep::Again(at + (next - at) * 1.2));
            (at, attempt) = (next, attempt + 1);
        }
        assert_eq!((attempt, (at - NOW).whole_hours()), (10, 75));
    }

    #[test]
    fn what_was_tried_often_because_others_succeeded_is_not_given_up_sooner() {
        let soon = outcome_of(Err(SendError::Timeout), &due(30), NOW + Duration::hours(1), 0.0).next;
        assert_eq!(soon, NextStep::Again(NOW + Duration::hours(25)));
    }

    #[test]
    fn what_is_asked_for_once_more_begins_anew() {
        let again = Due { attempts_before: 10, ..due(11) };
        let next = outcome_of(Err(SendError::Timeout), &again, NOW + GIVEN_UP_AFTER, 0.0).next;
        assert_eq!(next, NextStep::Again(NOW + GIVEN_UP_AFTER + SCHEDULE[0]));
    }

    #[test]
    fn what_waited_for_a_week_is_tried_once() {
        assert_eq!(outcome_of(Err(SendError::Timeout), &due(1), NOW + KEPT, 0.0).next, NextStep::GivenUp);
    }

    #[test]
    fn an_endpoint_may_ask_for_more_time_but_not_for_ever() {
        for (asked, seconds) in [(3, 5), (120, 120), (u32::MAX, 24 * 60 * 60)] {
            let outcome = outcome_of(Ok(answered(503, Some(asked))), &due(1), NOW, 0.0);
            assert_eq!(outcome.next, NextStep::Again(NOW + Duration::seconds(seconds)));
            assert!(outcome.retry_after <= RETRY_AFTER_MAX);
        }
    }

    #[test]
    fn what_an_answer_means_its_status_says() {
        for (status, next) in
            [(200, NextStep::Delivered), (204, NextStep::Delivered), (299, NextStep::Delivered), (410, NextStep::Gone)]
        {
            assert_eq!(outcome_of(Ok(answered(status, None)), &due(1), NOW, 0.0).next, next);
        }
        for status in [101, 301, 302, 307, 400, 404, 429, 500, 600] {
            assert!(
                matches!(outcome_of(Ok(answered(status, None)), &due(1), NOW, 0.0).next, NextStep::Again(_)),
                "{status}"
            );
            let last = outcome_of(Ok(answered(status, None)), &due(10), NOW + GIVEN_UP_AFTER, 0.0);
            assert_eq!(last.next, NextStep::GivenUp);
        }
    }
}
