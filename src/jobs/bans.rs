//! Ends the games of banned players: aborts what has hardly begun, resigns the rest, and declines invitations. A suspended player's games are played on.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::leaving::end_game;
use crate::{
    db::{DbError, Writers, games, players::suspensions},
    domain::Action,
    repeats,
};

/// How long after a ban its player's games are searched for. Later ones are invitations of others, which expire.
const SEARCHED_FOR: Duration = Duration::days(7);

/// How many players one round handles, and how many games of each.
const PLAYERS_MAX: u32 = 100;
const GAMES_MAX: u32 = 1000;

/// One round. A game with a version conflict or a failure is left to the next round, and so is all that a stopped process has not ended. A ban that is
/// lifted meanwhile leaves the games of this round ended.
pub async fn end_games(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    for player in suspensions::list_unfinished_banned(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        for id in games::list_unfinished(pool, player, GAMES_MAX).await? {
            if let Err(error) = end_game(pool, writers, player, id, &[Action::Abort, Action::Leave], now).await
                && let Some(line) = repeats::admit("games of banned players", &error.to_string())
            {
                tracing::warn!(left_out = line.left_out, game.id = %id.0, "a game of a banned player cannot be ended: {error}");
            }
        }
    }
    Ok(())
}
