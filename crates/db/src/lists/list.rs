//! A page of a list, by any filter and in any order.

use mancala_domain::Status;
use sqlx::PgPool;

use super::{
    filter::{Filter, GameScope, Order},
    of_player, of_position,
    page::{Found, Listed, PageKey},
    public,
    scan::Window,
};
use crate::connection::DbError;

/// Lists the games of a page that begins after the key.
pub async fn list(pool: &PgPool, filter: &Filter, after: Option<PageKey>, limit: u32) -> Result<Listed, DbError> {
    let window = Window::of(filter, after, limit);
    let found = match (filter.whose, filter.order) {
        (GameScope::ImportedBy(importer), _) => of_player::newest_imported(pool, filter, importer, &window).await?,
        (GameScope::At(position), _) => of_position::newest_at(pool, filter, position, &window).await?,
        (GameScope::Public, Order::Finished) => public::finished_publicly(pool, filter, &window).await?,
        (GameScope::Public, _) => newest_public(pool, filter, &window).await?,
        (GameScope::Players(of), Order::Finished) => of_player::finished_of(pool, filter, of, &window).await?,
        (GameScope::Players(of), Order::Updated | Order::Deadline | Order::Turn) => {
            of_player::active_of(pool, filter, of, &window).await?
        }
        // A player has few active games, but two players may have played many.
        (GameScope::Players(of), Order::Created) => match of.opponent {
            Some(opponent) if !filter.status.is_only(Status::Active) => {
                of_player::newest_of_pair(pool, filter, of, opponent, &window).await?
            }
            _ => of_player::newest_of(pool, filter, of, &window).await?,
        },
    };
    Ok(Listed::of(found, limit))
}

/// The newest public games. The lobby of a player who plays within an app has the games of that app alone.
async fn newest_public(pool: &PgPool, filter: &Filter, window: &Window) -> Result<Vec<Found>, DbError> {
    if let Some(reader) = filter.left_out()
        && let Some(app) = public::app_that_encloses(pool, reader).await?
    {
        return public::open_within(pool, filter, app, window).await;
    }
    public::newest_public(pool, filter, window).await
}
