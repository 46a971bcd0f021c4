//! The games of a page, and where it ends.

use std::collections::HashMap;

use mancala_domain::GameId;
use sqlx::PgPool;
use time::OffsetDateTime;
use uuid::Uuid;

use crate::{
    connection::DbError,
    games::{self, SeatedGame},
};

/// The keyset of a row: where a page ends. Which moment it holds depends on the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageKey {
    /// The moment by which the list is ordered.
    pub at: OffsetDateTime,
    /// The game.
    pub id: GameId,
}

/// Which games a page has, without the games.
#[derive(Debug)]
pub struct Listed {
    /// The key of each game, in the order of the list.
    pub keys: Vec<PageKey>,
    /// The key after which the next page begins, if there may be one.
    pub next: Option<PageKey>,
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

/// A row of an index range. It is a game of the list if it is `shown`. It is the `last` one that was scanned if there
/// may be more.
pub(crate) struct Found {
    pub(crate) id: Uuid,
    pub(crate) at: OffsetDateTime,
    pub(crate) shown: bool,
    pub(crate) last: bool,
}

impl Listed {
    /// The games of an index range, and where their page ends: after `limit` games, where the scan of a range ended, or with the list.
    pub(crate) fn of(found: Vec<Found>, limit: u32) -> Self {
        let (mut keys, mut next, mut last) = (vec![], None, None);
        for row in found {
            if keys.len() == limit as usize {
                next = last;
                break;
            }
            let here = PageKey { at: row.at, id: GameId(row.id) };
            if row.shown {
                keys.push(here);
            }
            last = Some(here);
            if row.last {
                next = last;
                break;
            }
        }
        Self { keys, next }
    }

    /// The ids of the games.
    pub fn ids(&self) -> Vec<GameId> {
        self.keys.iter().map(|key| key.id).collect()
    }

    /// The page with its games. A game that was deleted meanwhile is left out.
    pub async fn load(self, pool: &PgPool) -> Result<Page, DbError> {
        let mut found: HashMap<_, _> =
            games::find_all(pool, &self.ids()).await?.into_iter().map(|seated| (seated.game.id(), seated)).collect();
        let (games, keys) =
            self.keys.into_iter().filter_map(|key| found.remove(&key.id).map(|seated| (seated, key))).unzip();
        Ok(Page { games, keys, next: self.next })
    }
}
