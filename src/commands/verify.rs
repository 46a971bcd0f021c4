//! `verify`: compares all games with their logs.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use indicatif::ProgressBar;
use mancala_server::{
    config::Serve,
    db::records::verify::count,
    jobs::verification::{Progress, verify_all},
};

use super::{
    database::{cores, with_database},
    failure::Failure,
    output::print,
    progress::bar,
};

pub fn verify(options: &Serve) -> Result<(), Failure> {
    let (games, flaws) = with_database(options, "stopped before it was done", async |_, pool| {
        let count = count(&pool).await.map_err(Failure::new)?;
        let bar = bar(count, "games, about {len}; {per_sec}, {eta} left")?;
        let report = Arc::new(Report { bar, games: AtomicU64::new(0), flaws: AtomicU64::new(0) });
        let reporting = report.clone();
        let on_progress = Arc::new(move |progress: Progress<'_>| reporting.add(progress));
        verify_all(&pool, cores(), on_progress).await.map_err(Failure::new)?;
        report.bar.finish_and_clear();
        Ok((report.games.load(Ordering::Relaxed), report.flaws.load(Ordering::Relaxed)))
    })?;
    match flaws {
        0 => print(&format_args!("{games} games are sound\n")),
        _ => Err(Failure::new(format!("{flaws} flaws were found in {games} games"))),
    }
}

/// Prints one line for each flaw to standard output, and moves the bar.
struct Report {
    bar: ProgressBar,
    games: AtomicU64,
    flaws: AtomicU64,
}

impl Report {
    fn add(&self, progress: Progress<'_>) {
        match progress {
            Progress::Checked(games) => {
                self.games.fetch_add(games, Ordering::Relaxed);
                self.bar.inc(games);
            }
            Progress::Flaw { game, seq, detail } => {
                self.flaws.fetch_add(1, Ordering::Relaxed);
                let seq = seq.map_or_else(String::new, |seq| format!(" seq {seq}"));
                self.bar.suspend(|| println!("game {game}{seq}: {detail}"));
            }
        }
    }
}
