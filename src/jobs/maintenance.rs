//! The rounds of maintenance. They claim names that an older release stored, end games of erased players and abandoned games,
//! and delete what has expired. They archive the logs of games that ended long ago, and show backups and standbys in the metrics.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;

use super::{abandonment, archive, erasure, names, observation, purge};
use crate::{
    clock::now,
    db::{DbError, Writers},
    metrics::{JobGauge, Metrics},
    outage,
};

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
    let jobs = ["names", "observation", "erasure", "abandonment", "purge", "archive"];
    let [naming, observing, erasing, abandoning, purging, archiving] = jobs.map(|job| metrics.upkeep().job(job));
    loop {
        // At once after the start, which may be the first of this release.
        note(&naming, names::claim(&pool).await, "not all names of accounts were claimed");
        let observed = observation::observe(&pool, metrics.upkeep()).await;
        note(&observing, observed, "the metrics do not show backups and standbys");
        tokio::time::sleep(PAUSE).await;
        let ended = erasure::end_games(&pool, &writers, now()).await;
        note(&erasing, ended, "not all games of erased players were ended");
        let ended = abandonment::end_games(&pool, &writers, settings.abandoned_after, &mut scan, now()).await;
        note(&abandoning, ended, "not all abandoned games were ended");
        let purged = purge::run(&pool, settings.purge, &mut guests, now()).await;
        note(&purging, purged, "not all expired rows were deleted");
        let archived = archive::run(&pool, &metrics, settings.archived_after, &mut logs, now()).await;
        note(&archiving, archived, "not all logs of finished games were archived");
    }
}

/// Notes the success of a job, or logs its failure.
fn note(job: &JobGauge, outcome: Result<(), DbError>, failed: &'static str) {
    match outcome {
        Ok(()) => job.succeeded(now()),
        Err(error) => {
            if let Some(line) = outage::admit_failure(failed, &error.to_string()) {
                tracing::warn!(left_out = line.left_out, "{failed}: {error}");
            }
        }
    }
}
