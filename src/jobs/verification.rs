//! Compares all stored games with their logs, several batches concurrently.

use std::sync::Arc;

use sqlx::PgPool;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::{
    db::{
        DbError,
        records::verify::{self, GameBatch, Verified},
    },
    domain::GameId,
};

/// How many games one task verifies.
const BATCH: u32 = 200;

/// The progress of a verification.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// This many more games were checked.
    Checked(u64),
    /// A game differs from its log.
    Flaw { game: Uuid, seq: Option<u32>, detail: &'a str },
}

/// Receives the progress.
pub type OnProgress = Arc<dyn Fn(Progress<'_>) + Send + Sync>;

/// Verifies every game, with up to `tasks_max` tasks at a time.
pub async fn verify_all(pool: &PgPool, tasks_max: usize, on_progress: OnProgress) -> Result<(), DbError> {
    let mut tasks = JoinSet::new();
    let mut after = GameId(Uuid::nil());
    loop {
        let batch = verify::list_batch(pool, after, BATCH).await?;
        let is_last = batch.games.len() < BATCH as usize;
        if let Some(last) = batch.games.last() {
            after = *last;
        }
        tasks.spawn(verify_batch(pool.clone(), batch, on_progress.clone()));
        while tasks.len() >= tasks_max.max(1) || is_last && !tasks.is_empty() {
            if let Some(done) = tasks.join_next().await {
                done.expect("verifying a game does not panic")?;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

async fn verify_batch(pool: PgPool, batch: GameBatch, on_progress: OnProgress) -> Result<(), DbError> {
    let report = |game, seq, detail: &str| on_progress(Progress::Flaw { game, seq, detail });
    for orphan in batch.orphans {
        report(orphan, None, "it has a log and no game");
    }
    for game in batch.games {
        match verify::verify(&pool, game).await {
            Ok(None) => {}
            Ok(Some(Verified { flaws, unreadable, .. })) => {
                for flaw in flaws {
                    report(game.0, flaw.seq(), &flaw.to_string());
                }
                if let Some(detail) = unreadable {
                    report(game.0, None, &detail);
                }
            }
            Err(error) => return Err(error),
        }
        on_progress(Progress::Checked(1));
    }
    Ok(())
}
