//! The explorer's entries: which games came to a position.

use std::collections::HashSet;

use sqlx::PgConnection;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// A position, and a game that came to it.
pub(super) type Entry = (i64, Uuid);

/// The entries of positions, in order. Each of them has at most `each`, or the rest is left out.
pub(super) async fn find(connection: &mut PgConnection, positions: &[i64], each: i64) -> Result<Vec<Entry>, DbError> {
    let rows = sqlx::query!(
        r#"
        select position as "position!", game_id as "game_id!" from unnest($1::bigint[]) as given
        cross join lateral (
            select position, game_id from explored_game where position = given order by game_id desc limit $2
        ) known
        order by position, game_id
        "#,
        positions,
        each,
    )
    .fetch_all(connection)
    .instrument(statement("select explored_game"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.position, row.game_id)).collect())
}

/// Stores sorted entries. One that is there violates the key.
pub(super) async fn insert(connection: &mut PgConnection, entries: Vec<Entry>) -> Result<(), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    sqlx::query!(
        "insert into explored_game (position, game_id) select * from unnest($1::bigint[], $2::uuid[])",
        &positions,
        &games,
    )
    .execute(connection)
    .instrument(statement("insert explored_game"))
    .await?;
    Ok(())
}

/// The statement that deletes rows of a table of games by position; it returns the games that had any.
macro_rules! delete_from {
    ($table:literal, $positions:expr, $games:expr) => {
        sqlx::query_scalar!(
            r#"
            with given as materialized (
                select unnest($1::bigint[]) as position, unnest($2::uuid[]) as game_id
            )
            delete from "#
                + $table
                + r#" known using given
            where known.position = given.position and known.game_id = given.game_id
            returning known.game_id
            "#,
            $positions,
            $games,
        )
    };
}

/// Deletes entries; returns the games that had any.
pub(super) async fn delete(connection: &mut PgConnection, mut entries: Vec<Entry>) -> Result<HashSet<Uuid>, DbError> {
    entries.sort_unstable();
    let (positions, games): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let deletion = delete_from!("explored_game", &positions, &games);
    let counted = deletion.fetch_all(connection).instrument(statement("delete explored_game")).await?;
    Ok(counted.into_iter().collect())
}

/// Deletes entries that a rebuild has stored.
pub(super) async fn delete_next(connection: &mut PgConnection, entries: Vec<Entry>) -> Result<(), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    let deletion = delete_from!("explored_game_next", &positions, &games);
    deletion.fetch_all(connection).instrument(statement("delete explored_game_next")).await?;
    Ok(())
}
