//! Deliveries as their players see them: the log of a webhook, tests, redeliveries; and their end.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::health;
use crate::connection::{DbError, statement};

/// The type of a test message.
pub const PING: &str = "webhook.ping";

/// The type of a message that asks whether the endpoint wants notices.
pub const CHALLENGE: &str = "webhook.challenge";

/// The reason for disabling a webhook whose endpoint did not answer the challenge.
pub(super) const UNVERIFIED: &str = "unverified";

/// How long ended deliveries are kept, and deliveries that wait for a disabled webhook.
pub const KEPT: Duration = Duration::days(7);

/// How many deliveries wait for an endpoint at most: more than a player has games. A webhook with more is disabled. Its log keeps as many
/// that have ended.
pub const FOR_ENDPOINT_MAX: i64 = 10_000;

/// How many deliveries wait for an endpoint of an app at most. It is notified of the games of all players of the app.
pub(super) const FOR_APP_MAX: i64 = 100_000;

/// How many of the last ended deliveries are read to find logs that have grown, and their greatest age.
const LOOKED_AT_MAX: i64 = 10_000;
const GROWN_WITHIN: Duration = Duration::hours(1);

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
    /// When the next attempt is due, if there is one.
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

/// Sends a delivery of a player's webhook again, whatever its result, without waiting for other deliveries of its game. A delivery that is
/// still queued is sent now, after the earlier ones of its game, which are due now as well. `None` if there is no such delivery.
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

/// Deletes up to `limit` ended deliveries of logs that are too long; returns how many. An endpoint keeps as many ended ones as may wait
/// for it. Only logs are read to which one of the last deliveries of all webhooks belongs.
pub async fn purge_long_logs(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    let deleted = sqlx::query!(
        r#"
        delete from webhook_delivery where id in (
            select old.id from (
                select distinct webhook_id as id from (
                    select webhook_id from webhook_delivery where ended_at > $1 order by ended_at desc limit $5
                ) recent
            ) grown join webhook on webhook.id = grown.id
            cross join lateral (
                select id from webhook_delivery where webhook_id = webhook.id and ended_at is not null order by id desc
                offset case when exists (select from app where app.id = player_id) then $3::bigint else $2 end limit $4
            ) old
            limit $4
        ) and ended_at is not null
        "#,
        now - GROWN_WITHIN,
        FOR_ENDPOINT_MAX,
        FOR_APP_MAX,
        i64::from(limit),
        LOOKED_AT_MAX,
    )
    .execute(pool)
    .instrument(statement("delete webhook_delivery long logs"))
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
