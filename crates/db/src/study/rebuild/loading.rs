//! Loading the new tables: the visits of a range of positions are sorted, summed up, and stored behind those of the range before.
//!
//! Rows come in the order of the indexes, so each is added at an index's end. That takes a third of the time of rows in any order, and does
//! not take longer the more there are.

use std::iter;

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    state::{Rebuild, hold},
    visits::{BYTES, Row, Visit, by_position, game, is_first, is_frequent, number, position, rows},
};
use crate::{
    connection::{DbError, copy::CopyRows, statement},
    study::{
        chunk::{Chunk, Numbered, encode, fill},
        explorer_index::allow_long_work,
    },
};

/// A part has at least one range, and not more visits than these otherwise (17 MB).
const VISITS_OF_PART: i64 = 400_000;

/// How many bytes of rows are sent at once.
const SENT_BYTES: usize = 1 << 18;

/// A part with a pace may take longer than other work.
const TIMEOUT: &str = "set local statement_timeout = '1h'";

const COPY_MOVES: &str = "copy explored_move_next (position, move, games, first_visits, south_wins, north_wins, played_out, \
    lead_sum, last_played_at, sample_game_ids, is_imported) from stdin with (format binary)";
const COPY_CHUNKS: &str = "copy explored_chunk_next (position, game_id, entries) from stdin with (format binary)";

/// How many columns these have.
const MOVE_COLUMNS: i16 = 11;
const CHUNK_COLUMNS: i16 = 3;

/// The type `uuid` in the head of an array.
const UUID_OID: i32 = 2950;

/// Neighbouring ranges that are loaded together.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    first: i16,
    last: i16,
    /// How many visits they have.
    pub visits: i64,
}

/// The sorted visits of a part.
pub struct Sorted(Vec<Visit>);

/// All parts, in the order in which they are loaded.
pub async fn parts(pool: &PgPool) -> Result<Vec<Part>, DbError> {
    let ranges = sqlx::query!(
        r#"
        select range, sum(octet_length(visits))::bigint as "bytes!" from explorer_rebuild_visits
        group by range order by range
        "#,
    )
    .fetch_all(pool)
    .instrument(statement("select explorer_rebuild_visits"))
    .await?;
    let mut parts: Vec<Part> = vec![];
    for row in ranges {
        let visits = row.bytes / i64::try_from(BYTES).expect("a small number");
        match parts.last_mut() {
            Some(part) if part.visits + visits <= VISITS_OF_PART => {
                part.last = row.range;
                part.visits += visits;
            }
            _ => parts.push(Part { first: row.range, last: row.range, visits }),
        }
    }
    Ok(parts)
}

/// Fetches the visits of a part, each range in batches that are sorted.
pub async fn fetch(pool: &PgPool, part: Part) -> Result<Sorted, DbError> {
    let rows = sqlx::query_scalar!(
        "select visits from explorer_rebuild_visits where range between $1 and $2 order by range, batch",
        part.first,
        part.last,
    )
    .fetch_all(pool)
    .instrument(statement("select explorer_rebuild_visits"))
    .await?;
    let mut visits = Vec::with_capacity(usize::try_from(part.visits).unwrap_or_default());
    for bytes in rows {
        visits.extend_from_slice(bytes.as_chunks().0);
    }
    Ok(Sorted(visits))
}

impl Sorted {
    /// Sorts the visits. Runs that are already sorted are merged.
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// Returns the visits behind a position.
    fn behind(&self, position_before: Option<i64>) -> &[Visit] {
        let begin = position_before.map_or(0, |before| self.0.partition_point(|visit| position(visit) <= before));
        &self.0[begin..]
    }
}

/// Stores the rows of `explored_move` for the frequent positions of a part, unless they are there. After about every
/// `step` visits it calls `pause` with their number. `None` if another process has taken the rebuild over.
pub async fn load_moves(
    pool: &PgPool,
    rebuild: &Rebuild,
    part: &Sorted,
    step: usize,
    pause: impl AsyncFn(usize),
) -> Result<Option<()>, DbError> {
    let Some(mut transaction) = begin(pool, rebuild).await? else { return Ok(None) };
    let last = sqlx::query_scalar!("select max(position) from explored_move_next")
        .fetch_one(&mut *transaction)
        .instrument(statement("select explored_move_next"))
        .await?;
    let write = |values: &mut CopyRows, visits: &[Visit]| {
        if is_frequent(visits) {
            rows(visits).for_each(|row| write_move(values, &row));
        }
        visits.len()
    };
    let positions = by_position(part.behind(last));
    copy(&mut transaction, COPY_MOVES, MOVE_COLUMNS, positions, write, step, pause)
        .instrument(statement("copy explored_move_next"))
        .await?;
    transaction.commit().await?;
    Ok(Some(()))
}

fn write_move(values: &mut CopyRows, row: &Row<'_>) {
    values.begin_row();
    values.value(&row.position.to_be_bytes());
    values.value(row.mv.as_bytes());
    for count in [row.games, row.first_visits, row.south_wins, row.north_wins, row.played_out] {
        values.value(&count.to_be_bytes());
    }
    values.value(&row.lead_sum.to_be_bytes());
    values.value(&row.last_played_at.to_be_bytes());
    values.value(&array_of_games(row.sample));
    values.value(&[u8::from(row.is_imported)]);
}

/// Stores the entries of a part in chunks: all or nothing.
pub async fn load_games(
    pool: &PgPool,
    rebuild: &Rebuild,
    part: &Sorted,
    step: usize,
    pause: impl AsyncFn(usize),
) -> Result<Option<()>, DbError> {
    let Some(mut transaction) = begin(pool, rebuild).await? else { return Ok(None) };
    let last = last_position(&mut transaction).await?;
    if last >= part.0.first().map(position) {
        transaction.rollback().await?;
        return Ok(Some(()));
    }
    let write = |values: &mut CopyRows, chunk: LoadedChunk| {
        values.begin_row();
        values.value(&chunk.position.to_be_bytes());
        values.value(chunk.game.as_bytes());
        values.value(&chunk.bytes);
        chunk.entries
    };
    let entries = Entries::of(&part.0);
    let chunks = entries.chunks(last.is_none());
    copy(&mut transaction, COPY_CHUNKS, CHUNK_COLUMNS, chunks, write, step, pause)
        .instrument(statement("copy explored_chunk_next"))
        .await?;
    transaction.commit().await?;
    Ok(Some(()))
}

/// The position of the last entry that is stored.
async fn last_position(connection: &mut PgConnection) -> Result<Option<i64>, DbError> {
    let chunk = sqlx::query!(
        "select position, game_id, entries from explored_chunk_next order by position desc, game_id desc limit 1"
    )
    .fetch_optional(connection)
    .instrument(statement("select explored_chunk_next"))
    .await?;
    let chunk = chunk.map(|row| Chunk::parse((row.position, row.game_id), &row.entries)).transpose()?;
    Ok(chunk.and_then(|chunk| chunk.entries.last().map(|entry| entry.0)))
}

/// The entries of a part in order, and the id of each one's game.
struct Entries {
    entries: Vec<Numbered>,
    games: Vec<Uuid>,
}

/// A row of `explored_chunk`.
struct LoadedChunk {
    position: i64,
    game: Uuid,
    bytes: Vec<u8>,
    entries: usize,
}

impl Entries {
    fn of(visits: &[Visit]) -> Self {
        let (mut entries, mut games) = (Vec::with_capacity(visits.len()), Vec::with_capacity(visits.len()));
        for visits in by_position(visits) {
            let mut firsts: Vec<_> = visits.iter().filter(|visit| is_first(visit)).collect();
            firsts.sort_unstable_by_key(|visit| game(visit));
            entries.extend(firsts.iter().map(|visit| (position(visit), number(visit))));
            games.extend(firsts.into_iter().map(game));
        }
        Self { entries, games }
    }

    /// The first chunk of all begins with the least position, as `packing` leaves it.
    fn chunks(&self, are_first: bool) -> impl Iterator<Item = LoadedChunk> {
        let mut begin = 0;
        iter::from_fn(move || {
            let rest = &self.entries[begin..];
            let (first, before) = (rest.first()?.0, begin.checked_sub(1).map(|before| self.entries[before].0));
            let position = if are_first && begin == 0 { i64::MIN } else { first };
            let game = if before == Some(first) { self.games[begin] } else { Uuid::nil() };
            let count = fill(position, rest);
            begin += count;
            Some(LoadedChunk { position, game, bytes: encode(position, &rest[..count]), entries: count })
        })
    }
}

async fn begin(pool: &PgPool, rebuild: &Rebuild) -> Result<Option<Transaction<'static, Postgres>>, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    sqlx::raw_sql(TIMEOUT).execute(&mut *transaction).instrument(statement("set statement_timeout")).await?;
    Ok(hold(&mut transaction, rebuild.token).await?.then_some(transaction))
}

/// Copies the rows of each item. `write` writes the rows, and returns the number of visits that they count.
async fn copy<T>(
    connection: &mut PgConnection,
    into: &str,
    columns: i16,
    items: impl Iterator<Item = T>,
    write: impl Fn(&mut CopyRows, T) -> usize,
    step: usize,
    pause: impl AsyncFn(usize),
) -> Result<(), DbError> {
    let mut copy = connection.copy_in_raw(into).await?;
    let (mut rows, mut visits) = (CopyRows::new(columns), 0);
    for item in items {
        visits += write(&mut rows, item);
        if visits >= step || rows.len() >= SENT_BYTES {
            copy.send(rows.take()).await?;
            pause(visits).await;
            visits = 0;
        }
    }
    copy.send(rows.end()).await?;
    copy.finish().await?;
    Ok(())
}

/// The games of visits as an array in binary form, the newest first: one dimension, no nulls, the type, the length, and the lower bound.
fn array_of_games(visits: &[Visit]) -> Vec<u8> {
    let length = i32::try_from(visits.len()).expect("a handful");
    let mut bytes: Vec<u8> = [1, 0, UUID_OID, length, 1].into_iter().flat_map(i32::to_be_bytes).collect();
    for visit in visits.iter().rev() {
        let id = game(visit);
        bytes.extend(id.as_bytes().len().try_into().map(i32::to_be_bytes).expect("16"));
        bytes.extend(id.as_bytes());
    }
    bytes
}
