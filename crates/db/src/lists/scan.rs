//! The index range that a page is read from.

use time::{Duration, OffsetDateTime, macros::datetime};
use uuid::Uuid;

use super::{
    filter::{Filter, Order},
    page::PageKey,
};

/// How many rows of one index range are scanned for one page: a few milliseconds' work.
pub(crate) const SCAN_MAX: i64 = 1000;

/// How far the time in a game's id may be from `created_at`. If the clock is set back between two games, ids continue
/// from the later time for a while.
const ID_SLACK: Duration = Duration::minutes(1);

/// Later than any game.
pub(crate) const END: OffsetDateTime = datetime!(9999-12-31 23:59:59 UTC);

/// The index range that a page is read from.
pub(crate) struct Window {
    pub(crate) since: OffsetDateTime,
    pub(crate) until: OffsetDateTime,
    /// In order of creation: ids from the first to before the second.
    pub(crate) first_id: Uuid,
    pub(crate) end_id: Uuid,
    /// In other orders: before this moment (in order of deadlines after it) and, within the same moment, before this id.
    pub(crate) end_at: (OffsetDateTime, Uuid),
    /// How many rows are needed: one more than the page has, to know whether there are more.
    pub(crate) rows: i64,
}

impl Window {
    pub(crate) fn of(filter: &Filter, after: Option<PageKey>, limit: u32) -> Self {
        let since = filter.since.unwrap_or(OffsetDateTime::UNIX_EPOCH);
        let until = filter.until.unwrap_or(END);
        let end_id = filter.until.map_or(Uuid::max(), |until| least_id_at(until.saturating_add(ID_SLACK)));
        let end_at = match filter.order {
            Order::Finished => (until, Uuid::nil()),
            Order::Deadline | Order::Turn => (OffsetDateTime::UNIX_EPOCH, Uuid::max()),
            Order::Created | Order::Updated => (END, Uuid::nil()),
        };
        Self {
            since,
            until,
            first_id: least_id_at(since.saturating_sub(ID_SLACK)),
            end_id: after.map_or(end_id, |key| end_id.min(key.id.0)),
            end_at: match after.map(|key| (key.at, key.id.0)) {
                Some(key) if filter.order.is_ascending() => key,
                Some(key) => end_at.min(key),
                None => end_at,
            },
            rows: i64::from(limit) + 1,
        }
    }
}

/// The least UUIDv7 of a moment: smaller ids are older.
fn least_id_at(at: OffsetDateTime) -> Uuid {
    let ms = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(0);
    Uuid::from_u128(ms << 80)
}

/// All pairs of both slices, as two columns.
pub(crate) fn pairs<A: Clone, B: Clone>(ones: &[A], others: &[B]) -> (Vec<A>, Vec<B>) {
    ones.iter().flat_map(|one| others.iter().map(move |other| (one.clone(), other.clone()))).unzip()
}
