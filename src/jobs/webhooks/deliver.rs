//! One attempt of a delivery: takes it with a lease, sends it, and records the outcome.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration as StdDuration};

use futures_util::FutureExt;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::schedule::outcome_of;
use crate::{
    clock::now,
    db::{
        DbError,
        webhooks::deliveries::{self, Due, Full, Lane, NextStep},
    },
    metrics::{DeliveryOutcome, Metrics},
    repeats,
    webhook::{Attempt, EndpointResponse, SendError, Sender},
};

/// The lease of a delivery: longer than an attempt and its record take.
const LEASE: Duration = Duration::seconds(30);

/// The pause between two attempts to record an outcome, as long as the lease lasts.
const RECORD_PAUSE: StdDuration = StdDuration::from_secs(2);

/// Takes up to `room` due deliveries of a lane, with a lease, and none of the players and hosts that have enough on their way.
pub async fn take(pool: &PgPool, lane: Lane, room: u32, full: &Full, now: OffsetDateTime) -> Result<Vec<Due>, DbError> {
    deliveries::take(pool, lane, now, now + LEASE, room, full).await
}

/// Sends a delivery and records the outcome. If the outcome cannot be recorded, the delivery is repeated when its lease expires.
pub async fn deliver(pool: PgPool, sender: Sender, metrics: Arc<Metrics>, due: Due) {
    let begun = now();
    if let Some((game, deadline)) = due.deadline
        && let Ok(false) = deliveries::has_deadline(&pool, game, deadline).await
    {
        if let Err(error) = deliveries::drop_stale(&pool, &due, now()).await {
            tracing::warn!(delivery.id = %due.id, "an outdated reminder cannot be deleted yet: {error}");
        }
        return;
    }
    let sent = AssertUnwindSafe(send(&sender, &due, now())).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(delivery.id = %due.id, "sending to a webhook panicked");
        Err(SendError::NoAnswer)
    });
    let ended = now();
    let outcome = outcome_of(sent, &due, ended, rand::random());
    metrics.webhook_sent(match outcome.next {
        NextStep::Delivered => DeliveryOutcome::Delivered,
        NextStep::Again(_) => DeliveryOutcome::Retried,
        NextStep::GivenUp | NextStep::Gone => DeliveryOutcome::Failed,
    });
    while let Err(error) = deliveries::record(&pool, &due, &outcome, ended - begun, ended).await {
        if now() + RECORD_PAUSE >= begun + LEASE {
            if let Some(line) = repeats::admit("deliveries whose outcome cannot be recorded", &error.to_string()) {
                tracing::warn!(left_out = line.left_out, delivery.id = %due.id, "the outcome of a delivery cannot be recorded, so it is sent again: {error}");
            }
            break;
        }
        tokio::time::sleep(RECORD_PAUSE).await;
    }
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
