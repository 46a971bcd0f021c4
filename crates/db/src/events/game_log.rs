//! The logs of games, read in slices.

use mancala_domain::{Event, Fact, Game, Previous};
use sqlx::{PgExecutor, PgPool};
use tokio::task::spawn_blocking;
use tracing::Instrument;
use uuid::Uuid;

use crate::{
    connection::{DbError, statement},
    games::{
        columns::column,
        event_rows::{EventRow, MOVED},
        logs::{Log, query_logs},
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
    let rows = query_logs!(
        events of games,
        "unnest($1::uuid[], $2::integer[], $3::integer[]) as wanted (id, after, until)
        cross join lateral (
            (select * from event where game_id = id and kind = 'moved' and seq <= after order by seq desc limit 1)
            union all
            select * from event where game_id = id and seq > after and seq <= until
        ) part",
        "game_id = any($1)",
        &ids,
        &after,
        &until,
    )
    .fetch_all(executor)
    .instrument(statement("select event"))
    .await?;
    let mut logs = Log::by_game(rows);
    let is_archived = logs.values().any(|log| log.archive.is_some());
    let wanted: Vec<_> = ranges.iter().map(Seqs::of).collect();
    let mut cut = move || {
        let part = |(at, seqs): (usize, &Seqs)| {
            let is_needed_again = wanted[at + 1..].iter().any(|later| later.game == seqs.game);
            seqs.of_log(if is_needed_again { logs.get(&seqs.game).cloned() } else { logs.remove(&seqs.game) })
        };
        wanted.iter().enumerate().map(part).collect::<Vec<_>>()
    };
    // Other requests share the caller's thread.
    let parts = if is_archived { spawn_blocking(cut).await.map_err(|_| DbError::silent())? } else { cut() };
    Ok(ranges.iter().zip(parts).map(|(range, rows)| LogSlice::of(range, rows?)).collect())
}

/// The first and the last event of a range.
struct Seqs {
    game: Uuid,
    after: i64,
    until: i64,
}

impl Seqs {
    fn of(LogRange { game, after, until }: &LogRange<'_>) -> Self {
        Self { game: game.id().0, after: i64::from(*after), until: i64::from((*until).min(game.version())) }
    }

    /// The events of the range, with the last ply before it. A game may have several ranges, whose rows were read together.
    fn of_log(&self, log: Option<Log>) -> Result<Vec<EventRow>, DbError> {
        let mut rows = log.unwrap_or_default().event_rows(self.game)?;
        rows.dedup_by_key(|row| row.seq);
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
    fn of(LogRange { game, after, .. }: &LogRange<'_>, rows: Vec<EventRow>) -> Result<Self, DbError> {
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
