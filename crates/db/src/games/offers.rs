//! The offers in a game's log, counted.

use mancala_domain::{GameId, OfferKind, Seat};
use sqlx::{PgPool, types::Json};
use tracing::Instrument;

use super::{
    columns::seat_number,
    event_rows::{Detail, EventRow, MOVED},
    logs::{Log, query_logs},
};
use crate::connection::{DbError, statement};

/// How many offers of a kind a seat has made since the last ply. If the game is over and its log archived, offers in the
/// archive count as well.
pub async fn count_offers(pool: &PgPool, game: GameId, seat: Seat, kind: OfferKind) -> Result<u32, DbError> {
    // The key is read backwards as far as the last ply, and then forwards from there.
    let rows = query_logs!(
        events of a game,
        "event where game_id = $1 and kind = 'offered' and seat = $2 and detail ->> 'offer' = $3
            and seq > coalesce((select seq from event where game_id = $1 and kind = 'moved' order by seq desc limit 1), 0)",
        "game_id = $1",
        game.0,
        seat_number(seat),
        kind.as_str(),
    )
    .fetch_all(pool)
    .instrument(statement("select event offers"))
    .await?;
    let rows = Log::of_one(rows).event_rows(game.0)?;
    let is_such = |row: &&EventRow| {
        let is_of_kind = matches!(&row.detail, Some(Json(Detail::Offer { offer, .. })) if offer == kind.as_str());
        row.kind == "offered" && row.seat == Some(seat_number(seat)) && is_of_kind
    };
    let made = rows.iter().rev().take_while(|row| row.kind != MOVED).filter(is_such).count();
    Ok(u32::try_from(made).unwrap_or(u32::MAX))
}
