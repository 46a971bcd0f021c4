//! Archives the logs of games that ended some days ago, in small batches with pauses, so that moves are not delayed.
//! For commands, it archives all of them or puts all back.

use std::time::Instant;

use sqlx::PgPool;
use time::OffsetDateTime;
use tokio::time::sleep;

use super::lasting::{Pace, Patience};
use mancala_db::{
    DbError,
    records::archive::{self, Archived, Restored, Scanned},
};
use mancala_domain::GameId;
use mancala_process::{clock::now, metrics::Metrics, repeats};

/// How many logs one statement scans.
const BATCH: u32 = 200;

/// The most batches of one round; the next round continues after them.
const BATCHES_MAX: u32 = 60;

/// The pause after a batch, as a multiple of its time. So a server uses at most a fifth of a core.
const REST: u32 = 4;

/// The number of failed rounds in a row with the same batch after which its games are tried one at a time. Games that fail are left for the
/// next scan.
const FAILURES_MAX: u32 = 3;

/// The pause between two scans of all logs that are not archived.
const PAUSE: time::Duration = time::Duration::hours(1);

/// The position of the scan: each round scans a part, and a new scan starts an hour after the last one.
#[derive(Debug, Default)]
pub struct Scan {
    after: Option<GameId>,
    again_at: Option<OffsetDateTime>,
    /// How many rounds in a row have failed with the next batch.
    failures: u32,
    /// How many seconds the oldest log that this scan found due has waited, and that of the last scan.
    lag_s: i64,
    last_lag_s: i64,
}

impl Scan {
    /// Takes the oldest log of a batch in, and returns the lag to show. A long scan shows at least what the last one has found.
    fn lag(&mut self, due: OffsetDateTime, oldest: Option<OffsetDateTime>, is_end: bool) -> i64 {
        self.lag_s = self.lag_s.max(oldest.map_or(0, |oldest| (due - oldest).whole_seconds()));
        if is_end {
            self.last_lag_s = std::mem::take(&mut self.lag_s);
        }
        self.last_lag_s.max(self.lag_s)
    }
}

/// Runs a round. `age` is how long ago the last event of a game must be; without it nothing is archived.
pub async fn run(
    pool: &PgPool,
    metrics: &Metrics,
    age: Option<time::Duration>,
    scan: &mut Scan,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    let Some(age) = age.filter(|_| scan.again_at.is_none_or(|again_at| now >= again_at)) else { return Ok(()) };
    // Servers of the release before may still run.
    if !archive::is_settled(pool, now).await? {
        return Ok(());
    }
    for _ in 0..BATCHES_MAX {
        let begun = Instant::now();
        let Scanned { ready, oldest, next, .. } = archive::scan(pool, scan.after, now - age, now, BATCH).await?;
        metrics.upkeep().set_archive_lag(scan.lag(now - age, oldest, next.is_none()));
        if !ready.is_empty() {
            let archived = if scan.failures < FAILURES_MAX {
                // Transient failures are retried in the next round.
                archive::archive(pool, &ready, now - age, now).await.inspect_err(|_| scan.failures += 1)?
            } else {
                archive_apart(pool, &ready, now - age, now).await
            };
            scan.failures = 0;
            metrics.games_archived(archived.games.into(), archived.put_off.len() as u64);
            log_put_off(&archived);
        }
        (scan.after, scan.again_at) = (next, next.is_none().then(|| now + PAUSE));
        if next.is_none() {
            break;
        }
        sleep(begun.elapsed() * REST).await;
    }
    Ok(())
}

/// Archives games one at a time, and leaves out those with which that fails.
async fn archive_apart(pool: &PgPool, games: &[GameId], before: OffsetDateTime, now: OffsetDateTime) -> Archived {
    let mut all = Archived::default();
    for game in games {
        match archive::archive(pool, &[*game], before, now).await {
            Ok(archived) => {
                all.games += archived.games;
                all.put_off.extend(archived.put_off);
            }
            Err(error) => {
                if let Some(line) = repeats::admit("games with which the archive fails", &error.to_string()) {
                    tracing::error!(left_out = line.left_out, game.id = %game.0, "the log of a game was not archived, and is tried again in an hour: {error}");
                }
            }
        }
    }
    all
}

fn log_put_off(archived: &Archived) {
    for (game, reason) in &archived.put_off {
        if let Some(line) = repeats::admit("games that cannot be archived", reason) {
            tracing::error!(left_out = line.left_out, game.id = %game.0, "the log of a game cannot be archived and stays as it is: {reason}");
        }
    }
}

/// The result of a batch of a command.
#[derive(Debug)]
pub struct Step {
    /// How many logs were scanned.
    pub scanned: u64,
    /// How many were archived, or put back.
    pub games: u64,
    /// Games whose logs cannot be archived or put back, and why.
    pub failed: Vec<(GameId, String)>,
}

/// Archives all logs whose games ended longer ago than the given age. The work can be stopped at any time: a rerun finds the rest.
pub async fn archive_all(
    pool: &PgPool,
    age: time::Duration,
    patience: &Patience,
    mut pace: Pace,
    mut on_step: impl FnMut(Step),
) -> Result<(), DbError> {
    let (mut after, limit) = (None, pace.batch(BATCH));
    loop {
        let now = now();
        let before = now - age;
        let Scanned { scanned, ready, next, .. } =
            patience.retry(|| archive::scan(pool, after, before, now, limit)).await?;
        let Archived { games, put_off } = if ready.is_empty() {
            Archived::default()
        } else {
            patience.retry(|| archive::archive(pool, &ready, before, now)).await?
        };
        pace.take(ready.len()).await;
        on_step(Step { scanned, games: games.into(), failed: put_off });
        match next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

/// Puts all archived logs back. Returns whether nothing is archived any more, so that older binaries may work on the database.
pub async fn restore_all(
    pool: &PgPool,
    patience: &Patience,
    mut pace: Pace,
    mut on_step: impl FnMut(Step),
) -> Result<bool, DbError> {
    let (mut after, limit) = (None, pace.batch(BATCH));
    loop {
        let Restored { games, unreadable, next } = patience.retry(|| archive::restore(pool, after, limit)).await?;
        pace.take(usize::try_from(games).unwrap_or(usize::MAX)).await;
        on_step(Step { scanned: games + unreadable.len() as u64, games, failed: unreadable });
        match next {
            Some(next) => after = Some(next),
            None => return patience.retry(|| archive::lower_mark(pool)).await,
        }
    }
}
