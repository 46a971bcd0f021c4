//! The issuers whose tokens the players of an app may exchange, and the exchange itself. Knows neither tokens nor keys.

use mancala_domain::{AppName, ExternalId, PlayerId};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    keys::{self, Quotas},
    players::{AppPlayer, Inserted, KEY},
};
use crate::{
    connection::{DbError, statement},
    players::{OwnPlayer, PlayerRow},
};

/// The most audiences for which an app may trust its issuer: one for each of its clients.
pub const AUDIENCES_MAX: u32 = 20;

/// How many issuers are listed: more than an operator trusts.
const LISTED_MAX: i64 = 10_000;

/// A trusted issuer, and the audience that its tokens must have: their claims `iss` and `aud`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The claim `iss`.
    pub issuer: String,
    /// The claim `aud`, or one of its values.
    pub audience: String,
}

/// Where the keys of an issuer are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeySource {
    /// The issuer publishes its keys at this address.
    Url(String),
    /// The operator has stored the keys, as a JSON Web Key Set.
    Stored(String),
}

/// An issuer that an app trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// The app.
    pub app: PlayerId,
    /// Whether the app is disabled.
    pub is_disabled: bool,
    /// The app's quotas.
    pub quotas: Quotas,
    /// The issuer and the audience of the tokens.
    pub trust: Trust,
    /// The keys that verify the tokens.
    pub keys: KeySource,
}

/// Whether an issuer is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trusting {
    /// The issuer is stored.
    Stored,
    /// There is no such app.
    NoApp,
    /// Another app trusts this issuer for this audience.
    Taken,
    /// The app trusts another issuer, by whose subjects it knows its players.
    OtherIssuer,
    /// The app trusts its issuer for [`AUDIENCES_MAX`] audiences.
    TooMany,
}

struct Row {
    app_id: Uuid,
    is_disabled: bool,
    calls_per_minute: Option<i32>,
    players_per_day: Option<i32>,
    issuer: String,
    audience: String,
    jwks_url: Option<String>,
    jwks: Option<String>,
}

impl From<Row> for TrustedIssuer {
    fn from(row: Row) -> Self {
        let Row { app_id, is_disabled, issuer, audience, jwks_url, jwks, .. } = row;
        let quotas = Quotas::of(row.calls_per_minute, row.players_per_day);
        let keys = jwks_url.map_or_else(|| KeySource::Stored(jwks.unwrap_or_default()), KeySource::Url);
        Self { app: PlayerId(app_id), is_disabled, quotas, trust: Trust { issuer, audience }, keys }
    }
}

/// Lets an app trust an issuer for one more audience, or by other keys.
pub async fn trust(
    pool: &PgPool,
    name: &AppName,
    trust: &Trust,
    keys: &KeySource,
    now: OffsetDateTime,
) -> Result<Trusting, DbError> {
    let (url, jwks) = match keys {
        KeySource::Url(url) => (Some(url.as_str()), None),
        KeySource::Stored(jwks) => (None, Some(jwks.as_str())),
    };
    let stored = sqlx::query!(
        r#"
        with named as (select id from app where name = $1),
        counted as (select count(*) from app_issuer where app_id = (select id from named) and audience <> $3),
        other as (select from app_issuer where app_id = (select id from named) and issuer <> $2),
        made as (
            insert into app_issuer (issuer, audience, app_id, jwks_url, jwks, created_at)
            select $2, $3, named.id, $4, $5, $6 from named
            where (select * from counted) < $7 and not exists (select from other)
            on conflict (issuer, audience) do update set jwks_url = excluded.jwks_url, jwks = excluded.jwks
            where app_issuer.app_id = excluded.app_id
            returning app_id
        ), alike as (
            -- The keys are the issuer's, whatever the audience.
            update app_issuer set jwks_url = $4, jwks = $5 from made
            where app_issuer.app_id = made.app_id and issuer = $2 and audience <> $3
        )
        select exists (select from named) as "is_app!", exists (select from other) as "has_other!",
            (select * from counted) < $7 as "has_room!", exists (select from made) as "is_stored!"
        "#,
        name.as_str(),
        trust.issuer,
        trust.audience,
        url,
        jwks,
        now,
        i64::from(AUDIENCES_MAX),
    )
    .fetch_one(pool)
    .instrument(statement("insert app_issuer"))
    .await?;
    Ok(match stored {
        row if row.is_stored => Trusting::Stored,
        row if !row.is_app => Trusting::NoApp,
        row if row.has_other => Trusting::OtherIssuer,
        row if !row.has_room => Trusting::TooMany,
        _ => Trusting::Taken,
    })
}

/// Lets an app no longer trust an issuer. The tokens of all the app's players are revoked, as the issuer behind a token is not known.
/// `None` if there is no such app, `false` if it did not trust the issuer. The tokens are revoked then, too, so that an interrupted call
/// can be repeated.
pub async fn untrust(pool: &PgPool, name: &AppName, trust: &Trust) -> Result<Option<bool>, DbError> {
    let found = sqlx::query!(
        r#"
        with ended as (
            delete from app_issuer using app where app.id = app_id and app.name = $1 and issuer = $2 and audience = $3
            returning app_id
        )
        select id, exists (select from ended) as "is_ended!" from app where name = $1
        "#,
        name.as_str(),
        trust.issuer,
        trust.audience,
    )
    .fetch_optional(pool)
    .instrument(statement("delete app_issuer"))
    .await?;
    let Some(found) = found else { return Ok(None) };
    keys::revoke_players(pool, Some(found.id)).await?;
    Ok(Some(found.is_ended))
}

/// All issuers of all apps, without their stored keys.
pub async fn list(pool: &PgPool) -> Result<Vec<TrustedIssuer>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select app_id, disabled_at is not null as "is_disabled!", calls_per_minute, players_per_day,
            issuer, audience, jwks_url, null::text as jwks
        from app_issuer join app on app.id = app_id order by issuer, audience limit $1
        "#,
        LISTED_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select app_issuers"))
    .await?;
    Ok(rows.into_iter().map(TrustedIssuer::from).collect())
}

/// The apps that trust an issuer for one of these audiences, which are few.
pub async fn find(pool: &PgPool, issuer: &str, audiences: &[String]) -> Result<Vec<TrustedIssuer>, DbError> {
    let rows = sqlx::query_as!(
        Row,
        r#"
        select app_id, disabled_at is not null as "is_disabled!", calls_per_minute, players_per_day,
            issuer, audience, jwks_url, jwks
        from app_issuer join app on app.id = app_id where issuer = $1 and audience = any($2) order by audience
        "#,
        issuer,
        audiences,
    )
    .fetch_all(pool)
    .instrument(statement("select app_issuer"))
    .await?;
    Ok(rows.into_iter().map(TrustedIssuer::from).collect())
}

/// Finds the player to whom a token of an issuer belongs, if the app still trusts the issuer. One snapshot has both, as in
/// [`find_for_token`](super::players::find_for_token).
pub async fn find_player(
    pool: &PgPool,
    trusted: &TrustedIssuer,
    id: &ExternalId,
) -> Result<Option<OwnPlayer>, DbError> {
    let row = sqlx::query!(
        r#"
        select player.id, kind, player.name, player.created_at, credentials_version
        from app_issuer join app on app.id = app_issuer.app_id join app_player on app_player.app_id = app.id
            join player on player.id = player_id
        where issuer = $1 and audience = $2 and app.id = $3 and disabled_at is null and external_id = $4
        "#,
        trusted.trust.issuer,
        trusted.trust.audience,
        trusted.app.0,
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

/// Stores a new player of an app, if the app still trusts the issuer of its token.
pub async fn insert_player(pool: &PgPool, trusted: &TrustedIssuer, new: &AppPlayer) -> Result<Inserted, DbError> {
    // Both rows are locked, so that none is stored once the app is disabled, or does not trust the issuer any more.
    let stored = sqlx::query!(
        r#"
        with enabled as (
            select app.id from app_issuer join app on app.id = app_id
            where issuer = $1 and audience = $2 and app.id = $3 and disabled_at is null for share
        ), made as (
            insert into player (id, kind, name, created_at, network) select $4, $5, $6, $7, id from enabled returning id
        )
        insert into app_player (app_id, external_id, player_id, created_at)
        select enabled.id, $8, made.id, $7 from enabled cross join made
        "#,
        trusted.trust.issuer,
        trusted.trust.audience,
        trusted.app.0,
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
