//! The rounds of maintenance: claims names that an older release stored, ends games of erased players, and deletes what has expired.

use std::{sync::Arc, time::Duration};

use sqlx::postgres::PgConnectOptions;

use super::{erasure, names, purge};
use crate::{
    clock::now,
    db::{self, Writers},
};

/// The pause between two rounds: an erased player is gone from all games within minutes, also after a crash.
const PAUSE: Duration = Duration::from_mins(1);

/// Runs until it is dropped. A failed round is logged, and the next one retries.
pub async fn run(database: PgConnectOptions, writers: Arc<Writers>, settings: purge::Settings) {
    let pool = db::pool(database, 1);
    let mut guests = purge::Guests::default();
    loop {
        // At once after the start, which may be the first of this release.
        if let Err(error) = names::claim(&pool).await {
            tracing::warn!("not all names of accounts were claimed: {error}");
        }
        tokio::time::sleep(PAUSE).await;
        if let Err(error) = erasure::end_games(&pool, &writers, now()).await {
            tracing::warn!("not all games of erased players were ended: {error}");
        }
        if let Err(error) = purge::run(&pool, settings, &mut guests, now()).await {
            tracing::warn!("not all expired rows were deleted: {error}");
        }
    }
}
