//! Deletes imported games with everything that refers to them. A game that was played here is never deleted.

use mancala_domain::{GameId, PlayerId, Visibility};
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    archive,
    usage::{self, ImportTotal},
};
use crate::{
    connection::{DbError, statement},
    games::columns::number,
    study::explorer_removal,
};

/// The most games that one transaction deletes.
const GAMES_AT_ONCE: i64 = 50;

/// The most plies of these games: some hundred milliseconds' work. A single game may have more.
const PLIES_AT_ONCE: i64 = 5_000;

/// How long a deletion waits for an import of the same player, and for the process that fills the explorer.
const LOCK_TIMEOUT: &str = "set local lock_timeout = '3s'";

/// Deletes a game that a player imported; `false` if there is no such game of this player.
pub async fn delete(pool: &PgPool, importer: PlayerId, game: GameId) -> Result<bool, DbError> {
    let mut transaction = pool.begin().await?;
    begin(&mut transaction, importer).await?;
    let deleted = delete_games(&mut transaction, importer, &[game.0]).await?;
    transaction.commit().await?;
    Ok(!deleted.is_empty())
}

/// Deletes the newest games that a player imported, a bounded number of them; returns their ids. Call it until there
/// are none.
pub async fn delete_some(pool: &PgPool, importer: PlayerId) -> Result<Vec<GameId>, DbError> {
    let mut transaction = pool.begin().await?;
    begin(&mut transaction, importer).await?;
    let rows = sqlx::query!(
        r#"
        select id, ply from game where invited_player_id = $1 and opponent = 'imported'
        order by id desc limit $2
        "#,
        importer.0,
        GAMES_AT_ONCE,
    )
    .fetch_all(&mut *transaction)
    .instrument(statement("select imported games"))
    .await?;
    let mut plies = 0;
    let fits = rows.into_iter().enumerate().take_while(|(n, row)| {
        plies += i64::from(row.ply);
        *n == 0 || plies <= PLIES_AT_ONCE
    });
    let ids: Vec<_> = fits.map(|(_, row)| row.id).collect();
    let deleted = delete_games(&mut transaction, importer, &ids).await?;
    transaction.commit().await?;
    Ok(deleted)
}

async fn begin(connection: &mut PgConnection, importer: PlayerId) -> Result<(), DbError> {
    sqlx::raw_sql(LOCK_TIMEOUT).execute(&mut *connection).instrument(statement("set lock_timeout")).await?;
    usage::lock(connection, importer).await
}

/// Deletes those of the games that the player imported, and counts them out everywhere.
async fn delete_games(connection: &mut PgConnection, importer: PlayerId, ids: &[Uuid]) -> Result<Vec<GameId>, DbError> {
    // From here on no note and no analysis is added to the games.
    let games = sqlx::query!(
        r#"
        select id, ply, visibility, seat_0_player_id, seat_1_player_id from game
        where id = any($1) and invited_player_id = $2 and opponent = 'imported' order by id for update
        "#,
        ids,
        importer.0,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("lock imported games"))
    .await?;
    let (mut deleted, mut all, mut public, mut seated) = (ImportTotal::default(), vec![], vec![], vec![]);
    for game in games {
        deleted.games += 1;
        deleted.plies = deleted.plies.saturating_add(number("game", "ply", game.id, game.ply)?);
        if game.visibility == Visibility::Public.as_str() {
            public.push(game.id);
        }
        seated.extend([game.seat_0_player_id, game.seat_1_player_id].into_iter().flatten());
        all.push(game.id);
    }
    if all.is_empty() {
        return Ok(vec![]);
    }
    if !public.is_empty() {
        explorer_removal::remove(connection, &public).await?;
    }
    delete_rows(connection, &all).await?;
    delete_players(connection, importer, &seated).await?;
    usage::remove(connection, importer, deleted).await?;
    Ok(all.into_iter().map(GameId).collect())
}

/// Deletes games that the caller has locked, with everything that has their ids.
pub(super) async fn delete_rows(connection: &mut PgConnection, games: &[Uuid]) -> Result<(), DbError> {
    archive::delete(&mut *connection, games).await?;
    sqlx::query!(
        r#"
        with notes as (
            delete from note where game_id = any($1)
        ), requests as (
            delete from analysis_request where game_id = any($1)
        ), analyses as (
            delete from analysis where game_id = any($1)
        ), events as (
            delete from event where game_id = any($1)
        ), unarchived as (
            delete from unarchived_game where game_id = any($1)
        )
        delete from game where id = any($1)
        "#,
        games,
    )
    .execute(connection)
    .instrument(statement("delete imported games"))
    .await?;
    Ok(())
}

/// Deletes those of the players that are left without a game: names of the importer, or of a guest that was merged with it.
async fn delete_players(connection: &mut PgConnection, importer: PlayerId, players: &[Uuid]) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        delete from player
        where id = any($1) and kind = 'imported'
          and (importer_id = $2 or importer_id in (select guest_id from merged_guest where player_id = $2))
          and not exists (select from game where seat_0_player_id = player.id)
          -- Games against oneself are found by the first seat. The index of the second has only the others.
          and not exists (
              select from game where seat_1_player_id = player.id and seat_0_player_id is distinct from seat_1_player_id
          )
        "#,
        players,
        importer.0,
    )
    .execute(connection)
    .instrument(statement("delete imported players"))
    .await?;
    Ok(())
}
