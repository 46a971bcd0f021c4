//! The games of a page, and where it ends.

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    connection::DbError,
    games::{self, Histories, SeatedGame},
};

/// Where a page ends. Which moment it is depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    pub at: OffsetDateTime,
    pub id: GameId,
}

/// A page of games.
#[derive(Debug)]
pub struct Page {
    pub games: Vec<SeatedGame>,
    /// Where each of them is in the list.
    pub keys: Vec<PageKey>,
    /// Where the next page begins, if there may be one.
    pub next: Option<PageKey>,
}

/// A row of an index range: a game of the list if it is `shown`; the `last` that was looked at if there may be more.
pub(crate) struct Found {
    pub(crate) id: Uuid,
    pub(crate) at: OffsetDateTime,
    pub(crate) shown: bool,
    pub(crate) last: bool,
}

/// The games of a page in its order, and where it ends: after as many as asked for, where a range was not looked at any
/// further, or with the list.
pub(crate) async fn page(pool: &PgPool, found: Vec<Found>, limit: u32) -> Result<Page, DbError> {
    let (mut ids, mut keys) = (vec![], vec![]);
    let mut next = None;
    let mut last = None;
    for row in found {
        if ids.len() == limit as usize {
            next = last;
            break;
        }
        let here = PageKey { at: row.at, id: GameId(row.id) };
        if row.shown {
            ids.push(row.id);
            keys.push(here);
        }
        last = Some(here);
        if row.last {
            next = last;
            break;
        }
    }
    let mut games = games::load(pool, &ids, Histories::Skipped).await?;
    games.sort_by_key(|seated| ids.iter().position(|id| *id == seated.game.id.0));
    Ok(Page { games, keys, next })
}
