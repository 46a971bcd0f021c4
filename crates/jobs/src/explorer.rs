//! Fills the explorer with finished games, in small batches with pauses, so that moves are not delayed.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_db::{
    DbError,
    study::{
        explorer_index::{self, Batch, Explored, QueuePosition},
        packing::{self, Least, Packed, Place},
    },
};
use mancala_process::{clock::now, metrics::Metrics, outage::Outage, repeats};
use sqlx::PgPool;
use tokio::{task::JoinHandle, time::sleep};
use tokio_util::sync::CancellationToken;

use super::{
    lasting::{Pace, Patience},
    rounds::Rounds,
};

/// How many games a server indexes in one transaction: about ten milliseconds of work.
const BATCH: u32 = 50;

/// How many games a command indexes in one transaction. A larger batch merges more repeated positions, and touches more
/// rows of each page of the indexes. It takes some 50 MB.
const LARGE_BATCH: u32 = 8000;

/// The pause between two polls for finished games.
const PAUSE: Duration = Duration::from_secs(2);

/// The pause after a full batch, as a multiple of its time. So each server uses at most a tenth of a core of PostgreSQL, and
/// the queue grows while games finish faster than that.
const REST: u32 = 9;

/// How many steps of packing follow a batch: more than it makes rows for.
const STEPS_OF_BATCH: u32 = 8;

/// How many games of a batch allow one more packing step.
const GAMES_OF_STEP: u32 = 16;

/// How long a command waits before it retries while a server holds the lock.
const WAIT: Duration = Duration::from_millis(100);

/// Runs until `stopping` is cancelled; then it stops at once, and the open transaction is rolled back.
pub async fn run(pool: PgPool, metrics: Arc<Metrics>, stopping: CancellationToken) {
    let (begins, ends) =
        ("finished games are not added to the explorer", "finished games are added to the explorer again");
    let exploring = Rounds::new(&metrics, "explorer", begins, ends);
    let packs =
        Outage::behind_database("the explorer's entries are not packed", "the explorer's entries are packed again");
    // The release before has left rows.
    let (mut place, mut packing) = (Place::FIRST, Packing::MayGoOn);
    while !stopping.is_cancelled() {
        let begun = Instant::now();
        let round = Box::pin(exploring.run(explorer_index::explore(&pool, now(), BATCH)));
        let Some(explored) = stopping.run_until_cancelled(round).await else { return };
        if let Ok((waiting, put_off)) = explorer_index::count_waiting(&pool).await {
            metrics.set_unexplored(waiting, put_off);
        }
        let mut pause = PAUSE;
        if let Some(explored) = explored.flatten() {
            log_unreadable(&explored);
            if packing != Packing::IsDone || explored.games > 0 {
                let packed = stopping.run_until_cancelled(pack(&pool, &mut place, STEPS_OF_BATCH)).await;
                let Some(packed) = packed else { return };
                packs.note(&packed);
                packing = packed.unwrap_or(Packing::Failed);
            }
            if explored.is_full || packing == Packing::MayGoOn {
                pause = begun.elapsed() * REST;
            }
        }
        stopping.run_until_cancelled(sleep(pause)).await;
    }
}

/// The state of packing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    /// Maybe more.
    MayGoOn,
    /// Maybe more, while another process has the lock.
    Waits,
    /// Maybe more, when the database can be written again.
    Failed,
    /// Nothing until more games are counted.
    IsDone,
}

/// Packs entries, in at most `steps` steps.
async fn pack(pool: &PgPool, place: &mut Place, steps: u32) -> Result<Packing, DbError> {
    let mut rows = 0;
    for _ in 0..steps {
        let Some(packed) = packing::pack(pool, *place, Least::USUAL).await? else { return Ok(Packing::Waits) };
        log_damaged(&packed);
        rows += packed.rows;
        match packed.next {
            Some(behind) => *place = behind,
            None => return Ok(Packing::IsDone),
        }
    }
    // Rows of damaged chunks stay: they alone are no reason to go on.
    Ok(if rows > 0 { Packing::MayGoOn } else { Packing::IsDone })
}

fn log_damaged(packed: &Packed) {
    for error in &packed.damaged {
        if let Some(line) = repeats::admit("chunks that cannot be packed", &error.to_string()) {
            tracing::error!(
                left_out = line.left_out,
                "entries of the explorer stay beside a damaged chunk until a reindex: {error}"
            );
        }
    }
}

/// Indexes all games in the queue, and calls `on_batch` after each batch. Servers may index at the same time.
///
/// While one batch is stored, the next one is read over another connection.
pub async fn explore_all(
    pool: &PgPool,
    patience: &Patience,
    mut pace: Pace,
    mut on_batch: impl FnMut(Explored),
) -> Result<(), DbError> {
    let limit = pace.batch(LARGE_BATCH);
    let mut place = Place::FIRST;
    let mut next = read_ahead(pool, patience, limit, QueuePosition::FIRST);
    loop {
        let batch = next.await.expect("reading games does not panic");
        let following = batch.as_ref().ok().and_then(Batch::next).map(|place| read_ahead(pool, patience, limit, place));
        let explored = match batch {
            Ok(batch) => patience.retry(|| explorer_index::store(pool, &batch, now())).await,
            Err(error) => Err(error),
        };
        let (explored, following) = match explored {
            Ok(explored) => (explored, following),
            // A transaction for single games finds out which game is at fault.
            Err(error) if error.is_data_error() => {
                (patience.retry(|| explorer_index::explore(pool, now(), limit)).await?, None)
            }
            Err(error) => return Err(error),
        };
        let anew = || read_ahead(pool, patience, limit, QueuePosition::FIRST);
        next = if let Some(explored) = explored {
            let is_full = explored.is_full;
            for _ in 0..STEPS_OF_BATCH + explored.games / GAMES_OF_STEP {
                let packed = patience.retry(|| packing::pack(pool, place, Least::USUAL)).await?.unwrap_or_default();
                log_damaged(&packed);
                let Some(behind) = packed.next else { break };
                place = behind;
            }
            pace.take(explored.games as usize).await;
            on_batch(explored);
            if !is_full {
                return Ok(());
            }
            following.unwrap_or_else(anew)
        } else {
            // Another process has the lock, or has counted these games. The batch that was read ahead is dropped.
            sleep(WAIT).await;
            anew()
        };
    }
}

/// Begins to read the next batch.
fn read_ahead(
    pool: &PgPool,
    patience: &Patience,
    limit: u32,
    place: QueuePosition,
) -> JoinHandle<Result<Batch, DbError>> {
    let (pool, patience) = (pool.clone(), patience.clone());
    tokio::spawn(async move { patience.retry(|| explorer_index::read(&pool, now(), limit, place)).await })
}

fn log_unreadable(explored: &Explored) {
    for (game, error) in &explored.unreadable {
        if let Some(line) = repeats::admit("games that the explorer cannot read", &error.to_string()) {
            tracing::error!(left_out = line.left_out, game.id = %game.0, "the explorer cannot read a game and retries it later: {error}");
        }
    }
}
