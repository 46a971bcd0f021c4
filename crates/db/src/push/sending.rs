//! Devices to which something is to be sent: leased to a process, and what has become of it.

use std::{collections::HashMap, fmt};

use mancala_domain::{DeviceKind, GameId, NoticeKind, PlayerId};
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use tracing::Instrument;
use uuid::Uuid;

use super::devices::kind_of;
use crate::connection::{DbError, columns, statement};

/// How many due devices one poll looks at, to choose from them by player and by host.
const LOOKED_AT_MAX: i64 = 1000;

/// How many devices of one player, and at one host, one poll takes.
const OF_PLAYER_MAX: i64 = 4;
const OF_HOST_MAX: i64 = 16;

/// How many notices of a device one poll takes: more than a player has games.
const NOTICES_MAX: i64 = 2000;

/// How long what could not be sent is kept: who has not looked for a day looks at the games themselves.
pub const KEPT: Duration = Duration::hours(24);

/// Which devices a poll takes: those that answer soon, and the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushLane {
    /// The last attempt succeeded within a second.
    Quick,
    /// New, slow or failing.
    Unproven,
}

impl PushLane {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Quick, Self::Unproven];

    const fn number(self) -> i16 {
        match self {
            Self::Quick => 0,
            Self::Unproven => 1,
        }
    }
}

/// A device that was leased, with what is due for it.
#[derive(Clone)]
pub struct DueDevice {
    /// The device.
    pub id: Uuid,
    /// The lease. Only the result of the last one is recorded.
    pub lease: Uuid,
    /// Its player.
    pub player: PlayerId,
    /// By which service it is reached.
    pub kind: DeviceKind,
    /// The URL of a push service.
    pub address: String,
    /// Of a browser: its public key and its secret.
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
    /// At most one notification in so many minutes.
    pub digest_minutes: Option<i16>,
    /// What is due, the oldest first.
    pub notices: Vec<DueNotice>,
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
    /// Of a reminder: the deadline.
    pub deadline: Option<OffsetDateTime>,
    /// When it was due.
    pub due_at: OffsetDateTime,
    /// Whether the game has that deadline still; true without one.
    pub is_current: bool,
    /// Identifies it.
    pub version: Uuid,
}

/// What has become of a device's notices.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The device.
    pub device: Uuid,
    /// Its lease.
    pub lease: Uuid,
    /// The notices that have ended: they were sent, or will never be.
    pub ended: Vec<Uuid>,
    /// What became of the device.
    pub state: DeviceState,
}

/// What the last attempt says about a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceState {
    /// A push service took the notification, in a lane for the next one.
    Works(PushLane),
    /// An attempt failed. The next one is made then.
    Fails(OffsetDateTime),
    /// Nothing was tried, and nothing is before then, if a moment is given.
    Untried(Option<OffsetDateTime>),
    /// The push service does not know it any more, or never did: it is forgotten.
    Gone,
}

/// Takes up to `limit` devices of a lane for which something may be due, with what is due. `until` ends the lease.
pub async fn take(
    pool: &PgPool,
    lane: PushLane,
    kinds: &[DeviceKind],
    now: OffsetDateTime,
    until: OffsetDateTime,
    limit: u32,
) -> Result<Vec<DueDevice>, DbError> {
    let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    let rows = sqlx::query!(
        r#"
        with looked_at as (
            select id, player_id, host, due_at from push_device
            where lane = $1 and due_at <= $2 and (leased_until is null or leased_until <= $2) and kind = any($3)
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
        returning push_device.id, lease as "lease!", player_id, kind, address, public_key, secret, language, failures,
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
        OF_PLAYER_MAX,
        OF_HOST_MAX,
        i64::from(limit),
        until,
    )
    .fetch_all(pool)
    .instrument(statement("update push_device leased_until"))
    .await?;
    let mut notices = due_notices(pool, &rows.iter().map(|row| row.id).collect::<Vec<_>>(), now).await?;
    let devices = rows.into_iter().map(|row| {
        Ok(DueDevice {
            id: row.id,
            lease: row.lease,
            player: PlayerId(row.player_id),
            kind: kind_of(&row.kind)?,
            address: row.address,
            keys: row.public_key.zip(row.secret),
            language: row.language,
            failures: row.failures,
            failing_since: row.failing_since,
            last_success_at: row.last_success_at,
            quiet_until: row.quiet_until,
            digest_minutes: row.digest_minutes,
            notices: notices.remove(&row.id).unwrap_or_default(),
        })
    });
    devices.collect()
}

/// What is due for devices.
async fn due_notices(
    pool: &PgPool,
    devices: &[Uuid],
    now: OffsetDateTime,
) -> Result<HashMap<Uuid, Vec<DueNotice>>, DbError> {
    let mut found: HashMap<Uuid, Vec<DueNotice>> = HashMap::new();
    if devices.is_empty() {
        return Ok(found);
    }
    let rows = sqlx::query!(
        r#"
        select device_id as "device_id!", game_id as "game_id!", type as "kind!", variant as "variant!", deadline,
            due_at as "due_at!", version as "version!", deadline is null or exists (
                select from game where id = game_id and game.deadline = due.deadline and finished_at is null
            ) as "is_current!"
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
        let Some(kind) = NoticeKind::ALL.into_iter().find(|kind| kind.as_str() == row.kind) else { continue };
        found.entry(row.device_id).or_default().push(DueNotice {
            game: GameId(row.game_id),
            kind,
            variant: row.variant,
            deadline: row.deadline,
            due_at: row.due_at,
            is_current: row.is_current,
            version: row.version,
        });
    }
    Ok(found)
}

columns! {
    struct SentRow => SentColumns {
        id: Uuid,
        lease: Uuid,
        works: bool,
        lane: Option<i16>,
        paused_until: Option<OffsetDateTime>,
        not_before: Option<OffsetDateTime>,
        is_gone: bool,
    }
}

impl Sent {
    fn row(&self) -> SentRow {
        let (lane, paused_until) = match self.state {
            DeviceState::Works(lane) => (Some(lane.number()), None),
            DeviceState::Fails(until) => (Some(PushLane::Unproven.number()), Some(until)),
            DeviceState::Untried(_) | DeviceState::Gone => (None, None),
        };
        let not_before = match self.state {
            DeviceState::Untried(not_before) => not_before,
            _ => None,
        };
        SentRow {
            id: self.device,
            lease: self.lease,
            works: matches!(self.state, DeviceState::Works(_)),
            lane,
            paused_until,
            not_before,
            is_gone: self.state == DeviceState::Gone,
        }
    }
}

/// Records what became of devices, and says when the next thing is due for each. The result of a lease that another process has taken over is not recorded.
pub async fn record(pool: &PgPool, sent: &[Sent], now: OffsetDateTime) -> Result<(), DbError> {
    let rows = SentColumns::of(sent.iter().map(Sent::row));
    let ended: Vec<Uuid> = sent.iter().flat_map(|sent| sent.ended.iter().copied()).collect();
    let of_ended: Vec<Uuid> = sent.iter().flat_map(|sent| sent.ended.iter().map(|_| sent.device)).collect();
    let mut transaction = pool.begin().await?;
    // By a statement of its own: the next ones see what was queued while it waited.
    let locked = sqlx::query_scalar!(
        r#"
        select device.id from push_device device join (
            select unnest($1::uuid[]) as id, unnest($2::uuid[]) as lease
        ) given on given.id = device.id
        where device.lease = given.lease order by device.id for update of device
        "#,
        &rows.id,
        &rows.lease,
    )
    .fetch_all(&mut *transaction)
    .instrument(statement("lock push_device"))
    .await?;
    sqlx::query!(
        r#"
        delete from push_notice using (select unnest($1::uuid[]) as device_id, unnest($2::uuid[]) as version) given
        where push_notice.device_id = given.device_id and push_notice.version = given.version
        "#,
        &of_ended,
        &ended,
    )
    .execute(&mut *transaction)
    .instrument(statement("delete push_notice"))
    .await?;
    sqlx::query!(
        r#"
        with given as (
            select
                unnest($1::uuid[]) as id,
                unnest($2::boolean[]) as works,
                unnest($3::smallint[]) as lane,
                unnest($4::timestamptz[]) as paused_until,
                unnest($5::boolean[]) as is_gone,
                unnest($8::timestamptz[]) as not_before
        ), gone as (
            delete from push_device using given where push_device.id = given.id and is_gone and push_device.id = any($6)
        )
        update push_device set
            leased_until = null,
            lease = null,
            lane = coalesce(given.lane, push_device.lane),
            last_success_at = case when works then $7 else last_success_at end,
            failures = case when works then 0 when given.paused_until is not null then failures + 1 else failures end,
            failing_since = case when works then null when given.paused_until is not null then coalesce(failing_since, $7)
                else failing_since end,
            paused_until = case when works then null else coalesce(given.paused_until, push_device.paused_until) end,
            due_at = (
                select greatest(min(waiting.due_at), given.not_before, case when works then null
                    else coalesce(given.paused_until, push_device.paused_until) end)
                from push_notice waiting where waiting.device_id = push_device.id having count(*) > 0
            )
        from given where push_device.id = given.id and not is_gone and push_device.id = any($6)
        "#,
        &rows.id,
        &rows.works,
        &rows.lane as &[Option<i16>],
        &rows.paused_until as &[Option<OffsetDateTime>],
        &rows.is_gone,
        &locked,
        now,
        &rows.not_before as &[Option<OffsetDateTime>],
    )
    .execute(&mut *transaction)
    .instrument(statement("update push_device"))
    .await?;
    transaction.commit().await?;
    Ok(())
}
