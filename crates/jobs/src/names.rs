//! Claims the names of accounts that an older release stored, so that no new account's name reads like theirs.

use mancala_db::{DbError, players::name_claims};
use sqlx::PgPool;

/// Accounts of one statement: some milliseconds' work.
const BATCH: u32 = 500;

/// Claims all of them, in batches. A round that finds none reads an empty index.
pub async fn claim(pool: &PgPool) -> Result<(), DbError> {
    loop {
        let unclaimed = name_claims::list_unclaimed(pool, BATCH).await?;
        if unclaimed.is_empty() {
            return Ok(());
        }
        name_claims::claim(pool, &unclaimed).await?;
    }
}
