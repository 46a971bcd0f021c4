//! `archive` and `unarchive`: the logs of finished games in a compact form, and back.

use std::time::Instant;

use mancala_server::{
    config::{Archive, Serve, Unarchive},
    db::{migrations, records::archive::count},
    jobs::{
        archive::{Step, archive_all, restore_all},
        lasting::Pace,
    },
};

use super::{
    database::with_database,
    failure::Failure,
    output::{counted, print},
    progress::Progress,
};

pub fn archive(options: &Serve, archive: &Archive) -> Result<(), Failure> {
    let begun = Instant::now();
    let (games, failed) = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let counts = count(&pool).await.map_err(Failure::new)?;
        let progress =
            Progress::start(counts.games, counts.archived, "games", "games of about {len}; {per_sec}, {eta} left")?;
        let patience = progress.patience(archive.lasting.outage_s);
        let pace = Pace::new(archive.lasting.pace);
        let (mut games, mut failed) = (0, 0_u64);
        let age = time::Duration::days(archive.older_than_days.into());
        let on_step = |step: Step| report(&progress, step, &mut games, &mut failed);
        archive_all(&pool, age, &patience, pace, on_step).await.map_err(Failure::new)?;
        progress.finish();
        Ok((games, failed))
    })?;
    let were = counted(games, "game was", "games were");
    print(&format_args!("{were} archived in {:.1} s\n", begun.elapsed().as_secs_f64()))?;
    match failed {
        0 => Ok(()),
        _ => Err(Failure::damaged(format!("{} cannot be archived", counted(failed, "game", "games")))),
    }
}

pub fn unarchive(options: &Serve, unarchive: &Unarchive) -> Result<(), Failure> {
    let begun = Instant::now();
    let (games, failed, is_done) = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let counts = count(&pool).await.map_err(Failure::new)?;
        let progress = Progress::start(counts.archived, 0, "games", "games of {len}; {per_sec}, {eta} left")?;
        let patience = progress.patience(unarchive.lasting.outage_s);
        let pace = Pace::new(unarchive.lasting.pace);
        let (mut games, mut failed) = (0, 0_u64);
        let on_step = |step: Step| report(&progress, step, &mut games, &mut failed);
        let is_done = restore_all(&pool, &patience, pace, on_step).await.map_err(Failure::new)?;
        progress.finish();
        Ok((games, failed, is_done))
    })?;
    let were = counted(games, "game was", "games were");
    print(&format_args!("{were} put back in {:.1} s\n", begun.elapsed().as_secs_f64()))?;
    match (failed, is_done) {
        (0, true) => Ok(()),
        (0, false) => Err(Failure::new(
            "games were archived meanwhile: set ARCHIVE_AFTER_DAYS=0 for every server, and run this again",
        )),
        _ => Err(Failure::damaged(format!("the archives of {} cannot be read", counted(failed, "game", "games")))),
    }
}

fn report(progress: &Progress, step: Step, games: &mut u64, failed: &mut u64) {
    *games += step.games;
    *failed += step.failed.len() as u64;
    progress.advance(step.scanned);
    for (game, reason) in step.failed {
        progress.print(&format!("game {}: {reason}", game.0));
    }
}
