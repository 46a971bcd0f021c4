//! The erasure of what a player has imported. [`players::erasure`](crate::players) erases the player first.

use mancala_domain::PlayerId;
use sqlx::PgPool;
use tracing::Instrument;

use super::archive::amend_imports;
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
    let chosen: Vec<_> = fits.map(|(_, game)| game).collect();
    // Private games are deleted below, so their imports stay as they are.
    let kept: Vec<_> = chosen.iter().filter(|game| !game.is_private).map(|game| game.id).collect();
    amend_imports(&mut transaction, &kept, None).await?;
    let chosen: Vec<_> = chosen.into_iter().map(|game| game.id).collect();
    let found = sqlx::query_scalar!(
        r#"
        with chosen as (
            select id, visibility = 'private' as is_private from game where id = any($1)
        ), logs as (
            delete from event using chosen where event.game_id = chosen.id and is_private
        ), archives as (
            delete from archived_log using chosen where archived_log.game_id = chosen.id and is_private
        ), unarchived as (
            delete from unarchived_game using chosen where unarchived_game.game_id = chosen.id and is_private
        ), analyses as (
            delete from analysis using chosen where analysis.game_id = chosen.id and is_private
        ), requests as (
            delete from analysis_request using chosen where analysis_request.game_id = chosen.id and is_private
        ), games as (
            delete from game using chosen where game.id = chosen.id and is_private
        ), beginnings as (
            -- The row of a game follows from its log, so both lose the link.
            update event set detail = detail - 'invited_player_id' from chosen
            where event.game_id = chosen.id and event.kind = 'created' and not is_private
        ), unlinked as (
            update game set invited_player_id = null from chosen where game.id = chosen.id and not is_private
        )
        select count(*) as "count!" from chosen
        "#,
        &chosen,
    )
    .fetch_one(&mut *transaction)
    .instrument(statement("delete imported games"))
    .await?;
    transaction.commit().await?;
    Ok(found.unsigned_abs())
}
