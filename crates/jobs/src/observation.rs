//! Shows in the metrics what the database knows: when the last backup was made, and how far standbys are behind.

use mancala_db::{DbError, backups, standbys};
use mancala_process::metrics::Upkeep;
use sqlx::PgPool;

/// Reads both. If one cannot be read, the other is still shown.
pub async fn observe(pool: &PgPool, upkeep: &Upkeep) -> Result<(), DbError> {
    let last = backups::find_last(pool).await.map(|at| upkeep.set_last_backup(at));
    let lags = standbys::list_lags(pool).await.map(|lags| upkeep.set_standbys(lags));
    last.and(lags)
}
