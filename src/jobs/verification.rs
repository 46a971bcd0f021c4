//! Compares all stored games with their logs, several at a time.

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

/// How many games are listed, and given to a task, at once.
const STRETCH: u32 = 200;

/// What is told while it goes on.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// So many more games were looked at.
    LookedAt(u64),
    /// Something is wrong with a game.
    Flawed { game: Uuid, seq: Option<u32>, detail: &'a str },
}

/// Takes what is told.
pub type Tell = Arc<dyn Fn(Told<'_>) + Send + Sync>;

/// Looks at every game, `at_once` stretches of them at a time.
pub async fn verify_all(pool: &PgPool, at_once: usize, tell: Tell) -> Result<(), DbError> {
    let mut tasks = JoinSet::new();
    let mut after = GameId(Uuid::nil());
    loop {
        let stretch = verify::list_batch(pool, after, STRETCH).await?;
        let is_last = stretch.games.len() < STRETCH as usize;
        if let Some(last) = stretch.games.last() {
            after = *last;
        }
        tasks.spawn(verify_stretch(pool.clone(), stretch, tell.clone()));
        while tasks.len() >= at_once.max(1) || is_last && !tasks.is_empty() {
            if let Some(done) = tasks.join_next().await {
                done.expect("looking at games does not panic")?;
            }
        }
        if is_last {
            return Ok(());
        }
    }
}

async fn verify_stretch(pool: PgPool, stretch: GameBatch, tell: Tell) -> Result<(), DbError> {
    let flawed = |game, seq, detail: &str| tell(Told::Flawed { game, seq, detail });
    for orphan in stretch.orphans {
        flawed(orphan, None, "there is a log, and no game");
    }
    for game in stretch.games {
        match verify::verify(&pool, game).await {
            Ok(None) => {}
            Ok(Some(Verified { flaws, unreadable, .. })) => {
                for flaw in flaws {
                    flawed(game.0, flaw.seq(), &flaw.to_string());
                }
                if let Some(detail) = unreadable {
                    flawed(game.0, None, &detail);
                }
            }
            Err(error) => return Err(error),
        }
        tell(Told::LookedAt(1));
    }
    Ok(())
}
