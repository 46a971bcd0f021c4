//! The logs of games, read in slices.

use mancala_domain::{Event, Fact, Game, Previous};
use sqlx::{PgPool, types::Json};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    games::{
        archived::{self, LogRow},
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
    Ok(slices.pop().expect("one slice was requested"))
}

/// The same for several games at once, in their order.
pub async fn read_all(pool: &PgPool, ranges: &[LogRange<'_>]) -> Result<Vec<LogSlice>, DbError> {
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
    .fetch_all(pool)
    .instrument(statement("select event"))
    .await?;
    let mut rows = rows.into_iter().peekable();
    let mut slices = Vec::with_capacity(ranges.len());
    for (n, range) in (1..).zip(ranges) {
        let mut slice = LogSlice { previous: Previous::opening(range.game), events: vec![] };
        while let Some(row) = rows.next_if(|row| row.n == n) {
            let (at, seq, ply, seat, kind) = (row.at, row.seq, row.ply, row.seat, row.kind);
            let (mv, position, detail, log) = (row.mv, row.position, row.detail, row.log);
            for row in archived_or_itself(range, LogRow { at, seq, ply, seat, kind, mv, position, detail, log })? {
                slice.add(range, row)?;
            }
        }
        slices.push(slice);
    }
    Ok(slices)
}

/// The events of an archive that belong to a range, with the last ply before it; of any other row, itself.
fn archived_or_itself(range: &LogRange<'_>, row: LogRow) -> Result<Vec<EventRow>, DbError> {
    let Some(log) = &row.log else { return Ok(vec![row.into_event_row()]) };
    let mut rows = archived::event_rows(range.game.id().0, log)?;
    let is_before = |row: &EventRow| i64::from(row.seq) <= i64::from(range.after);
    let before = rows.iter().rposition(|row| is_before(row) && row.kind == MOVED);
    let until = i64::from(range.until.min(range.game.version()));
    let mut number = 0..;
    rows.retain(|row| {
        let is_last_before = number.next() == before;
        is_last_before || !is_before(row) && i64::from(row.seq) <= until
    });
    Ok(rows)
}

impl LogSlice {
    fn add(&mut self, LogRange { game, after, .. }: &LogRange<'_>, row: EventRow) -> Result<(), DbError> {
        let event = row.into_event(game.id(), Some(&game.terms().options))?;
        match event.fact {
            Fact::Moved(moved) if event.seq <= *after => {
                self.previous = Previous { position: moved.position, at: event.at };
            }
            _ => self.events.push(event),
        }
        Ok(())
    }
}
