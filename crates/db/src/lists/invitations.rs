//! Invitations: open games for one player only.

use mancala_domain::{GameId, PlayerId};
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use super::page::{Found, Listed, PageKey};
use crate::{
    connection::{DbError, statement},
    games::columns::number,
};

/// Which invitations.
#[derive(Clone, Copy, Debug)]
pub enum Direction {
    /// Games to which the player is invited.
    Received,
    /// Games to which the player has invited others.
    Sent,
}

/// A page of the open games to which a player is invited, or has invited others; newest first.
pub async fn list(
    pool: &PgPool,
    player: PlayerId,
    direction: Direction,
    after: Option<PageKey>,
    limit: u32,
) -> Result<Listed, DbError> {
    let before = after.map_or(Uuid::max(), |key| key.id.0);
    let rows = i64::from(limit) + 1;
    let found = match direction {
        Direction::Received => {
            sqlx::query_as!(
                Found,
                r#"
                select id, created_at as at, true as "shown!", false as "last!" from game
                where invited_player_id = $1 and started_at is null and aborted_at is null and id < $2
                order by id desc limit $3
                "#,
                player.0,
                before,
                rows
            )
            .fetch_all(pool)
            .instrument(statement("select invitations"))
            .await?
        }
        Direction::Sent => {
            sqlx::query_as!(
                Found,
                r#"
                select id, created_at as at, true as "shown!", false as "last!" from game
                where coalesce(seat_0_player_id, seat_1_player_id) = $1
                  and invited_player_id is not null and started_at is null and aborted_at is null and id < $2
                order by id desc limit $3
                "#,
                player.0,
                before,
                rows
            )
            .fetch_all(pool)
            .instrument(statement("select invitations"))
            .await?
        }
    };
    Ok(Listed::of(found, limit))
}

/// An open invitation between two players.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// The game.
    pub game: GameId,
    /// The version that it is at.
    pub version: u32,
    /// The invited player.
    pub invited: PlayerId,
}

/// Up to `limit` open invitations of two players by each other.
pub async fn list_between(pool: &PgPool, one: PlayerId, other: PlayerId, limit: u32) -> Result<Vec<Pending>, DbError> {
    let rows = sqlx::query!(
        r#"
        select id, version, invited_player_id as "invited!" from game
        where invited_player_id in ($1, $2) and coalesce(seat_0_player_id, seat_1_player_id) in ($1, $2)
          and started_at is null and aborted_at is null
        limit $3
        "#,
        one.0,
        other.0,
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select invitations of two"))
    .await?;
    let pending = rows.into_iter().map(|row| {
        let version = number("game", "version", row.id, row.version)?;
        Ok(Pending { game: GameId(row.id), version, invited: PlayerId(row.invited) })
    });
    pending.collect()
}
