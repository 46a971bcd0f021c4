//! Taking deleted games out of the explorer. Only imported games are deleted.

use std::collections::HashSet;

use sqlx::PgConnection;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    entry_removal, explored_games::CountedGame, explorer_index::lock, frequent::read_counted, tallies::Tallies,
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
    // A game that cannot be read any more is deleted, and stays in the counts until a reindex.
    let games = read_counted(connection, &settled).await?;
    // A game that ended before there was an explorer was never counted.
    let counted = entry_removal::delete(connection, games.iter().flat_map(CountedGame::entries).collect()).await?;
    let mut tallies = Tallies::default();
    for game in games.iter().filter(|game| counted.contains(&game.id)) {
        tallies.add(game, |_| true);
    }
    tallies.columns().remove(connection, ids).await
}
