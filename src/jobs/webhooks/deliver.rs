//! The attempts under one lease: a delivery, and those that wait behind it in its game, are sent one after the other.

use std::{
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration as StdDuration, Instant},
};

use futures_util::FutureExt;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::{recorder::Recorder, schedule::outcome_of};
use crate::{
    clock::now,
    db::{
        DbError,
        webhooks::{
            attempts::{self, Due, Full, Lane},
            results::{Attempted, NextStep, Run},
        },
    },
    metrics::{DeliveryOutcome, Metrics},
    repeats,
    webhook::{Attempt, EndpointResponse, SendError, Sender},
};

/// The lease of a delivery: longer than its attempts and their record take.
const LEASE: Duration = Duration::seconds(30);

/// After this time no further delivery is sent under a lease. A slow game then leaves its place to others, and a webhook that is disabled
/// meanwhile soon sends nothing.
const RUN_TIME: StdDuration = StdDuration::from_millis(100);

/// The pause between two attempts to record results, as long as the lease lasts.
const RECORD_PAUSE: StdDuration = StdDuration::from_secs(2);

/// What an attempt needs.
#[derive(Clone, Debug)]
pub(super) struct Means {
    pub(super) pool: PgPool,
    pub(super) sender: Sender,
    pub(super) metrics: Arc<Metrics>,
    pub(super) recorder: Recorder,
}

/// Takes up to `room` due deliveries of a lane, with a lease, and none of the players and hosts that have enough on their way.
pub async fn take(pool: &PgPool, lane: Lane, room: u32, full: &Full, now: OffsetDateTime) -> Result<Vec<Due>, DbError> {
    attempts::take(pool, lane, now, now + LEASE, room, full).await
}

/// Sends a delivery, and after its success those behind it, and has the results recorded. If they cannot be, the deliveries are
/// repeated when the lease expires.
pub(super) async fn deliver(means: Means, first: Due, behind: Vec<Due>) {
    let (begun, leased) = (Instant::now(), now());
    if let Some((game, deadline)) = first.deadline
        && let Ok(false) = attempts::has_deadline(&means.pool, game, deadline).await
    {
        if let Err(error) = attempts::drop_stale(&means.pool, &first, now()).await {
            tracing::warn!(delivery.id = %first.id, "an outdated reminder cannot be deleted yet: {error}");
        }
        return;
    }
    let mut run = Run { first: attempt(&means, first, leased).await, rest: vec![] };
    for due in behind {
        let last = run.rest.last().unwrap_or(&run.first);
        if last.outcome.next != NextStep::Delivered || begun.elapsed() > RUN_TIME {
            break;
        }
        run.rest.push(attempt(&means, due, now()).await);
    }
    let used = means.sender.take_used();
    means.metrics.webhooks_connected(used.opened, used.reused);
    let id = run.first.due.id;
    while let Err(error) = means.recorder.record(run.clone()).await {
        if now() + RECORD_PAUSE >= leased + LEASE {
            if let Some(line) = repeats::admit("deliveries whose outcome cannot be recorded", &error) {
                tracing::warn!(left_out = line.left_out, delivery.id = %id, "the outcome of a delivery cannot be recorded, so it is sent again: {error}");
            }
            break;
        }
        tokio::time::sleep(RECORD_PAUSE).await;
    }
}

/// Makes one attempt, and decides what follows from it.
async fn attempt(means: &Means, mut due: Due, begun: OffsetDateTime) -> Attempted {
    let sent = AssertUnwindSafe(send(&means.sender, &due, now())).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(delivery.id = %due.id, "sending to a webhook panicked");
        Err(SendError::NoAnswer)
    });
    let ended = now();
    let outcome = outcome_of(sent, &due, ended, rand::random());
    means.metrics.webhook_sent(match outcome.next {
        NextStep::Delivered => DeliveryOutcome::Delivered,
        NextStep::Again(_) => DeliveryOutcome::Retried,
        NextStep::GivenUp | NextStep::Gone => DeliveryOutcome::Failed,
    });
    // It is sent, and the record does without it.
    due.payload = String::new();
    Attempted { due, outcome, begun, ended }
}

/// Makes one attempt, signed with the present secret and with those previous ones that are still valid.
pub async fn send(sender: &Sender, due: &Due, now: OffsetDateTime) -> Result<EndpointResponse, SendError> {
    let previous = due.previous.iter().filter(|(_, until)| *until > now).map(|(secret, _)| secret.as_slice());
    let secrets: Vec<&[u8]> = [due.secret.as_slice()].into_iter().chain(previous).collect();
    let id = due.id.to_string();
    let attempt = Attempt {
        url: &due.url,
        id: &id,
        now_s: now.unix_timestamp(),
        payload: &due.payload,
        secrets: &secrets,
        challenge: due.challenge.as_deref(),
    };
    sender.send(attempt).await
}
