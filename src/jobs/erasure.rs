//! Ends the games of players who were erased while their server was stopped or a game was changing under its hands, and what they made
//! in that moment.

use sqlx::PgPool;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::deadlines::settle_game;
use crate::{
    db::{DbError, Writers, games, players, study::notes, webhooks},
    domain::{Action, Command, Context, GameId, PlayerId},
};

/// How long after an erasure it is looked after: nothing begins a game for a player who is gone.
const LOOKED_AFTER: Duration = Duration::days(7);

/// How many players are looked after in one round, and how many games of each.
const PLAYERS_AT_ONCE: u32 = 100;
const GAMES_AT_ONCE: u32 = 1000;

/// One round. A game that changes meanwhile is left to the next, and so is one that cannot be ended.
pub async fn end_games(pool: &PgPool, writers: &Writers, now: OffsetDateTime) -> Result<(), DbError> {
    webhooks::delete_of_erased(pool, now - LOOKED_AFTER, now).await?;
    notes::delete_of_erased(pool, now - LOOKED_AFTER).await?;
    for player in players::list_unfinished_erased(pool, now - LOOKED_AFTER, PLAYERS_AT_ONCE).await? {
        for id in games::list_unfinished(pool, player, GAMES_AT_ONCE).await? {
            if let Err(error) = end_game(pool, writers, player, id, now).await {
                tracing::warn!(game.id = %id.0, "a game of an erased player is not ended: {error}");
            }
        }
    }
    Ok(())
}

async fn end_game(
    pool: &PgPool,
    writers: &Writers,
    player: PlayerId,
    id: GameId,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    // Who has won by time does not lose by going.
    settle_game(pool, writers, id, now).await?;
    let Some(mut game) = games::find_whole(pool, id).await?.map(|seated| seated.game) else { return Ok(()) };
    let command = Command { player, if_version: None, action: Action::Leave };
    let context = Context::new(now, || GameId(Uuid::now_v7()));
    let events = game.decide(&command, &context).unwrap_or_default().events;
    let applied = events.iter().try_for_each(|event| game.apply(event));
    if applied.is_ok() && !events.is_empty() {
        games::append(writers, &game, &events).await?;
    }
    Ok(())
}
