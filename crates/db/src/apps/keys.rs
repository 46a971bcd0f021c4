//! Apps and their keys. Knows the hash of a key, never the key.

use mancala_domain::{AppName, PlayerId};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

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
}

struct Row {
    id: Uuid,
    name: String,
    created_at: OffsetDateTime,
    key_since: OffsetDateTime,
    disabled_at: Option<OffsetDateTime>,
    credentials_version: i32,
}

impl From<Row> for App {
    fn from(row: Row) -> Self {
        let Row { id, name, created_at, key_since, disabled_at, credentials_version } = row;
        Self { id: PlayerId(id), name, created_at, key_since, disabled_at, credentials_version }
    }
}

/// Stores a new app; `false` if there is one of this name.
pub async fn insert(
    pool: &PgPool,
    id: PlayerId,
    name: &AppName,
    key: &KeyHash,
    now: OffsetDateTime,
) -> Result<bool, DbError> {
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
    .execute(pool)
    .instrument(statement("insert app"))
    .await;
    match stored.map_err(DbError::from) {
        Ok(_) => Ok(true),
        Err(DbError::Constraint { name }) if name == "app_name_key" => Ok(false),
        Err(error) => Err(error),
    }
}

/// The app with a key, also if it is disabled.
pub async fn find(pool: &PgPool, key: &KeyHash) -> Result<Option<App>, DbError> {
    let row = sqlx::query_as!(
        Row,
        r#"
        select app.id, app.name, app.created_at, key_since, disabled_at, credentials_version
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
        select app.id, app.name, app.created_at, key_since, disabled_at, credentials_version
        from app join player on player.id = app.id order by app.name limit $1
        "#,
        LISTED_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select apps"))
    .await?;
    Ok(rows.into_iter().map(App::from).collect())
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

/// Disables an app, and revokes the tokens of all its players. It may be repeated. `false` if there is no such app.
pub async fn disable(pool: &PgPool, name: &AppName, now: OffsetDateTime) -> Result<bool, DbError> {
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
    .fetch_optional(pool)
    .instrument(statement("update app disabled_at"))
    .await?;
    revoke_players(pool, id).await
}

/// Enables an app again, with the key that it had. `false` if there is no such app.
pub async fn enable(pool: &PgPool, name: &AppName) -> Result<bool, DbError> {
    let enabled = sqlx::query!("update app set disabled_at = null where name = $1", name.as_str())
        .execute(pool)
        .instrument(statement("update app disabled_at"))
        .await?;
    Ok(enabled.rows_affected() > 0)
}

/// Revokes the tokens of all players of an app, in batches. The caller has committed that no new ones are issued by what was valid before.
async fn revoke_players(pool: &PgPool, app: Option<Uuid>) -> Result<bool, DbError> {
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
