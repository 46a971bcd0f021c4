//! Webhooks: where players have notices sent to.

use std::fmt;

use sqlx::{PgConnection, PgPool};
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    DbError,
    idempotency::{self, Keyed},
    statement,
    webhook_deliveries::{Lane, Next, Outcome},
};
use crate::domain::PlayerId;

/// How many a player has at most.
pub const WEBHOOKS_MAX: u32 = 10;

/// How long after a secret was exchanged the one before it signs as well.
pub const OVERLAP: Duration = Duration::hours(24);

/// How long after a webhook was made its player's games are flagged once more: longer than any statement takes that was storing a
/// game at that moment and could not see it.
const FLAG_AGAIN_AFTER: Duration = Duration::seconds(15);

/// How many games of a player are looked at to be flagged: all that are not over, of which there are no more, and as many invitations.
const FLAGGED_MAX: i64 = 2000;

/// How many are flagged by one statement: moves in them wait for it.
const FLAGGED_AT_ONCE: i64 = 100;

/// An endpoint that answers within this time gets more attempts at once.
const SOON: Duration = Duration::seconds(1);

/// Why a webhook is disabled for which too much waits.
pub(super) const OVERFLOW: &str = "overflow";

/// How long an endpoint is left alone after an attempt that failed, and at most after some: twice as long after each.
const PAUSE: Duration = Duration::seconds(5);
const PAUSE_MAX: Duration = Duration::minutes(5);

/// An endpoint that has failed for so long without a success is disabled.
const FAILING_FOR: Duration = Duration::days(5);

/// Failures that are further apart are not one spell of failing: nothing was tried between them.
const FAILING_GAP: Duration = Duration::days(2);

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
    /// Until when secrets before it sign too.
    pub previous_until: Vec<OffsetDateTime>,
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
    /// There is no such player any more.
    NoPlayer,
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
    previous_until: Vec<OffsetDateTime>,
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
            previous_until: row.previous_until,
            failing_since: row.failing_since,
            disabled: row.disabled_at.map(|at| (at, row.disabled_reason.unwrap_or_default())),
        }
    }
}

/// Stores a new webhook, with what is answered if the request may be sent again, and flags its player's games.
pub async fn insert(pool: &PgPool, webhook: &Webhook, keyed: Option<&Keyed>) -> Result<Made, DbError> {
    let mut transaction = pool.begin().await?;
    // Of several requests at once one counts after the other.
    let player =
        sqlx::query!("select id from player where id = $1 and kind <> 'deleted' for no key update", webhook.player.0);
    if player.fetch_optional(&mut *transaction).await?.is_none() {
        return Ok(Made::NoPlayer);
    }
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
    flag_now(pool, webhook.player).await;
    Ok(Made::Stored)
}

/// A player's webhook.
pub async fn find(pool: &PgPool, player: PlayerId, id: Uuid) -> Result<Option<Webhook>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, disabled_at,
            disabled_reason
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
        select id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, disabled_at,
            disabled_reason
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

/// Changes a player's webhook. One that is enabled again, or has another address, has not failed yet; what waits for it is sent at once.
pub async fn update(
    pool: &PgPool,
    player: PlayerId,
    id: Uuid,
    changes: &Changes,
    now: OffsetDateTime,
) -> Result<Option<Webhook>, DbError> {
    let mut transaction = pool.begin().await?;
    let before = sqlx::query!(
        "select url, disabled_at, disabled_reason from webhook where id = $1 and player_id = $2 for no key update",
        id,
        player.0
    );
    let Some(before) = before.fetch_optional(&mut *transaction).await? else { return Ok(None) };
    let has_moved = changes.url.as_ref().is_some_and(|url| *url != before.url);
    let is_enabled = changes.enabled == Some(true);
    let is_new = has_moved || is_enabled && before.disabled_at.is_some();
    let these = match &changes.events {
        Some(Wanted::These(events)) => Some(events.as_slice()),
        Some(Wanted::All) | None => None,
    };
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
        returning id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, disabled_at,
            disabled_reason
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
        // It would be disabled again at once.
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

/// Makes it the time of all that waits for a webhook, of each game the first. The webhook's row is locked.
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

/// What an endpoint is like, by what was sent to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// How many attempts in a row have failed, when the last of them, and since when.
    pub failures: i32,
    pub failed_at: Option<OffsetDateTime>,
    pub failing_since: Option<OffsetDateTime>,
    /// Nothing is sent before then.
    pub paused_until: Option<OffsetDateTime>,
    /// Whether it answered, and soon.
    pub is_quick: bool,
    /// Why it is to be disabled.
    pub disabled: Option<&'static str>,
}

impl Health {
    const fn lane(&self) -> Lane {
        match (self.is_quick, self.failures) {
            (true, _) => Lane::Quick,
            (false, 0) => Lane::Unproven,
            (false, _) => Lane::Failing,
        }
    }

    /// After one more attempt.
    #[must_use]
    pub fn after(&self, outcome: &Outcome, took: Duration, now: OffsetDateTime) -> Self {
        if outcome.next == Next::Delivered {
            return Self { is_quick: took <= SOON, ..Self::default() };
        }
        let is_one_spell = self.failed_at.is_some_and(|last| now - last <= FAILING_GAP);
        let failing_since = self.failing_since.filter(|_| is_one_spell).unwrap_or(now);
        let doublings = u32::try_from(self.failures).unwrap_or(0).min(16);
        let pause = (PAUSE * 2_i32.pow(doublings)).min(PAUSE_MAX).max(outcome.retry_after);
        Self {
            failures: self.failures.saturating_add(1),
            failed_at: Some(now),
            failing_since: Some(failing_since),
            paused_until: Some(now + pause),
            is_quick: false,
            disabled: match outcome.next {
                Next::Gone => Some("gone"),
                _ if now - failing_since >= FAILING_FOR => Some("failing"),
                _ => None,
            },
        }
    }
}

/// A webhook that nobody else changes until the transaction has ended.
pub(super) struct Locked {
    pub(super) url: String,
    pub(super) health: Health,
}

pub(super) async fn lock(connection: &mut PgConnection, id: Uuid) -> Result<Option<Locked>, DbError> {
    let row = sqlx::query!(
        r#"
        select url, failures, failed_at, failing_since, paused_until, lane from webhook where id = $1
        for no key update
        "#,
        id,
    )
    .fetch_optional(connection)
    .instrument(statement("select webhook for update"))
    .await?;
    Ok(row.map(|row| Locked {
        url: row.url,
        health: Health {
            failures: row.failures,
            failed_at: row.failed_at,
            failing_since: row.failing_since,
            paused_until: row.paused_until,
            is_quick: row.lane == Lane::Quick.number(),
            disabled: None,
        },
    }))
}

/// There is something to look at for a webhook, which is locked by this.
pub(super) async fn touch(connection: &mut PgConnection, id: Uuid, now: OffsetDateTime) -> Result<(), DbError> {
    touch_all(connection, &[id], now).await
}

/// The same of several, which are locked already. What is due keeps its place before what comes later.
pub(super) async fn touch_all(connection: &mut PgConnection, ids: &[Uuid], now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        "update webhook set due_at = least(due_at, greatest($2, paused_until)), touched = touched + 1 where id = any($1)",
        ids,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook due_at"))
    .await?;
    Ok(())
}

/// The same of a player's webhook of which something is to be sent by hand, even if its endpoint is left alone right now; says whether it
/// is there, and anything is sent.
pub(super) async fn wake(
    connection: &mut PgConnection,
    player: PlayerId,
    id: Uuid,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let woken = sqlx::query!(
        r#"
        update webhook set due_at = least(due_at, $3), touched = touched + 1, paused_until = null
        where id = $2 and player_id = $1 and disabled_at is null
        "#,
        player.0,
        id,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook due_at"))
    .await?;
    Ok(woken.rows_affected() > 0)
}

/// Stores what an endpoint is like now; what waits for it is looked at again.
pub(super) async fn set_health(
    connection: &mut PgConnection,
    id: Uuid,
    health: &Health,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        update webhook set
            failures = $2, failed_at = $3, failing_since = $4, paused_until = $5, lane = $6,
            due_at = case when $5::timestamptz is null then least(due_at, $8) else greatest($8::timestamptz, $5) end,
            touched = touched + 1,
            disabled_at = case when $7::text is null then disabled_at else coalesce(disabled_at, $8) end,
            disabled_reason = coalesce(disabled_reason, $7)
        where id = $1
        "#,
        id,
        health.failures,
        health.failed_at,
        health.failing_since,
        health.paused_until,
        health.lane().number(),
        health.disabled,
        now,
    )
    .execute(connection)
    .instrument(statement("update webhook health"))
    .await?;
    Ok(())
}

/// How many secrets before the present one sign too, at most.
pub const PREVIOUS_MAX: i32 = 4;

/// Gives a player's webhook another secret; those before sign as well for a while. Says the webhook as it is then.
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
        returning id, player_id as "player_id!", created_at, url, events, secret, previous_until, failing_since, disabled_at,
            disabled_reason
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

/// Deletes a player's webhook; says whether it was there. Nothing of it can be seen, and nothing is sent any more; the log of what was sent
/// goes bit by bit, as it may be long.
pub async fn delete(pool: &PgPool, player: PlayerId, id: Uuid, now: OffsetDateTime) -> Result<bool, DbError> {
    let deleted = sqlx::query!(
        r#"
        update webhook set player_id = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
            due_at = null, flag_at = null, disabled_at = $3, disabled_reason = 'deleted'
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

/// Whoever creates it once more under the same key is not told a secret that is of no use any more.
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

/// Deletes the webhooks of players who were erased since a moment: those that were being made just then.
pub async fn delete_of_erased(pool: &PgPool, since: OffsetDateTime, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        update webhook set player_id = null, url = '', secret = '', previous_secrets = '{}', previous_until = '{}',
            due_at = null, flag_at = null, disabled_at = $2, disabled_reason = 'deleted'
        from player where player.id = player_id and player.erased_at >= $1
        "#,
        since,
        now,
    )
    .execute(pool)
    .instrument(statement("update webhook player_id"))
    .await?;
    Ok(())
}

/// Flags the games of players whose webhooks were made a while ago: those that were being stored then. One that is changing right now is
/// come back to.
pub async fn flag_again(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<(), DbError> {
    let due = sqlx::query!(
        r#"
        select id, player_id as "player_id!", flag_at as "flag_at!" from webhook
        where flag_at <= $1 and player_id is not null order by flag_at limit $2
        "#,
        now,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select webhooks to flag games of"))
    .await?;
    for webhook in due {
        let is_all = match flag_games(pool, PlayerId(webhook.player_id)).await {
            Ok(is_all) => is_all,
            Err(error) => {
                tracing::warn!(webhook.id = %webhook.id, "not all games of a webhook's player are flagged yet: {error}");
                false
            }
        };
        let again_at = (!is_all).then_some(now + FLAG_AGAIN_AFTER);
        sqlx::query!(
            "update webhook set flag_at = $3 where id = $1 and flag_at = $2",
            webhook.id,
            webhook.flag_at,
            again_at,
        )
        .execute(pool)
        .instrument(statement("update webhook flag_at"))
        .await?;
    }
    Ok(())
}

/// Flags a player's games as far as that can be done now; the rest is flagged later.
async fn flag_now(pool: &PgPool, player: PlayerId) {
    if let Err(error) = flag_games(pool, player).await {
        tracing::warn!(player.id = %player.0, "a webhook is told of the games that are there only some seconds later: {error}");
    }
}

/// Flags the games of a player that are not over, so that what happens in them is told; says whether that is all of them. One that is
/// changing right now is not waited for.
async fn flag_games(pool: &PgPool, player: PlayerId) -> Result<bool, DbError> {
    loop {
        let some = flag_some(pool, player).await?;
        if some.flagged == 0 {
            return Ok(some.chosen == 0);
        }
    }
}

struct Flagged {
    chosen: i64,
    flagged: i64,
}

async fn flag_some(pool: &PgPool, player: PlayerId) -> Result<Flagged, DbError> {
    let some = sqlx::query_as!(
        Flagged,
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
            select id from game where id in (select id from chosen) limit $3 for no key update skip locked
        ), flagged as (
            update game set has_webhooks = true from free where game.id = free.id returning 1
        )
        select (select count(*) from chosen) as "chosen!", (select count(*) from flagged) as "flagged!"
        "#,
        player.0,
        FLAGGED_MAX,
        FLAGGED_AT_ONCE,
    )
    .fetch_one(pool)
    .instrument(statement("update game has_webhooks"))
    .await?;
    Ok(some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(next: Next) -> Outcome {
        Outcome { status: None, error: None, retry_after: Duration::ZERO, next }
    }

    #[test]
    fn an_endpoint_that_fails_is_left_alone_for_longer_each_time_and_disabled_after_five_days() {
        let mut now = OffsetDateTime::UNIX_EPOCH;
        let failed = outcome(Next::Again(now));
        let mut health = Health { is_quick: true, ..Health::default() };
        for pause in [5, 10, 20, 40, 80, 160, 300, 300] {
            health = health.after(&failed, Duration::ZERO, now);
            assert_eq!(health.paused_until, Some(now + Duration::seconds(pause)));
            assert_eq!((health.is_quick, health.disabled), (false, None));
        }
        let asked = Outcome { retry_after: Duration::hours(1), ..failed.clone() };
        assert_eq!(health.after(&asked, Duration::ZERO, now).paused_until, Some(now + Duration::hours(1)));
        for day in 1..=5 {
            now += Duration::days(1);
            health = health.after(&failed, Duration::ZERO, now);
            assert_eq!(health.disabled, (day == 5).then_some("failing"));
        }
        assert_eq!(health.failing_since, Some(OffsetDateTime::UNIX_EPOCH));
    }

    #[test]
    fn failures_that_are_far_apart_are_not_one_spell() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let failed = outcome(Next::GivenUp);
        let health = Health::default().after(&failed, Duration::ZERO, now);
        let later = now + Duration::days(150);
        let health = health.after(&failed, Duration::ZERO, later);
        assert_eq!((health.failing_since, health.disabled), (Some(later), None));
    }

    #[test]
    fn one_success_makes_an_endpoint_well_and_a_soon_one_quick() {
        let now = OffsetDateTime::UNIX_EPOCH;
        let failed = Health::default().after(&outcome(Next::Gone), Duration::ZERO, now);
        assert_eq!(failed.disabled, Some("gone"));
        for (took, is_quick) in [(Duration::seconds(1), true), (Duration::milliseconds(1001), false)] {
            let well = Health { is_quick, ..Health::default() };
            assert_eq!(failed.after(&outcome(Next::Delivered), took, now), well);
        }
    }
}
