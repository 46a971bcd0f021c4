//! Games in which the computer is to move. A row is left by the statement that made it so (`appends`, [`super::games::insert`]).

use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;

use super::{
    DbError,
    game_rows::{column, number},
    statement,
};
use crate::domain::GameId;

/// That the computer is to move in a game, as of a version of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComputerTurn {
    pub game: GameId,
    pub version: u32,
}

/// Takes a turn that nobody has taken, or whose taker has not come back by now; until `until` nobody else takes it. None waits longer
/// than the one that is taken.
pub async fn take(pool: &PgPool, now: OffsetDateTime, until: OffsetDateTime) -> Result<Option<ComputerTurn>, DbError> {
    let row = sqlx::query!(
        r#"
        with taken as (
            select game_id from computer_turn where taken_until is null or taken_until < least($1, now())
            order by waits_since limit 1
            for no key update skip locked
        )
        update computer_turn set taken_until = $2 from taken where computer_turn.game_id = taken.game_id
        returning computer_turn.game_id, version
        "#,
        now,
        until,
    )
    .fetch_optional(pool)
    .instrument(statement("update computer_turn"))
    .await?;
    row.map(|row| {
        let version = number("computer_turn", "version", row.game_id, row.version)?;
        Ok(ComputerTurn { game: GameId(row.game_id), version })
    })
    .transpose()
}

/// Leaves a turn to others that somebody has taken and not played.
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

/// Forgets a turn that is over. One that came after it in the same game stays.
pub async fn end(pool: &PgPool, turn: ComputerTurn) -> Result<(), DbError> {
    sqlx::query!("delete from computer_turn where game_id = $1 and version = $2", turn.game.0, column(turn.version),)
        .execute(pool)
        .instrument(statement("delete computer_turn"))
        .await?;
    Ok(())
}
