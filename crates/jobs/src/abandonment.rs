//! Ends games against the computer that a guest has abandoned, so that they do not count against the guest's limits for ever.

use mancala_db::{DbError, Writers, games::computer_games};
use mancala_domain::{Action, GameId};
use mancala_process::repeats;
use sqlx::PgPool;
use time::{Duration, OffsetDateTime};

use super::leaving::end_game;

/// How many games one statement scans.
const BATCH: u32 = 1000;

/// The most statements of one round; the next round continues after them.
const BATCHES_MAX: u32 = 20;

/// The pause between two scans of all games against the computer.
const PAUSE: Duration = Duration::hours(1);

/// The position of the scan: each round scans a part, and a new scan starts an hour after the last one.
#[derive(Debug, Default)]
pub struct Scan {
    after: Option<GameId>,
    again_at: Option<OffsetDateTime>,
}

/// Runs a round. `after` is the time without a move of the guest after which a game ends; without it, only rows of finished games are
/// deleted. A game with a version conflict or a failure is left to the next scan.
pub async fn end_games(
    pool: &PgPool,
    writers: &Writers,
    after: Option<Duration>,
    scan: &mut Scan,
    now: OffsetDateTime,
) -> Result<(), DbError> {
    if scan.again_at.is_some_and(|again_at| now < again_at) {
        return Ok(());
    }
    let before = after.map_or(OffsetDateTime::UNIX_EPOCH, |after| now - after);
    for _ in 0..BATCHES_MAX {
        let scanned = computer_games::scan(pool, before, scan.after, BATCH).await?;
        for (id, guest) in scanned.abandoned {
            // Without a move of the guest the game has no result.
            if let Err(error) = end_game(pool, writers, guest, id, &[Action::Abort, Action::Resign], now).await
                && let Some(line) = repeats::admit("abandoned games", &error.to_string())
            {
                tracing::warn!(left_out = line.left_out, game.id = %id.0, "an abandoned game cannot be ended: {error}");
            }
        }
        (scan.after, scan.again_at) = (scanned.last, scanned.last.is_none().then(|| now + PAUSE));
        if scan.after.is_none() {
            break;
        }
    }
    Ok(())
}
