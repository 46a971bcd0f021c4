//! The erasure of what a player has imported. [`players::erasure`](crate::players) erases the player first.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use tracing::Instrument;

use super::{archive::amend_imports, deletion::delete_rows};
use crate::connection::{DbError, statement};

/// The most events of the games that one transaction erases: some hundred milliseconds' work. A single game may have more.
const EVENTS_AT_ONCE: i64 = 5_000;

/// Erases up to `limit` of the games that an erased player had imported. Private games are deleted with their logs. Others
/// stay, with nameless players and without a link to the importer. Returns how many games were found.
pub async fn erase_imports(pool: &PgPool, importer: PlayerId, limit: u32) -> Result<u64, DbError> {
    let mut transaction = pool.begin().await?;
    let chosen = sqlx::query!(
        r#"
        select id, version, visibility = 'private' as "is_private!" from game
        where invited_player_id = $1 and opponent = 'imported' order by id desc limit $2 for update
        "#,
        importer.0,
        i64::from(limit),
    )
    .fetch_all(&mut *transaction)
    .instrument(statement("lock imported games"))
    .await?;
    let mut events = 0;
    let fits = chosen.into_iter().enumerate().take_while(|(n, game)| {
        events += i64::from(game.version);
        *n == 0 || events <= EVENTS_AT_ONCE
    });
    let (private, kept): (Vec<_>, Vec<_>) = fits.map(|(_, game)| game).partition(|game| game.is_private);
    let [private, kept] = [private, kept].map(|games| games.into_iter().map(|game| game.id).collect::<Vec<_>>());
    delete_rows(&mut transaction, &private).await?;
    amend_imports(&mut transaction, &kept, None).await?;
    sqlx::query!(
        r#"
        with beginnings as (
            -- The row of a game follows from its log, so both lose the link.
            update event set detail = detail - 'invited_player_id' where game_id = any($1) and kind = 'created'
        )
        update game set invited_player_id = null where id = any($1)
        "#,
        &kept,
    )
    .execute(&mut *transaction)
    .instrument(statement("update imported games"))
    .await?;
    transaction.commit().await?;
    Ok((private.len() + kept.len()) as u64)
}
