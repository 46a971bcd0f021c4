//! Packing: the job moves entries from rows of `explored_game` into chunks.
//!
//! The job goes through all positions in their order, again and again. Each step takes the next rows and writes the chunks anew
//! in which they belong. It waits while each of these chunks would get a few of them only, so a chunk is written anew once for
//! several new entries.

use std::collections::{HashMap, HashSet};

use sqlx::{PgConnection, PgPool};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    chunk::{Chunk, Entry, LEAST, Numbered, encode, fill},
    entries::{games, number},
    explorer_index::{end, try_lock},
};
use crate::connection::{DbError, columns, statement};

/// The number of rows that one step packs, and the most chunks into which they go. A chunk gets eight rows on average, 3 % of its content.
const ROWS: u16 = 2_048;
const CHUNKS: usize = 256;

/// Where the next step begins: behind this entry.
#[derive(Clone, Copy, Debug)]
pub struct Place(Entry);

impl Place {
    /// The place before all entries.
    pub const FIRST: Self = Self(LEAST);
}

/// How much there has to be for a step.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    /// The fewest rows.
    pub rows: u16,
    /// The most chunks that are written anew for them.
    pub chunks: usize,
}

impl Least {
    /// The least that the job waits for.
    pub const USUAL: Self = Self { rows: ROWS, chunks: CHUNKS };
}

/// The result of a step.
#[derive(Debug, Default)]
pub struct Packed {
    /// The place after the packed rows; `None` if there are too few rows yet.
    pub next: Option<Place>,
    /// How many rows were packed.
    pub rows: usize,
    /// Chunks that cannot be read. These chunks, and the rows that belong in them, stay unchanged until a reindex.
    pub damaged: Vec<DbError>,
}

/// Packs some rows behind a place. `None` if another process has the explorer's lock.
pub async fn pack(pool: &PgPool, place: Place, least: Least) -> Result<Option<Packed>, DbError> {
    let mut transaction = pool.begin().await?;
    let packed = pack_next(&mut transaction, place, least).await;
    end(transaction, packed).await
}

async fn pack_next(connection: &mut PgConnection, place: Place, least: Least) -> Result<Option<Packed>, DbError> {
    if !try_lock(connection).await? {
        return Ok(None);
    }
    let mut rows = next_rows(connection, place.0).await?;
    if rows.len() < usize::from(least.rows) && place.0 > LEAST {
        rows = next_rows(connection, LEAST).await?;
    }
    let Some(last) = rows.last().copied().filter(|_| rows.len() >= usize::from(least.rows)) else {
        return Ok(Some(Packed::default()));
    };
    let (chunks, damaged) = chunks_of(connection, &rows).await?;
    if chunks.len() > least.chunks {
        return Ok(Some(Packed::default()));
    }
    let (damaged, errors): (Vec<Range>, Vec<DbError>) = damaged.into_iter().unzip();
    rows.retain(|row| !damaged.iter().any(|range| range.contains(*row)));
    let packed = Packed { next: Some(Place(last)), rows: rows.len(), damaged: errors };
    if rows.is_empty() {
        return Ok(Some(packed));
    }
    let numbers = numbers(connection, &rows).await?;
    let segments = segments(chunks, &rows, &numbers);
    let ids = contested_games(connection, &segments).await?;
    let mut written = vec![];
    for segment in &segments {
        written.extend(chunks_of_segment(connection, segment.key, &segment.merged(&ids)).await?);
    }
    replace(connection, &segments, written).await?;
    delete_rows(connection, &rows).await?;
    Ok(Some(packed))
}

async fn next_rows(connection: &mut PgConnection, after: Entry) -> Result<Vec<Entry>, DbError> {
    let rows = sqlx::query!(
        r#"
        select position, game_id from explored_game where (position, game_id) > ($1, $2)
        order by position, game_id limit $3
        "#,
        after.0,
        after.1,
        i64::from(ROWS),
    )
    .fetch_all(connection)
    .instrument(statement("select explored_game"))
    .await?;
    Ok(rows.into_iter().map(|row| (row.position, row.game_id)).collect())
}

/// A chunk, and the key of the next one.
struct Placed {
    chunk: Chunk,
    next: Option<Entry>,
}

/// Where the entries of a chunk are: from its key to before the next one's.
struct Range {
    key: Entry,
    next: Option<Entry>,
}

impl Range {
    fn contains(&self, entry: Entry) -> bool {
        self.key <= entry && self.next.is_none_or(|next| entry < next)
    }
}

/// The chunks in which entries belong, in order; and those of them that cannot be read. There are none before the first packing, and otherwise
/// one for each entry.
async fn chunks_of(
    connection: &mut PgConnection,
    rows: &[Entry],
) -> Result<(Vec<Placed>, Vec<(Range, DbError)>), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
    let rows = sqlx::query!(
        r#"
        select chunk.position, chunk.game_id, chunk.entries, next.position as "next_position?", next.game_id as "next_game_id?"
        from (
            select distinct last.position, last.game_id
            from unnest($1::bigint[], $2::uuid[]) as given (position, game_id)
            cross join lateral (
                select known.position, known.game_id from explored_chunk known
                where (known.position, known.game_id) <= (given.position, given.game_id)
                order by known.position desc, known.game_id desc limit 1
            ) last
        ) key
        join explored_chunk chunk on chunk.position = key.position and chunk.game_id = key.game_id
        left join lateral (
            select known.position, known.game_id from explored_chunk known
            where (known.position, known.game_id) > (key.position, key.game_id)
            order by known.position, known.game_id limit 1
        ) next on true
        order by chunk.position, chunk.game_id
        "#,
        &positions,
        &games,
    )
    .fetch_all(connection)
    .instrument(statement("select explored_chunk"))
    .await?;
    let (mut placed, mut damaged) = (vec![], vec![]);
    for row in rows {
        let (key, next) = ((row.position, row.game_id), row.next_position.zip(row.next_game_id));
        match Chunk::parse(key, &row.entries) {
            Ok(chunk) => placed.push(Placed { chunk, next }),
            Err(error) => damaged.push((Range { key, next }, error)),
        }
    }
    Ok((placed, damaged))
}

/// The numbers of the rows' games. A game that the release before has counted gets one.
async fn numbers(connection: &mut PgConnection, rows: &[Entry]) -> Result<HashMap<Uuid, u32>, DbError> {
    let games: HashSet<Uuid> = rows.iter().map(|row| row.1).collect();
    let games: Vec<Uuid> = games.into_iter().collect();
    let mut numbers = numbers_of(connection, &games).await?;
    let missing: Vec<Uuid> = games.into_iter().filter(|game| !numbers.contains_key(game)).collect();
    if !missing.is_empty() {
        number(connection, &missing).await?;
        numbers.extend(numbers_of(connection, &missing).await?);
    }
    Ok(numbers)
}

async fn numbers_of(connection: &mut PgConnection, games: &[Uuid]) -> Result<HashMap<Uuid, u32>, DbError> {
    let rows = sqlx::query!("select number, game_id from explored_number where game_id = any($1)", games)
        .fetch_all(connection)
        .instrument(statement("select explored_number"))
        .await?;
    Ok(rows.into_iter().map(|row| (row.game_id, row.number.cast_unsigned())).collect())
}

/// Neighbouring chunks that are rewritten together, and the entries that are added to them.
struct Segment {
    key: Entry,
    /// The keys of the chunks.
    keys: Vec<Entry>,
    packed: Vec<Numbered>,
    added: Vec<(Entry, u32)>,
}

/// Divides rows by the chunks in which they belong. All are in order.
fn segments(chunks: Vec<Placed>, rows: &[Entry], numbers: &HashMap<Uuid, u32>) -> Vec<Segment> {
    let (mut segments, mut end): (Vec<Segment>, Option<Entry>) = (vec![], None);
    for Placed { chunk, next } in chunks {
        match segments.last_mut().filter(|_| end == Some(chunk.key)) {
            Some(segment) => {
                segment.keys.push(chunk.key);
                segment.packed.extend(chunk.entries);
            }
            None => {
                segments.push(Segment { key: chunk.key, keys: vec![chunk.key], packed: chunk.entries, added: vec![] });
            }
        }
        end = next;
    }
    if segments.is_empty() {
        segments.push(Segment { key: LEAST, keys: vec![], packed: vec![], added: vec![] });
    }
    let mut rest = rows;
    for n in 0..segments.len() {
        let behind = segments.get(n + 1).map_or(rest.len(), |next| rest.partition_point(|row| *row < next.key));
        let (own, others) = rest.split_at(behind);
        segments[n].added = own.iter().filter_map(|row| Some((*row, *numbers.get(&row.1)?))).collect();
        rest = others;
    }
    segments
}

/// The games of positions that get further games: these are in the order of their ids.
async fn contested_games(connection: &mut PgConnection, segments: &[Segment]) -> Result<HashMap<u32, Uuid>, DbError> {
    let numbers = contested(segments);
    games(connection, &numbers).await
}

/// The numbers of these games.
fn contested(segments: &[Segment]) -> Vec<u32> {
    let numbers = segments.iter().flat_map(|segment| {
        let contested: HashSet<i64> = segment.added.iter().map(|(row, _)| row.0).collect();
        segment.packed.iter().filter(move |entry| contested.contains(&entry.0)).map(|entry| entry.1)
    });
    numbers.collect()
}

impl Segment {
    /// All its entries, in order. One that was packed before stays once.
    fn merged(&self, ids: &HashMap<u32, Uuid>) -> Vec<Numbered> {
        let mut merged = Vec::with_capacity(self.packed.len() + self.added.len());
        let mut added = &self.added[..];
        let numbered = |(row, number): &(Entry, u32)| (row.0, *number);
        for group in self.packed.chunk_by(|one, other| one.0 == other.0) {
            let position = group[0].0;
            let before = added.iter().take_while(|(row, _)| row.0 < position).count();
            merged.extend(added[..before].iter().map(numbered));
            let same = added[before..].iter().take_while(|(row, _)| row.0 == position).count();
            let (own, behind) = added[before..].split_at(same);
            if own.is_empty() {
                merged.extend(group);
            } else {
                let known = group.iter().map(|entry| (ids.get(&entry.1).copied().unwrap_or_default(), entry.1));
                let mut games: Vec<_> = own.iter().map(|(row, number)| (row.1, *number)).chain(known).collect();
                games.sort_unstable();
                games.dedup();
                merged.extend(games.into_iter().map(|(_, number)| (position, number)));
            }
            added = behind;
        }
        merged.extend(added.iter().map(numbered));
        merged
    }
}

columns! {
    /// A stored chunk.
    struct ChunkRow => ChunkRows {
        position: i64,
        game_id: Uuid,
        entries: Vec<u8>,
    }
}

/// Divides the entries of a segment into chunks, of which the first one has its key.
async fn chunks_of_segment(
    connection: &mut PgConnection,
    key: Entry,
    entries: &[Numbered],
) -> Result<Vec<ChunkRow>, DbError> {
    let (mut rest, mut key, mut chunks) = (entries, key, vec![]);
    while !rest.is_empty() {
        let (chunk, behind) = rest.split_at(fill(key.0, rest));
        chunks.push(ChunkRow { position: key.0, game_id: key.1, entries: encode(key.0, chunk) });
        if let (Some(last), Some(next)) = (chunk.last(), behind.first()) {
            let divided = if last.0 == next.0 { games(connection, &[next.1]).await? } else { HashMap::new() };
            key = (next.0, divided.get(&next.1).copied().unwrap_or_default());
        }
        rest = behind;
    }
    Ok(chunks)
}

async fn replace(connection: &mut PgConnection, segments: &[Segment], written: Vec<ChunkRow>) -> Result<(), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = segments.iter().flat_map(|segment| &segment.keys).copied().unzip();
    sqlx::query!(
        r#"
        delete from explored_chunk chunk using unnest($1::bigint[], $2::uuid[]) as given (position, game_id)
        where chunk.position = given.position and chunk.game_id = given.game_id
        "#,
        &positions,
        &games,
    )
    .execute(&mut *connection)
    .instrument(statement("delete explored_chunk"))
    .await?;
    let written = ChunkRows::of(written.into_iter());
    sqlx::query!(
        r#"
        insert into explored_chunk (position, game_id, entries)
        select * from unnest($1::bigint[], $2::uuid[], $3::bytea[])
        "#,
        &written.position,
        &written.game_id,
        &written.entries,
    )
    .execute(connection)
    .instrument(statement("insert explored_chunk"))
    .await?;
    Ok(())
}

async fn delete_rows(connection: &mut PgConnection, rows: &[Entry]) -> Result<(), DbError> {
    let (positions, games): (Vec<_>, Vec<_>) = rows.iter().copied().unzip();
    sqlx::query!(
        r#"
        delete from explored_game known using unnest($1::bigint[], $2::uuid[]) as given (position, game_id)
        where known.position = given.position and known.game_id = given.game_id
        "#,
        &positions,
        &games,
    )
    .execute(connection)
    .instrument(statement("delete explored_game"))
    .await?;
    Ok(())
}
