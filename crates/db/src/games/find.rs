//! Games by their ids.

use mancala_domain::GameId;
use sqlx::{PgExecutor, PgPool, types::Json};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    SeatedGame,
    clock_rows::{OfferText, TimeText},
    columns::number,
    game_rows::{GameRow, HISTORY_POSITIONS},
    logs::query_with_archive,
    term_rows::StartText,
};
use crate::connection::{DbError, statement};

/// Finds a game by its id, with the names of its players.
pub async fn find(pool: &PgPool, id: GameId) -> Result<Option<SeatedGame>, DbError> {
    Ok(load(pool, &[id.0], Histories::Skipped).await?.pop())
}

/// A game by its id with the history of its position, for a caller that changes it.
pub async fn find_whole(pool: &PgPool, id: GameId) -> Result<Option<SeatedGame>, DbError> {
    Ok(load(pool, &[id.0], Histories::Loaded).await?.pop())
}

/// The games with these ids, newest first.
pub async fn find_all(executor: impl PgExecutor<'_>, ids: &[GameId]) -> Result<Vec<SeatedGame>, DbError> {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    load(executor, &ids, Histories::Skipped).await
}

/// The same, each by itself: one that cannot be read fails alone.
pub async fn find_each(pool: &PgPool, ids: &[GameId]) -> Result<Vec<(GameId, Result<SeatedGame, DbError>)>, DbError> {
    let ids: Vec<_> = ids.iter().map(|id| id.0).collect();
    let error = match rows(pool, &ids, Histories::Skipped).await {
        Ok(rows) => return Ok(rows.into_iter().map(|row| (GameId(row.id), row.into_seated(false))).collect()),
        Err(error) => error,
    };
    // A column that cannot be decoded fails the statement, which does not say of which game.
    if !error.is_data_error() {
        return Err(error);
    }
    let mut each = vec![];
    for id in ids {
        match load(pool, &[id], Histories::Skipped).await {
            Ok(seated) => each.extend(seated.into_iter().map(|seated| (GameId(id), Ok(seated)))),
            Err(error) if error.is_data_error() => each.push((GameId(id), Err(error))),
            Err(error) => return Err(error),
        }
    }
    Ok(each)
}

/// The versions of those games that exist.
pub async fn versions(pool: &PgPool, ids: &[GameId]) -> Result<Vec<(GameId, u32)>, DbError> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query!("select id, version from game where id = any($1)", &ids)
        .fetch_all(pool)
        .instrument(statement("select game versions"))
        .await?;
    rows.into_iter().map(|row| Ok((GameId(row.id), number("game", "version", row.id, row.version)?))).collect()
}

/// Whether positions are read with their history. Only playing on needs it, and it can be long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Histories {
    Loaded,
    Skipped,
}

/// Reads the games with these ids, newest first, in a single query.
pub(crate) async fn load(
    executor: impl PgExecutor<'_>,
    ids: &[Uuid],
    histories: Histories,
) -> Result<Vec<SeatedGame>, DbError> {
    let rows = rows(executor, ids, histories).await?;
    rows.into_iter().map(|row| row.into_seated(histories == Histories::Loaded)).collect()
}

async fn rows(executor: impl PgExecutor<'_>, ids: &[Uuid], histories: Histories) -> Result<Vec<GameRow>, DbError> {
    // Only games that are over have an archive, and all of their plies are in it. Because of the limit, PostgreSQL does not search for
    // archives of running games.
    let rows = query_with_archive!(
        query_as(GameRow),
        r#"
        select game.id, game.created_at, game.variant, game.preset, game.options, game.rules_version, game.opponent,
            game.join_code, game.invited_player_id, game.visibility, game.creator_seat, game.updated_at, game.started_at,
            game.finished_at, game.aborted_at, game.analysed_at, game.start as "start: Json<StartText>", game.practice, game.hotseat_name, game.version, game.ply, game.seat_0_player_id, game.seat_1_player_id,
            game.seat_0_moved, game.seat_1_moved, game.status, game.position, game.clock, game.deadline,
            game.time as "time: Json<TimeText>", game.offers as "offers: Json<Vec<OfferText>>", game.rematch_game_id,
            game.expires_at, game.result_winner, game.result_reason,
            game.result_score_south, game.result_score_north,
            first.kind as "first_kind?", first.name as "first_name?", first.created_at as "first_created_at?",
            second.kind as "second_kind?", second.name as "second_name?", second.created_at as "second_created_at?",
            invited.kind as "invited_kind?", invited.name as "invited_name?", invited.created_at as "invited_created_at?",
            last.at as "last_at?", last.seat as "last_seat?", last.move as "last_move?",
            last.position as "last_position?",
            previous.at as "previous_at?", previous.position as "previous_position?",
            game.history_from_seq, since.positions as "history?", archived.log as "archived?"
        from game
        left join player first on first.id = game.seat_0_player_id
        left join player second on second.id = game.seat_1_player_id
        left join player invited on invited.id = game.invited_player_id
        left join lateral (
            select seq, at, seat, move, position from event
            where game_id = game.id and kind = 'moved' order by seq desc limit 1
        ) last on game.ply > 0
        left join lateral (
            select at, position from event
            where game_id = game.id and kind = 'moved' and seq < last.seq order by seq desc limit 1
        ) previous on game.ply > 1
        left join lateral (
            select coalesce(array_agg(position order by seq), '{}') as positions from (
                select seq, position from event
                where game_id = game.id and kind = 'moved' and seq >= game.history_from_seq order by seq desc limit $3
            ) last_of_them
        ) since on $2 and game.history_from_seq is not null
        "#,
        "log",
        "archive.game_id = game.id and (game.finished_at is not null or game.aborted_at is not null) limit 1",
        "where game.id = any($1) order by game.id desc",
        ids,
        histories == Histories::Loaded,
        i64::try_from(HISTORY_POSITIONS).expect("a thousand and one"),
    )
    .fetch_all(executor)
    .instrument(statement("select game event player"))
    .await?;
    Ok(rows)
}
