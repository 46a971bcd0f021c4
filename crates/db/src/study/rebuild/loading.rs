//! Loading the new tables: the visits of a range of positions are sorted, summed up, and stored behind those of the range before.
//!
//! Rows come in the order of the indexes, so each is added at an index's end. That takes a third of the time of rows in any order, and does
//! not take longer the more there are.

use sqlx::{PgConnection, PgPool, Postgres, Transaction};
use tracing::Instrument;

use super::{
    state::{Rebuild, hold},
    visits::{BYTES, Row, Visit, by_position, game, is_first, is_frequent, position, rows},
};
use crate::{
    connection::{DbError, copy::CopyRows, statement},
    study::explorer_index::allow_long_work,
};

/// A part has at least one range, and not more visits than these otherwise (17 MB).
const VISITS_OF_PART: i64 = 400_000;

/// How many bytes of rows are sent at once.
const SENT_BYTES: usize = 1 << 18;

/// A part with a pace may take longer than other work.
const TIMEOUT: &str = "set local statement_timeout = '1h'";

const COPY_MOVES: &str = "copy explored_move_next (position, move, games, first_visits, south_wins, north_wins, played_out, \
    lead_sum, last_played_at, sample_game_ids, is_imported) from stdin with (format binary)";
const COPY_GAMES: &str = "copy explored_game_next (position, game_id) from stdin with (format binary)";

/// How many columns these have.
const MOVE_COLUMNS: i16 = 11;
const GAME_COLUMNS: i16 = 2;

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
    /// Sorts them. What is sorted already is merged.
    pub fn sort(&mut self) {
        self.0.sort_unstable();
    }

    /// Those behind a position.
    fn behind(&self, position_before: Option<i64>) -> &[Visit] {
        let begin = position_before.map_or(0, |before| self.0.partition_point(|visit| position(visit) <= before));
        &self.0[begin..]
    }
}

/// Stores the rows of `explored_move` for the frequent positions of a part, unless they are there. After about every `step` visits it calls `pause` with
/// their number. `None` if another process has taken the rebuild over.
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

/// The same for the rows of `explored_game`.
pub async fn load_games(
    pool: &PgPool,
    rebuild: &Rebuild,
    part: &Sorted,
    step: usize,
    pause: impl AsyncFn(usize),
) -> Result<Option<()>, DbError> {
    let Some(mut transaction) = begin(pool, rebuild).await? else { return Ok(None) };
    let last = sqlx::query_scalar!("select max(position) from explored_game_next")
        .fetch_one(&mut *transaction)
        .instrument(statement("select explored_game_next"))
        .await?;
    let write = |values: &mut CopyRows, visit: &Visit| {
        values.begin_row();
        values.value(&position(visit).to_be_bytes());
        values.value(game(visit).as_bytes());
        1
    };
    let visits = part.behind(last).iter().filter(|visit| is_first(visit));
    copy(&mut transaction, COPY_GAMES, GAME_COLUMNS, visits, write, step, pause)
        .instrument(statement("copy explored_game_next"))
        .await?;
    transaction.commit().await?;
    Ok(Some(()))
}

async fn begin(pool: &PgPool, rebuild: &Rebuild) -> Result<Option<Transaction<'static, Postgres>>, DbError> {
    let mut transaction = pool.begin().await?;
    allow_long_work(&mut transaction).await?;
    sqlx::raw_sql(TIMEOUT).execute(&mut *transaction).instrument(statement("set statement_timeout")).await?;
    Ok(hold(&mut transaction, rebuild.token).await?.then_some(transaction))
}

/// Copies the rows of each item. `write` writes them and says how many visits it stands for.
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
