//! The channel of webhooks: a delivery, and those that wait behind it in its game, are sent one after the other under one lease.

use std::{
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::{Duration as StdDuration, Instant},
};

use futures_util::FutureExt;
use mancala_db::{
    DbError,
    outbound::{Full, Lane, Limits},
    webhooks::{
        attempts::{self, Due, at_once, limits},
        flags,
        results::{Attempted, LeaseResult, NextStep},
    },
};
use mancala_domain::{DeviceKind, PlayerId};
use mancala_outbound::webhook::{Attempt, EndpointResponse, SendError, Sender};
use mancala_process::{
    clock::now,
    metrics::{DeliveryOutcome, Metrics},
};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{
    super::outbound::{Channel, Taken},
    convert::WriteMessage,
    recorder::Recorder,
    schedule::outcome_of,
};

/// The lease of a delivery: longer than its attempts and their record take.
const LEASE: Duration = Duration::seconds(30);

/// After this time no further delivery is sent under a lease. A slow game then leaves its place to others, and a webhook that is disabled
/// meanwhile soon sends nothing.
const RUN_TIME: StdDuration = StdDuration::from_millis(100);

/// How many webhooks one round of housekeeping handles whose players' games must be flagged.
const FLAGGED_MAX: u32 = 100;

/// The settings of the job.
#[derive(Clone, Debug)]
pub struct Settings {
    pub sender: Sender,
    pub write: WriteMessage,
    /// The kinds of devices that get push notifications.
    pub devices: Vec<DeviceKind>,
    pub metrics: Arc<Metrics>,
    /// How many attempts are in flight altogether. Each holds a connection and a TLS session: about 50 KiB.
    pub attempts_max: usize,
}

/// The data that a delivery needs.
#[derive(Debug)]
pub(super) struct DeliveryContext {
    pool: PgPool,
    settings: Settings,
    recorder: Recorder,
}

impl Channel for DeliveryContext {
    /// A delivery, and those behind it.
    type Due = (Due, Vec<Due>);
    /// `None` after a reminder that is no longer true, which is deleted.
    type Sent = Option<LeaseResult>;

    const NAME: &'static str = "webhooks";
    const LANES: &'static [Lane] = &Lane::ALL;
    const LEASE: Duration = LEASE;

    fn limits(lane: Lane) -> Limits {
        limits(lane)
    }

    fn attempts_max(&self) -> usize {
        self.settings.attempts_max
    }

    /// Flags games, and closes connections whose time is over.
    async fn housekeep(&self) -> Result<(), DbError> {
        self.settings.sender.close_expired();
        self.settings.metrics.set_webhook_connections_open(self.settings.sender.count_open());
        flags::flag_again(&self.pool, now(), FLAGGED_MAX).await
    }

    async fn take(&self, lane: Lane, room: u32, full: &Full) -> Result<Taken<Self::Due>, DbError> {
        let taken = take(&self.pool, lane, room, full, now()).await?;
        let mut of_webhook: HashMap<Uuid, u32> = HashMap::new();
        for due in &taken {
            *of_webhook.entry(due.webhook).or_default() += 1;
        }
        // The attempts of other lanes show first whether the endpoint takes them.
        let mut behind = if lane == Lane::Quick { waiting_behind(&self.pool, &taken).await } else { HashMap::new() };
        let with_behind = |due: Due| {
            let behind = behind.remove(&due.id).unwrap_or_default();
            (due, behind)
        };
        let due = taken.into_iter().map(with_behind).collect();
        Ok(Taken { due, has_more: of_webhook.values().any(|&begun| begun >= at_once(lane)) })
    }

    fn recipient((due, _): &Self::Due) -> (PlayerId, &str) {
        (due.player, &due.host)
    }

    /// Sends a delivery, and after its success those behind it.
    async fn send(&self, (first, behind): Self::Due) -> Self::Sent {
        let (begun, leased) = (Instant::now(), now());
        if let Some((game, deadline)) = first.deadline
            && let Ok(false) = attempts::has_deadline(&self.pool, game, deadline).await
        {
            if let Err(error) = attempts::drop_stale(&self.pool, &first, now()).await {
                tracing::warn!(delivery.id = %first.id, "an outdated reminder cannot be deleted yet: {error}");
            }
            return None;
        }
        let mut sent = LeaseResult { first: self.attempt(first, leased).await, rest: vec![] };
        for due in behind {
            let last = sent.rest.last().unwrap_or(&sent.first);
            if last.outcome.next != NextStep::Delivered || begun.elapsed() > RUN_TIME {
                break;
            }
            sent.rest.push(self.attempt(due, now()).await);
        }
        let used = self.settings.sender.take_used();
        self.settings.metrics.webhooks_connected(used.opened, used.reused);
        Some(sent)
    }

    async fn record(&self, sent: &Self::Sent) -> Result<(), String> {
        match sent {
            Some(sent) => self.recorder.record(sent.clone()).await,
            None => Ok(()),
        }
    }
}

impl DeliveryContext {
    pub(super) fn new(pool: &PgPool, settings: &Settings) -> Self {
        Self { pool: pool.clone(), settings: settings.clone(), recorder: Recorder::start(pool.clone()) }
    }

    /// Makes one attempt, and decides on a retry.
    async fn attempt(&self, mut due: Due, begun: OffsetDateTime) -> Attempted {
        let sent =
            AssertUnwindSafe(send(&self.settings.sender, &due, now())).catch_unwind().await.unwrap_or_else(|_| {
                tracing::error!(delivery.id = %due.id, "sending to a webhook panicked");
                Err(SendError::NoAnswer)
            });
        let ended = now();
        let outcome = outcome_of(sent, &due, ended, rand::random());
        self.settings.metrics.webhook_sent(match outcome.next {
            NextStep::Delivered => DeliveryOutcome::Delivered,
            NextStep::Again(_) => DeliveryOutcome::Retried,
            NextStep::GivenUp | NextStep::Gone => DeliveryOutcome::Failed,
        });
        // The payload is sent, and the record does without it.
        due.payload = String::new();
        Attempted { due, outcome, begun, ended }
    }
}

/// Leases up to `room` due deliveries of a lane, except for players and hosts that have enough in flight.
pub async fn take(pool: &PgPool, lane: Lane, room: u32, full: &Full, now: OffsetDateTime) -> Result<Vec<Due>, DbError> {
    attempts::take(pool, lane, now, now + LEASE, room, full).await
}

/// Finds the deliveries that wait behind leased ones. If that fails, each leased delivery is sent alone.
async fn waiting_behind(pool: &PgPool, leased: &[Due]) -> HashMap<Uuid, Vec<Due>> {
    if leased.is_empty() {
        return HashMap::new();
    }
    attempts::behind(pool, leased).await.unwrap_or_else(|error| {
        tracing::debug!("what waits behind deliveries cannot be read yet: {error}");
        HashMap::new()
    })
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
