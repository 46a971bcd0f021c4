//! Games whose clocks are stopped because a player is suspended. From these rows, a job finds the clocks that no suspension stops any more.

use mancala_domain::{GameId, PlayerId};
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// Up to `limit` games of a player in which time runs.
pub async fn list_running(pool: &PgPool, player: PlayerId, limit: u32) -> Result<Vec<GameId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from (
            (select id from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'active' and deadline is not null
             limit $2)
            union all
            (select id from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = 'active' and deadline is not null
             limit $2)
        ) running limit $2
        "#,
        player.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select running games of a player"))
    .await?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// Notes that a game's clock is about to be held.
pub async fn note(pool: &PgPool, id: GameId) -> Result<(), DbError> {
    sqlx::query!(
        "insert into held_game (game_id, since) values ($1, now()) on conflict (game_id) do update set since = excluded.since",
        id.0,
    )
    .execute(pool)
    .instrument(statement("insert held_game"))
    .await?;
    Ok(())
}

/// Lists up to `limit` games of the table after the given one that no suspension stops now, by the database's clock. Their clocks are held,
/// or their rows are obsolete.
pub async fn list_released(pool: &PgPool, after: Option<GameId>, limit: u32) -> Result<Vec<GameId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select game_id from held_game join game on game.id = game_id
        where game_id > $1 and ("time" -> 'pause' -> 'is_held' = 'true' or since < now() - interval '1 hour') and not exists (
            select from player_suspension where player_id in (seat_0_player_id, seat_1_player_id)
                and games = 'stop' and lifted_at is null and until > now()
        )
        order by game_id limit $2
        "#,
        after.map_or(Uuid::nil(), |game| game.0),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select held_game"))
    .await?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// Deletes the row of a game whose clock is not held, unless the row is younger than an hour. Another process may be about to stop the
/// clock.
pub async fn forget(pool: &PgPool, id: GameId) -> Result<(), DbError> {
    sqlx::query!("delete from held_game where game_id = $1 and since < now() - interval '1 hour'", id.0)
        .execute(pool)
        .instrument(statement("delete held_game"))
        .await?;
    Ok(())
}
