//! Compares all stored games with their logs, several batches concurrently.

use std::collections::VecDeque;

use mancala_db::{
    DbError,
    records::{
        verify::Verified,
        verify_batch::{self, GameBatch, VerifiedBatch},
    },
};
use mancala_domain::GameId;
use sqlx::PgPool;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::lasting::{Pace, Patience};

/// How many games one task verifies.
const BATCH: u32 = 200;

/// The progress of a verification.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// This many more games were checked, up to this one.
    Checked { games: u64, last: GameId },
    /// A game differs from its log.
    Flaw { game: Uuid, seq: Option<u32>, detail: &'a str },
    /// A game was deleted while it was verified.
    Vanished,
}

/// Verifies every game after one, with up to `tasks_max` tasks at a time. Reports in the order of the games.
pub async fn verify_all(
    pool: &PgPool,
    mut after: GameId,
    tasks_max: usize,
    patience: &Patience,
    mut pace: Pace,
    mut on_progress: impl FnMut(Progress<'_>),
) -> Result<(), DbError> {
    let mut tasks: VecDeque<(GameId, JoinHandle<Result<VerifiedBatch, DbError>>)> = VecDeque::new();
    let mut is_last = false;
    loop {
        while !is_last && tasks.len() < tasks_max.max(1) {
            let limit = pace.batch(BATCH);
            let batch = patience.retry(|| verify_batch::list_batch(pool, after, limit)).await?;
            pace.take(batch.games.len()).await;
            (is_last, after) = (batch.is_last, batch.last());
            tasks.push_back((after, tokio::spawn(verify(pool.clone(), batch, patience.clone()))));
        }
        let Some((last, task)) = tasks.pop_front() else { return Ok(()) };
        report(task.await.expect("verifying a game does not panic")?, last, &mut on_progress);
    }
}

async fn verify(pool: PgPool, batch: GameBatch, patience: Patience) -> Result<VerifiedBatch, DbError> {
    patience.retry(|| verify_batch::verify_batch(&pool, &batch)).await
}

fn report(batch: VerifiedBatch, last: GameId, on_progress: &mut impl FnMut(Progress<'_>)) {
    for orphan in batch.orphans {
        on_progress(Progress::Flaw { game: orphan, seq: None, detail: "it has a log and no game" });
    }
    let games = batch.games.len() as u64;
    for (game, Verified { flaws, unreadable, .. }) in batch.games {
        for flaw in flaws {
            on_progress(Progress::Flaw { game: game.0, seq: flaw.seq(), detail: &flaw.to_string() });
        }
        if let Some(detail) = unreadable {
            on_progress(Progress::Flaw { game: game.0, seq: None, detail: &detail });
        }
    }
    for _ in batch.vanished {
        on_progress(Progress::Vanished);
    }
    on_progress(Progress::Checked { games, last });
}
