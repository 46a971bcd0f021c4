//! The offers in a game's log, counted.

use mancala_domain::{Fact, GameId, OfferKind, Seat, decode};
use sqlx::PgPool;
use tracing::Instrument;

use super::columns::seat_number;
use crate::connection::{DbError, statement};

/// How many offers of a kind a seat has made since the last ply. If the game is over and its log archived, offers in the
/// archive count as well.
pub async fn count_offers(pool: &PgPool, game: GameId, seat: Seat, kind: OfferKind) -> Result<u32, DbError> {
    // The key is read backwards as far as the last ply, and then forwards from there.
    let row = sqlx::query!(
        r#"
        select (
            select count(*) from event
            where game_id = $1 and kind = 'offered' and seat = $2 and detail ->> 'offer' = $3
                and seq > coalesce((select seq from event where game_id = $1 and kind = 'moved' order by seq desc limit 1), 0)
        ) as "made!", (select log from archived_log where game_id = $1) as log
        "#,
        game.0,
        seat_number(seat),
        kind.as_str(),
    )
    .fetch_one(pool)
    .instrument(statement("count event offers"))
    .await?;
    let made = u32::try_from(row.made).unwrap_or(u32::MAX);
    let Some(log) = row.log else { return Ok(made) };
    let events = decode(&log).map_err(|error| DbError::inconsistent("archived_log", "log", game.0, error))?.events;
    let since = events.iter().rev().take_while(|event| !matches!(event.fact, Fact::Moved(_)));
    let is_such =
        |fact: &Fact| matches!(fact, Fact::Offered { seat: by, kind: what, .. } if (*by, *what) == (seat, kind));
    let archived = since.filter(|event| is_such(&event.fact)).count();
    Ok(made.saturating_add(u32::try_from(archived).unwrap_or(u32::MAX)))
}
