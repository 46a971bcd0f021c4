//! The rows of `player`.

use mancala_domain::{Player, PlayerId, PlayerKind, PlayerName};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::connection::DbError;

/// A player with the fields that only the player sees.
#[derive(Clone, Debug)]
pub struct OwnPlayer {
    /// The fields that others see.
    pub player: Player,
    /// Incremented when the password changes: sign-ins with an older version are void.
    pub credentials_version: i32,
    /// Whether the player shares the limits of a network, or of an app. An account does while it is new.
    pub has_network: bool,
}

/// A player's row, also where a game's row includes its players.
pub(crate) struct PlayerRow {
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
        Ok(Player { id: PlayerId(row.id), kind, name: PlayerName::from_stored(row.name), created_at: row.created_at })
    }
}

/// A player's row with the fields that only the player sees.
pub(crate) struct OwnPlayerRow {
    pub id: Uuid,
    pub kind: String,
    pub name: String,
    pub created_at: OffsetDateTime,
    pub credentials_version: i32,
    pub has_network: bool,
}

impl TryFrom<OwnPlayerRow> for OwnPlayer {
    type Error = DbError;

    fn try_from(row: OwnPlayerRow) -> Result<Self, DbError> {
        let player = PlayerRow { id: row.id, kind: row.kind, name: row.name, created_at: row.created_at };
        let (credentials_version, has_network) = (row.credentials_version, row.has_network);
        Ok(Self { player: player.try_into()?, credentials_version, has_network })
    }
}
