//! Sending to devices: leases the due ones to a process, and records the results.

use std::{
    collections::{HashMap, HashSet},
    fmt,
};

use mancala_domain::{DeviceKind, GameId, NoticeKind, PlayerId};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::devices::kind_of;
use crate::{
    connection::{DbError, statement, wait_longer_for_locks},
    outbound::{Full, Lane, Limits},
};

/// How many due devices one poll reads; from these it chooses by player and by host.
const LOOKED_AT_MAX: i64 = 1000;

/// How many notices of a device one poll takes: more than a player has games.
const NOTICES_MAX: i64 = 2000;

/// Unsent notices expire after a day: by then the player opens the list of games anyway.
pub const KEPT: Duration = Duration::hours(24);

/// How many devices are served at once in a process. A quarter of the attempts that it may make by default is left to slow
/// ones. A few hosts serve most browsers, so a host gets half of the places.
pub const fn limits(lane: Lane) -> Limits {
    match lane {
        Lane::Quick => Limits { places: 48, of_player: 10, of_host: 24 },
        Lane::Unproven | Lane::Failing => Limits { places: 24, of_player: 2, of_host: 12 },
    }
}

/// A leased device with its due notices.
#[derive(Clone)]
pub struct DueDevice {
    /// The device.
    pub id: Uuid,
    /// The lease. Only the result of the last one is recorded.
    pub lease: Uuid,
    /// Its player.
    pub player: PlayerId,
    /// The service that reaches the device.
    pub kind: DeviceKind,
    /// The URL of a push service.
    pub address: String,
    /// Its host.
    pub host: String,
    /// For a browser: its public key and its secret.
    pub keys: Option<(Vec<u8>, Vec<u8>)>,
    /// The language of its texts.
    pub language: String,
    /// How many attempts in a row have failed, and since when.
    pub failures: i32,
    /// See `failures`.
    pub failing_since: Option<OffsetDateTime>,
    /// When a push service last took anything for it.
    pub last_success_at: Option<OffsetDateTime>,
    /// When the player's quiet hours end, if they are now.
    pub quiet_until: Option<OffsetDateTime>,
    /// The least number of minutes between two notifications.
    pub digest_minutes: Option<i16>,
    /// The due notices, oldest first.
    pub notices: Vec<DueNotice>,
    /// Notices of a newer release, whose type this server does not know.
    pub unknown: Vec<Uuid>,
}

/// Hides the address and the keys, which are secrets.
impl fmt::Debug for DueDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DueDevice").field("id", &self.id).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// A notice that is due.
#[derive(Clone, Debug)]
pub struct DueNotice {
    /// The game.
    pub game: GameId,
    /// Its type.
    pub kind: NoticeKind,
    /// The game's variant.
    pub variant: String,
    /// For a reminder: the deadline.
    pub deadline: Option<OffsetDateTime>,
    /// When it was due.
    pub due_at: OffsetDateTime,
    /// Identifies it.
    pub version: Uuid,
}

/// The results for a device's notices.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The device.
    pub device: Uuid,
    /// Its lease.
    pub lease: Uuid,
    /// The notices that were sent, or that the push service will never take.
    pub ended: Vec<Uuid>,
    /// Versions of notices that are no longer to be sent, if the lease is still this one.
    pub dropped: Vec<Uuid>,
    /// The state of the device afterwards.
    pub state: DeviceState,
}

/// The state of a device after its last attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// A push service took the notification, in a lane for the next one.
    Works {
        /// The lane.
        lane: Lane,
        /// The end of a pause, if the service asked for one afterwards.
        paused_until: Option<OffsetDateTime>,
    },
    /// An attempt failed. The next one is made then.
    Fails(OffsetDateTime),
    /// The service takes nothing for this device until then, for no fault of the device.
    Paused(OffsetDateTime),
    /// No attempt was made. If there is a moment, none is made before it.
    Untried(Option<OffsetDateTime>),
    /// The push service does not know the device, or no longer does: the device is deleted.
    Gone,
}

/// Leases up to `limit` devices of a lane that may have due notices, with these notices. Devices of players and hosts that have enough
/// attempts in flight are left out. The lease goes from now until a moment.
pub async fn take(
    pool: &PgPool,
    lane: Lane,
    kinds: &[DeviceKind],
    full: &Full,
    (now, until): (OffsetDateTime, OffsetDateTime),
    limit: u32,
) -> Result<Vec<DueDevice>, DbError> {
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let rows = sqlx::query!(
        r#"
        with looked_at as (
            select id, player_id, host, due_at from push_device
            where lane = $1 and due_at <= $2 and (leased_until is null or leased_until <= $2) and kind = any($3)
              and player_id <> all($9) and host <> all($10)
            order by due_at limit $4
        ), ranked as (
            select id, due_at, row_number() over (partition by player_id order by due_at) as of_player,
                row_number() over (partition by host order by due_at) as of_host
            from looked_at
        ), chosen as (
            select id from ranked where of_player <= $5 and of_host <= $6 order by due_at limit $7
        ), free as (
            select push_device.id from push_device where id in (select id from chosen)
            and due_at <= $2 and (leased_until is null or leased_until <= $2)
            for no key update skip locked
        )
        update push_device set leased_until = $8, lease = gen_random_uuid() from free where push_device.id = free.id
        returning push_device.id, lease as "lease!", player_id, kind, address, host, public_key, secret, language, failures,
            failing_since, last_success_at, (
                select push_quiet_end($2, quiet_from, quiet_until, time_zone) from push_settings own
                where own.player_id = push_device.player_id
            ) as quiet_until, (
                select digest_minutes from push_settings own where own.player_id = push_device.player_id
            ) as digest_minutes
        "#,
        lane.number(),
        now,
        &kinds as &[&str],
        LOOKED_AT_MAX,
        i64::from(limits(lane).of_player),
        i64::from(limits(lane).of_host),
        i64::from(limit),
        until,
        &full.players.iter().map(|player| player.0).collect::<Vec<_>>(),
        &full.hosts,
    )
    .fetch_all(pool)
    .instrument(statement("update push_device leased_until"))
    .await?;
    let mut notices = due_notices(pool, &rows.iter().map(|row| row.id).collect::<Vec<_>>(), now).await?;
    let devices = rows.into_iter().map(|row| {
        let (notices, unknown) = notices.remove(&row.id).unwrap_or_default();
        Ok(DueDevice {
            id: row.id,
            lease: row.lease,
            player: PlayerId(row.player_id),
            kind: kind_of(&row.kind)?,
            address: row.address,
            host: row.host,
            keys: row.public_key.zip(row.secret),
            language: row.language,
            failures: row.failures,
            failing_since: row.failing_since,
            last_success_at: row.last_success_at,
            quiet_until: row.quiet_until,
            digest_minutes: row.digest_minutes,
            notices,
            unknown,
        })
    });
    devices.collect()
}

/// The due notices of a device, and the ids of notices with an unknown type.
type Due = (Vec<DueNotice>, Vec<Uuid>);

/// The due notices of devices.
async fn due_notices(pool: &PgPool, devices: &[Uuid], now: OffsetDateTime) -> Result<HashMap<Uuid, Due>, DbError> {
    let mut found: HashMap<Uuid, Due> = HashMap::new();
    if devices.is_empty() {
        return Ok(found);
    }
    let rows = sqlx::query!(
        r#"
        select device_id as "device_id!", game_id as "game_id!", type as "kind!", variant as "variant!", deadline,
            due_at as "due_at!", version as "version!"
        from unnest($1::uuid[]) as device (id) cross join lateral (
            select * from push_notice where device_id = device.id and due_at <= $2 order by due_at limit $3
        ) due
        order by due_at
        "#,
        devices,
        now,
        NOTICES_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select push_notice"))
    .await?;
    for row in rows {
        let (notices, unknown) = found.entry(row.device_id).or_default();
        let Some(kind) = NoticeKind::ALL.into_iter().find(|kind| kind.as_str() == row.kind) else {
            unknown.push(row.version);
            continue;
        };
        notices.push(DueNotice {
            game: GameId(row.game_id),
            kind,
            variant: row.variant,
            deadline: row.deadline,
            due_at: row.due_at,
            version: row.version,
        });
    }
    Ok(found)
}

/// Returns the notices still pending under this lease: not replaced, of the same player, and with the same deadline.
pub async fn waiting(pool: &PgPool, device: Uuid, lease: Uuid, versions: &[Uuid]) -> Result<HashSet<Uuid>, DbError> {
    let found = sqlx::query_scalar!(
        r#"
        select version from push_notice
        where device_id = $1 and version = any($3)
          and exists (select from push_device where id = $1 and lease = $2)
          and (deadline is null or exists (
              select from game where game.id = game_id and game.deadline = push_notice.deadline and finished_at is null
          ))
        "#,
        device,
        lease,
        versions,
    );
    let found = found.fetch_all(pool).instrument(statement("select push_notice versions")).await?;
    Ok(found.into_iter().collect())
}

/// Deletes up to `limit` notices that stayed unsent for a day, whichever server leased them; returns how many.
pub async fn purge(pool: &PgPool, now: OffsetDateTime, limit: u32) -> Result<u64, DbError> {
    // A device with quiet hours gets its notices within a day, so it keeps them.
    let deleted = sqlx::query!(
        r#"
        -- By their places, so that no plan reads the table. One that another notice has taken meanwhile is not deleted.
        delete from push_notice where ctid = any(array(
            select ctid from push_notice where due_at < $1 order by due_at limit $2
        ))
        "#,
        now - KEPT - KEPT,
        i64::from(limit),
    )
    .execute(pool)
    .instrument(statement("delete push_notice"))
    .await?;
    Ok(deleted.rows_affected())
}

/// Records the result of a lease, and sets when the device is due again. The result of a lease that another process has taken over is
/// ignored.
pub async fn record(pool: &PgPool, sent: &Sent, now: OffsetDateTime) -> Result<(), DbError> {
    let Sent { device: id, lease, state, .. } = *sent;
    let (lane, paused_until, not_before) = match state {
        DeviceState::Works { lane, paused_until } => (Some(lane), paused_until, None),
        DeviceState::Fails(until) => (Some(Lane::Failing), Some(until), None),
        DeviceState::Paused(until) => (None, Some(until), None),
        DeviceState::Untried(not_before) => (None, None, not_before),
        DeviceState::Gone => (None, None, None),
    };
    let mut transaction = pool.begin().await?;
    // No request waits for this, and it may wait longer than a request would.
    wait_longer_for_locks(&mut transaction).await?;
    // The lock has its own statement, so that the next ones see notices that were queued while it waited.
    let locked = sqlx::query_scalar!("select id from push_device where id = $1 and lease = $2 for update", id, lease);
    let locked = locked.fetch_optional(&mut *transaction).instrument(statement("lock push_device")).await?;
    let dropped = if locked.is_some() { &sent.dropped[..] } else { &[] };
    let over = [&sent.ended[..], dropped].concat();
    sqlx::query!("delete from push_notice where device_id = $1 and version = any($2)", id, &over)
        .execute(&mut *transaction)
        .instrument(statement("delete push_notice"))
        .await?;
    if locked.is_some() && state == DeviceState::Gone {
        sqlx::query!("delete from push_device where id = $1", id)
            .execute(&mut *transaction)
            .instrument(statement("delete push_device"))
            .await?;
    } else if locked.is_some() {
        sqlx::query!(
            r#"
            update push_device set
                leased_until = null,
                lease = null,
                lane = coalesce($3, lane),
                last_success_at = case when $2 then $6 else last_success_at end,
                failures = case when $2 then 0 when $7 then failures + 1 else failures end,
                failing_since = case when $2 then null when $7 then coalesce(failing_since, $6) else failing_since end,
                paused_until = case when $2 then $4::timestamptz else coalesce($4, paused_until) end,
                due_at = (
                    select greatest(min(waiting.due_at), $5, case when $2 then $4 else coalesce($4, paused_until) end)
                    from push_notice waiting where waiting.device_id = $1 having count(*) > 0
                )
            where id = $1
            "#,
            id,
            matches!(state, DeviceState::Works { .. }),
            lane.map(Lane::number),
            paused_until,
            not_before,
            now,
            matches!(state, DeviceState::Fails(_)),
        )
        .execute(&mut *transaction)
        .instrument(statement("update push_device"))
        .await?;
    }
    transaction.commit().await?;
    Ok(())
}
