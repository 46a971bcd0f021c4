//! The logs of games, read part by part.

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

/// Some events of a game, in their order, without gaps.
#[derive(Debug)]
pub struct LogSlice {
    /// What the first ply among them was played upon.
    pub previous: Previous,
    pub events: Vec<Event>,
}

/// Which events of a game are asked for.
#[derive(Clone, Copy, Debug)]
pub struct LogRange<'a> {
    pub game: &'a Game,
    /// Those after this one.
    pub after: u32,
    /// No later ones. What has happened since the game was read is left out, for it tells of people who are not known yet.
    pub until: u32,
}

/// Up to `limit` events of a game, oldest first, from the one after `after`.
pub async fn read(pool: &PgPool, game: &Game, after: u32, limit: u32) -> Result<LogSlice, DbError> {
    let range = LogRange { game, after, until: game.version.min(after.saturating_add(limit)) };
    let mut slices = read_all(pool, &[range]).await?;
    Ok(slices.pop().expect("one part was asked for"))
}

/// The same of several games at once, in their order.
pub async fn read_all(pool: &PgPool, ranges: &[LogRange<'_>]) -> Result<Vec<LogSlice>, DbError> {
    let ids: Vec<_> = ranges.iter().map(|range| range.game.id.0).collect();
    let after: Vec<_> = ranges.iter().map(|range| i32::try_from(range.after).unwrap_or(i32::MAX)).collect();
    let until: Vec<_> = ranges.iter().map(|range| column(range.until.min(range.game.version))).collect();
    // The last ply before them comes along.
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
            let event = row.into_event(game.id, Some(&game.terms.options))?;
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
