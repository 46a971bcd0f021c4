//! Lists of the games that came to a position: which games a page has, read off the explorer's index.

use mancala_domain::PositionKey;
use sqlx::PgPool;
use tracing::Instrument;

use super::{
    filter::Filter,
    page::Found,
    scan::{SCAN_MAX, Window},
};
use crate::{
    connection::{DbError, statement},
    kinds::{ClockKind, OpponentKind},
    study::explorer::position_column,
};

/// The games that came to a position, newest first. All of them are public, and ended with a result.
pub(crate) async fn newest_at(
    pool: &PgPool,
    filter: &Filter,
    position: PositionKey,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = sqlx::query_as!(
        Found,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id desc) as n,
                (($3::text is null
                    or $3 = 'draw' and result_winner is null
                    or $3 = result_winner)
                 and created_at >= $4 and created_at < $5
                 and ($9::text is null or $9 = coalesce(split_part(clock, ' ', 1), 'unlimited'))
                 and ($10::text is null or opponent = $10)
                 and ($11::text is null or result_reason = $11)
                 and ply >= $12 and ply <= $13
                 and ($14::boolean is null or $14 = (opponent = 'imported'))
                 and ($15::boolean is null or $15 = (analysed_at is not null))) is true as shown
            from (
                select game_id from explored_game
                where position = $2 and game_id >= $6 and game_id < $7
                order by game_id desc limit $1
            ) scanned
            join game on game.id = scanned.game_id
        ) judged
        where shown or n = $1
        order by id desc limit $8
        "#,
        SCAN_MAX,
        position_column(position),
        filter.ended(),
        window.since,
        window.until,
        window.first_id,
        window.end_id,
        window.rows,
        filter.clock.map(ClockKind::as_str),
        filter.open_to.map(OpponentKind::as_str),
        filter.reason.as_deref(),
        filter.plies.0,
        filter.plies.1,
        filter.imported,
        filter.analysed,
    );
    Ok(found.fetch_all(pool).instrument(statement("select explored_game ids")).await?)
}
