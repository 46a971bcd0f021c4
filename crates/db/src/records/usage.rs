//! How many imported games each player has stored.
//!
//! The row of a player is locked by every import and deletion of that player, so these exclude each other.

use mancala_domain::PlayerId;
use sqlx::{PgConnection, PgExecutor};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    games::columns::{column, number},
};

/// The player who imports games, and how many that player may have stored in all.
#[derive(Clone, Copy, Debug)]
pub struct Importer {
    /// The player.
    pub player: PlayerId,
    /// The quota.
    pub quota: ImportTotal,
}

/// A number of imported games and of their plies, including those that were taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportTotal {
    /// Games.
    pub games: u32,
    /// Plies.
    pub plies: u32,
}

impl ImportTotal {
    /// Subtracts `used`, but not below zero.
    #[must_use]
    pub const fn without(self, used: Self) -> Self {
        Self { games: self.games.saturating_sub(used.games), plies: self.plies.saturating_sub(used.plies) }
    }
}

/// The games and plies that a player has stored by imports.
pub async fn find(executor: impl PgExecutor<'_>, player: PlayerId) -> Result<ImportTotal, DbError> {
    let row = sqlx::query!("select games, plies from import_usage where player_id = $1", player.0)
        .fetch_optional(executor)
        .instrument(statement("select import_usage"))
        .await?;
    let Some(row) = row else { return Ok(ImportTotal::default()) };
    Ok(ImportTotal {
        games: number("import_usage", "games", player.0, row.games)?,
        plies: number("import_usage", "plies", player.0, row.plies)?,
    })
}

/// Counts games that are about to be stored; `false` if they exceed the quota. Concurrent imports of the player wait
/// until the transaction ends.
pub(super) async fn add(
    connection: &mut PgConnection,
    importer: Importer,
    added: ImportTotal,
) -> Result<bool, DbError> {
    let counted = sqlx::query!(
        r#"
        insert into import_usage as kept (player_id, games, plies)
        select $1, $2::integer, $3::integer where $2 <= $4::integer and $3 <= $5::integer
        on conflict (player_id) do update set games = kept.games + excluded.games, plies = kept.plies + excluded.plies
        where kept.games + excluded.games <= $4 and kept.plies + excluded.plies <= $5
        "#,
        importer.player.0,
        column(added.games),
        column(added.plies),
        column(importer.quota.games),
        column(importer.quota.plies),
    )
    .execute(connection)
    .instrument(statement("insert import_usage"))
    .await?;
    Ok(counted.rows_affected() > 0)
}

/// Locks the row of a player, until the transaction ends.
pub(super) async fn lock(connection: &mut PgConnection, player: PlayerId) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        insert into import_usage as kept (player_id, games, plies) values ($1, 0, 0)
        on conflict (player_id) do update set games = kept.games
        "#,
        player.0,
    )
    .execute(connection)
    .instrument(statement("lock import_usage"))
    .await?;
    Ok(())
}

/// Counts games out that are deleted. Never below zero: a server of an older release may have stored them uncounted.
pub(super) async fn remove(
    connection: &mut PgConnection,
    player: PlayerId,
    deleted: ImportTotal,
) -> Result<(), DbError> {
    sqlx::query!(
        "update import_usage set games = greatest(games - $2, 0), plies = greatest(plies - $3, 0) where player_id = $1",
        player.0,
        column(deleted.games),
        column(deleted.plies),
    )
    .execute(connection)
    .instrument(statement("update import_usage"))
    .await?;
    Ok(())
}
