//! The players of apps, by the apps' own ids of them.

use mancala_domain::{ExternalId, Player, PlayerId, PlayerName};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use super::keys::KeyHash;
use crate::{
    connection::{DbError, statement},
    players::{OwnPlayer, PlayerRow},
};

/// A player of an app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppPlayer {
    /// The id by which the app knows the player.
    pub external_id: ExternalId,
    /// The player.
    pub player: Player,
}

/// Whether a new player is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The player is stored.
    Stored,
    /// The app has a player with this id, by an earlier or a concurrent call.
    Exists,
    /// The app is disabled, or has got another key meanwhile.
    NoApp,
}

/// The app of a player, and its id of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The app's name.
    pub app: String,
    /// The app's id of the player.
    pub external_id: ExternalId,
}

/// The constraint that a second player with the same id violates.
pub(super) const KEY: &str = "app_player_pkey";

/// Stores a new player of an app, if this key is still the app's. The app is the network of its players: see [`Network`](crate::players::Network).
pub async fn insert(pool: &PgPool, app: PlayerId, key: &KeyHash, new: &AppPlayer) -> Result<Inserted, DbError> {
    // The app's row is locked, so that none is stored once the app is disabled.
    let stored = sqlx::query!(
        r#"
        with enabled as (
            select id from app where id = $1 and key_hash = $2 and disabled_at is null for share
        ), made as (
            insert into player (id, kind, name, created_at, network) select $3, $4, $5, $6, id from enabled returning id
        )
        insert into app_player (app_id, external_id, player_id, created_at)
        select enabled.id, $7, made.id, $6 from enabled cross join made
        "#,
        app.0,
        &key[..],
        new.player.id.0,
        new.player.kind.as_str(),
        new.player.name.as_str(),
        new.player.created_at,
        new.external_id.as_str(),
    )
    .execute(pool)
    .instrument(statement("insert player of app"))
    .await;
    match stored.map_err(DbError::from) {
        Ok(done) if done.rows_affected() == 0 => Ok(Inserted::NoApp),
        Ok(_) => Ok(Inserted::Stored),
        Err(DbError::Constraint { name }) if name == KEY => Ok(Inserted::Exists),
        Err(error) => Err(error),
    }
}

/// A player of an app.
pub async fn find(pool: &PgPool, app: PlayerId, id: &ExternalId) -> Result<Option<AppPlayer>, DbError> {
    let row = sqlx::query_as!(
        PlayerRow,
        r#"
        select player.id, kind, name, player.created_at
        from app_player join player on player.id = player_id where app_id = $1 and external_id = $2
        "#,
        app.0,
        id.as_str(),
    )
    .fetch_optional(pool)
    .instrument(statement("select player of app"))
    .await?;
    row.map(|row| Ok(AppPlayer { external_id: id.clone(), player: row.try_into()? })).transpose()
}

/// Finds the player for whom an app requests a token, if the key is still the app's. Both are read from one snapshot: a token is either
/// issued before the app is disabled, and then revoked, or not issued.
pub async fn find_for_token(
    pool: &PgPool,
    app: PlayerId,
    key: &KeyHash,
    id: &ExternalId,
) -> Result<Option<OwnPlayer>, DbError> {
    let row = sqlx::query!(
        r#"
        select player.id, kind, player.name, player.created_at, credentials_version
        from app join app_player on app_id = app.id join player on player.id = player_id
        where app.id = $1 and key_hash = $2 and disabled_at is null and external_id = $3
        "#,
        app.0,
        &key[..],
        id.as_str(),
    )
    .fetch_optional(pool)
    .instrument(statement("select player of app"))
    .await?;
    row.map(|row| {
        let player = PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at };
        // The players of an app share the app's limit, as guests share that of their network.
        let (credentials_version, has_network) = (row.credentials_version, true);
        Ok(OwnPlayer { player: player.try_into()?, credentials_version, has_network })
    })
    .transpose()
}

/// Notes that a player of an app gets a token. An erased player has no row.
pub async fn note_token(pool: &PgPool, player: PlayerId, now: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!("update app_player set token_at = $2 where player_id = $1", player.0, now)
        .execute(pool)
        .instrument(statement("update app_player"))
        .await?;
    Ok(())
}

/// Lists up to `limit` players of an app by their external ids, which come after the given one.
pub async fn list(
    pool: &PgPool,
    app: PlayerId,
    after: Option<&ExternalId>,
    limit: u32,
) -> Result<Vec<AppPlayer>, DbError> {
    let rows = sqlx::query!(
        r#"
        select external_id, player.id, kind, name, player.created_at
        from app_player join player on player.id = player_id
        where app_id = $1 and external_id > $2 order by external_id limit $3
        "#,
        app.0,
        after.map_or("", ExternalId::as_str),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select players of app"))
    .await?;
    let player = |(external_id, row): (String, PlayerRow)| {
        Ok(AppPlayer { external_id: ExternalId::from_stored(external_id), player: row.try_into()? })
    };
    let rows = rows.into_iter().map(|row| {
        let player = PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at };
        (row.external_id, player)
    });
    rows.map(player).collect()
}

/// Renames a player of an app; `false` if the player was renamed or erased meanwhile.
pub async fn rename(pool: &PgPool, player: &Player, name: &PlayerName) -> Result<bool, DbError> {
    let renamed = sqlx::query!(
        // The statement reads the kind from the locked row. `app_player` would have the kind from before the wait for the lock.
        "update player set name = $2 where id = $1 and name = $3 and kind <> 'deleted'",
        player.id.0,
        name.as_str(),
        player.name.as_str(),
    )
    .execute(pool)
    .instrument(statement("update player name"))
    .await?;
    Ok(renamed.rows_affected() > 0)
}

/// The app of a player; `None` for a player of no app.
pub async fn find_membership(pool: &PgPool, player: PlayerId) -> Result<Option<Membership>, DbError> {
    let row = sqlx::query!(
        "select name, external_id from app_player join app on app.id = app_id where player_id = $1",
        player.0
    );
    let row = row.fetch_optional(pool).instrument(statement("select app of player")).await?;
    Ok(row.map(|row| Membership { app: row.name, external_id: ExternalId::from_stored(row.external_id) }))
}
