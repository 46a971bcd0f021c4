//! Deliveries: what is on its way to an endpoint, and what became of it.

use std::fmt;

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{DbError, statement};
use crate::domain::PlayerId;

/// The type of a test that its player asked for.
pub const PING: &str = "webhook.ping";

/// How long what has ended is kept.
pub const KEPT: Duration = Duration::days(7);

/// How long an endpoint's queue is left alone in which nothing can be sent, though its time has come: nobody sets it back.
const STUCK_PAUSE: Duration = Duration::seconds(10);

/// Which endpoints. An endpoint that fails, or has yet to show that it answers, may keep whoever sends to it waiting for as long as
/// they wait: these share places of their own, and are in nobody else's way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Those whose last attempt succeeded.
    Quick,
    Slow,
}

impl Lane {
    /// How many attempts an endpoint gets at once.
    pub const fn at_once(self) -> u32 {
        match self {
            Lane::Quick => 4,
            Lane::Slow => 1,
        }
    }
}

/// A delivery whose turn it is.
pub struct Due {
    pub id: Uuid,
    /// Which attempt it is, from 1. Only whoever made the last one says what became of it.
    pub attempt: i32,
    pub payload: String,
    pub url: String,
    pub secret: Vec<u8>,
    /// The secret before, and until when it signs too.
    pub previous: Option<(Vec<u8>, OffsetDateTime)>,
}

/// Nobody is shown a secret, or an address, which may have one in it.
impl fmt::Debug for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Due").field("id", &self.id).field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

/// What became of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// Why it failed, in a word.
    pub error: Option<&'static str>,
    pub next: Next,
}

/// What follows from an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It succeeded.
    Delivered,
    /// It is tried again at this time.
    Again(OffsetDateTime),
    /// It was tried often enough.
    GivenUp,
    /// The endpoint wants nothing any more.
    Gone,
}

/// A delivery as its player sees it.
#[derive(Clone, Debug)]
pub struct Delivery {
    pub id: Uuid,
    pub created_at: OffsetDateTime,
    pub game: Option<Uuid>,
    pub seq: Option<i32>,
    pub kind: String,
    pub attempts: i32,
    pub next_attempt_at: OffsetDateTime,
    pub last_attempt_at: Option<OffsetDateTime>,
    pub last_status: Option<i32>,
    pub last_error: Option<String>,
    pub ended_at: Option<OffsetDateTime>,
    pub is_delivered: bool,
}

/// Takes deliveries whose time has come, and no other process's, for as long as `leased_until`; of as many endpoints as there is `room`
/// for. Of each game only the first that waits is taken, so that they arrive in order; a redelivery or a ping waits for nobody.
///
/// Looks at endpoints, not at deliveries: what waits for an endpoint that does not answer is not even read. An endpoint that was told
/// of something new meanwhile has another `due_at`, and is looked at again.
pub async fn take(
    pool: &PgPool,
    lane: Lane,
    now: OffsetDateTime,
    leased_until: OffsetDateTime,
    room: u32,
) -> Result<Vec<Due>, DbError> {
    let rows = sqlx::query!(
        r#"
        with looked as (
            select id, due_at from webhook
            where (is_proven and failing_since is null) = $1 and due_at <= $2 and disabled_at is null
            order by due_at limit $4
        ), chosen as (
            select head.id, looked.id as webhook_id from looked
            cross join lateral (
                select count(*) as count from webhook_delivery
                where webhook_id = looked.id and ended_at is null and leased_until is not null and leased_until > $2
            ) busy
            cross join lateral (
                select waiting.id from (
                    select id, game_id, seq, type, in_order, leased_until, next_attempt_at from webhook_delivery
                    where webhook_id = looked.id and ended_at is null and next_attempt_at <= $2
                    order by next_attempt_at limit 100
                ) waiting
                where (leased_until is null or leased_until <= $2) and (not in_order or not exists (
                    select from webhook_delivery before
                    where before.webhook_id = looked.id and before.game_id = waiting.game_id
                      and before.ended_at is null and before.in_order
                      and (before.seq, before.type) < (waiting.seq, waiting.type)
                ))
                order by next_attempt_at limit greatest($5 - busy.count, 0)
            ) head
        ), leased as (
            update webhook_delivery set leased_until = $3, last_attempt_at = $2, attempts = attempts + 1
            from chosen where webhook_delivery.id = chosen.id
              and ended_at is null and (leased_until is null or leased_until <= $2)
            returning webhook_delivery.id, webhook_delivery.webhook_id, attempts, payload
        ), later as (
            select looked.id, looked.due_at, case
                when exists (select from chosen where chosen.webhook_id = looked.id) or exists (
                    select from webhook_delivery
                    where webhook_id = looked.id and ended_at is null and leased_until is not null and leased_until > $2
                ) then least($3, coming.at)
                when exists (
                    select from webhook_delivery
                    where webhook_id = looked.id and ended_at is null and next_attempt_at <= $2
                ) then least($6, coming.at)
                else coming.at
            end as at
            from looked cross join lateral (
                select min(next_attempt_at) as at from webhook_delivery
                where webhook_id = looked.id and ended_at is null and next_attempt_at > $2
            ) coming
        ), put_off as (
            update webhook set due_at = later.at from later
            where webhook.id = later.id and webhook.due_at = later.due_at
        )
        select leased.id as "id!", attempts as "attempts!", payload as "payload!", url, secret, previous_secret,
            previous_until
        from leased join webhook on webhook.id = leased.webhook_id
        "#,
        lane == Lane::Quick,
        now,
        leased_until,
        i64::from((room / lane.at_once()).max(1)),
        i64::from(lane.at_once()),
        now + STUCK_PAUSE,
    )
    .fetch_all(pool)
    .instrument(statement("update webhook_delivery leased_until"))
    .await?;
    let due = rows.into_iter();
    Ok(due
        .map(|row| Due {
            id: row.id,
            attempt: row.attempts,
            payload: row.payload,
            url: row.url,
            secret: row.secret,
            previous: row.previous_secret.zip(row.previous_until),
        })
        .collect())
}

/// Records what became of an attempt, unless another one was made since. What waits behind it in its game is not looked at before it
/// is tried again. An endpoint that wants nothing any more is disabled, and so is one that has failed since `failing_before`.
pub async fn record(
    pool: &PgPool,
    due: (Uuid, i32),
    outcome: &Outcome,
    now: OffsetDateTime,
    failing_before: OffsetDateTime,
) -> Result<(), DbError> {
    let again = match outcome.next {
        Next::Again(at) => Some(at),
        _ => None,
    };
    sqlx::query!(
        r#"
        with done as (
            update webhook_delivery set leased_until = null, last_status = $3, last_error = $4,
                next_attempt_at = coalesce($5, next_attempt_at), ended_at = case when $5::timestamptz is null then $6::timestamptz end,
                is_delivered = $7
            where id = $1 and attempts = $2 and ended_at is null
            returning id, webhook_id, game_id, in_order
        ), behind as (
            update webhook_delivery as later set next_attempt_at = $5 from done
            where $5 is not null and done.in_order
              and later.webhook_id = done.webhook_id and later.game_id = done.game_id and later.id <> done.id
              and later.ended_at is null and later.in_order and later.next_attempt_at < $5
        )
        update webhook set
            due_at = $6,
            is_proven = is_proven or $7,
            failing_since = case when not $7 then coalesce(failing_since, $6) end,
            disabled_at = case when $8 or (not $7 and failing_since <= $9) then coalesce(disabled_at, $6) else disabled_at end,
            disabled_reason = case
                when disabled_at is not null then disabled_reason when $8 then 'gone'
                when not $7 and failing_since <= $9 then 'failing'
            end
        from done where webhook.id = done.webhook_id
        "#,
        due.0,
        due.1,
        outcome.status.map(i32::from),
        outcome.error,
        again,
        now,
        outcome.next == Next::Delivered,
        outcome.next == Next::Gone,
        failing_before,
    )
    .execute(pool)
    .instrument(statement("update webhook_delivery webhook"))
    .await?;
    Ok(())
}

/// Up to `limit` deliveries of a webhook, newest first, from the one before `before`.
pub async fn list(pool: &PgPool, webhook: Uuid, before: Option<Uuid>, limit: u32) -> Result<Vec<Delivery>, DbError> {
    let rows = sqlx::query_as!(
        Delivery,
        r#"
        select id, created_at, game_id as game, seq, type as kind, attempts, next_attempt_at, last_attempt_at,
            last_status, last_error, ended_at, is_delivered
        from webhook_delivery where webhook_id = $1 and id < $2 order by id desc limit $3
        "#,
        webhook,
        before.unwrap_or(Uuid::max()),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select webhook_delivery"))
    .await?;
    Ok(rows)
}

/// A test for a player's webhook; one that still waits is not joined by another. `None` if there is no such webhook.
pub async fn ping(
    pool: &PgPool,
    player: PlayerId,
    webhook: Uuid,
    id: Uuid,
    payload: &str,
    now: OffsetDateTime,
) -> Result<Option<Delivery>, DbError> {
    let row = sqlx::query_as!(
        Delivery,
        r#"
        with woken as (
            update webhook set due_at = $5 where id = $2 and player_id = $1 and disabled_at is null returning id
        ), waiting as (
            select webhook_delivery.* from webhook_delivery join woken on woken.id = webhook_id
            where ended_at is null and not in_order and type = $6
            limit 1
        ), made as (
            insert into webhook_delivery (id, webhook_id, created_at, type, payload, in_order, next_attempt_at)
            select $3, woken.id, $5, $6, $4, false, $5 from woken where not exists (select from waiting)
            returning *
        )
        select id as "id!", created_at as "created_at!", game_id as game, seq, type as "kind!",
            attempts as "attempts!", next_attempt_at as "next_attempt_at!", last_attempt_at, last_status, last_error,
            ended_at, is_delivered as "is_delivered!"
        from (select * from waiting union all select * from made) ping
        "#,
        player.0,
        webhook,
        id,
        payload,
        now,
        PING,
    )
    .fetch_optional(pool)
    .instrument(statement("insert webhook_delivery"))
    .await?;
    Ok(row)
}

/// Sends a delivery of a player's webhook once more, whatever became of it, without waiting for others of its game. `None` if there is
/// no such delivery.
pub async fn send_again(
    pool: &PgPool,
    player: PlayerId,
    webhook: Uuid,
    id: Uuid,
    now: OffsetDateTime,
) -> Result<Option<Delivery>, DbError> {
    let row = sqlx::query_as!(
        Delivery,
        r#"
        with woken as (
            update webhook set due_at = $4 where id = $2 and player_id = $1 and disabled_at is null returning id
        )
        update webhook_delivery set next_attempt_at = $4, ended_at = null, is_delivered = false,
            in_order = in_order and ended_at is null
        from woken where webhook_delivery.id = $3 and webhook_id = woken.id
        returning webhook_delivery.id, created_at, game_id as game, seq, type as kind, attempts, next_attempt_at,
            last_attempt_at, last_status, last_error, ended_at, is_delivered
        "#,
        player.0,
        webhook,
        id,
        now,
    )
    .fetch_optional(pool)
    .instrument(statement("update webhook_delivery"))
    .await?;
    Ok(row)
}

/// Deletes up to `limit` deliveries that ended long ago; says how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from webhook_delivery where id in (
            select id from webhook_delivery where ended_at <= $1 order by ended_at limit $2 for update skip locked
        )
        "#,
        now - KEPT,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete webhook_delivery"))
    .await?;
    Ok(deleted.rows_affected())
}
