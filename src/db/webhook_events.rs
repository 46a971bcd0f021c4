//! Appends of which players are yet to be told, and how they become deliveries.

use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use super::{DbError, games::SeatedGame, statement};
use crate::domain::{Event, Game, GameId, Notice, NoticeKind, PlayerId, Previous};

/// Events of a game that were appended together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untold {
    pub game: GameId,
    pub from_seq: i32,
    pub to_seq: i32,
}

/// An endpoint that is to be told, and of what.
#[derive(Clone, Debug)]
pub struct Listener {
    pub webhook: Uuid,
    pub player: PlayerId,
    events: Option<Vec<String>>,
}

impl Listener {
    /// Whether it is to be told of such things.
    pub fn wants(&self, kind: NoticeKind) -> bool {
        self.events.as_ref().is_none_or(|events| events.iter().any(|event| event == kind.as_str()))
    }
}

/// A notice for one endpoint.
#[derive(Clone, Debug)]
pub struct NewDelivery {
    pub id: Uuid,
    pub webhook: Uuid,
    pub game: GameId,
    pub seq: u32,
    pub kind: NoticeKind,
    pub payload: String,
    /// The append that it comes of.
    pub from_seq: i32,
}

/// What somebody is told of.
#[derive(Debug)]
pub struct Told<'a> {
    pub notice: Notice,
    pub event: &'a Event,
    /// The game as it was after the event and those that were appended with it.
    pub game: &'a Game,
    /// The last ply before the event.
    pub previous: &'a Previous,
    /// The game as it is now, with its people.
    pub seated: &'a SeatedGame,
}

/// Up to `limit` appends of which nobody was told yet; those of a game in their order, from the first.
pub async fn list(pool: &PgPool, limit: u32) -> Result<Vec<Untold>, DbError> {
    let rows = sqlx::query!(
        "select game_id, from_seq, to_seq from webhook_event order by game_id, from_seq limit $1",
        i64::from(limit)
    )
    .fetch_all(pool)
    .instrument(statement("select webhook_event"))
    .await?;
    let untold = rows.into_iter();
    Ok(untold.map(|row| Untold { game: GameId(row.game_id), from_seq: row.from_seq, to_seq: row.to_seq }).collect())
}

/// The endpoints of some players that are told of anything.
pub async fn listeners(pool: &PgPool, players: &[PlayerId]) -> Result<Vec<Listener>, DbError> {
    let players: Vec<Uuid> = players.iter().map(|player| player.0).collect();
    let rows = sqlx::query!(
        "select id, player_id, events from webhook where player_id = any($1) and disabled_at is null",
        &players
    )
    .fetch_all(pool)
    .instrument(statement("select webhooks of players"))
    .await?;
    let listeners = rows.into_iter();
    Ok(listeners.map(|row| Listener { webhook: row.id, player: PlayerId(row.player_id), events: row.events }).collect())
}

/// Makes appends into deliveries, in one statement: of several processes one does, and the others find it done. The appends of a
/// game are locked in their order, so no delivery is there before one of an earlier event.
pub async fn tell(
    pool: &PgPool,
    untold: &[Untold],
    deliveries: &[NewDelivery],
    now: OffsetDateTime,
) -> Result<u64, DbError> {
    let told = sqlx::query!(
        r#"
        with locked as (
            select event.game_id, event.from_seq
            from unnest($1::uuid[], $2::integer[]) as given (game_id, from_seq)
            join webhook_event event on event.game_id = given.game_id and event.from_seq = given.from_seq
            order by event.game_id, event.from_seq for update of event
        ), taken as (
            delete from webhook_event using locked
            where webhook_event.game_id = locked.game_id and webhook_event.from_seq = locked.from_seq
            returning webhook_event.game_id, webhook_event.from_seq
        ), notice as (
            select given.* from unnest(
                $3::uuid[], $4::uuid[], $5::uuid[], $6::integer[], $7::integer[], $8::text[], $9::text[]
            ) as given (id, webhook_id, game_id, from_seq, seq, type, payload)
            join taken on taken.game_id = given.game_id and taken.from_seq = given.from_seq
        ), enabled as (
            select id from webhook where id in (select webhook_id from notice) and disabled_at is null
            order by id for no key update
        ), woken as (
            update webhook set due_at = $10 from enabled where webhook.id = enabled.id
        )
        insert into webhook_delivery
            (id, webhook_id, created_at, game_id, seq, type, payload, in_order, next_attempt_at)
        select notice.id, webhook_id, $10, game_id, seq, type, payload, true, greatest($10, (
            select next_attempt_at from webhook_delivery before
            where before.webhook_id = notice.webhook_id and before.game_id = notice.game_id
              and ended_at is null and in_order
            order by before.seq, before.type limit 1
        ))
        from notice join enabled on enabled.id = notice.webhook_id
        on conflict (webhook_id, game_id, seq, type) do nothing
        "#,
        &column(untold, |untold| untold.game.0),
        &column(untold, |untold| untold.from_seq),
        &column(deliveries, |delivery| delivery.id),
        &column(deliveries, |delivery| delivery.webhook),
        &column(deliveries, |delivery| delivery.game.0),
        &column(deliveries, |delivery| delivery.from_seq),
        &column(deliveries, |delivery| super::game_rows::column(delivery.seq)),
        &column(deliveries, |delivery| delivery.kind.as_str()) as &[&str],
        &column(deliveries, |delivery| delivery.payload.as_str()) as &[&str],
        now,
    )
    .execute(pool)
    .instrument(statement("delete webhook_event insert webhook_delivery"))
    .await?;
    Ok(told.rows_affected())
}

fn column<'a, T, U>(rows: &'a [T], value: impl Fn(&'a T) -> U) -> Vec<U> {
    rows.iter().map(value).collect()
}
