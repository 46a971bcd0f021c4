//! The logs of games, read in slices.

use mancala_domain::{Event, Fact, Game, Previous};
use sqlx::{PgPool, types::Json};
use tracing::Instrument;

use crate::{
    connection::{DbError, statement},
    games::{
        columns::column,
        event_rows::{Detail, EventRow},
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
            detail as "detail: Json<Detail>"
        from unnest($1::uuid[], $2::integer[], $3::integer[]) with ordinality as wanted (id, after, until, n)
        cross join lateral (
            (select at, seq, ply, seat, kind, move as mv, position, detail from event
             where game_id = wanted.id and kind = 'moved' and seq <= wanted.after order by seq desc limit 1)
            union all
            (select at, seq, ply, seat, kind, move as mv, position, detail from event
             where game_id = wanted.id and seq > wanted.after and seq <= wanted.until)
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
    for (n, LogRange { game, after, .. }) in (1..).zip(ranges) {
        let mut slice = LogSlice { previous: Previous::opening(game), events: vec![] };
        while let Some(row) = rows.next_if(|row| row.n == n) {
            let (at, seq, ply, seat, kind) = (row.at, row.seq, row.ply, row.seat, row.kind);
            let row = EventRow { at, seq, ply, seat, kind, mv: row.mv, position: row.position, detail: row.detail };
            let event = row.into_event(game.id(), Some(&game.terms().options))?;
            match event.fact {
                Fact::Moved(moved) if event.seq <= *after => {
                    slice.previous = Previous { position: moved.position, at: event.at };
                }
                _ => slice.events.push(event),
            }
        }
        slices.push(slice);
    }
    Ok(slices)
}
