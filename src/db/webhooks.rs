//! Webhooks: where players have notices sent to.

use std::fmt;

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    DbError,
    idempotency::{self, Keyed},
    statement,
};
use crate::domain::PlayerId;

/// How many a player has at most.
pub const WEBHOOKS_MAX: u32 = 10;

/// How long after a secret was exchanged the one before it signs as well.
pub const OVERLAP: Duration = Duration::hours(24);

/// How long after a webhook was made its player's games are flagged once more: longer than any statement takes that was storing a
/// game at that moment and could not see it.
const FLAG_AGAIN_AFTER: Duration = Duration::seconds(15);

/// How many games of a player are flagged: all that are not over, of which there are no more, and as many invitations.
const FLAGGED_MAX: i64 = 2000;

/// A webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: Uuid,
    pub player: PlayerId,
    pub created_at: OffsetDateTime,
    pub url: String,
    /// The types of notices that are sent; `None`: all.
    pub events: Option<Vec<String>>,
    pub secret: Vec<u8>,
    /// The secret before, and until when it signs too.
    pub previous: Option<(Vec<u8>, OffsetDateTime)>,
    /// Since when every attempt has failed.
    pub failing_since: Option<OffsetDateTime>,
    /// Since when nothing is sent any more, and why.
    pub disabled: Option<(OffsetDateTime, String)>,
}

/// Nobody is shown a secret, or an address, which may have one in it.
impl fmt::Debug for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhook").field("id", &self.id).field("player", &self.player).finish_non_exhaustive()
    }
}

/// Whether a new webhook is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    Stored,
    /// The player has as many as there may be.
    TooMany,
    /// Another was made under the key that the request came with.
    KeyUsed,
}

/// What is to be different about a webhook; nothing said, nothing changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    pub url: Option<String>,
    pub events: Option<Wanted>,
    pub enabled: Option<bool>,
}

/// Which types of notices are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    All,
    These(Vec<String>),
}

struct Row {
    id: Uuid,
    player_id: Uuid,
    created_at: OffsetDateTime,
    url: String,
    events: Option<Vec<String>>,
    secret: Vec<u8>,
    previous_secret: Option<Vec<u8>>,
    previous_until: Option<OffsetDateTime>,
    failing_since: Option<OffsetDateTime>,
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
            previous: row.previous_secret.zip(row.previous_until),
            failing_since: row.failing_since,
            disabled: row.disabled_at.map(|at| (at, row.disabled_reason.unwrap_or_default())),
        }
    }
}

/// Stores a new webhook, with what is answered if the request may be sent again, and flags its player's games.
pub async fn insert(pool: &PgPool, webhook: &Webhook, keyed: Option<&Keyed>) -> Result<Made, DbError> {
    let mut transaction = pool.begin().await?;
    // Of several requests at once one counts after the other.
    sqlx::query!("select id from player where id = $1 for no key update", webhook.player.0)
        .fetch_optional(&mut *transaction)
        .await?;
    if let Some(keyed) = keyed
        && !idempotency::claim(&mut *transaction, keyed, webhook.created_at).await?
    {
        return Ok(Made::KeyUsed);
    }
    let stored = sqlx::query!(
        r#"
        insert into webhook (id, player_id, created_at, url, events, secret, flag_at)
        select $1, $2, $3, $4, $5, $6, $7 where (select count(*) from webhook where player_id = $2) < $8
        "#,
        webhook.id,
        webhook.player.0,
        webhook.created_at,
        webhook.url,
        webhook.events.as_deref(),
        webhook.secret,
        webhook.created_at + FLAG_AGAIN_AFTER,
        i64::from(WEBHOOKS_MAX),
    )
    .execute(&mut *transaction)
    .await?;
    if stored.rows_affected() == 0 {
        return Ok(Made::TooMany);
    }
    transaction.commit().await?;
    flag_games(pool, webhook.player).await?;
    Ok(Made::Stored)
}

/// A player's webhook.
pub async fn find(pool: &PgPool, player: PlayerId, id: Uuid) -> Result<Option<Webhook>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select id, player_id, created_at, url, events, secret, previous_secret, previous_until, failing_since,
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
        select id, player_id, created_at, url, events, secret, previous_secret, previous_until, failing_since,
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

/// Changes a player's webhook. One that is enabled again, or has another address, has not failed yet; what was left of its deliveries
/// is sent.
pub async fn update(
    pool: &PgPool,
    player: PlayerId,
    id: Uuid,
    changes: &Changes,
    now: OffsetDateTime,
) -> Result<Option<Webhook>, DbError> {
    let these = match &changes.events {
        Some(Wanted::These(events)) => Some(events.as_slice()),
        Some(Wanted::All) | None => None,
    };
    let row = sqlx::query_as!(
        Row,
        r#"
        update webhook set
            url = coalesce($3, url),
            is_proven = is_proven and ($3::text is null or $3 = url),
            events = case when $4 then $5 else events end,
            failing_since = case
                when ($6 and disabled_at is not null) or ($3::text is not null and $3 <> url) then null else failing_since
            end,
            disabled_at = case when $6 then null when not $6 then coalesce(disabled_at, $7) else disabled_at end,
            disabled_reason = case when $6 then null when not $6 then coalesce(disabled_reason, 'by_request')
                else disabled_reason end,
            due_at = case when $6 then $7 else due_at end,
            flag_at = case when $6 then $8 else flag_at end
        where id = $1 and player_id = $2
        returning id, player_id, created_at, url, events, secret, previous_secret, previous_until, failing_since,
            disabled_at, disabled_reason
        "#,
        id,
        player.0,
        changes.url.as_deref(),
        changes.events.is_some(),
        these,
        changes.enabled,
        now,
        now + FLAG_AGAIN_AFTER,
    )
    .fetch_optional(pool)
    .instrument(statement("update webhook"))
    .await?;
    if row.is_some() && changes.enabled == Some(true) {
        flag_games(pool, player).await?;
    }
    Ok(row.map(Webhook::from))
}

/// Gives a player's webhook another secret; the one before signs as well for a while. Says the webhook as it is then.
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
        update webhook set previous_secret = secret, previous_until = $4, secret = $3 where id = $1 and player_id = $2
        returning id, player_id, created_at, url, events, secret, previous_secret, previous_until, failing_since,
            disabled_at, disabled_reason
        "#,
        id,
        player.0,
        secret,
        now + OVERLAP,
    )
    .fetch_optional(pool)
    .instrument(statement("update webhook secret"))
    .await?;
    Ok(row.map(Webhook::from))
}

/// Deletes a player's webhook with all that waits for it; says whether it was there.
pub async fn delete(pool: &PgPool, player: PlayerId, id: Uuid) -> Result<bool, DbError> {
    let deleted = sqlx::query!("delete from webhook where id = $1 and player_id = $2", id, player.0)
        .execute(pool)
        .instrument(statement("delete webhook"))
        .await?;
    Ok(deleted.rows_affected() > 0)
}

/// Flags the games of players whose webhooks were made a while ago: those that were being stored then.
pub async fn flag_again(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<(), DbError> {
    let due = sqlx::query!(
        r#"select id, player_id, flag_at as "flag_at!" from webhook where flag_at <= $1 order by flag_at limit $2"#,
        now,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select webhooks to flag games of"))
    .await?;
    for webhook in due {
        flag_games(pool, PlayerId(webhook.player_id)).await?;
        sqlx::query!("update webhook set flag_at = null where id = $1 and flag_at = $2", webhook.id, webhook.flag_at)
            .execute(pool)
            .instrument(statement("update webhook flag_at"))
            .await?;
    }
    Ok(())
}

/// Flags the games of a player that are not over, so that what happens in them is told. One that is changing right now is not waited
/// for: `flag_again` comes back to it.
async fn flag_games(pool: &PgPool, player: PlayerId) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with chosen as (
            select game.id from unnest(array['active', 'open']) as wanted (status)
            cross join lateral (
                (select id from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
                union all
                (select id from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
            ) seated join game on game.id = seated.id where not has_webhooks
            union all
            select id from (
                select id, has_webhooks from game
                where invited_player_id = $1 and started_at is null and aborted_at is null order by id desc limit $2
            ) invited where not has_webhooks
        ), free as (
            select id from game where id in (select id from chosen) order by id for no key update skip locked
        )
        update game set has_webhooks = true from free where game.id = free.id
        "#,
        player.0,
        FLAGGED_MAX,
    )
    .execute(pool)
    .instrument(statement("update game has_webhooks"))
    .await?;
    Ok(())
}
