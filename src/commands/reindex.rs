//! `reindex`: builds the opening explorer anew.

use std::time::Instant;

use mancala_server::{
    config::{Reindex, Serve},
    db::{
        DbError, migrations,
        study::{
            explorer_index::{Explored, count_all_waiting, count_waiting},
            rebuild::state::{Rebuild, begin, take_over},
        },
    },
    domain::GameId,
    jobs::{
        explorer::explore_all,
        lasting::{Pace, Patience},
        rebuild::{Advance, RebuildError, rebuild},
    },
};
use sqlx::PgPool;

use super::{
    database::with_database,
    failure::Failure,
    output::{counted, print},
    progress::Progress,
};

pub fn reindex(options: &Serve, reindex: &Reindex) -> Result<(), Failure> {
    let begun = Instant::now();
    let (games, unreadable) = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let interrupted = if reindex.r#continue { take_over(&pool).await.map_err(failure)? } else { None };
        let building = match interrupted {
            None if !reindex.r#continue => Some(begin(&pool).await.map_err(failure)?),
            interrupted => interrupted,
        };
        // A rebuild counts most of the games that wait.
        let (all, before) = match &building {
            Some(building) => (building.games, building.read / 2),
            None => (count_all_waiting(&pool).await.map_err(failure)?, 0),
        };
        let progress = Progress::start(all, before, "games", "games of {len}; {per_sec}, {eta} left")?;
        let patience = progress.patience(reindex.lasting.outage_s);
        let pace = Pace::new(reindex.lasting.pace);
        let mut games = 0;
        if let Some(building) = building {
            games += build(&pool, &patience, pace, &building, &progress).await?;
        }
        let on_batch = |explored: Explored| {
            games += u64::from(explored.games);
            progress.advance(u64::from(explored.games) + explored.unreadable.len() as u64);
            name(&progress, explored.unreadable);
        };
        explore_all(&pool, &patience, pace, on_batch).await.map_err(Failure::new)?;
        progress.finish();
        // Includes the games that a running server took: that server logs them.
        let (_, unreadable) = patience.retry(|| count_waiting(&pool)).await.map_err(Failure::new)?;
        Ok((games, unreadable))
    })?;
    let were = counted(games, "game was", "games were");
    print(&format_args!("{were} counted in {:.1} s\n", begun.elapsed().as_secs_f64()))?;
    match unreadable {
        0 => Ok(()),
        _ => Err(Failure::damaged(format!("{} cannot be read", counted(unreadable.unsigned_abs(), "game", "games")))),
    }
}

/// Builds the explorer anew; returns how many games it counts.
async fn build(
    pool: &PgPool,
    patience: &Patience,
    pace: Pace,
    building: &Rebuild,
    progress: &Progress,
) -> Result<u64, Failure> {
    let mut half_games = 0;
    let on_advance = |advance: Advance| {
        let before = half_games / 2;
        half_games += advance.half_games;
        progress.advance(half_games / 2 - before);
        name(progress, advance.unreadable);
    };
    rebuild(pool, patience, pace, building, on_advance).await.map_err(|error| match error {
        RebuildError::Db(error) => failure(error),
        error @ RebuildError::TakenOver => Failure::new(error),
    })
}

fn failure(error: DbError) -> Failure {
    match error {
        DbError::Busy(_) => Failure::new(
            "another connection reads the explorer's tables, maybe a backup: when it has finished, `reindex --continue` goes on",
        ),
        error => Failure::new(error),
    }
}

/// Prints the games that cannot be read.
fn name(progress: &Progress, unreadable: Vec<(GameId, DbError)>) {
    for (game, error) in unreadable {
        progress.print(&format!("game {}: {error}", game.0));
    }
}
