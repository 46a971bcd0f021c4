//! Players.

use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use super::DbError;
use crate::domain::{Player, PlayerId, PlayerKind};

/// Stores a new player. A second time with the same id changes nothing.
pub async fn insert(pool: &PgPool, player: &Player) -> Result<(), DbError> {
    sqlx::query!(
        "insert into player (id, kind, name, created_at) values ($1, $2, $3, $4) on conflict (id) do nothing",
        player.id.0,
        player.kind.as_str(),
        player.name.as_str(),
        player.created_at,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A player's row, also where a game's row brings its players along.
pub(super) struct PlayerRow {
    pub id: Uuid,
    pub kind: String,
    pub name: String,
    pub created_at: OffsetDateTime,
}

impl TryFrom<PlayerRow> for Player {
    type Error = DbError;

    fn try_from(row: PlayerRow) -> Result<Self, DbError> {
        let kind = PlayerKind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == row.kind)
            .ok_or_else(|| DbError::inconsistent("player", "kind", row.id, &row.kind))?;
        let name = row.name.parse().map_err(|e| DbError::inconsistent("player", "name", row.id, e))?;
        Ok(Player { id: PlayerId(row.id), kind, name, created_at: row.created_at })
    }
}
