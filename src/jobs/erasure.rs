//! Finishes erasures: ends games that were left unfinished because the server stopped or a game changed meanwhile, and
//! deletes webhooks and notes that were created at the same moment.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::leaving::end_game;
use crate::{
    db::{DbError, Writers, games, players, study::notes, webhooks},
    domain::Action,
};

/// How long after an erasure its leftovers are searched for. Later ones cannot exist: an erased player gets no new games.
const SEARCHED_FOR: Duration = Duration::days(7);

/// How many players one round handles, and how many games of each.
const PLAYERS_MAX: u32 = 100;
const GAMES_MAX: u32 = 1000;

/// One round. A game with a version conflict or a failure is left to the next round.
pub async fn end_games(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    webhooks::delete_of_erased(pool, now - SEARCHED_FOR, now).await?;
    notes::delete_of_erased(pool, now - SEARCHED_FOR).await?;
    for player in players::list_unfinished_erased(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        for id in games::list_unfinished(pool, player, GAMES_MAX).await? {
            if let Err(error) = end_game(pool, writers, player, id, &[Action::Leave], now).await {
                tracing::warn!(game.id = %id.0, "a game of an erased player cannot be ended: {error}");
            }
        }
    }
    Ok(())
}
