//! Deliveries: webhook messages on their way to an endpoint, and their results.

use std::fmt;

use mancala_domain::{GameId, PlayerId};
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::health;
pub use super::health::{AttemptOutcome, Lane, NextStep};
use crate::connection::{DbError, statement};

/// The type of a test message.
pub const PING: &str = "webhook.ping";

/// The type of a message that asks whether the endpoint wants notices.
pub const CHALLENGE: &str = "webhook.challenge";

/// The reason for disabling a webhook whose endpoint did not answer the challenge.
pub(super) const UNVERIFIED: &str = "unverified";

/// How many due endpoints one poll looks at, to choose from them by player and by host.
const LOOKED_AT_MAX: i64 = 1000;

/// How long ended deliveries are kept, and deliveries that wait for a disabled webhook.
pub const KEPT: Duration = Duration::days(7);

/// After this many failed attempts in a row an endpoint counts as down, and its first success brings all that waits for
/// it forward. After fewer, the delivery itself may be the cause.
const DOWN: i32 = 3;

/// A delivery that was leased for an attempt.
pub struct Due {
    /// The id of the delivery, which its message carries.
    pub id: Uuid,
    /// The webhook.
    pub webhook: Uuid,
    /// The webhook's player.
    pub player: PlayerId,
    /// When it was queued.
    pub created_at: OffsetDateTime,
    /// The number of the attempt, from 1. Only the last attempt's result is recorded.
    pub attempt: i32,
    /// How many attempts were made before the delivery was requested again: the schedule starts anew.
    pub attempts_before: i32,
    /// The message.
    pub payload: String,
    /// The address of the endpoint.
    pub url: String,
    /// The host and port of the address.
    pub host: String,
    /// The secret that signs.
    pub secret: Vec<u8>,
    /// Earlier secrets, and until when they sign too.
    pub previous: Vec<(Vec<u8>, OffsetDateTime)>,
    /// For a reminder of a deadline: the game, and its deadline.
    pub deadline: Option<(GameId, OffsetDateTime)>,
    /// For a challenge: what the endpoint must repeat.
    pub challenge: Option<String>,
}

/// The players and hosts that have enough attempts in flight.
#[derive(Clone, Debug, Default)]
pub struct Full {
    /// The players.
    pub players: Vec<PlayerId>,
    /// The hosts.
    pub hosts: Vec<String>,
}

/// Hides the secrets, and the address, which may hold one.
impl fmt::Debug for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Due").field("id", &self.id).field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

/// A delivery as its player sees it.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The id of the delivery.
    pub id: Uuid,
    /// When it was queued.
    pub created_at: OffsetDateTime,
    /// The game; `None` for a test.
    pub game: Option<Uuid>,
    /// The event; `None` for a test.
    pub seq: Option<i32>,
    /// The type of the message.
    pub kind: String,
    /// How many attempts were made.
    pub attempts: i32,
    /// When the next attempt is due, if it is.
    pub next_attempt_at: Option<OffsetDateTime>,
    /// When the last attempt was made.
    pub last_attempt_at: Option<OffsetDateTime>,
    /// The status of the last attempt's answer.
    pub last_status: Option<i32>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it ended.
    pub ended_at: Option<OffsetDateTime>,
    /// Whether it arrived.
    pub is_delivered: bool,
}

/// Leases deliveries that are due until `leased_until`, for as many endpoints as there is `room` for. Deliveries that
/// another process has leased are skipped. After a crash the lease expires, and another process takes them.
///
/// It scans endpoints, not deliveries: those that wait for an endpoint that is not due are never read. An endpoint that
/// got new deliveries meanwhile has another count in `touched`, and stays due; so does one whose row is locked.
///
/// Players take turns: the first due endpoint of each comes before the second of any. A player or a host gets as many
/// attempts at most as its limit says, and none if it is `full`. An endpoint that is not verified gets its challenge only.
pub async fn take(
    pool: &PgPool,
    lane: Lane,
    now: OffsetDateTime,
    leased_until: OffsetDateTime,
    room: u32,
    full: &Full,
) -> Result<Vec<Due>, DbError> {
    let endpoints = |attempts: u32| i64::from((attempts / lane.at_once()).max(1));
    let rows = sqlx::query!(
        r#"
        with due as (
            select id, touched, player_id, host, due_at, verified_at is not null as is_verified from webhook
            where lane = $1 and due_at <= $2 and disabled_at is null and player_id is not null
              and player_id <> all($6) and host <> all($7)
            order by due_at limit $8
        ), ranked as (
            select id, touched, is_verified, due_at,
                row_number() over (partition by player_id order by due_at) as of_player,
                row_number() over (partition by host order by due_at) as of_host
            from due
        ), looked as (
            select id, touched, is_verified, (
                select count(*) from webhook_delivery where webhook_id = ranked.id and leased_until > $2
            ) as busy
            from ranked where of_player <= $9 and of_host <= $10
            order by of_player, due_at limit $4
        ), chosen as (
            select head.id, looked.id as webhook_id from looked cross join lateral (
                select id from webhook_delivery
                where webhook_id = looked.id and next_attempt_at <= $2 and (is_verified or type = $11)
                order by next_attempt_at limit greatest($5 - looked.busy, 0)
                for update skip locked
            ) head
        ), leased as (
            update webhook_delivery set
                leased_until = $3, next_attempt_at = $3, last_attempt_at = $2, attempts = attempts + 1
            from chosen where webhook_delivery.id = chosen.id
            returning webhook_delivery.*
        ), later as (
            select looked.id, looked.touched, case
                when looked.busy + taken.count >= $5 then $3
                else least((
                    select next_attempt_at from webhook_delivery
                    where webhook_id = looked.id and next_attempt_at is not null and (is_verified or type = $11)
                    order by next_attempt_at offset taken.count limit 1
                ), case when taken.count > 0 then $3 end)
            end as at
            from looked cross join lateral (
                select count(*) as count from chosen where chosen.webhook_id = looked.id
            ) taken
        ), free as (
            select webhook.id, later.at from later
            join webhook on webhook.id = later.id and webhook.touched = later.touched
            order by webhook.id for no key update of webhook skip locked
        ), put_off as (
            update webhook set due_at = free.at from free where webhook.id = free.id
        )
        select leased.id as "id!", leased.webhook_id as "webhook_id!", leased.created_at as "created_at!",
            attempts as "attempts!", attempts_before as "attempts_before!", payload as "payload!", game_id, deadline, url,
            host as "host!", player_id as "player_id!", secret, previous_secrets, previous_until,
            case when type = $11 then coalesce(challenge, '') end as challenge
        from leased join webhook on webhook.id = leased.webhook_id
        where player_id is not null
        "#,
        lane.number(),
        now,
        leased_until,
        endpoints(room),
        i64::from(lane.at_once()),
        &full.players.iter().map(|player| player.0).collect::<Vec<_>>(),
        &full.hosts,
        LOOKED_AT_MAX,
        endpoints(lane.of_player()),
        endpoints(lane.of_host()),
        CHALLENGE,
    )
    .fetch_all(pool)
    .instrument(statement("update webhook_delivery leased_until"))
    .await?;
    let due = rows.into_iter().map(|row| Due {
        id: row.id,
        webhook: row.webhook_id,
        player: PlayerId(row.player_id),
        created_at: row.created_at,
        attempt: row.attempts,
        attempts_before: row.attempts_before,
        payload: row.payload,
        url: row.url,
        host: row.host,
        secret: row.secret,
        previous: row.previous_secrets.into_iter().zip(row.previous_until).collect(),
        deadline: row.game_id.map(GameId).zip(row.deadline),
        challenge: row.challenge,
    });
    Ok(due.collect())
}

/// Records the result of an attempt, unless the delivery was tried again meanwhile, and the new health of its endpoint.
/// When a delivery has ended, the next one of its game becomes due. When an endpoint that was down answers again, or a
/// new one answers the challenge, all that waits for it becomes due.
pub async fn record(
    pool: &PgPool,
    due: &Due,
    outcome: &AttemptOutcome,
    took: Duration,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    let mut transaction = pool.begin().await?;
    let Some(before) = health::lock(&mut transaction, due.webhook).await? else { return Ok(()) };
    let is_delivered = outcome.next == NextStep::Delivered;
    let again = match outcome.next {
        NextStep::Again(at) => Some(at),
        NextStep::Delivered | NextStep::GivenUp | NextStep::Gone => None,
    };
    let recorded = sqlx::query!(
        r#"
        with done as (
            update webhook_delivery set
                leased_until = null, last_status = $3, last_error = $4, next_attempt_at = $5,
                ended_at = case when $5::timestamptz is null then $6::timestamptz end, is_delivered = $7
            where id = $1 and attempts = $2 and ended_at is null
            returning id, webhook_id, game_id, in_order, ended_at
        ), behind as (
            update webhook_delivery set next_attempt_at = $6 where id = (
                select waiting.id from done join webhook_delivery waiting
                    on waiting.webhook_id = done.webhook_id and waiting.game_id = done.game_id
                where done.in_order and done.ended_at is not null
                  and waiting.in_order and waiting.ended_at is null and waiting.id <> done.id
                order by waiting.seq, waiting.type limit 1
            )
        ), others as (
            update webhook_delivery set next_attempt_at = $6 from done
            where $8 and webhook_delivery.webhook_id = done.webhook_id and webhook_delivery.id <> done.id
              and next_attempt_at > $6 and leased_until is null and deadline is null
        )
        select id from done
        "#,
        due.id,
        due.attempt,
        outcome.status.map(i32::from),
        outcome.error,
        again,
        now,
        is_delivered,
        is_delivered && (due.challenge.is_some() || before.health.failures >= DOWN),
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("update webhook_delivery"))
    .await?;
    if recorded.is_some() {
        // The result at another address says nothing about this one.
        let is_same = before.url == due.url;
        let mut after = if is_same { before.health.after(outcome, took, now) } else { before.health };
        if let Some(challenge) = &due.challenge {
            // How fast an endpoint answers a challenge says nothing about notices.
            after.is_quick = false;
            if outcome.next == NextStep::GivenUp {
                after.disabled = Some(UNVERIFIED);
            }
            if is_delivered {
                set_verified(&mut transaction, due.webhook, challenge, now).await?;
            }
        }
        health::set_health(&mut transaction, due.webhook, &after, now).await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Notes that an endpoint has answered its challenge, unless it has another one by now.
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

/// Deletes a delivery that is of no use any more.
pub async fn drop_stale(pool: &PgPool, due: &Due, now: OffsetDateTime) -> Result<(), DbError> {
    let mut transaction = pool.begin().await?;
    health::touch(&mut transaction, due.webhook, now).await?;
    sqlx::query!("delete from webhook_delivery where id = $1 and attempts = $2", due.id, due.attempt)
        .execute(&mut *transaction)
        .instrument(statement("delete webhook_delivery"))
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Whether a game still has a deadline.
pub async fn has_deadline(pool: &PgPool, game: GameId, deadline: OffsetDateTime) -> Result<bool, DbError> {
    let found = sqlx::query_scalar!(
        r#"select exists (select from game where id = $1 and deadline = $2 and finished_at is null) as "is_so!""#,
        game.0,
        deadline,
    )
    .fetch_one(pool)
    .instrument(statement("select deadline"))
    .await?;
    Ok(found)
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

/// Queues a test for a player's webhook, or brings forward the one that is queued. `None` if there is no such webhook.
pub async fn ping(
    pool: &PgPool,
    player: PlayerId,
    webhook: Uuid,
    id: Uuid,
    payload: &str,
    now: OffsetDateTime,
) -> Result<Option<Delivery>, DbError> {
    let mut transaction = pool.begin().await?;
    if !health::wake(&mut transaction, player, webhook, now).await? {
        return Ok(None);
    }
    let row = sqlx::query_as!(
        Delivery,
        r#"
        with waiting as (
            update webhook_delivery set next_attempt_at = case when leased_until is null then $4 else next_attempt_at end
            where id = (
                select id from webhook_delivery
                where webhook_id = $1 and game_id is null and type = $5 and ended_at is null limit 1
            )
            returning *
        ), made as (
            insert into webhook_delivery (id, webhook_id, created_at, type, payload, in_order, next_attempt_at)
            select $2, $1, $4, $5, $3, false, $4 where not exists (select from waiting)
            returning *
        )
        select id as "id!", created_at as "created_at!", game_id as game, seq, type as "kind!",
            attempts as "attempts!", next_attempt_at, last_attempt_at, last_status, last_error,
            ended_at, is_delivered as "is_delivered!"
        from (select * from waiting union all select * from made) ping
        "#,
        webhook,
        id,
        payload,
        now,
        PING,
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("insert webhook_delivery"))
    .await?;
    transaction.commit().await?;
    Ok(row)
}

/// Sends a delivery of a player's webhook once more, whatever its result, without waiting for others of its game. One
/// that is still queued is sent now, or after those before it in its game, which are brought forward. `None` if there
/// is no such delivery.
pub async fn send_again(
    pool: &PgPool,
    player: PlayerId,
    webhook: Uuid,
    id: Uuid,
    now: OffsetDateTime,
) -> Result<Option<Delivery>, DbError> {
    let mut transaction = pool.begin().await?;
    if !health::wake(&mut transaction, player, webhook, now).await? {
        return Ok(None);
    }
    let row = sqlx::query_as!(
        Delivery,
        r#"
        with wanted as (
            select id, game_id, ended_at is not null as is_over from webhook_delivery where id = $2 and webhook_id = $1
        ), first as (
            update webhook_delivery set next_attempt_at = $3 from wanted
            where not is_over and webhook_delivery.webhook_id = $1 and webhook_delivery.game_id = wanted.game_id
              and webhook_delivery.id <> wanted.id and next_attempt_at > $3 and leased_until is null and deadline is null
        ), again as (
            update webhook_delivery set
                next_attempt_at = case
                    when is_over or (next_attempt_at > $3 and leased_until is null and deadline is null) then $3
                    else next_attempt_at
                end,
                attempts_before = case when is_over then attempts else attempts_before end,
                in_order = in_order and not is_over, ended_at = null, is_delivered = false,
                deadline = case when not is_over then deadline end
            from wanted where webhook_delivery.id = wanted.id
            returning webhook_delivery.*
        )
        select id, created_at, game_id as game, seq, type as kind, attempts, next_attempt_at, last_attempt_at,
            last_status, last_error, ended_at, is_delivered
        from again
        "#,
        webhook,
        id,
        now,
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("update webhook_delivery"))
    .await?;
    transaction.commit().await?;
    Ok(row)
}

/// Deletes up to `limit` deliveries that ended long ago; returns how many.
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

/// Deletes up to `limit` deliveries of webhooks that are deleted or have been disabled for long, then the deleted
/// webhooks; returns how many rows.
pub async fn purge_abandoned(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        with abandoned as (
            (select id, false as is_kept from webhook where player_id is null limit $2)
            union all
            select * from (
                select id, true from webhook where disabled_at <= $1 and player_id is not null
                  and exists (select from webhook_delivery where webhook_id = webhook.id and ended_at is null)
                limit $2 for no key update skip locked
            ) disabled
        ), chosen as (
            select delivery.id from abandoned cross join lateral (
                select id from webhook_delivery
                where webhook_id = abandoned.id and (not is_kept or ended_at is null)
                limit $2
            ) delivery
            limit $2
        ), deliveries as (
            delete from webhook_delivery using chosen where webhook_delivery.id = chosen.id returning 1
        ), webhooks as (
            delete from webhook using abandoned
            where webhook.id = abandoned.id and not is_kept
              and not exists (select from webhook_delivery where webhook_id = webhook.id)
            returning 1
        )
        select (select count(*) from deliveries) + (select count(*) from webhooks) as "count!"
        "#,
        now - KEPT,
        i64::from(limit),
    )
    .fetch_one(pool)
    .instrument(statement("delete webhook_delivery webhook"))
    .await?;
    Ok(deleted.count.unsigned_abs())
}
