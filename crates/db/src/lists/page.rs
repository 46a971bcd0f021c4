//! The games of a page, and where it ends.

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    connection::DbError,
    games::{self, Histories, SeatedGame},
};

/// The keyset of a row: where a page ends. Which moment it holds depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// The moment by which the list is ordered.
    pub at: OffsetDateTime,
    /// The game.
    pub id: GameId,
}

/// A page of games.
#[derive(Debug)]
pub struct Page {
    /// The games, in the order of the list.
    pub games: Vec<SeatedGame>,
    /// The key of each game.
    pub keys: Vec<PageKey>,
    /// The key after which the next page begins, if there may be one.
    pub next: Option<PageKey>,
}

/// A row of an index range: a game of the list if it is `shown`; the `last` one that was scanned if there may be more.
pub(crate) struct Found {
    pub(crate) id: Uuid,
    pub(crate) at: OffsetDateTime,
    pub(crate) shown: bool,
    pub(crate) last: bool,
}

/// The games of a page in its order, and where it ends: after `limit` games, where the scan of a range ended, or with
/// the list.
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
    games.sort_by_key(|seated| ids.iter().position(|id| *id == seated.game.id().0));
    Ok(Page { games, keys, next })
}
