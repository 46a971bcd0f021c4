//! The queue of games in which the computer is to move. The statement that stores a game or an append adds the row.

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use super::columns::{column, number};
use crate::connection::{DbError, statement};

/// At most this many turns are counted: that more are queued is enough to know.
const COUNTED_MAX: i64 = 10_000;

/// How many turns are assigned to rounds by one statement.
const ASSIGNED_AT_ONCE: i64 = 1_000;

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

/// Takes the next turn without a lease, or with an expired one, and leases it until `until`. The queue is fair: a round
/// has one turn of each player, so a player of many games at once waits for most of them.
pub async fn take(pool: &PgPool, now: OffsetDateTime, until: OffsetDateTime) -> Result<Option<ComputerTurn>, DbError> {
    assign_rounds(pool).await?;
    let row = sqlx::query!(
        r#"
        with taken as (
            select game_id from computer_turn
            where round is not null and (taken_until is null or taken_until < least($1, now()))
            order by round, waits_since limit 1
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

/// How many turns are queued, counted up to `COUNTED_MAX`.
pub async fn count_waiting(pool: &PgPool) -> Result<i64, DbError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (select from computer_turn limit $1) counted"#,
        COUNTED_MAX,
    );
    Ok(count.fetch_one(pool).instrument(statement("count computer_turn")).await?)
}

/// Assigns rounds to new turns: the present round, or the one after the player's last. Appends leave this to the
/// workers, because they look at nothing but their games.
async fn assign_rounds(pool: &PgPool) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        with new as (
            select turn.game_id, waits_since,
                case invited_player_id when seat_0_player_id then seat_1_player_id else seat_0_player_id end as player_id
            from computer_turn turn left join game on game.id = turn.game_id
            where round is null and (taken_until is null or taken_until < now()) order by waits_since limit $1
            for no key update of turn skip locked
        ), placed as (
            select game_id, player_id, greatest(
                coalesce((select min(round) from computer_turn), 0),
                coalesce((select max(round) + 1 from computer_turn where computer_turn.player_id = new.player_id), 0)
            ) + row_number() over (partition by player_id order by waits_since) - 1 as round
            from new
        )
        update computer_turn set player_id = placed.player_id, round = placed.round
        from placed where computer_turn.game_id = placed.game_id
        "#,
        ASSIGNED_AT_ONCE,
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
