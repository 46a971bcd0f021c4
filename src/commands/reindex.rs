//! `reindex`: fills the opening explorer anew.

use std::time::Instant;

use mancala_server::{
    config::{Reindex, Serve},
    db::{
        DbError, migrations,
        study::explorer_index::{Explored, begin_anew, count_all_waiting, count_waiting},
    },
    jobs::{explorer::explore_all, lasting::Pace},
};

use super::{
    database::with_database,
    failure::Failure,
    output::{counted, print},
    progress::Progress,
};

pub fn reindex(options: &Serve, reindex: &Reindex) -> Result<(), Failure> {
    let begun = Instant::now();
    let (games, unreadable) = with_database(options, async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        let failure = |error| match error {
            DbError::Busy(_) => Failure::new(
                "another connection reads the explorer's tables, maybe a backup: try again when it has finished",
            ),
            error => Failure::new(error),
        };
        let all = if reindex.r#continue { count_all_waiting(&pool).await } else { begin_anew(&pool).await };
        let all = all.map_err(failure)?;
        let progress = Progress::start(all, 0, "games", "games of {len}; {per_sec}, {eta} left")?;
        let patience = progress.patience(reindex.lasting.outage_s);
        let mut games = 0;
        let on_batch = |explored: Explored| {
            games += u64::from(explored.games);
            progress.advance(u64::from(explored.games) + explored.unreadable.len() as u64);
            for (game, error) in explored.unreadable {
                progress.print(&format!("game {}: {error}", game.0));
            }
        };
        explore_all(&pool, &patience, Pace::new(reindex.lasting.pace), on_batch).await.map_err(Failure::new)?;
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
