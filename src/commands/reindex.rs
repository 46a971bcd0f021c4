//! `reindex`: fills the opening explorer anew.

use std::time::Instant;

use mancala_server::{
    config::Serve,
    db::{
        DbError, migrations,
        study::explorer_index::{Explored, begin_anew, count_waiting},
    },
    jobs::explorer::explore_all,
};

use super::{database::with_database, failure::Failure, output::print, progress::bar};

pub fn reindex(options: &Serve) -> Result<(), Failure> {
    let begun = Instant::now();
    let (games, unreadable) = with_database(options, "stopped before it was done", async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        let failure = |error| match error {
            DbError::Busy(_) => Failure::new(
                "another connection reads the explorer's tables, maybe a backup: try again when it has finished",
            ),
            error => Failure::new(error),
        };
        let all = begin_anew(&pool).await.map_err(failure)?;
        let bar = bar(all, "games of {len}; {per_sec}, {eta} left")?;
        let mut games = 0;
        let on_batch = |explored: Explored| {
            games += u64::from(explored.games);
            bar.inc(u64::from(explored.games) + explored.unreadable.len() as u64);
            for (game, error) in explored.unreadable {
                bar.suspend(|| println!("game {}: {error}", game.0));
            }
        };
        explore_all(&pool, on_batch).await.map_err(Failure::new)?;
        bar.finish_and_clear();
        // Includes the games that a running server took: that server logs them.
        let (_, unreadable) = count_waiting(&pool).await.map_err(Failure::new)?;
        Ok((games, unreadable))
    })?;
    print(&format_args!("{games} games were counted in {:.1} s\n", begun.elapsed().as_secs_f64()))?;
    match unreadable {
        0 => Ok(()),
        _ => Err(Failure::new(format!("{unreadable} games cannot be read"))),
    }
}
