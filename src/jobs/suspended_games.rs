//! Ends games of suspended players: aborts those that wait for an opponent, and declines invitations. Games that have
//! begun are played on, unless the player is banned or the suspension says otherwise. Then the job aborts what has
//! hardly begun, and resigns the rest.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::leaving::end_game;
use crate::{
    db::{DbError, Writers, games, players::suspensions},
    domain::Action,
    repeats,
};

/// How long after a suspension its player's games are searched for. Later ones are invitations of others, which expire.
const SEARCHED_FOR: Duration = Duration::days(7);

/// How many players one round handles, and how many games of each.
const PLAYERS_MAX: u32 = 100;
const GAMES_MAX: u32 = 1000;

/// One round. A game with a version conflict or a failure is left to the next round. So is all that a stopped process
/// has not ended. A ban that is lifted meanwhile leaves the games of this round ended.
pub async fn settle(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    for (player, ends_games) in suspensions::list_unfinished(pool, now - SEARCHED_FOR, PLAYERS_MAX).await? {
        let (found, actions) = if ends_games {
            (games::list_unfinished(pool, player, GAMES_MAX).await?, [Action::Abort, Action::Leave])
        } else {
            (games::list_open(pool, player, GAMES_MAX).await?, [Action::Abort, Action::Decline])
        };
        for id in found {
            if let Err(error) = end_game(pool, writers, player, id, &actions, now).await
                && let Some(line) = repeats::admit("games of suspended players", &error.to_string())
            {
                tracing::warn!(left_out = line.left_out, game.id = %id.0, "a game of a suspended player cannot be ended: {error}");
            }
        }
    }
    Ok(())
}
