//! Taking the entries of deleted games out of rows and chunks.

use std::collections::{BTreeSet, HashMap, HashSet};

use sqlx::PgConnection;
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use super::chunk::{Chunk, Entry, LEAST, encode};
use crate::connection::{DbError, columns, statement};

/// How many entries are looked up at once: in at most as many chunks (4 MB).
const AT_ONCE: usize = 2_000;

columns! {
    /// A chunk that has lost entries. It keeps its key, which stays before its first entry.
    struct ReducedChunk => ReducedChunks {
        position: i64,
        game_id: Uuid,
        entries: Vec<u8>,
    }
}

/// Chunks without their deleted entries.
#[derive(Default)]
struct Reduced {
    chunks: Vec<ReducedChunk>,
    /// Chunks without entries, which are deleted. The chunk before each keeps its beginning, and gets the entries that come there later.
    /// The first chunk stays.
    emptied: Vec<Entry>,
}

/// The entries of some games, and the numbers of these.
struct Deleted {
    entries: HashSet<(i64, u32)>,
    games: HashMap<u32, Uuid>,
    /// The games of which an entry was found.
    found: HashSet<Uuid>,
}

impl Deleted {
    fn of(entries: &[Entry], numbers: impl Iterator<Item = (u32, Uuid)>) -> Self {
        let games: HashMap<u32, Uuid> = numbers.collect();
        let numbers: HashMap<Uuid, u32> = games.iter().map(|(number, game)| (*game, *number)).collect();
        let entries = entries.iter().filter_map(|(position, game)| Some((*position, *numbers.get(game)?)));
        Self { entries: entries.collect(), games, found: HashSet::new() }
    }

    /// Removes the deleted entries from the chunks, and returns the changed chunks. A chunk that cannot be read is logged and stays: the
    /// numbers of its deleted games identify no game any more.
    fn reduce_all(&mut self, chunks: Vec<(Entry, Vec<u8>)>) -> Reduced {
        let mut reduced = Reduced::default();
        for (key, bytes) in chunks {
            match Chunk::parse(key, &bytes) {
                Ok(chunk) => self.reduce(chunk, &mut reduced),
                Err(error) => tracing::error!("a chunk of the explorer keeps deleted games until a reindex: {error}"),
            }
        }
        reduced
    }

    fn reduce(&mut self, chunk: Chunk, reduced: &mut Reduced) {
        let Chunk { key, mut entries } = chunk;
        let (position, game_id) = key;
        let before = entries.len();
        entries.retain(|entry| {
            let is_deleted = self.entries.contains(entry);
            if let Some(game) = self.games.get(&entry.1).filter(|_| is_deleted) {
                self.found.insert(*game);
            }
            !is_deleted
        });
        if entries.is_empty() && before > 0 && key > LEAST {
            reduced.emptied.push(key);
        } else if entries.len() < before {
            reduced.chunks.push(ReducedChunk { position, game_id, entries: encode(position, &entries) });
        }
    }
}

/// Deletes sorted entries from a table of chunks, and their games from one of numbers; returns the games that had any.
macro_rules! delete_packed {
    ($connection:ident, $entries:expr, $chunks:literal, $numbers:literal) => {{
        let entries: &[Entry] = $entries;
        let games: BTreeSet<Uuid> = entries.iter().map(|entry| entry.1).collect();
        let games: Vec<Uuid> = games.into_iter().collect();
        let numbers =
            sqlx::query!("delete from " + $numbers + " where game_id = any($1) returning number, game_id", &games)
                .fetch_all(&mut *$connection)
                .instrument(statement("delete explored_number"))
                .await?;
        let numbers = numbers.into_iter().map(|row| (row.number.cast_unsigned(), row.game_id));
        let mut deleted = Deleted::of(entries, numbers);
        for entries in entries.chunks(AT_ONCE) {
            let (positions, games): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
            let rows = sqlx::query!(
                r#"
                select chunk.position, chunk.game_id, chunk.entries
                from (
                    select distinct last.position, last.game_id
                    from unnest($1::bigint[], $2::uuid[]) as given (position, game_id)
                    cross join lateral (
                        select known.position, known.game_id from "#
                    + $chunks
                    + r#" known
                        where (known.position, known.game_id) <= (given.position, given.game_id)
                        order by known.position desc, known.game_id desc limit 1
                    ) last
                ) key
                join "#
                    + $chunks
                    + " chunk on chunk.position = key.position and chunk.game_id = key.game_id",
                &positions,
                &games,
            )
            .fetch_all(&mut *$connection)
            .instrument(statement("select explored_chunk"))
            .await?;
            let chunks: Vec<_> = rows.into_iter().map(|row| ((row.position, row.game_id), row.entries)).collect();
            let reduce = move || {
                let reduced = deleted.reduce_all(chunks);
                (deleted, reduced)
            };
            // A request waits for it, on a thread that others share.
            let reduced;
            (deleted, reduced) = spawn_blocking(reduce).await.map_err(|_| DbError::silent())?;
            let (positions, games): (Vec<_>, Vec<_>) = reduced.emptied.into_iter().unzip();
            sqlx::query!(
                "delete from "
                    + $chunks
                    + r#" chunk using unnest($1::bigint[], $2::uuid[]) as given (position, game_id)
                where chunk.position = given.position and chunk.game_id = given.game_id
                "#,
                &positions,
                &games,
            )
            .execute(&mut *$connection)
            .instrument(statement("delete explored_chunk"))
            .await?;
            let reduced = ReducedChunks::of(reduced.chunks.into_iter());
            sqlx::query!(
                "update "
                    + $chunks
                    + r#" chunk set entries = given.entries
                from unnest($1::bigint[], $2::uuid[], $3::bytea[]) as given (position, game_id, entries)
                where chunk.position = given.position and chunk.game_id = given.game_id
                "#,
                &reduced.position,
                &reduced.game_id,
                &reduced.entries,
            )
            .execute(&mut *$connection)
            .instrument(statement("update explored_chunk"))
            .await?;
        }
        deleted.found
    }};
}

/// Deletes entries, in rows and in chunks, and the numbers of their games; returns the games that had any.
pub(super) async fn delete(connection: &mut PgConnection, mut entries: Vec<Entry>) -> Result<HashSet<Uuid>, DbError> {
    entries.sort_unstable();
    let (positions, games): (Vec<_>, Vec<_>) = entries.iter().copied().unzip();
    let in_rows = sqlx::query_scalar!(
        r#"
        with given as materialized (
            select unnest($1::bigint[]) as position, unnest($2::uuid[]) as game_id
        )
        delete from explored_game known using given
        where known.position = given.position and known.game_id = given.game_id
        returning known.game_id
        "#,
        &positions,
        &games,
    )
    .fetch_all(&mut *connection)
    .instrument(statement("delete explored_game"))
    .await?;
    let mut had_any: HashSet<Uuid> = in_rows.into_iter().collect();
    had_any.extend(delete_packed!(connection, &entries, "explored_chunk", "explored_number"));
    Ok(had_any)
}

/// Deletes entries that a rebuild has stored.
pub(super) async fn delete_next(connection: &mut PgConnection, mut entries: Vec<Entry>) -> Result<(), DbError> {
    entries.sort_unstable();
    delete_packed!(connection, &entries, "explored_chunk_next", "explored_number_next");
    Ok(())
}
