//! When the devices of a player are silent, and whether they collect.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    players::lock_requester,
};

/// The settings of a player's devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PushSettings {
    /// The quiet hours, in which nothing is shown.
    pub quiet: Option<QuietHours>,
    /// The least number of minutes between two notifications.
    pub digest_minutes: Option<i16>,
}

/// Hours of the day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuietHours {
    /// The first minute of the day.
    pub from: i16,
    /// The first minute after the quiet hours. The quiet hours pass midnight if this is before their first minute.
    pub until: i16,
    /// The time zone of the hours, by its IANA name.
    pub time_zone: String,
}

/// Whether settings are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// The settings are stored.
    Yes,
    /// PostgreSQL does not know the time zone.
    NoTimeZone,
    /// The player is deleted, or has revoked the credentials.
    NoPlayer,
}

/// The settings of a player.
pub async fn find(pool: &PgPool, player: PlayerId) -> Result<PushSettings, DbError> {
    let row = sqlx::query!(
        "select quiet_from, quiet_until, time_zone, digest_minutes from push_settings where player_id = $1",
        player.0
    );
    let row = row.fetch_optional(pool).instrument(statement("select push_settings")).await?;
    Ok(row.map_or_else(PushSettings::default, |row| PushSettings {
        quiet: row.quiet_from.zip(row.quiet_until).zip(row.time_zone).map(|((from, until), time_zone)| QuietHours {
            from,
            until,
            time_zone,
        }),
        digest_minutes: row.digest_minutes,
    }))
}

/// Replaces the settings of a player. Queued notices are scheduled again.
pub async fn store(
    pool: &PgPool,
    player: PlayerId,
    settings: &PushSettings,
    credentials_version: i32,
) -> Result<Stored, DbError> {
    if let Some(quiet) = &settings.quiet
        && !knows_time_zone(pool, &quiet.time_zone).await?
    {
        return Ok(Stored::NoTimeZone);
    }
    let mut transaction = pool.begin().await?;
    let requester = lock_requester(&mut transaction, player).await?;
    if requester.is_none_or(|requester| requester.credentials_version != credentials_version) {
        return Ok(Stored::NoPlayer);
    }
    sqlx::query!(
        r#"
        with devices as (
            -- Quiet hours may have put it off.
            update push_device set due_at = (select min(due_at) from push_notice where device_id = push_device.id)
            where player_id = $1 and due_at is not null
        )
        insert into push_settings (player_id, quiet_from, quiet_until, time_zone, digest_minutes)
        values ($1, $2, $3, $4, $5)
        on conflict (player_id) do update set quiet_from = excluded.quiet_from, quiet_until = excluded.quiet_until,
            time_zone = excluded.time_zone, digest_minutes = excluded.digest_minutes
        "#,
        player.0,
        settings.quiet.as_ref().map(|quiet| quiet.from),
        settings.quiet.as_ref().map(|quiet| quiet.until),
        settings.quiet.as_ref().map(|quiet| quiet.time_zone.as_str()),
        settings.digest_minutes,
    )
    .execute(&mut *transaction)
    .instrument(statement("insert push_settings"))
    .await?;
    transaction.commit().await?;
    Ok(Stored::Yes)
}

/// Whether PostgreSQL has a time zone of that name.
async fn knows_time_zone(pool: &PgPool, name: &str) -> Result<bool, DbError> {
    let known =
        sqlx::query_scalar!(r#"select exists (select from pg_timezone_names where name = $1) as "is_known!""#, name);
    Ok(known.fetch_one(pool).instrument(statement("select pg_timezone_names")).await?)
}

/// An account without settings gets those of a guest.
pub(crate) async fn hand_over(
    connection: &mut PgConnection,
    guest: PlayerId,
    account: PlayerId,
) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with moved as (
            delete from push_settings where player_id = $1
            returning quiet_from, quiet_until, time_zone, digest_minutes
        )
        insert into push_settings (player_id, quiet_from, quiet_until, time_zone, digest_minutes)
        select $2, quiet_from, quiet_until, time_zone, digest_minutes from moved
        on conflict (player_id) do nothing
        "#,
        guest.0,
        account.0,
    )
    .execute(connection)
    .instrument(statement("delete insert push_settings"))
    .await?;
    Ok(())
}
