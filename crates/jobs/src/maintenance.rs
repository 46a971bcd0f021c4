//! The rounds of maintenance. They claim names that an older release stored, end games of erased players and abandoned games,
//! and delete what has expired. They archive the logs of games that ended long ago, and show backups and standbys in the metrics.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;

use super::{abandonment, archive, erasure, names, observation, purge, rounds::Rounds};
use mancala_db::Writers;
use mancala_process::{clock::now, metrics::Metrics};

/// The pause between two rounds: an erased player is gone from all games within minutes, also after a crash.
const PAUSE: Duration = Duration::from_mins(1);

/// The settings of maintenance.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How long rows are kept.
    pub purge: purge::Settings,
    /// A guest's game against the computer ends when the guest has not moved for this long; `None`: never.
    pub abandoned_after: Option<time::Duration>,
    /// The log of a game is archived so long after its last event; `None`: never.
    pub archived_after: Option<time::Duration>,
}

/// The jobs, each with the lines that the log has when it begins to fail, and when it works again.
const JOBS: [(&str, &str, &str); 6] = [
    ("names", "not all names of accounts were claimed", "names of accounts are claimed again"),
    ("observation", "the metrics do not show backups and standbys", "the metrics show backups and standbys again"),
    ("erasure", "not all games of erased players were ended", "games of erased players are ended again"),
    ("abandonment", "not all abandoned games were ended", "abandoned games are ended again"),
    ("purge", "not all expired rows were deleted", "expired rows are deleted again"),
    ("archive", "not all logs of finished games were archived", "logs of finished games are archived again"),
];

/// Runs until it is dropped. A failed round is logged, and the next one retries.
pub async fn run(pool: PgPool, writers: Arc<Writers>, metrics: Arc<Metrics>, settings: Settings) {
    let (mut guests, mut scan) = (purge::Guests::default(), abandonment::Scan::default());
    let mut logs = archive::Scan::default();
    let [naming, observing, erasing, abandoning, purging, archiving] =
        JOBS.map(|(name, begins, ends)| Rounds::new(&metrics, name, begins, ends));
    loop {
        // The names are claimed at once after the start, which may be the first start of this release.
        naming.run(names::claim(&pool)).await;
        observing.run(observation::observe(&pool, metrics.upkeep())).await;
        tokio::time::sleep(PAUSE).await;
        erasing.run(erasure::end_games(&pool, &writers, now())).await;
        abandoning.run(abandonment::end_games(&pool, &writers, settings.abandoned_after, &mut scan, now())).await;
        purging.run(purge::run(&pool, settings.purge, &mut guests, now())).await;
        archiving.run(archive::run(&pool, &metrics, settings.archived_after, &mut logs, now())).await;
    }
}
