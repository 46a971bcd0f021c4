//! Lists of the games that came to a position: the rows of a page, read off the explorer's entries.

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
    study::entries,
};

/// The games that came to a position, newest first. All of them are public and ended with a result.
pub(super) async fn newest_at(
    pool: &PgPool,
    filter: &Filter,
    position: PositionKey,
    window: &Window,
) -> Result<Vec<Found>, DbError> {
    let scanned = entries::newest(pool, position, window.first_id, window.end_id, SCAN_MAX).await?;
    let ends_scan = i64::try_from(scanned.len()).is_ok_and(|scanned| scanned == SCAN_MAX);
    let found = find_games!(
        filter,
        window,
        ends_scan,
        r#"
        select id as "id!", at as "at!", shown as "shown!", n = 1 and $1 as "last!" from (
            select id, created_at as at, row_number() over (order by id) as n, (
        "#,
        "",
        r#"
                and created_at >= $14 and created_at < $15) is true as shown
            from unnest($13::uuid[]) as scanned
            join game on game.id = scanned
        ) judged
        where shown or n = 1 and $1
        order by id desc limit $2
        "#,
        {
            &scanned,
            window.since,
            window.until,
        }
    );
    Ok(found.fetch_all(pool).instrument(statement("select games of explored_game")).await?)
}
