//! The rounds of maintenance. They claim names that an older release stored, end games of erased players and abandoned games,
//! and delete what has expired. They archive the logs of games that ended long ago.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;

use super::{abandonment, archive, erasure, names, purge};
use crate::{clock::now, db::Writers, metrics::Metrics};

/// The pause between two rounds: an erased player is gone from all games within minutes, also after a crash.
const PAUSE: Duration = Duration::from_mins(1);

/// What maintenance ends, deletes and archives.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long rows are kept.
    pub purge: purge::Settings,
    /// A guest's game against the computer ends when the guest has not moved for this long; `None`: never.
    pub abandoned_after: Option<time::Duration>,
    /// The log of a game is archived so long after its last event; `None`: never.
    pub archived_after: Option<time::Duration>,
}

/// Runs until it is dropped. A failed round is logged, and the next one retries.
pub async fn run(pool: PgPool, writers: Arc<Writers>, metrics: Arc<Metrics>, settings: Settings) {
    let (mut guests, mut scan) = (purge::Guests::default(), abandonment::Scan::default());
    let mut logs = archive::Scan::default();
    loop {
        // At once after the start, which may be the first of this release.
        if let Err(error) = names::claim(&pool).await {
            tracing::warn!("not all names of accounts were claimed: {error}");
        }
        tokio::time::sleep(PAUSE).await;
        if let Err(error) = erasure::end_games(&pool, &writers, now()).await {
            tracing::warn!("not all games of erased players were ended: {error}");
        }
        if let Err(error) = abandonment::end_games(&pool, &writers, settings.abandoned_after, &mut scan, now()).await {
            tracing::warn!("not all abandoned games were ended: {error}");
        }
        if let Err(error) = purge::run(&pool, settings.purge, &mut guests, now()).await {
            tracing::warn!("not all expired rows were deleted: {error}");
        }
        if let Err(error) = archive::run(&pool, &metrics, settings.archived_after, &mut logs, now()).await {
            tracing::warn!("not all logs of finished games were archived: {error}");
        }
    }
}
