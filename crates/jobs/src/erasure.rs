//! Finishes erasures. It erases the guests that were merged with an erased account. It ends games that were left
//! unfinished because the server stopped or a game changed meanwhile. It deletes imports of which there were many, and
//! webhooks and notes that an older release created at the same moment.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::leaving::end_game;
use mancala_db::{DbError, Writers, games, players, records, study::notes, webhooks};
use mancala_domain::{Action, PlayerId};
use mancala_process::repeats;

/// How long after an erasure its leftovers are searched for. Later ones cannot exist: an erased player gets no new games.
const SEARCHED_FOR: Duration = Duration::days(7);

/// How many players one round handles, and how many games of each.
const PLAYERS_MAX: u32 = 100;
const GAMES_MAX: u32 = 1000;

/// How many imported games one statement deletes, some thousand events, and how many such statements one round has for a player.
const IMPORTS_AT_ONCE: u32 = 100;
const IMPORT_BATCHES_MAX: u32 = 100;

/// Runs a round. A game with a version conflict or a failure is left to the next round.
pub async fn end_games(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    webhooks::delete_of_erased(pool, now - SEARCHED_FOR, now).await?;
    notes::delete_of_erased(pool, now - SEARCHED_FOR).await?;
    // The merged guests come first, because the searches below then find their rows. Their tokens are void since the merge.
    for guest in players::list_guests_of_erased(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        players::erase(pool, guest, None, now).await?;
    }
    for importer in players::list_erased_importers(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        if let Err(error) = erase_imports(pool, importer).await
            && let Some(line) = repeats::admit("imports of erased players", &error.to_string())
        {
            tracing::warn!(left_out = line.left_out, player.id = %importer.0, "the imports of an erased player cannot be erased: {error}");
        }
    }
    for player in players::list_unfinished_erased(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        for id in games::list_unfinished(pool, player, GAMES_MAX).await? {
            if let Err(error) = end_game(pool, writers, player, id, &[Action::Leave], now).await
                && let Some(line) = repeats::admit("games of erased players", &error.to_string())
            {
                tracing::warn!(left_out = line.left_out, game.id = %id.0, "a game of an erased player cannot be ended: {error}");
            }
        }
    }
    Ok(())
}

/// Erases what a player had imported, up to a bound: the next round erases the rest.
async fn erase_imports(pool: &PgPool, importer: PlayerId) -> Result<(), DbError> {
    for _ in 0..IMPORT_BATCHES_MAX {
        if records::erase_imports(pool, importer, IMPORTS_AT_ONCE).await? == 0
            && players::erase_imported_players(pool, importer, IMPORTS_AT_ONCE).await? == 0
        {
            break;
        }
    }
    Ok(())
}
