//! Taking deleted games out of the explorer. Only imported games are deleted.

use std::collections::HashSet;

use sqlx::PgConnection;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    explored_games::{read, visits},
    explorer_index::lock,
    tallies::Tallies,
};
use crate::connection::{DbError, statement};

/// Takes games out of the queue, or out of the counts, in the transaction that deletes them. Call it before their rows
/// are deleted. It waits for the process that fills the explorer.
pub(crate) async fn remove(connection: &mut PgConnection, ids: &[Uuid]) -> Result<(), DbError> {
    lock(connection).await?;
    let queued = sqlx::query_scalar!("delete from unexplored_game where game_id = any($1) returning game_id", ids)
        .fetch_all(&mut *connection)
        .instrument(statement("delete unexplored_game"))
        .await?;
    let queued: HashSet<Uuid> = queued.into_iter().collect();
    let settled: Vec<_> = ids.iter().copied().filter(|id| !queued.contains(id)).collect();
    let mut explorations = vec![];
    for game in read(connection, &settled).await? {
        let (id, is_imported) = (game.id(), game.is_imported());
        if let Some(exploration) = game.exploration()? {
            explorations.push((id, is_imported, exploration));
        }
    }
    let visited = explorations.iter().flat_map(|(id, _, exploration)| visits(*id, exploration)).collect();
    // A game that ended before there was an explorer was never counted.
    let counted = delete_visited(connection, visited).await?;
    let mut tallies = Tallies::default();
    for (id, is_imported, exploration) in explorations.iter().filter(|(id, ..)| counted.contains(id)) {
        tallies.add(*id, *is_imported, exploration);
    }
    tallies.columns().remove(connection, ids).await
}

/// The statement that deletes rows of a table of games by position; it returns the games that had any.
macro_rules! delete_visited_from {
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

/// Deletes the rows of `explored_game`; returns the games that had any.
async fn delete_visited(
    connection: &mut PgConnection,
    mut visited: Vec<(i64, Uuid)>,
) -> Result<HashSet<Uuid>, DbError> {
    visited.sort_unstable();
    let (positions, games): (Vec<_>, Vec<_>) = visited.into_iter().unzip();
    let deletion = delete_visited_from!("explored_game", &positions, &games);
    let counted = deletion.fetch_all(connection).instrument(statement("delete explored_game")).await?;
    Ok(counted.into_iter().collect())
}

/// Deletes the rows that a rebuild has stored.
pub(super) async fn delete_next_visited(
    connection: &mut PgConnection,
    visited: Vec<(i64, Uuid)>,
) -> Result<(), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = visited.into_iter().unzip();
    let deletion = delete_visited_from!("explored_game_next", &positions, &games);
    deletion.fetch_all(connection).instrument(statement("delete explored_game_next")).await?;
    Ok(())
}
