//! Attempts: due deliveries are leased, each with those that wait behind it.

use std::{collections::HashMap, fmt};

use mancala_domain::{GameId, PlayerId};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{deliveries::CHALLENGE, health};
use crate::{
    connection::{DbError, statement},
    outbound::{Full, Lane, Limits},
};

/// How many due endpoints one poll reads; from these it chooses by player and by host.
const LOOKED_AT_MAX: i64 = 1000;

/// How many deliveries of a game are sent after the leased one, under its lease.
const BEHIND_MAX: i64 = 15;

/// How many attempts are in flight in a process. A player has ten endpoints. A host gets a quarter of a lane, or an eighth where attempts
/// may last until the timeout.
pub const fn limits(lane: Lane) -> Limits {
    match lane {
        Lane::Quick => Limits { places: 128, of_player: 8, of_host: 32 },
        Lane::Unproven | Lane::Failing => Limits { places: 64, of_player: 2, of_host: 8 },
    }
}

/// How many attempts an endpoint gets at once.
pub const fn at_once(lane: Lane) -> u32 {
    match lane {
        Lane::Quick => 4,
        Lane::Unproven | Lane::Failing => 1,
    }
}

/// A delivery that was leased for an attempt, or that waits behind one.
#[derive(Clone)]
pub struct Due {
    /// The id of the delivery, which its message carries.
    pub id: Uuid,
    /// The webhook.
    pub webhook: Uuid,
    /// The webhook's player.
    pub player: PlayerId,
    /// When it was queued.
    pub created_at: OffsetDateTime,
    /// The number of the attempt, from 1. Only the last attempt's result is recorded.
    pub attempt: i32,
    /// How many attempts were made before the delivery was requested again: the schedule starts anew.
    pub attempts_before: i32,
    /// The message.
    pub payload: String,
    /// The address of the endpoint.
    pub url: String,
    /// The host and port of the address.
    pub host: String,
    /// The secret that signs.
    pub secret: Vec<u8>,
    /// Earlier secrets, and until when they sign too.
    pub previous: Vec<(Vec<u8>, OffsetDateTime)>,
    /// For a reminder of a deadline: the game, and its deadline.
    pub deadline: Option<(GameId, OffsetDateTime)>,
    /// For a challenge: what the endpoint must repeat.
    pub challenge: Option<String>,
}

/// Hides the secrets, and the address, which may hold one.
impl fmt::Debug for Due {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Due").field("id", &self.id).field("attempt", &self.attempt).finish_non_exhaustive()
    }
}

/// Leases deliveries that are due until `leased_until`, for as many endpoints as there is `room` for. Deliveries that
/// another process has leased are skipped. After a crash the lease expires, and another process takes them.
///
/// The statement scans endpoints, not deliveries: deliveries to an endpoint that is not due are never read. An endpoint that
/// got new deliveries meanwhile has another count in `touched`, and stays due; so does one whose row is locked.
///
/// Players take turns: the first due endpoint of each comes before the second of any. A player or a host gets as many
/// attempts at most as its limit says, and none if it is `full`. An endpoint that is not verified gets its challenge only.
pub async fn take(
    pool: &PgPool,
    lane: Lane,
    now: OffsetDateTime,
    leased_until: OffsetDateTime,
    room: u32,
    full: &Full,
) -> Result<Vec<Due>, DbError> {
    let rows = sqlx::query!(
        r#"
        with due as (
            select id, touched, player_id, host, due_at, verified_at is not null as is_verified from webhook
            where lane = $1 and due_at <= $2 and disabled_at is null and player_id is not null
              and player_id <> all($6) and host <> all($7)
            order by due_at limit $8
        ), ranked as (
            select id, touched, player_id, host, is_verified, due_at,
                row_number() over (partition by player_id order by due_at) as of_player,
                row_number() over (partition by host order by due_at) as of_host
            from due
        ), looked as (
            select id, touched, player_id, host, is_verified, of_player, due_at, (
                select count(*) from webhook_delivery where webhook_id = ranked.id and leased_until > $2
            ) as busy
            from ranked where of_player <= $9 and of_host <= $10
            order by of_player, due_at limit $4
        ), head as (
            -- The turns of a player, of a host, and of all: an endpoint's first delivery comes before the second of any.
            select due.id, looked.id as webhook_id,
                row_number() over (partition by player_id order by n, due_at) as of_player,
                row_number() over (partition by host order by n, of_player, due_at) as of_host,
                row_number() over (order by n, of_player, due_at) as of_all
            from looked cross join lateral (
                select id, row_number() over (order by next_attempt_at) as n from webhook_delivery
                where webhook_id = looked.id and next_attempt_at <= $2 and (is_verified or type = $11)
                order by n limit greatest($5 - looked.busy, 0)
            ) due
        ), chosen as (
            select webhook_delivery.id, head.webhook_id from head join webhook_delivery on webhook_delivery.id = head.id
            where of_player <= $9 and of_host <= $10 and of_all <= $4 and next_attempt_at <= $2
            for update of webhook_delivery skip locked
        ), leased as (
            update webhook_delivery set
                leased_until = $3, next_attempt_at = $3, last_attempt_at = $2, attempts = attempts + 1
            from chosen where webhook_delivery.id = chosen.id
            returning webhook_delivery.*
        ), later as (
            select looked.id, looked.touched, case
                when looked.busy + taken.count >= $5 then $3
                else least((
                    select next_attempt_at from webhook_delivery
                    where webhook_id = looked.id and next_attempt_at is not null and (is_verified or type = $11)
                    order by next_attempt_at offset taken.count limit 1
                ), case when taken.count > 0 then $3 end)
            end as at
            from looked cross join lateral (
                select count(*) as count from chosen where chosen.webhook_id = looked.id
            ) taken
        ), free as (
            select webhook.id, later.at from later
            join webhook on webhook.id = later.id and webhook.touched = later.touched
            order by webhook.id for no key update of webhook skip locked
        ), put_off as (
            update webhook set due_at = free.at from free where webhook.id = free.id
        )
        select leased.id as "id!", leased.webhook_id as "webhook_id!", leased.created_at as "created_at!",
            attempts as "attempts!", attempts_before as "attempts_before!", payload as "payload!", game_id, deadline, url,
            host as "host!", player_id as "player_id!", secret, previous_secrets, previous_until,
            case when type = $11 then coalesce(challenge, '') end as challenge
        from leased join webhook on webhook.id = leased.webhook_id
        where player_id is not null
        "#,
        lane.number(),
        now,
        leased_until,
        i64::from(room),
        i64::from(at_once(lane)),
        &full.players.iter().map(|player| player.0).collect::<Vec<_>>(),
        &full.hosts,
        LOOKED_AT_MAX,
        i64::from(limits(lane).of_player),
        i64::from(limits(lane).of_host),
        CHALLENGE,
    )
    .fetch_all(pool)
    .instrument(statement("update webhook_delivery leased_until"))
    .await?;
    let due = rows.into_iter().map(|row| Due {
        id: row.id,
        webhook: row.webhook_id,
        player: PlayerId(row.player_id),
        created_at: row.created_at,
        attempt: row.attempts,
        attempts_before: row.attempts_before,
        payload: row.payload,
        url: row.url,
        host: row.host,
        secret: row.secret,
        previous: row.previous_secrets.into_iter().zip(row.previous_until).collect(),
        deadline: row.game_id.map(GameId).zip(row.deadline),
        challenge: row.challenge,
    });
    Ok(due.collect())
}

/// The deliveries that wait behind leased ones, by the ids of the leased ones. They go to the same endpoint in the same game, in their
/// order. The lease of the first covers them, because nothing takes them before it has ended.
pub async fn behind(pool: &PgPool, leased: &[Due]) -> Result<HashMap<Uuid, Vec<Due>>, DbError> {
    let rows = sqlx::query!(
        r#"
        select first.id as "first!", next.id as "id!", next.created_at as "created_at!", next.attempts as "attempts!",
            next.attempts_before as "attempts_before!", next.payload as "payload!",
            (next.next_attempt_at is null and next.leased_until is null) as "is_waiting!"
        from unnest($1::uuid[]) as given (id) join webhook_delivery first on first.id = given.id
        cross join lateral (
            select * from webhook_delivery waiting
            where waiting.webhook_id = first.webhook_id and waiting.game_id = first.game_id
              and waiting.in_order and waiting.ended_at is null and waiting.id <> first.id
            order by waiting.seq, waiting.type limit $2
        ) next
        where first.in_order
        order by first.id, next.seq, next.type
        "#,
        &leased.iter().map(|due| due.id).collect::<Vec<_>>(),
        BEHIND_MAX,
    )
    .fetch_all(pool)
    .instrument(statement("select webhook_delivery behind"))
    .await?;
    let of: HashMap<Uuid, &Due> = leased.iter().map(|due| (due.id, due)).collect();
    let mut behind: HashMap<Uuid, Vec<Due>> = HashMap::new();
    for of_one in rows.chunk_by(|one, next| one.first == next.first) {
        let Some(first) = of_one.first().and_then(|row| of.get(&row.first)) else { continue };
        let waiting = of_one.iter().take_while(|row| row.is_waiting).map(|row| Due {
            id: row.id,
            created_at: row.created_at,
            attempt: row.attempts + 1,
            attempts_before: row.attempts_before,
            payload: row.payload.clone(),
            ..(*first).clone()
        });
        behind.insert(first.id, waiting.collect());
    }
    Ok(behind)
}

/// Deletes a delivery that is of no use any more.
pub async fn drop_stale(pool: &PgPool, due: &Due, now: OffsetDateTime) -> Result<(), DbError> {
    let mut transaction = pool.begin().await?;
    health::touch(&mut transaction, due.webhook, now).await?;
    sqlx::query!("delete from webhook_delivery where id = $1 and attempts = $2", due.id, due.attempt)
        .execute(&mut *transaction)
        .instrument(statement("delete webhook_delivery"))
        .await?;
    transaction.commit().await?;
    Ok(())
}

/// Whether a game still has a deadline.
pub async fn has_deadline(pool: &PgPool, game: GameId, deadline: OffsetDateTime) -> Result<bool, DbError> {
    let found = sqlx::query_scalar!(
        r#"select exists (select from game where id = $1 and deadline = $2 and finished_at is null) as "is_so!""#,
        game.0,
        deadline,
    )
    .fetch_one(pool)
    .instrument(statement("select deadline"))
    .await?;
    Ok(found)
}
