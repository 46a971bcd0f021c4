//! `import`: stores the games of files.

use std::{
    fs::File,
    io::BufReader,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use indicatif::ProgressBar;
use mancala_server::{
    clock,
    config::{Import, ImportVisibility, Serve},
    db::migrations,
    domain::{ReservedNames, Visibility},
    http::{self, Form, Refused},
    jobs::transfer::{ImportProgress, ReadGame, import_all},
};

use super::{database::with_database, failure::Failure, output::print, progress::bar};

/// How many bytes of a file are read at once.
const BUFFER_BYTES: usize = 1 << 20;

pub fn import(options: &Serve, import: &Import) -> Result<(), Failure> {
    let visibility = match import.visibility {
        ImportVisibility::Public => Visibility::Public,
        ImportVisibility::Unlisted => Visibility::Unlisted,
    };
    // All files are opened before the first game is stored.
    let files = import
        .files
        .iter()
        .map(|path| File::open(path).map(|file| (path, file)).map_err(|e| Failure::of_file(path, &e)));
    let files: Vec<_> = files.collect::<Result<_, _>>()?;
    let bytes = files.iter().filter_map(|(_, file)| file.metadata().ok()).map(|file| file.len()).sum();
    let reserved = ReservedNames::new(options.reserved_names.iter().map(String::as_str));
    let read: ReadGame = Arc::new(move |is_json, text, now| {
        let form = if is_json { Form::JsonLines } else { Form::Text };
        let refused = |Refused { line, column, detail }| (line, column, detail);
        http::read_game(form, text, now, &reserved).map_err(refused)
    });
    let (games, refused) = with_database(options, "stopped before it was done", async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        let bar = bar(bytes, "bytes of {len}; {eta} left")?;
        let (mut games, mut refused) = (0, 0);
        for (path, file) in files {
            let report = Arc::new(Report {
                bar: bar.clone(),
                file: path.display().to_string(),
                games: AtomicU64::new(0),
                refused: AtomicU64::new(0),
            });
            let input = BufReader::with_capacity(BUFFER_BYTES, file);
            let reporting = report.clone();
            let on_progress = Arc::new(move |progress: ImportProgress<'_>| reporting.add(progress));
            let done = import_all(&pool, input, visibility, clock::now(), read.clone(), on_progress).await;
            done.map_err(|error| Failure::of_file(path, &error))?;
            games += report.games.load(Ordering::Relaxed);
            refused += report.refused.load(Ordering::Relaxed);
        }
        bar.finish_and_clear();
        Ok((games, refused))
    })?;
    print(&format_args!("{games} games were imported\n"))?;
    if refused == 0 { Ok(()) } else { Err(Failure::new(format!("{refused} games were refused"))) }
}

/// Prints one line for each refused game to standard output, and moves the bar.
struct Report {
    bar: ProgressBar,
    file: String,
    games: AtomicU64,
    refused: AtomicU64,
}

impl Report {
    fn add(&self, progress: ImportProgress<'_>) {
        match progress {
            ImportProgress::Advanced { bytes, games } => {
                self.games.fetch_add(games, Ordering::Relaxed);
                self.bar.inc(bytes);
            }
            ImportProgress::Refused { line, column, cause } => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                let column = column.map_or_else(String::new, |column| format!(":{column}"));
                self.bar.suspend(|| println!("{}:{line}{column}: {cause}", self.file));
            }
        }
    }
}
