//! Invitations: open games for one player only.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use tracing::Instrument;
use uuid::Uuid;

use super::page::{Found, Listed, PageKey};
use crate::connection::{DbError, statement};

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
