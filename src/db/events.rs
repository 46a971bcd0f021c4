//! The logs of games, read part by part.

use sqlx::{PgPool, types::Json};
use tracing::Instrument;

use super::{
    DbError,
    game_rows::{Detail, EventRow, column},
    statement,
};
use crate::domain::{Event, Fact, Game, Previous};

/// Some events of a game, in their order, without gaps.
#[derive(Debug)]
pub struct Part {
    /// What the first ply among them was played upon.
    pub previous: Previous,
    pub events: Vec<Event>,
}

/// Up to `limit` events of a game, oldest first, from the one after `after`. What has happened since the game was read is left
/// out, for it tells of people who are not known yet.
pub async fn read(pool: &PgPool, game: &Game, after: u32, limit: u32) -> Result<Part, DbError> {
    // The last ply before them comes along.
    let rows = sqlx::query_as!(
        EventRow,
        r#"
        select at as "at!", seq as "seq!", ply, seat, kind as "kind!", mv, position, detail as "detail: Json<Detail>"
        from (
            (select at, seq, ply, seat, kind, move as mv, position, detail from event
             where game_id = $1 and kind = 'moved' and seq <= $2 order by seq desc limit 1)
            union all
            (select at, seq, ply, seat, kind, move as mv, position, detail from event
             where game_id = $1 and seq > $2 and seq <= $3 order by seq limit $4)
        ) part
        order by seq
        "#,
        game.id.0,
        i32::try_from(after).unwrap_or(i32::MAX),
        column(game.version),
        i64::from(limit),
    )
    .fetch_all(pool)
    .instrument(statement("select event"))
    .await?;
    let mut previous = Previous::opening(game);
    let mut events = Vec::with_capacity(rows.len());
    for row in rows {
        let event = row.into_event(game.id, Some(&game.terms.options))?;
        match event.fact {
            Fact::Moved(moved) if event.seq <= after => {
                previous = Previous { position: moved.position, at: event.at };
            }
            _ => events.push(event),
        }
    }
    Ok(Part { previous, events })
}
