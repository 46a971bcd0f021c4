//! Lists of the games that came to a position: the rows of a page, read off the explorer's index.

use mancala_domain::PositionKey;
use sqlx::PgPool;
use tracing::Instrument;

use super::{
    condition::find_games,
    filter::Filter,
    page::Found,
    scan::{SCAN_MAX, Window},
};
use crate::{
    connection::{DbError, statement},
    study::explorer::position_column,
};

/// The games that came to a position, newest first. All of them are public and ended with a result.
pub(super) async fn newest_at(
    pool: &PgPool,
    filter: &Filter,
    position: PositionKey,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let found = find_games!(
        filter,
        window,
        SCAN_MAX,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id desc) as n, (
        "#,
        "",
        r#"
                and created_at >= $14 and created_at < $15) is true as shown
            from (
                select game_id from explored_game
                where position = $13 and game_id >= $16 and game_id < $17
                order by game_id desc limit $1
            ) scanned
            join game on game.id = scanned.game_id
        ) judged
        where shown or n = $1
        order by id desc limit $2
        "#,
        {
            position_column(position),
            window.since,
            window.until,
            window.first_id,
            window.end_id,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select explored_game ids")).await?)
}
