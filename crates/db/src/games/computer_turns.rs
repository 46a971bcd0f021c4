//! The queue of games in which the computer is to move. The statement that stores a game or an append adds the row.

use std::time::Duration;

use mancala_domain::GameId;
use sqlx::{PgPool, postgres::types::PgInterval};
use time::OffsetDateTime;
use tracing::Instrument;

use super::columns::{column, number};
use crate::connection::{DbError, statement};

/// The most turns that are counted: a larger number needs no exact count.
const COUNTED_MAX: i64 = 10_000;

/// How many turns are assigned to rounds by one statement.
const ASSIGNED_AT_ONCE: i64 = 1_000;

/// The turn of a guest or a new account counts as younger by this much. Within a round other accounts come before them, and no
/// guest waits for accounts for ever.
const GUEST_HANDICAP: time::Duration = time::Duration::seconds(1);

/// A round is closed to new turns while a turn of a later round has waited for longer than this. Otherwise new players could keep
/// those of later rounds waiting for ever.
const OPEN_FOR: time::Duration = time::Duration::milliseconds(1500);

/// How many turns of a round, and of the same account or network, are considered when the time for a turn is chosen.
const CONSIDERED_MAX: i64 = 500;

/// The computer is to move in a game, as of a version of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputerTurn {
    /// The game.
    pub game: GameId,
    /// The version of the game at which the computer is to move.
    pub version: u32,
    /// By the database's clock.
    pub since: OffsetDateTime,
}

/// How long the queued turns have waited, in the order in which they are played.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    /// Turns of the same round, with the turn itself.
    pub of_round: Vec<Duration>,
    /// Turns of the same account, or of guests and new accounts of the same network, with that turn.
    pub of_place: Vec<Duration>,
}

/// Takes the next turn without a lease, or with an expired one, and leases it until `until`. The queue is fair: a round
/// has one turn of each account, and one of all guests and new accounts of a network. A player of many games at once, or of many guests,
/// waits for most of them.
pub async fn take(pool: &PgPool, now: OffsetDateTime, until: OffsetDateTime) -> Result<Option<ComputerTurn>, DbError> {
    assign_rounds(pool).await?;
    let row = sqlx::query!(
        r#"
        with taken as (
            select game_id from computer_turn
            where round is not null and (taken_until is null or taken_until < least($1, now()))
            order by round, order_at limit 1
            for no key update skip locked
        )
        update computer_turn set taken_until = $2 from taken where computer_turn.game_id = taken.game_id
        returning computer_turn.game_id, version, waits_since
        "#,
        now,
        until,
    )
    .fetch_optional(pool)
    .instrument(statement("update computer_turn"))
    .await?;
    row.map(|row| {
        let version = number("computer_turn", "version", row.game_id, row.version)?;
        Ok(ComputerTurn { game: GameId(row.game_id), version, since: row.waits_since })
    })
    .transpose()
}

/// Reads how long the turns of the same round have waited, and those of the same account or network.
pub async fn waits(pool: &PgPool, turn: ComputerTurn) -> Result<Waits, DbError> {
    let row = sqlx::query!(
        r#"
        select
            array(
                select extract(epoch from now() - waits_since)::float8 from computer_turn
                where round = own.round order by order_at limit $2
            ) as "of_round!",
            array(
                select extract(epoch from now() - waits_since)::float8 from computer_turn
                where round_key = own.round_key order by round limit $2
            ) as "of_place!"
        from computer_turn own where own.game_id = $1
        "#,
        turn.game.0,
        CONSIDERED_MAX,
    )
    .fetch_optional(pool)
    .instrument(statement("select computer_turn"))
    .await?;
    let waited = |seconds: Vec<f64>| seconds.into_iter().map(|s| Duration::try_from_secs_f64(s).unwrap_or_default());
    let waits =
        row.map(|row| Waits { of_round: waited(row.of_round).collect(), of_place: waited(row.of_place).collect() });
    Ok(waits.unwrap_or_default())
}

/// The turns in the queue, counted up to `COUNTED_MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// How many there are.
    pub turns: i64,
    /// How many seconds the oldest turn has waited, without turns that were put off.
    pub oldest_s: i64,
}

/// How many turns are queued, and for how long.
pub async fn count_waiting(pool: &PgPool) -> Result<Queued, DbError> {
    let queued = sqlx::query_as!(
        Queued,
        r#"
        select count(*) as "turns!",
            coalesce(extract(epoch from now() - min(waits_since) filter (where not is_put_off)), 0)::bigint as "oldest_s!"
        from (
            select waits_since, round is null and taken_until is not null as is_put_off from computer_turn
            order by round, waits_since limit $1
        ) counted
        "#,
        COUNTED_MAX,
    );
    Ok(queued.fetch_one(pool).instrument(statement("count computer_turn")).await?)
}

/// Assigns rounds to new turns. A turn gets the current round, or the next one if the current round is closed. It comes after the last turn
/// of the same account or network. Workers do this, because an append reads nothing but its own games.
async fn assign_rounds(pool: &PgPool) -> Result<(), DbError> {
    let interval = |duration| PgInterval::try_from(duration).expect("it has no nanoseconds");
    sqlx::query!(
        r#"
        with present as (
            select coalesce(min(round), 0) as round from computer_turn
        ), open as (
            select round + case when exists (
                select from computer_turn later
                where later.round > present.round and later.waits_since < now() - $3::interval
            ) then 1 else 0 end as round
            from present
        ), new as (
            select turn.game_id, waits_since, coalesce(player.network, player.id) as round_key,
                waits_since + case when player.kind = 'guest' or player.network is not null then $2 else '0 s'::interval end as order_at
            from computer_turn turn
            left join game on game.id = turn.game_id
            left join player on player.id =
                case invited_player_id when seat_0_player_id then seat_1_player_id else seat_0_player_id end
            where round is null and (taken_until is null or taken_until < now()) order by waits_since limit $1
            for no key update of turn skip locked
        ), placed as (
            select game_id, round_key, order_at, greatest(
                open.round,
                coalesce((select max(round) + 1 from computer_turn where computer_turn.round_key = new.round_key), 0)
            ) + row_number() over (partition by round_key order by waits_since) - 1 as round
            from new cross join open
        )
        update computer_turn
        set round_key = placed.round_key, round = placed.round, order_at = coalesce(placed.order_at, computer_turn.order_at)
        from placed where computer_turn.game_id = placed.game_id
        "#,
        ASSIGNED_AT_ONCE,
        interval(GUEST_HANDICAP),
        interval(OPEN_FOR),
    )
    .execute(pool)
    .instrument(statement("update computer_turn"))
    .await?;
    Ok(())
}

/// Ends the lease of a turn that was not played, so that any worker can take it.
pub async fn release(pool: &PgPool, turn: ComputerTurn) -> Result<(), DbError> {
    sqlx::query!(
        "update computer_turn set taken_until = null where game_id = $1 and version = $2",
        turn.game.0,
        column(turn.version),
    )
    .execute(pool)
    .instrument(statement("update computer_turn"))
    .await?;
    Ok(())
}

/// Puts off a turn that failed. It is in no round until then.
pub async fn put_off(pool: &PgPool, turn: ComputerTurn, until: OffsetDateTime) -> Result<(), DbError> {
    sqlx::query!(
        "update computer_turn set taken_until = $3, round = null where game_id = $1 and version = $2",
        turn.game.0,
        column(turn.version),
        until,
    )
    .execute(pool)
    .instrument(statement("update computer_turn"))
    .await?;
    Ok(())
}

/// Deletes a turn that is over. A later one of the same game stays.
pub async fn end(pool: &PgPool, turn: ComputerTurn) -> Result<(), DbError> {
    sqlx::query!("delete from computer_turn where game_id = $1 and version = $2", turn.game.0, column(turn.version),)
        .execute(pool)
        .instrument(statement("delete computer_turn"))
        .await?;
    Ok(())
}
