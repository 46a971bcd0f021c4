//! The logs of games, read in slices.

use std::collections::HashMap;

use mancala_domain::{Event, Fact, Game, Previous};
use sqlx::{PgExecutor, PgPool, types::Json};
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    games::{
        archived,
        columns::column,
        event_rows::{Detail, EventRow, MOVED},
    },
};

/// Consecutive events of a game, in order and without gaps.
#[derive(Debug)]
pub struct LogSlice {
    /// The position before the first ply among them, and the time of the ply that led to it.
    pub previous: Previous,
    /// The events after that, without the ply before them.
    pub events: Vec<Event>,
}

/// A range of events of a game.
#[derive(Clone, Copy, Debug)]
pub struct LogRange<'a> {
    /// The game.
    pub game: &'a Game,
    /// The range begins after this `seq`.
    pub after: u32,
    /// The range ends with this `seq`, or with the game's version if that is less. Events since the game was read are
    /// left out: they may name players that were not read with it.
    pub until: u32,
}

/// Up to `limit` events of a game, oldest first, from the one after `after`.
pub async fn read(pool: &PgPool, game: &Game, after: u32, limit: u32) -> Result<LogSlice, DbError> {
    let range = LogRange { game, after, until: game.version().min(after.saturating_add(limit)) };
    let mut slices = read_all(pool, &[range]).await?;
    slices.pop().expect("one slice was requested")
}

/// Reads events of several games at once, in the games' order. A log that cannot be read is an error of its own.
pub async fn read_all(
    executor: impl PgExecutor<'_>,
    ranges: &[LogRange<'_>],
) -> Result<Vec<Result<LogSlice, DbError>>, DbError> {
    let ids: Vec<_> = ranges.iter().map(|range| range.game.id().0).collect();
    let after: Vec<_> = ranges.iter().map(|range| i32::try_from(range.after).unwrap_or(i32::MAX)).collect();
    let until: Vec<_> = ranges.iter().map(|range| column(range.until.min(range.game.version()))).collect();
    // Each slice starts with the last ply before it, for `previous`.
    let rows = sqlx::query!(
        r#"
        select n as "n!", at as "at!", seq as "seq!", ply, seat, kind as "kind!", mv, position,
            detail as "detail: Json<Detail>", log
        from unnest($1::uuid[], $2::integer[], $3::integer[]) with ordinality as wanted (id, after, until, n)
        cross join lateral (
            (select at, seq, ply, seat, kind, move as mv, position, detail, null::bytea as log from event
             where game_id = wanted.id and kind = 'moved' and seq <= wanted.after order by seq desc limit 1)
            union all
            (select at, seq, ply, seat, kind, move as mv, position, detail, null from event
             where game_id = wanted.id and seq > wanted.after and seq <= wanted.until)
            union all
            -- Before the others.
            (select last_at, 0, null, null, '', null, null, null, log from archived_log where game_id = wanted.id)
        ) part
        order by n, seq
        "#,
        &ids,
        &after,
        &until,
    )
    .fetch_all(executor)
    .instrument(statement("select event"))
    .await?;
    let (mut archives, mut later) = (vec![], HashMap::<i64, Vec<EventRow>>::new());
    for row in rows {
        let (at, seq, ply, seat, kind) = (row.at, row.seq, row.ply, row.seat, row.kind);
        let (mv, position, detail) = (row.mv, row.position, row.detail);
        match row.log {
            Some(log) => archives.push((row.n, log)),
            None => later.entry(row.n).or_default().push(EventRow { at, seq, ply, seat, kind, mv, position, detail }),
        }
    }
    let mut archived = read_archives(ranges, archives).await?;
    let slices = (1..).zip(ranges).map(|(n, range)| {
        let rows = archived.remove(&n).unwrap_or(Ok(vec![]))?;
        LogSlice::of(range, rows.into_iter().chain(later.remove(&n).unwrap_or_default()))
    });
    Ok(slices.collect())
}

/// Reads archives, each with the number of its range. Returns the events of each range, with the last ply before it.
async fn read_archives(
    ranges: &[LogRange<'_>],
    archives: Vec<(i64, Vec<u8>)>,
) -> Result<HashMap<i64, Result<Vec<EventRow>, DbError>>, DbError> {
    if archives.is_empty() {
        return Ok(HashMap::new());
    }
    let wanted: HashMap<_, _> = (1..).zip(ranges).map(|(n, range)| (n, Seqs::of(range))).collect();
    let archives: Vec<_> = archives.into_iter().filter_map(|(n, log)| Some((n, *wanted.get(&n)?, log))).collect();
    let read = move || archives.into_iter().map(|(n, seqs, log)| (n, seqs.of_archive(&log))).collect();
    // Other requests share the caller's thread.
    spawn_blocking(read).await.map_err(|_| DbError::silent())
}

/// The first and the last event of a range.
#[derive(Clone, Copy)]
struct Seqs {
    game: Uuid,
    after: i64,
    until: i64,
}

impl Seqs {
    fn of(LogRange { game, after, until }: &LogRange<'_>) -> Self {
        Self { game: game.id().0, after: i64::from(*after), until: i64::from((*until).min(game.version())) }
    }

    fn of_archive(self, log: &[u8]) -> Result<Vec<EventRow>, DbError> {
        let mut rows = archived::event_rows(self.game, log)?;
        let is_before = |row: &EventRow| i64::from(row.seq) <= self.after;
        let before = rows.iter().rposition(|row| is_before(row) && row.kind == MOVED);
        let mut number = 0..;
        rows.retain(|row| {
            let is_last_before = number.next() == before;
            is_last_before || !is_before(row) && i64::from(row.seq) <= self.until
        });
        Ok(rows)
    }
}

impl LogSlice {
    fn of(LogRange { game, after, .. }: &LogRange<'_>, rows: impl Iterator<Item = EventRow>) -> Result<Self, DbError> {
        let mut slice = Self { previous: Previous::opening(game), events: vec![] };
        for row in rows {
            let event = row.into_event(game.id(), Some(&game.terms().options))?;
            match event.fact {
                Fact::Moved(moved) if event.seq <= *after => {
                    slice.previous = Previous { position: moved.position, at: event.at };
                }
                _ => slice.events.push(event),
            }
        }
        Ok(slice)
    }
}
