//! Ends a game for a player who has left it.

use mancala_db::{DbError, Writers, games};
use mancala_domain::{Action, Command, GameId, PlayerId};
use sqlx::PgPool;
use time::OffsetDateTime;

use super::deadlines::settle_game;

/// Ends a game by the first of these actions of a player that the game allows. On a version conflict the game stays as the other change
/// left it.
pub(super) async fn end_game(
    pool: &PgPool,
    writers: &Writers,
    player: PlayerId,
    id: GameId,
    actions: &[Action<'_>],
    now: OffsetDateTime,
) -> Result<(), DbError> {
    // A win on time takes precedence over the loss by leaving.
    settle_game(pool, writers, id, now).await?;
    let Some(mut game) = games::find_whole(pool, id).await?.map(|seated| seated.game) else { return Ok(()) };
    let decide = |action: &Action<'_>| game.decide(&Command { player, if_version: None, action: *action }, now).ok();
    let events = actions.iter().find_map(decide).unwrap_or_default().events;
    let applied = events.iter().try_for_each(|event| game.apply(event));
    if applied.is_ok() && !events.is_empty() {
        games::append(writers, &game, &events).await?;
    }
    Ok(())
}
