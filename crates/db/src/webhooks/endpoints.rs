//! The webhooks of players: the endpoints to which messages are sent.

use std::fmt;

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    deliveries::{CHALLENGE, UNVERIFIED},
    flags::{FLAG_AGAIN_AFTER, flag_now},
};
use crate::{
    connection::{DbError, statement},
    idempotency::{self, Keyed},
    players::lock_requester,
};

/// How many webhooks a player has at most.
pub const WEBHOOKS_MAX: u32 = 10;

/// How many webhooks all guests and new accounts of one network have at most.
pub const NETWORK_WEBHOOKS_MAX: u32 = 20;

/// How long the previous secret signs as well after a rotation.
pub const OVERLAP: Duration = Duration::hours(24);

/// The reason for disabling a webhook with too many queued deliveries.
pub(crate) const OVERFLOW: &str = "overflow";

/// Why a webhook is disabled: its app is. It is enabled again with the app.
pub(crate) const APP_DISABLED: &str = "app_disabled";

/// A webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// The id.
    pub id: Uuid,
    /// The player.
    pub player: PlayerId,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// The address of the endpoint.
    pub url: String,
    /// The types of messages that are sent; `None` for all.
    pub events: Option<Vec<String>>,
    /// The secret that signs.
    pub secret: Vec<u8>,
    /// The times until which previous secrets sign too.
    pub previous_until: Vec<OffsetDateTime>,
    /// Since when every attempt has failed.
    pub failing_since: Option<OffsetDateTime>,
    /// When the endpoint answered its challenge; `None`: it gets no notices yet.
    pub verified_at: Option<OffsetDateTime>,
    /// Since when nothing is sent, and why.
    pub disabled: Option<(OffsetDateTime, String)>,
}

/// Hides the secrets, and the address, which may hold one.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).field("player", &self.player).finish_non_exhaustive()
    }
}

/// A challenge, which an endpoint repeats to show that it wants notices.
#[derive(Clone)]
pub struct Challenge {
    /// The id of its delivery.
    pub delivery: Uuid,
    /// The text that the endpoint must repeat.
    pub text: String,
    /// The text of the message.
    pub payload: String,
}

/// Hides the value, which only the endpoint may see.
impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Challenge").field("delivery", &self.delivery).finish_non_exhaustive()
    }
}

/// Whether a new webhook is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// The webhook is stored.
    Stored,
    /// The player has reached the limit.
    TooMany,
    /// The guests and new accounts of the player's network have reached their limit.
    TooManyOfNetwork,
    /// Another request used the same idempotency key.
    KeyUsed,
    /// The player is deleted, or has revoked the credentials.
    NoPlayer,
}

/// Changes to a webhook; `None` leaves a value as it is.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Another address.
    pub url: Option<String>,
    /// Other types of messages.
    pub events: Option<EventFilter>,
    /// Whether it is enabled.
    pub enabled: Option<bool>,
}

/// Which types of messages are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventFilter {
    /// All types.
    All,
    /// Only these.
    Only(Vec<String>),
}

struct Row {
    id: Uuid,
    player_id: Uuid,
    created_at: OffsetDateTime,
    url: String,
    events: Option<Vec<String>>,
    secret: Vec<u8>,
    previous_until: Vec<OffsetDateTime>,
    failing_since: Option<OffsetDateTime>,
    verified_at: Option<OffsetDateTime>,
    disabled_at: Option<OffsetDateTime>,
    disabled_reason: Option<String>,
}

impl From<Row> for Webhook {
    fn from(row: Row) -> Self {
        Self {
            id: row.id,
            player: PlayerId(row.player_id),
            created_at: row.created_at,
            url: row.url,
            events: row.events,
            secret: row.secret,
            previous_until: row.previous_until,
            failing_since: row.failing_since,
            verified_at: row.verified_at,
            disabled: row.disabled_at.map(|at| (at, row.disabled_reason.unwrap_or_default())),
        }
    }
}

/// Stores a new webhook with its challenge, and the answer to keep under an idempotency key, and flags its player's games. A webhook outlives the
/// token that creates it, so it is stored only if that token's `credentials_version` is still the player's.
pub async fn insert(
    pool: &PgPool,
    webhook: &Webhook,
    challenge: &Challenge,
    credentials_version: i32,
    keyed: Option<&Keyed>,
) -> Result<Made, DbError> {
    let mut transaction = pool.begin().await?;
    let requester = lock_requester(&mut transaction, webhook.player).await?;
    let Some(requester) = requester.filter(|requester| requester.credentials_version == credentials_version) else {
        return Ok(Made::NoPlayer);
    };
    if let Some(keyed) = keyed
        && !idempotency::claim(&mut *transaction, keyed, webhook.created_at).await?
    {
        return Ok(Made::KeyUsed);
    }
    let held = sqlx::query!(
        r#"
        select (select count(*) from webhook where player_id = $1) as "own!",
            (select count(*) from webhook where network = $2 and player_id is not null) as "of_network!"
        "#,
        webhook.player.0,
        requester.network,
    );
    let held = held.fetch_one(&mut *transaction).instrument(statement("count webhook")).await?;
    if held.own >= i64::from(WEBHOOKS_MAX) {
        return Ok(Made::TooMany);
    }
    if held.of_network >= i64::from(NETWORK_WEBHOOKS_MAX) {
        return Ok(Made::TooManyOfNetwork);
    }
    sqlx::query!(
        r#"
        insert into webhook (id, player_id, created_at, url, events, secret, flag_at, network, verified_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, null)
        "#,
        webhook.id,
        webhook.player.0,
        webhook.created_at,
        webhook.url,
        webhook.events.as_deref(),
        webhook.secret,
        webhook.created_at + FLAG_AGAIN_AFTER,
        requester.network,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert webhook"))
    .await?;
    send_challenge(&mut transaction, webhook.id, challenge, webhook.created_at).await?;
    transaction.commit().await?;
    flag_now(pool, webhook.player).await;
    Ok(Made::Stored)
}

/// A player's webhook.
pub async fn find(pool: &PgPool, player: PlayerId, id: Uuid) -> Result<Option<Webhook>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, verified_at,
            disabled_at, disabled_reason
        from webhook where id = $1 and player_id = $2
        "#,
        id,
        player.0,
    )
    .fetch_optional(pool)
    .instrument(statement("select webhook"))
    .await?;
    Ok(row.map(Webhook::from))
}

/// All webhooks of a player, newest first.
pub async fn list(pool: &PgPool, player: PlayerId) -> Result<Vec<Webhook>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, verified_at,
            disabled_at, disabled_reason
        from webhook where player_id = $1 order by id desc limit $2
        "#,
        player.0,
        i64::from(WEBHOOKS_MAX),
    )
    .fetch_all(pool)
    .instrument(statement("select webhooks of a player"))
    .await?;
    Ok(rows.into_iter().map(Webhook::from).collect())
}

/// Replaces the challenge of a webhook, whose row the caller has locked, and sends it now.
async fn send_challenge(
    connection: &mut PgConnection,
    webhook: Uuid,
    challenge: &Challenge,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with earlier as (
            delete from webhook_delivery where webhook_id = $1 and type = $5 and ended_at is null
        ), made as (
            insert into webhook_delivery (id, webhook_id, created_at, type, payload, in_order, next_attempt_at)
            values ($2, $1, $6, $5, $4, false, $6)
        )
        update webhook set verified_at = null, challenge = $3, due_at = $6, paused_until = null, touched = touched + 1
        where id = $1
        "#,
        webhook,
        challenge.delivery,
        challenge.text,
        challenge.payload,
        CHALLENGE,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook challenge insert webhook_delivery"))
    .await?;
    Ok(())
}

/// Sends a challenge to a player's webhook that is not verified; a verified one stays unchanged. Enables a webhook again that was disabled
/// for not answering. Returns the updated webhook.
pub async fn challenge(
    pool: &PgPool,
    player: PlayerId,
    id: Uuid,
    challenge: &Challenge,
    now: OffsetDateTime,
) -> Result<Option<Webhook>, DbError> {
    let Some(found) = find(pool, player, id).await? else { return Ok(None) };
    let is_asked = found.verified_at.is_none() && found.disabled.as_ref().is_none_or(|(_, why)| why == UNVERIFIED);
    if !is_asked {
        return Ok(Some(found));
    }
    let changes = Changes { enabled: Some(true), ..Changes::default() };
    update(pool, player, id, &changes, challenge, now).await
}

/// Changes a player's webhook. If it is enabled again or gets another address, its failures are reset, and its queued deliveries become
/// due. An enabled webhook gets the challenge if its address is new or unverified.
pub async fn update(
    pool: &PgPool,
    player: PlayerId,
    id: Uuid,
    changes: &Changes,
    challenge: &Challenge,
    now: OffsetDateTime,
) -> Result<Option<Webhook>, DbError> {
    let mut transaction = pool.begin().await?;
    let before = sqlx::query!(
        "select url, verified_at, disabled_at, disabled_reason from webhook where id = $1 and player_id = $2 for no key update",
        id,
        player.0
    );
    let before = before.fetch_optional(&mut *transaction).instrument(statement("lock webhook")).await?;
    let Some(before) = before else { return Ok(None) };
    let has_moved = changes.url.as_ref().is_some_and(|url| *url != before.url);
    // If its app is disabled, only the operator enables the webhook.
    let is_of_disabled_app = before.disabled_reason.as_deref() == Some(APP_DISABLED);
    let is_enabled = changes.enabled == Some(true) && !is_of_disabled_app;
    let is_new = has_moved || is_enabled && before.disabled_at.is_some();
    let these = match &changes.events {
        Some(EventFilter::Only(events)) => Some(events.as_slice()),
        Some(EventFilter::All) | None => None,
    };
    if has_moved || is_enabled && before.verified_at.is_none() {
        send_challenge(&mut transaction, id, challenge, now).await?;
    }
    let row = sqlx::query_as!(
        Row,
        r#"
        update webhook set
            url = coalesce($2, url),
            events = case when $3 then $4 else events end,
            failures = case when $5 then 0 else failures end,
            failed_at = case when not $5 then failed_at end,
            failing_since = case when not $5 then failing_since end,
            lane = case when $5 then 1 else lane end,
            touched = touched + 1,
            paused_until = case when not ($5 or $6) then paused_until end,
            disabled_at = case when $6 then null when $7 then coalesce(disabled_at, $8) else disabled_at end,
            disabled_reason = case when $6 then null when $7 then coalesce(disabled_reason, 'by_request')
                else disabled_reason end,
            due_at = case when $5 or $6 then $8 else due_at end,
            flag_at = case when $6 then $9 else flag_at end
        where id = $1
        returning id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, verified_at,
            disabled_at, disabled_reason
        "#,
        id,
        changes.url.as_deref(),
        changes.events.is_some(),
        these,
        is_new,
        is_enabled,
        changes.enabled == Some(false),
        now,
        now + FLAG_AGAIN_AFTER,
    )
    .fetch_one(&mut *transaction)
    .instrument(statement("update webhook"))
    .await?;
    if is_enabled && before.disabled_reason.as_deref() == Some(OVERFLOW) {
        // The old deliveries are deleted, because they would disable the webhook again at once.
        sqlx::query!("delete from webhook_delivery where webhook_id = $1 and ended_at is null", id)
            .execute(&mut *transaction)
            .instrument(statement("delete webhook_delivery"))
            .await?;
    }
    if is_new || is_enabled {
        bring_forward(&mut transaction, id, now).await?;
    }
    transaction.commit().await?;
    if is_enabled {
        flag_now(pool, player).await;
    }
    Ok(Some(row.into()))
}

/// Makes all that waits for a webhook due: the first delivery of each game. The caller has locked the webhook's row.
async fn bring_forward(connection: &mut PgConnection, webhook: Uuid, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        update webhook_delivery set next_attempt_at = $2
        where webhook_id = $1 and ended_at is null and leased_until is null and deadline is null and (not in_order or id in (
            select distinct on (game_id) id from webhook_delivery
            where webhook_id = $1 and ended_at is null and in_order order by game_id, seq, type
        ))
        "#,
        webhook,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook_delivery next_attempt_at"))
    .await?;
    Ok(())
}

/// How many previous secrets sign too, at most.
pub const PREVIOUS_MAX: i32 = 4;

/// Gives a player's webhook a new secret; the previous ones sign for a while as well. Returns the updated webhook.
pub async fn rotate(
    pool: &PgPool,
    player: PlayerId,
    id: Uuid,
    secret: &[u8],
    now: OffsetDateTime,
) -> Result<Option<Webhook>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        update webhook set
            previous_secrets = (array[secret] || previous_secrets)[1:$5],
            previous_until = (array[$4::timestamptz] || previous_until)[1:$5],
            secret = $3
        where id = $1 and player_id = $2
        returning id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, verified_at,
            disabled_at, disabled_reason
        "#,
        id,
        player.0,
        secret,
        now + OVERLAP,
        PREVIOUS_MAX,
    )
    .fetch_optional(pool)
    .instrument(statement("update webhook secret"))
    .await?;
    forget_answer(pool, player, id).await?;
    Ok(row.map(Webhook::from))
}

/// Deletes a player's webhook; returns whether it existed. It disappears and sends nothing at once; its deliveries are
/// purged later in batches, because there may be many.
pub async fn delete(pool: &PgPool, player: PlayerId, id: Uuid, now: OffsetDateTime) -> Result<bool, DbError> {
    let deleted = sqlx::query!(
        r#"
        update webhook set player_id = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
            network = null, challenge = null, due_at = null, flag_at = null, disabled_at = $3, disabled_reason = 'deleted'
        where id = $1 and player_id = $2
        "#,
        id,
        player.0,
        now,
    )
    .execute(pool)
    .instrument(statement("update webhook player_id"))
    .await?;
    forget_answer(pool, player, id).await?;
    Ok(deleted.rows_affected() > 0)
}

/// A repeated creation under the same key must not return a secret that is void.
async fn forget_answer(pool: &PgPool, player: PlayerId, id: Uuid) -> Result<(), DbError> {
    sqlx::query!(
        "delete from idempotency_key where player_id = $1 and location = '/v1/webhooks/' || $2::uuid::text",
        player.0,
        id,
    )
    .execute(pool)
    .instrument(statement("delete idempotency_key"))
    .await?;
    Ok(())
}

/// Deletes the webhooks of players who were erased since a moment: webhooks that were made during the erasure.
pub async fn delete_of_erased(pool: &PgPool, since: OffsetDateTime, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with held as (
            select webhook.id from player join webhook on webhook.player_id = player.id
            where player.erased_at >= $1 order by webhook.id for no key update of webhook
        )
        update webhook set player_id = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
            network = null, challenge = null, due_at = null, flag_at = null, disabled_at = $2, disabled_reason = 'deleted'
        from held where webhook.id = held.id
        "#,
        since,
        now,
    )
    .execute(pool)
    .instrument(statement("update webhook player_id"))
    .await?;
    Ok(())
}
