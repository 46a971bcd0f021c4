//! The results of attempts: they are recorded in batches, with the health of the endpoints.

use std::collections::{HashMap, HashSet};

use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

pub use super::health::{AttemptOutcome, NextStep};
use super::{
    attempts::Due,
    deliveries::UNVERIFIED,
    health::{self, Locked},
};
use crate::connection::{DbError, columns, statement, wait_longer_for_locks};

/// After this many failed attempts in a row an endpoint counts as down, and its first success brings all that waits for
/// it forward. After fewer, the delivery itself may be the cause.
const DOWN: i32 = 3;

/// An attempt that was made.
#[derive(Clone, Debug)]
pub struct Attempted {
    /// The delivery.
    pub due: Due,
    /// The outcome of the attempt.
    pub outcome: AttemptOutcome,
    /// When it began.
    pub begun: OffsetDateTime,
    /// When it ended.
    pub ended: OffsetDateTime,
}

/// The attempts under one lease, in their order: the leased delivery, and those that waited behind it. All of them but the last one
/// have ended their deliveries.
#[derive(Clone, Debug)]
pub struct LeaseResult {
    /// The attempt of the leased delivery.
    pub first: Attempted,
    /// The attempts after it.
    pub rest: Vec<Attempted>,
}

impl LeaseResult {
    /// Its attempts, in their order.
    pub fn attempts(&self) -> impl Iterator<Item = &Attempted> {
        [&self.first].into_iter().chain(&self.rest)
    }

    fn rows<'a>(&'a self, recovering: &'a HashSet<Uuid>) -> impl Iterator<Item = ResultRow> + 'a {
        let last = self.rest.last().unwrap_or(&self.first).due.id;
        self.attempts().map(move |one| ResultRow {
            id: one.due.id,
            // The attempt of the leased delivery counts since it was leased.
            counted: if one.due.id == self.first.due.id { one.due.attempt } else { one.due.attempt - 1 },
            attempt: one.due.attempt,
            status: one.outcome.status.map(i32::from),
            error: one.outcome.error,
            again_at: match one.outcome.next {
                NextStep::Again(at) => Some(at),
                NextStep::Delivered | NextStep::GivenUp | NextStep::Gone => None,
            },
            is_delivered: one.is_delivered(),
            begun: one.begun,
            ended: one.ended,
            recovers: recovering.contains(&one.due.id),
            leased_id: self.first.due.id,
            leased_attempt: self.first.due.attempt,
            is_last: one.due.id == last,
        })
    }
}

impl Attempted {
    fn is_delivered(&self) -> bool {
        self.outcome.next == NextStep::Delivered
    }
}

columns! {
    /// The result of an attempt.
    struct ResultRow => ResultColumns {
        id: Uuid,
        /// The attempts that the row has counted.
        counted: i32,
        attempt: i32,
        status: Option<i32>,
        error: Option<&'static str>,
        again_at: Option<OffsetDateTime>,
        is_delivered: bool,
        begun: OffsetDateTime,
        ended: OffsetDateTime,
        /// Whether it makes all due that waits for the endpoint.
        recovers: bool,
        /// The delivery that holds the lease, and its attempt.
        leased_id: Uuid,
        leased_attempt: i32,
        is_last: bool,
    }
}

/// Records the results of attempts, and the new health of their endpoints, in one transaction. A run whose lease has expired, and
/// whose delivery was tried again meanwhile, is left out. When a delivery has ended, the next one of its game becomes due. When an
/// endpoint that was down answers again, or a new one answers the challenge, all that waits for it becomes due.
///
/// First the rows of the webhooks are locked, in the order of their ids, as everywhere. It waits for a lock longer than a
/// request would, unless the runs are a part of a batch that has failed.
pub async fn record(pool: &PgPool, runs: &[LeaseResult], is_part: bool, now: OffsetDateTime) -> Result<(), DbError> {
    let mut transaction = pool.begin().await?;
    if !is_part {
        wait_longer_for_locks(&mut transaction).await?;
    }
    let webhooks: HashSet<Uuid> = runs.iter().map(|run| run.first.due.webhook).collect();
    let before = health::lock(&mut transaction, &webhooks.into_iter().collect::<Vec<_>>()).await?;
    let of_existing = |run: &&LeaseResult| before.contains_key(&run.first.due.webhook);
    let attempts = || runs.iter().filter(of_existing).flat_map(LeaseResult::attempts);
    let recovering = recovering(&before, attempts());
    let rows = runs.iter().filter(of_existing).flat_map(|run| run.rows(&recovering));
    let recorded = store(&mut transaction, &ResultColumns::of(rows), now).await?;
    let mut after: HashMap<Uuid, Locked> = HashMap::new();
    for one in attempts().filter(|one| recorded.contains(&(one.due.id, one.due.attempt))) {
        let webhook = one.due.webhook;
        let known = after.remove(&webhook).unwrap_or_else(|| before[&webhook].clone());
        after.insert(webhook, known.after(one));
        if let Some(challenge) = one.due.challenge.as_ref().filter(|_| one.is_delivered()) {
            set_verified(&mut transaction, webhook, challenge, now).await?;
        }
    }
    health::set_health(&mut transaction, after.iter().map(|(id, locked)| (*id, &locked.health)), now).await?;
    transaction.commit().await?;
    Ok(())
}

/// The deliveries whose success makes all due that waits for their endpoints.
fn recovering<'a>(before: &HashMap<Uuid, Locked>, attempts: impl Iterator<Item = &'a Attempted>) -> HashSet<Uuid> {
    let mut known: HashMap<Uuid, Locked> = HashMap::new();
    let mut recovering = HashSet::new();
    for one in attempts {
        let locked = known.remove(&one.due.webhook).unwrap_or_else(|| before[&one.due.webhook].clone());
        if one.is_delivered() && (one.due.challenge.is_some() || locked.health.failures >= DOWN) {
            recovering.insert(one.due.id);
        }
        known.insert(one.due.webhook, locked.after(one));
    }
    recovering
}

impl Locked {
    /// The same after one more attempt.
    fn after(self, one: &Attempted) -> Self {
        // The result at another address says nothing about this one.
        let is_same = self.url == one.due.url;
        let took = one.ended - one.begun;
        let mut health = if is_same { self.health.after(&one.outcome, took, one.ended) } else { self.health };
        if one.due.challenge.is_some() {
            // How fast an endpoint answers a challenge says nothing about notices.
            health.is_quick = false;
            if one.outcome.next == NextStep::GivenUp {
                health.disabled = Some(UNVERIFIED);
            }
        }
        Self { health, ..self }
    }
}

/// Stores the results; returns the deliveries whose results are stored, and which attempt of each.
async fn store(
    connection: &mut PgConnection,
    results: &ResultColumns,
    now: OffsetDateTime,
) -> Result<HashSet<(Uuid, i32)>, DbError> {
    let recorded = sqlx::query!(
        r#"
        with given as (
            select
                unnest($1::uuid[]) as id,
                unnest($2::integer[]) as counted,
                unnest($3::integer[]) as attempt,
                unnest($4::integer[]) as status,
                unnest($5::text[]) as error,
                unnest($6::timestamptz[]) as again_at,
                unnest($7::boolean[]) as is_delivered,
                unnest($8::timestamptz[]) as begun,
                unnest($9::timestamptz[]) as ended,
                unnest($10::boolean[]) as recovers,
                unnest($11::uuid[]) as leased_id,
                unnest($12::integer[]) as leased_attempt,
                unnest($13::boolean[]) as is_last
        ), done as (
            update webhook_delivery set
                leased_until = null, attempts = given.attempt, last_attempt_at = given.begun, last_status = given.status,
                last_error = given.error, next_attempt_at = given.again_at,
                ended_at = case when given.again_at is null then given.ended end, is_delivered = given.is_delivered
            from given join webhook_delivery leased on leased.id = given.leased_id
            where webhook_delivery.id = given.id and webhook_delivery.attempts = given.counted
              and leased.attempts = given.leased_attempt
              -- Neither has ended. With "is null" of one alone PostgreSQL could read an index of all that waits instead of looking up these.
              and coalesce(webhook_delivery.ended_at, leased.ended_at) is null
            returning webhook_delivery.id, webhook_delivery.webhook_id, webhook_delivery.game_id,
                webhook_delivery.in_order, webhook_delivery.ended_at, webhook_delivery.attempts, given.recovers, given.is_last
        ), next as (
            update webhook_delivery set next_attempt_at = $14 from (
                select waiting.id from done cross join lateral (
                    select id from webhook_delivery
                    where webhook_id = done.webhook_id and game_id = done.game_id
                      and in_order and webhook_delivery.ended_at is null and id not in (select id from done)
                    order by seq, type limit 1
                ) waiting
                where done.is_last and done.in_order and done.ended_at is not null
            ) behind
            where webhook_delivery.id = behind.id
        ), others as (
            update webhook_delivery set next_attempt_at = $14
            from (select distinct webhook_id from done where recovers) recovered
            where webhook_delivery.webhook_id = recovered.webhook_id and webhook_delivery.id not in (select id from done)
              and next_attempt_at > $14 and leased_until is null and deadline is null
        )
        select id, attempts from done
        "#,
        &results.id,
        &results.counted,
        &results.attempt,
        &results.status as &[Option<i32>],
        &results.error as &[Option<&str>],
        &results.again_at as &[Option<OffsetDateTime>],
        &results.is_delivered,
        &results.begun,
        &results.ended,
        &results.recovers,
        &results.leased_id,
        &results.leased_attempt,
        &results.is_last,
        now,
    )
    .fetch_all(connection)
    .instrument(statement("update webhook_delivery"))
    .await?;
    Ok(recorded.into_iter().map(|row| (row.id, row.attempts)).collect())
}

/// Records that an endpoint has answered its challenge, unless a newer challenge was sent.
async fn set_verified(
    connection: &mut PgConnection,
    webhook: Uuid,
    challenge: &str,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        "update webhook set verified_at = $3, challenge = null where id = $1 and challenge = $2",
        webhook,
        challenge,
        now
    )
    .execute(connection)
    .instrument(statement("update webhook verified_at"))
    .await?;
    Ok(())
}
