//! The explorer's entries: which games came to a position. New ones are rows of `explored_game`; `packing` moves them into chunks.

use std::collections::{BTreeSet, HashMap, HashSet};

use mancala_domain::PositionKey;
use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    chunk::{Chunk, Entry},
    position_column::position_column,
};
use crate::connection::{DbError, begin_snapshot, statement};

/// How many positions are looked up at once: at most as many chunks (4 MB).
const AT_ONCE: usize = 2_000;

/// How many chunks of a position are read that has few games: nearly always none, or one.
const CHUNKS_OF_RARE: i64 = 1_000;

/// How many chunks of a position are read at once, of some hundred games each.
const CHUNKS: i64 = 2;

/// The entries of positions, in order. Entries in rows are limited to `each` for a position. The chunks are read after the
/// rows, so an entry that is packed meanwhile is found.
pub(super) async fn find(connection: &mut PgConnection, positions: &[i64], each: i64) -> Result<Vec<Entry>, DbError> {
    let mut entries = vec![];
    for positions in positions.chunks(AT_ONCE) {
        entries.extend(in_rows(connection, positions, each).await?);
        let chunks = sqlx::query!(
            r#"
            select chunk.position, chunk.game_id, chunk.entries
            from (
                select distinct last.position, last.game_id from unnest($1::bigint[]) as given
                cross join lateral (
                    (select position, game_id from explored_chunk where position < given
                     order by position desc, game_id desc limit 1)
                    union all
                    -- Where a position with many games became rare again, its chunks are still divided.
                    (select position, game_id from explored_chunk where position = given limit $2)
                ) last
            ) key
            join explored_chunk chunk on chunk.position = key.position and chunk.game_id = key.game_id
            "#,
            positions,
            CHUNKS_OF_RARE,
        )
        .fetch_all(&mut *connection)
        .instrument(statement("select explored_chunk"))
        .await?;
        let positions: HashSet<i64> = positions.iter().copied().collect();
        let mut packed = vec![];
        for row in chunks {
            let chunk = Chunk::parse((row.position, row.game_id), &row.entries)?;
            packed.extend(chunk.entries.into_iter().filter(|entry| positions.contains(&entry.0)));
        }
        let games = games(connection, &packed.iter().map(|entry| entry.1).collect::<Vec<_>>()).await?;
        entries.extend(packed.iter().filter_map(|(position, number)| Some((*position, *games.get(number)?))));
    }
    entries.sort_unstable();
    entries.dedup();
    Ok(entries)
}

/// Whether games may have come to a position; `false` is certain. One statement reads both the rows and the chunks.
pub(super) async fn may_have(connection: &mut PgConnection, position: i64) -> Result<bool, DbError> {
    let found = sqlx::query!(
        r#"
        select rows.are_there as "is_in_rows!", exists (select from explored_chunk where position = $1) as "begins_chunk!",
            before.position as "position?", before.game_id as "game_id?", before.entries as "entries?"
        -- The tables in the order in which a reindex locks them.
        from (select exists (select from explored_game where position = $1) as are_there) rows
        left join lateral (
            select position, game_id, entries from explored_chunk where position < $1
            order by position desc, game_id desc limit 1
        ) before on true
        "#,
        position,
    )
    .fetch_one(connection)
    .instrument(statement("select explored_game explored_chunk"))
    .await?;
    if found.is_in_rows || found.begins_chunk {
        return Ok(true);
    }
    let Some(key) = found.position.zip(found.game_id) else { return Ok(false) };
    let chunk = Chunk::parse(key, &found.entries.unwrap_or_default())?;
    Ok(!chunk.of(position).is_empty())
}

async fn in_rows(connection: &mut PgConnection, positions: &[i64], each: i64) -> Result<Vec<Entry>, DbError> {
    let rows = sqlx::query!(
        r#"
        select position as "position!", game_id as "game_id!" from unnest($1::bigint[]) as given
        cross join lateral (
            select position, game_id from explored_game where position = given order by game_id desc limit $2
        ) known
        "#,
        positions,
        each,
    )
    .fetch_all(connection)
    .instrument(statement("select explored_game"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.position, row.game_id)).collect())
}

/// The newest games of a position from one id to before another one, the newest first.
pub async fn newest(
    pool: &PgPool,
    position: PositionKey,
    first_id: Uuid,
    end_id: Uuid,
    limit: i64,
) -> Result<Vec<Uuid>, DbError> {
    // Both reads need the same snapshot: numbers of games are given anew after deletions, and a reindex exchanges the tables.
    let (mut connection, position) = (begin_snapshot(pool).await?, position_column(position));
    let rows = sqlx::query_scalar!(
        r#"
        select game_id from explored_game where position = $1 and game_id >= $2 and game_id < $3
        order by game_id desc limit $4
        "#,
        position,
        first_id,
        end_id,
        limit,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("select explored_game"))
    .await?;
    let limit = usize::try_from(limit).unwrap_or_default();
    let (mut packed, mut before) = (BTreeSet::new(), Some(end_id));
    while let Some(end) = before.filter(|end| *end > first_id && packed.len() < limit) {
        let (found, next) = packed_before(&mut connection, position, end).await?;
        packed.extend(found.into_iter().filter(|game| *game >= first_id && *game < end_id));
        before = next;
    }
    connection.commit().await?;
    packed.extend(rows);
    Ok(packed.into_iter().rev().take(limit).collect())
}

/// Games of a position in the chunks that begin before an entry of it; and before which game there may be more.
async fn packed_before(
    connection: &mut PgConnection,
    position: i64,
    end: Uuid,
) -> Result<(Vec<Uuid>, Option<Uuid>), DbError> {
    let rows = sqlx::query!(
        r#"
        select position, game_id, entries from explored_chunk where (position, game_id) < ($1, $2)
        order by position desc, game_id desc limit $3
        "#,
        position,
        end,
        CHUNKS,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("select explored_chunk"))
    .await?;
    let next = rows.last().filter(|last| last.position == position).map(|last| last.game_id);
    let mut numbers = vec![];
    for row in rows {
        let chunk = Chunk::parse((row.position, row.game_id), &row.entries)?;
        numbers.extend(chunk.of(position).iter().map(|entry| entry.1));
    }
    Ok((games(connection, &numbers).await?.into_values().collect(), next))
}

/// The games that have these numbers.
pub(super) async fn games(connection: &mut PgConnection, numbers: &[u32]) -> Result<HashMap<u32, Uuid>, DbError> {
    if numbers.is_empty() {
        return Ok(HashMap::new());
    }
    let numbers: BTreeSet<i32> = numbers.iter().copied().map(u32::cast_signed).collect();
    let numbers: Vec<i32> = numbers.into_iter().collect();
    let rows = sqlx::query!("select number, game_id from explored_number where number = any($1)", &numbers)
        .fetch_all(connection)
        .instrument(statement("select explored_number"))
        .await?;
    Ok(rows.into_iter().map(|row| (row.number.cast_unsigned(), row.game_id)).collect())
}

/// Stores sorted entries as rows. One that is there violates the key.
pub(super) async fn insert(connection: &mut PgConnection, entries: Vec<Entry>) -> Result<(), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
    sqlx::query!(
        "insert into explored_game (position, game_id) select * from unnest($1::bigint[], $2::uuid[])",
        &positions,
        &games,
    )
    .execute(connection)
    .instrument(statement("insert explored_game"))
    .await?;
    Ok(())
}

/// Gives numbers to games that are counted. One that has a number was counted before, and violates the key.
pub(super) async fn number(connection: &mut PgConnection, games: &[Uuid]) -> Result<(), DbError> {
    sqlx::query!(
        r#"
        insert into explored_number (number, game_id)
        select (coalesce((select max(number) from explored_number), 0) + row_number() over (order by given))::integer, given
        from unnest($1::uuid[]) as given
        "#,
        games,
    )
    .execute(connection)
    .instrument(statement("insert explored_number"))
    .await?;
    Ok(())
}
