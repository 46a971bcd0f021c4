//! Running games against the computer: how many there are, and which were abandoned.

use mancala_domain::{GameId, PlayerId};
use sqlx::PgPool;
use time::OffsetDateTime;
use tracing::Instrument;
use uuid::Uuid;

use crate::connection::{DbError, statement};

/// How many games against the computer run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Running {
    /// Running games of the player.
    pub own: u32,
    /// Running games of all guests and new accounts of the player's network, or of all players of its app. An account that is not new has none.
    pub shared: u32,
    /// Whether the player is an app's.
    pub is_of_app: bool,
}

/// How many games against the computer a player and its network have. Deletes the rows of those that are over, so that there are never
/// many to count.
pub async fn count(pool: &PgPool, player: PlayerId) -> Result<Running, DbError> {
    let row = sqlx::query!(
        r#"
        with listed as (
            select game_id, false as is_shared from computer_game where player_id = $1
            union all
            select game_id, true
            from player join computer_game on computer_game.network = player.network
            where player.id = $1
        ), seen as (
            select game_id, listed.is_shared, finished_at is null and aborted_at is null as is_running
            from listed join game on game.id = listed.game_id
        ), over as (
            delete from computer_game using seen where computer_game.game_id = seen.game_id and not is_running
        )
        select count(*) filter (where is_running and not is_shared) as "own!",
            count(*) filter (where is_running and is_shared) as "of_network!",
            exists (select from app_player where app_player.player_id = $1) as "is_of_app!"
        from seen
        "#,
        player.0,
    )
    .fetch_one(pool)
    .instrument(statement("count computer_game"))
    .await?;
    let count = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(Running { own: count(row.own), shared: count(row.of_network), is_of_app: row.is_of_app })
}

/// A part of all games against the computer.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The abandoned ones, with their guests.
    pub abandoned: Vec<(GameId, PlayerId)>,
    /// The last game of the part; `None` after the last part.
    pub last: Option<GameId>,
}

/// Scans up to `limit` games after the given one for those in which a guest is to move and has not moved since `before`. Games
/// that a suspension of the guest has stopped since are left out. Deletes the rows of games that are over.
pub async fn scan(
    pool: &PgPool,
    before: OffsetDateTime,
    after: Option<GameId>,
    limit: u32,
) -> Result<Scanned, DbError> {
    let rows = sqlx::query!(
        r#"
        with listed as (
            select game_id, player_id from computer_game where game_id > $1 order by game_id limit $2
        ), seen as (
            select game_id, player_id, finished_at is null and aborted_at is null as is_running, updated_at
            from listed join game on game.id = listed.game_id
        ), over as (
            delete from computer_game using seen where computer_game.game_id = seen.game_id and not is_running
        )
        select seen.game_id, seen.player_id,
            coalesce(is_running and updated_at < $3 and player.kind = 'guest' and turn.game_id is null, false)
                and not exists (
                    select from player_suspension suspension where suspension.player_id = seen.player_id
                        and games = 'stop' and least(until, lifted_at) > $3
                ) as "is_abandoned!"
        from seen
        left join player on player.id = seen.player_id
        left join computer_turn turn on turn.game_id = seen.game_id
        order by seen.game_id
        "#,
        after.map_or(Uuid::nil(), |game| game.0),
        i64::from(limit),
        before,
    )
    .fetch_all(pool)
    .instrument(statement("select computer_game"))
    .await?;
    let last = rows.last().map(|row| GameId(row.game_id));
    let abandoned = rows.into_iter().filter(|row| row.is_abandoned);
    Ok(Scanned { abandoned: abandoned.map(|row| (GameId(row.game_id), PlayerId(row.player_id))).collect(), last })
}
