//! The logs of games, and the plies in them.

use std::collections::HashMap;

use mancala_domain::{Event, Fact, Game, GameId, Ply, Previous};
use sqlx::{PgPool, types::Json};
use tracing::Instrument;
use uuid::Uuid;

use super::{
    SeatedGame,
    archived::{self, LogRow},
    columns::column,
    event_rows::{Detail, EventRow, PlyRow},
};
use crate::connection::{DbError, statement};

/// Up to `count` plies of a game, oldest first, from the one after ply `after`.
pub async fn plies(pool: &PgPool, game: &Game, after: u32, count: u32) -> Result<Vec<Ply>, DbError> {
    // A ply's number is less than its event's seq, so the key leads straight to the first one. The ply before it is
    // read as well, because the first one was played on its position. Plies since the game was read are left out.
    let (from, until) = (i32::try_from(after).unwrap_or(i32::MAX), column(game.ply()));
    let most = i64::from(count) + i64::from(after > 0);
    let rows = sqlx::query!(
        r#"
        (select seq as "seq!", at as "at!", ply as "ply!", seat as "seat!", move as "mv!", position as "position!",
            null::bytea as log
         from event
         where game_id = $1 and kind = 'moved' and seq > $2 and ply between $2 and $4
         order by seq limit $3)
        union all
        select 0, last_at, 0, 0::smallint, '', '', log from archived_log where game_id = $1
        order by "seq!"
        "#,
        game.id().0,
        from,
        most,
        until,
    )
    .fetch_all(pool)
    .instrument(statement("select event plies"))
    .await?;
    let (mut plies, mut later) = (vec![], vec![]);
    for row in rows {
        match row.log {
            Some(log) => plies = archived::plies(game.id().0, &log)?,
            None => later.push(PlyRow { at: row.at, ply: row.ply, seat: row.seat, mv: row.mv, position: row.position }),
        }
    }
    let wanted = plies.into_iter().filter(|(seq, row)| *seq > from && (from..=until).contains(&row.ply));
    let rows = wanted.map(|(_, row)| row).chain(later);
    let mut rows = rows.take(usize::try_from(most).unwrap_or(usize::MAX));
    let previous = match after {
        0 => Previous::opening(game),
        _ => match rows.next() {
            Some(row) => row.into_previous(game)?,
            None => return Ok(vec![]),
        },
    };
    replay(game, previous, rows)
}

/// All plies of some games, in the games' order; oldest first.
pub async fn histories(pool: &PgPool, games: &[SeatedGame]) -> Result<Vec<Vec<Ply>>, DbError> {
    let ids: Vec<_> = games.iter().map(|seated| seated.game.id().0).collect();
    let rows = sqlx::query!(
        r#"
        select game_id as "game_id!", seq as "seq!", at as "at!", ply as "ply!", seat as "seat!", move as "mv!",
            position as "position!", null::bytea as log
        from event where game_id = any($1) and kind = 'moved'
        union all
        select game_id, 0, last_at, 0, 0::smallint, '', '', log from archived_log where game_id = any($1)
        order by "game_id!", "seq!"
        "#,
        &ids,
    )
    .fetch_all(pool)
    .instrument(statement("select moves of games"))
    .await?;
    let mut histories: HashMap<Uuid, Vec<PlyRow>> = HashMap::new();
    for row in rows {
        let history = histories.entry(row.game_id).or_default();
        match row.log {
            Some(log) => {
                history.extend(archived::plies(row.game_id, &log)?.into_iter().map(|(_, ply)| ply));
            }
            None => {
                history.push(PlyRow { at: row.at, ply: row.ply, seat: row.seat, mv: row.mv, position: row.position });
            }
        }
    }
    let history = |SeatedGame { game, .. }: &SeatedGame| {
        let rows = histories.remove(&game.id().0).unwrap_or_default();
        // Plies since the game was read are left out.
        let known = rows.into_iter().take_while(|row| row.ply <= column(game.ply()));
        replay(game, Previous::opening(game), known)
    };
    games.iter().map(history).collect()
}

/// A game's whole log, oldest first.
pub async fn log(pool: &PgPool, id: GameId) -> Result<Vec<Event>, DbError> {
    let rows = sqlx::query_as!(
        LogRow,
        r#"
        select at as "at!", seq as "seq!", ply, seat, kind as "kind!", move as mv, position,
            detail as "detail: Json<Detail>", null::bytea as log
        from event where game_id = $1
        union all
        select last_at, 0, null, null, '', null, null, null, log from archived_log where game_id = $1
        order by "seq!"
        "#,
        id.0
    )
    .fetch_all(pool)
    .instrument(statement("select event"))
    .await?;
    events(id, archived::joined(id.0, rows)?)
}

/// The events of a whole log from its rows, oldest first.
pub(crate) fn events(id: GameId, rows: Vec<EventRow>) -> Result<Vec<Event>, DbError> {
    let mut options = None;
    rows.into_iter()
        .map(|row| {
            let event = row.into_event(id, options.as_ref())?;
            if let Fact::Created(created) = &event.fact {
                options = Some(created.terms.options);
            }
            Ok(event)
        })
        .collect()
}

/// Replays plies, each on the position of the one before it.
fn replay(game: &Game, mut previous: Previous, rows: impl Iterator<Item = PlyRow>) -> Result<Vec<Ply>, DbError> {
    rows.map(|row| {
        let ply = row.into_ply(game, &previous)?;
        previous = Previous { position: ply.position.clone(), at: ply.at };
        Ok(ply)
    })
    .collect()
}
