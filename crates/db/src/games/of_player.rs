//! The games of one player, without the filters of a list.

use mancala_domain::{GameId, PlayerId, RUNNING_GAMES_MAX};
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use super::{
    SeatedGame,
    find::{Histories, load},
};
use crate::connection::{DbError, statement};

/// Up to `limit` open or active games in which a player sits or to which the player is invited.
pub async fn list_unfinished(pool: &PgPool, player: PlayerId, limit: u32) -> Result<Vec<GameId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from (
            select id from unnest(array['active', 'open']) as wanted (status)
            cross join lateral (
                (select id from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
                union all
                (select id from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
            ) seated
            union all
            (select id from game where invited_player_id = $1 and started_at is null and aborted_at is null limit $2)
        ) unfinished limit $2
        "#,
        player.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select unfinished games of a player"))
    .await?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// Up to `limit` games in which a player sits and waits for an opponent, and games to which the player is invited.
pub async fn list_open(pool: &PgPool, player: PlayerId, limit: u32) -> Result<Vec<GameId>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from (
            (select id from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = 'open' limit $2)
            union all
            (select id from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = 'open' limit $2)
            union all
            (select id from game where invited_player_id = $1 and started_at is null and aborted_at is null limit $2)
        ) unfinished limit $2
        "#,
        player.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select open games of a player"))
    .await?;
    Ok(ids.into_iter().map(GameId).collect())
}

/// Up to `limit` games in which a player sits, newest first, from the one before `before`.
pub async fn list_seated(
    pool: &PgPool,
    player: PlayerId,
    before: Option<GameId>,
    limit: u32,
) -> Result<Vec<SeatedGame>, DbError> {
    let ids = sqlx::query_scalar!(
        r#"
        select id as "id!" from unnest(array['open', 'active', 'finished', 'aborted']) as wanted (status)
        cross join lateral (
            (select id from game
             where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status and id < $2
             order by id desc limit $3)
            union all
            (select id from game
             where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
               and game_status(started_at, finished_at, aborted_at) = wanted.status and id < $2
             order by id desc limit $3)
        ) seated
        order by id desc limit $3
        "#,
        player.0,
        before.map_or(Uuid::max(), |game| game.0),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select games of a player"))
    .await?;
    load(pool, &ids, Histories::Skipped).await
}

/// How many open or active games a player has, counted up to the allowed maximum.
pub async fn count_running(pool: &PgPool, player: PlayerId) -> Result<u32, DbError> {
    let count = sqlx::query_scalar!(
        r#"
        select count(*) as "count!" from (
            select from unnest(array['active', 'open']) as wanted (status)
            cross join lateral (
                (select from game
                 where seat_0_player_id = $1 and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
                union all
                (select from game
                 where seat_1_player_id = $1 and seat_0_player_id is distinct from seat_1_player_id
                   and game_status(started_at, finished_at, aborted_at) = wanted.status
                 limit $2)
            ) running
            limit $2
        ) counted
        "#,
        player.0,
        i64::from(RUNNING_GAMES_MAX)
    )
    .fetch_one(pool)
    .instrument(statement("count running games"))
    .await?;
    Ok(u32::try_from(count).expect("a count that is limited"))
}
