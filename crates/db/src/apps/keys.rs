//! Apps and their keys. Knows the hash of a key, never the key.

use std::num::NonZeroU32;

use mancala_domain::{AppName, PlayerId};
use sqlx::{PgConnection, PgPool};
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    webhooks::APP_DISABLED,
};

/// The SHA-256 of a key.
pub type KeyHash = [u8; 32];

/// How many players lose their tokens by one statement: some ten milliseconds' work.
const REVOKED_AT_ONCE: i64 = 1000;

/// How many apps are listed: more than an operator makes.
const LISTED_MAX: i64 = 10_000;

/// An app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// The id of the app, and of its row in `player`.
    pub id: PlayerId,
    /// The operator's name for it.
    pub name: String,
    /// When it was created.
    pub created_at: OffsetDateTime,
    /// When its key was made.
    pub key_since: OffsetDateTime,
    /// Since when it is disabled.
    pub disabled_at: Option<OffsetDateTime>,
    /// Incremented when its key changes, or it is disabled.
    pub credentials_version: i32,
    /// Whether its players play only with each other and with the computer.
    pub plays_within: bool,
    /// Its quotas.
    pub quotas: Quotas,
}

/// The quotas of an app that its operator has chosen; `None` is the default of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// How often it may call in a minute.
    pub calls_per_minute: Option<NonZeroU32>,
    /// How many players it may create in a day.
    pub players_per_day: Option<NonZeroU32>,
}

impl Quotas {
    pub(super) fn of(calls_per_minute: Option<i32>, players_per_day: Option<i32>) -> Self {
        let quota =
            |stored: Option<i32>| stored.and_then(|stored| u32::try_from(stored).ok()).and_then(NonZeroU32::new);
        Self { calls_per_minute: quota(calls_per_minute), players_per_day: quota(players_per_day) }
    }
}

/// An operator's changes to an app. `None` leaves a value as it is, and a quota of 0 sets the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Whether its players play only with each other and with the computer.
    pub plays_within: Option<bool>,
    /// How often it may call in a minute.
    pub calls_per_minute: Option<i32>,
    /// How many players it may create in a day.
    pub players_per_day: Option<i32>,
}

struct Row {
    id: Uuid,
    name: String,
    created_at: OffsetDateTime,
    key_since: OffsetDateTime,
    disabled_at: Option<OffsetDateTime>,
    credentials_version: i32,
    plays_within: bool,
    calls_per_minute: Option<i32>,
    players_per_day: Option<i32>,
}

impl From<Row> for App {
    fn from(row: Row) -> Self {
        let Row { id, name, created_at, key_since, disabled_at, credentials_version, plays_within, .. } = row;
        let quotas = Quotas::of(row.calls_per_minute, row.players_per_day);
        Self { id: PlayerId(id), name, created_at, key_since, disabled_at, credentials_version, plays_within, quotas }
    }
}

/// Stores a new app; `false` if there is one of this name.
pub async fn insert(
    pool: &PgPool,
    id: PlayerId,
    name: &AppName,
    key: &KeyHash,
    changes: Changes,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let stored = sqlx::query!(
        r#"
        with own as (
            insert into player (id, kind, name, created_at) values ($1, 'app', $2, $4) returning id
        )
        insert into app (id, name, key_hash, key_since, created_at) select id, $2, $3, $4, $4 from own
        "#,
        id.0,
        name.as_str(),
        &key[..],
        now,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert app"))
    .await;
    match stored.map_err(DbError::from) {
        Ok(_) => {}
        Err(DbError::Constraint { name }) if name == "app_name_key" => return Ok(false),
        Err(error) => return Err(error),
    }
    update_policies(&mut transaction, name, changes).await?;
    transaction.commit().await?;
    Ok(true)
}

/// The app with a key, also if it is disabled.
pub async fn find(pool: &PgPool, key: &KeyHash) -> Result<Option<App>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select app.id, app.name, app.created_at, key_since, disabled_at, credentials_version,
            plays_within, calls_per_minute, players_per_day
        from app join player on player.id = app.id where key_hash = $1
        "#,
        &key[..],
    )
    .fetch_optional(pool)
    .instrument(statement("select app"))
    .await?;
    Ok(row.map(App::from))
}

/// All apps, by name.
pub async fn list(pool: &PgPool) -> Result<Vec<App>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select app.id, app.name, app.created_at, key_since, disabled_at, credentials_version,
            plays_within, calls_per_minute, players_per_day
        from app join player on player.id = app.id order by app.name limit $1
        "#,
        LISTED_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select apps"))
    .await?;
    Ok(rows.into_iter().map(App::from).collect())
}

/// Changes whether an app's players play with others, and the app's quotas; `false` if there is no such app.
pub async fn update(pool: &PgPool, name: &AppName, changes: Changes) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let id = update_policies(&mut transaction, name, changes).await?;
    if let (Some(id), Some(plays_within)) = (id, changes.plays_within) {
        enclose_open_games(&mut transaction, id, plays_within).await?;
    }
    transaction.commit().await?;
    Ok(id.is_some())
}

async fn update_policies(
    connection: &mut PgConnection,
    name: &AppName,
    changes: Changes,
) -> Result<Option<Uuid>, DbError> {
    let id = sqlx::query_scalar!(
        r#"
        update app set plays_within = coalesce($2, plays_within),
            calls_per_minute = case when $3::integer is null then calls_per_minute else nullif($3, 0) end,
            players_per_day = case when $4::integer is null then players_per_day else nullif($4, 0) end
        where name = $1 returning id
        "#,
        name.as_str(),
        changes.plays_within,
        changes.calls_per_minute,
        changes.players_per_day,
    );
    Ok(id.fetch_optional(connection).instrument(statement("update app policies")).await?)
}

/// Moves the open games of an app's players to where seeks and lobbies look for them. It reads all open games, for what an operator does once.
async fn enclose_open_games(connection: &mut PgConnection, id: Uuid, plays_within: bool) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with held as (
            select game.id from game
            join app_player on app_player.player_id = coalesce(seat_0_player_id, seat_1_player_id) and app_player.app_id = $1
            where visibility = 'public' and opponent = 'open' and started_at is null and aborted_at is null
            order by game.id for no key update of game
        )
        update game set within_app_id = case when $2 then $1 end from held where game.id = held.id
        "#,
        id,
        plays_within,
    )
    .execute(connection)
    .instrument(statement("update game within_app_id"))
    .await?;
    Ok(())
}

/// Gives an app another key, and revokes the tokens of all its players. The former key is void from then on. `false` if there is no such app.
pub async fn change_key(pool: &PgPool, name: &AppName, key: &KeyHash, now: OffsetDateTime) -> Result<bool, DbError> {
    let id = sqlx::query_scalar!(
        r#"
        with changed as (
            update app set key_hash = $2, key_since = $3 where name = $1 returning id
        )
        update player set credentials_version = credentials_version + 1 from changed
        where player.id = changed.id returning player.id
        "#,
        name.as_str(),
        &key[..],
        now,
    )
    .fetch_optional(pool)
    .instrument(statement("update app key_hash"))
    .await?;
    revoke_players(pool, id).await
}

/// Disables an app and its webhooks, and revokes the tokens of all its players. It may be repeated. `false` if there is no such app.
pub async fn disable(pool: &PgPool, name: &AppName, now: OffsetDateTime) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let id = sqlx::query_scalar!(
        r#"
        with changed as (
            update app set disabled_at = coalesce(disabled_at, $2) where name = $1 returning id
        )
        update player set credentials_version = credentials_version + 1 from changed
        where player.id = changed.id returning player.id
        "#,
        name.as_str(),
        now,
    )
    .fetch_optional(&mut *transaction)
    .instrument(statement("update app disabled_at"))
    .await?;
    // A later statement, so that it sees a webhook that was being made while this one waited for the app's row of "player".
    sqlx::query!(
        r#"
        with held as (
            select id from webhook where player_id = $1 and disabled_at is null order by id for no key update
        )
        update webhook set disabled_at = $2, disabled_reason = $3 from held where webhook.id = held.id
        "#,
        id,
        now,
        APP_DISABLED,
    )
    .execute(&mut *transaction)
    .instrument(statement("update webhook disabled_at"))
    .await?;
    transaction.commit().await?;
    revoke_players(pool, id).await
}

/// Enables an app again, with its former key, and the webhooks that were disabled with it. Queued deliveries are sent when they are due.
/// `false` if there is no such app.
pub async fn enable(pool: &PgPool, name: &AppName) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    let id = sqlx::query_scalar!("update app set disabled_at = null where name = $1 returning id", name.as_str())
        .fetch_optional(&mut *transaction)
        .instrument(statement("update app disabled_at"))
        .await?;
    sqlx::query!(
        r#"
        with held as (
            select id from webhook where player_id = $1 and disabled_reason = $2 order by id for no key update
        )
        update webhook set disabled_at = null, disabled_reason = null, due_at = now(), touched = touched + 1
        from held where webhook.id = held.id
        "#,
        id,
        APP_DISABLED,
    )
    .execute(&mut *transaction)
    .instrument(statement("update webhook disabled_at"))
    .await?;
    transaction.commit().await?;
    Ok(id.is_some())
}

/// Revokes the tokens of all players of an app, in batches. The caller has already committed that the former credentials get no new tokens.
pub(super) async fn revoke_players(pool: &PgPool, app: Option<Uuid>) -> Result<bool, DbError> {
    let Some(app) = app else { return Ok(false) };
    let mut after = Some(String::new());
    // Terminates: each batch begins after the last one, and has a player or is the last.
    while let Some(last) = after {
        after = sqlx::query_scalar!(
            r#"
            with batch as (
                select player_id, external_id from app_player
                where app_id = $1 and external_id > $2 order by external_id limit $3
            ), held as (
                select id from player where id in (select player_id from batch) order by id for no key update
            ), revoked as (
                update player set credentials_version = credentials_version + 1 from held where player.id = held.id
            )
            select external_id from batch order by external_id desc limit 1
            "#,
            app,
            last,
            REVOKED_AT_ONCE,
        )
        .fetch_optional(pool)
        .instrument(statement("update players of app credentials_version"))
        .await?;
    }
    Ok(true)
}
