//! `import`: stores the games of files, each once.

use std::{
    fs::File,
    io::BufReader,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use mancala_server::{
    clock,
    config::{Import, ImportVisibility, Serve},
    db::{migrations, study::explorer_index::count_all_waiting},
    domain::{ReservedNames, Visibility},
    http::{self, Form, Refused},
    jobs::{
        lasting::Pace,
        transfer::{ImportProgress, ImportTerms, OnImportProgress, ReadGame, import_all},
    },
};

use super::{
    database::with_database,
    failure::Failure,
    output::{counted, print},
    progress::Progress,
};

/// How many bytes of a file are read at once.
const BUFFER_BYTES: usize = 1 << 20;

pub fn import(options: &Serve, import: &Import) -> Result<(), Failure> {
    let visibility = match import.visibility {
        ImportVisibility::Public => Visibility::Public,
        ImportVisibility::Unlisted => Visibility::Unlisted,
    };
    let files = open(&import.files)?;
    let bytes = files.iter().filter_map(|(_, file)| file.metadata().ok()).map(|file| file.len()).sum();
    let reserved = ReservedNames::new(options.reserved_names.iter().map(String::as_str));
    let read: ReadGame = Arc::new(move |is_json, text, now| {
        let form = if is_json { Form::JsonLines } else { Form::Text };
        let refused = |Refused { line, column, detail }| (line, column, detail);
        http::read_game(form, text, now, &reserved).map(|(import, _)| import).map_err(refused)
    });
    let salt = if import.again { rand::random::<[u8; 16]>().to_vec() } else { vec![] };
    let (total, waiting) = with_database(options, async |database, pool| {
        migrations::run(database).await?;
        let progress = Arc::new(Progress::start(bytes, 0, "bytes", "bytes of {len}; {eta} left")?);
        let patience = progress.patience(import.lasting.outage_s);
        let mut pace = Pace::new(import.lasting.pace);
        let total = Arc::new(Total::default());
        for (path, file) in files {
            let on_progress = report(path.display().to_string(), progress.clone(), total.clone());
            let (read, salt, patience) = (read.clone(), salt.clone(), patience.clone());
            let terms = ImportTerms { visibility, now: clock::now(), read, salt, patience, on_progress };
            let input = BufReader::with_capacity(BUFFER_BYTES, file);
            let done = import_all(&pool, input, &terms, &mut pace).await;
            done.map_err(|error| Failure::of_file(path, &error))?;
        }
        progress.finish();
        let waiting = patience.retry(|| count_all_waiting(&pool)).await.map_err(Failure::new)?;
        Ok((total, waiting))
    })?;
    total.print(waiting)
}

/// Opens all files before the first game is stored.
fn open(paths: &[PathBuf]) -> Result<Vec<(&PathBuf, File)>, Failure> {
    let mut files = vec![];
    for path in paths {
        files.push((path, File::open(path).map_err(|error| Failure::of_file(path, &error))?));
    }
    Ok(files)
}

/// The games of all files.
#[derive(Default)]
struct Total {
    games: AtomicU64,
    known: AtomicU64,
    refused: AtomicU64,
}

impl Total {
    fn print(&self, waiting: u64) -> Result<(), Failure> {
        let were = |count| counted(count, "game was", "games were");
        print(&format_args!("{} imported\n", were(self.games.load(Ordering::Relaxed))))?;
        match self.known.load(Ordering::Relaxed) {
            0 => {}
            known => print(&format_args!("{} imported before: --again imports once more\n", were(known)))?,
        }
        if waiting > 0 {
            let wait = counted(waiting, "game waits", "games wait");
            let added = "servers add games little by little, `reindex --continue` at once";
            print(&format_args!("{wait} for the opening explorer: {added}\n"))?;
        }
        match self.refused.load(Ordering::Relaxed) {
            0 => Ok(()),
            refused => Err(Failure::damaged(format!("{} refused", were(refused)))),
        }
    }
}

/// Prints one line for each refused game to standard output, and counts.
fn report(file: String, progress: Arc<Progress>, total: Arc<Total>) -> OnImportProgress {
    Arc::new(move |step: ImportProgress<'_>| match step {
        ImportProgress::Advanced { bytes, games, known } => {
            total.games.fetch_add(games, Ordering::Relaxed);
            total.known.fetch_add(known, Ordering::Relaxed);
            progress.advance(bytes);
        }
        ImportProgress::Refused { line, column, cause } => {
            total.refused.fetch_add(1, Ordering::Relaxed);
            let column = column.map_or_else(String::new, |column| format!(":{column}"));
            progress.print(&format!("{file}:{line}{column}: {cause}"));
        }
    })
}
