//! Changing the list of words that no name may have, with a row in the log.

use serde_json::json;
use sqlx::PgPool;
use time::OffsetDateTime;

use super::acts::{self, Act};
use crate::{connection::DbError, players::name_filter};

/// The word for the act of changing the list.
pub const CHANGE_NAME_FILTER: &str = "change_name_filter";

/// Replaces the list. `entries` is the number of its words, for the log, which does not store lists.
pub async fn replace(
    pool: &PgPool,
    operator: &str,
    list: &str,
    entries: usize,
    now: OffsetDateTime,
) -> Result<Act, DbError> {
    let mut transaction = pool.begin().await?;
    let revision = name_filter::store(&mut transaction, list).await?;
    let after = json!({ "revision": revision, "entries": entries });
    let act = Act::of_server(operator, CHANGE_NAME_FILTER, after, now);
    acts::insert(&mut transaction, &act).await?;
    transaction.commit().await?;
    Ok(act)
}
