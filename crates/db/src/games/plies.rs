//! The logs of games, and the plies in them.

use mancala_domain::{Event, Fact, Game, GameId, Ply, Previous};
use sqlx::PgPool;
use tracing::Instrument;

use super::{
    SeatedGame,
    columns::column,
    event_rows::{EventRow, PlyRow},
    logs::{Log, query_logs},
};
use crate::connection::{DbError, statement};

/// Up to `count` plies of a game, oldest first, from the one after ply `after`.
pub async fn plies(pool: &PgPool, game: &Game, after: u32, count: u32) -> Result<Vec<Ply>, DbError> {
    // A ply's number is less than its event's seq, so the key leads straight to the first one. The ply before it is
    // read as well, because the first one was played on its position. Plies since the game was read are left out.
    let (from, until) = (i32::try_from(after).unwrap_or(i32::MAX), column(game.ply()));
    let most = i64::from(count) + i64::from(after > 0);
    let rows = query_logs!(
        plies of a game,
        "event where game_id = $1 and kind = 'moved' and seq > $2 and ply between $2 and $4 order by seq limit $3",
        "game_id = $1",
        game.id().0,
        from,
        most,
        until,
    )
    .fetch_all(pool)
    .instrument(statement("select event plies"))
    .await?;
    let plies = Log::of_one(rows).plies(game.id().0)?.into_iter();
    let rows = plies.filter(|(seq, row)| *seq > from && (from..=until).contains(&row.ply)).map(|(_, row)| row);
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
    let rows =
        query_logs!(plies of games, "event where game_id = any($1) and kind = 'moved'", "game_id = any($1)", &ids)
            .fetch_all(pool)
            .instrument(statement("select moves of games"))
            .await?;
    let mut logs = Log::by_game(rows);
    let history = |SeatedGame { game, .. }: &SeatedGame| {
        let plies = logs.remove(&game.id().0).unwrap_or_default().plies(game.id().0)?;
        // Plies since the game was read are left out.
        let known = plies.into_iter().map(|(_, row)| row).take_while(|row| row.ply <= column(game.ply()));
        replay(game, Previous::opening(game), known)
    };
    games.iter().map(history).collect()
}

/// A game's whole log, oldest first.
pub async fn log(pool: &PgPool, id: GameId) -> Result<Vec<Event>, DbError> {
    let rows = query_logs!(events of a game, "event where game_id = $1", "game_id = $1", id.0)
        .fetch_all(pool)
        .instrument(statement("select event"))
        .await?;
    events(id, Log::of_one(rows).event_rows(id.0)?)
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
