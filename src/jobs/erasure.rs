//! Ends the games of players who were erased while their server was stopped or a game was changing under its hands.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use crate::{
    db::{DbError, Writers, games, players},
    domain::{Action, Command},
};

/// How long after an erasure it is looked after: nothing begins a game for a player who is gone.
const LOOKED_AFTER: Duration = Duration::days(7);

/// How many games of a player are ended in one round.
const GAMES_AT_ONCE: u32 = 1000;

/// One round. A game that changes meanwhile is left to the next.
pub async fn end_games(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    for player in players::list_erased(pool, now - LOOKED_AFTER).await? {
        for id in games::list_unfinished(pool, player, GAMES_AT_ONCE).await? {
            let Some(mut game) = games::find(pool, id).await?.map(|seated| seated.game) else { continue };
            let command = Command { player, if_version: None, action: Action::Leave };
            let events = game.decide(&command, now).unwrap_or_default();
            let applied = events.iter().try_for_each(|event| game.apply(event));
            if applied.is_ok() && !events.is_empty() {
                games::append(writers, &game, &events).await?;
            }
        }
    }
    Ok(())
}
