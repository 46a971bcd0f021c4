//! Commands that take long, with a progress bar on a terminal.

use std::{
    cell::Cell,
    fmt::Write as _,
    fs::{File, OpenOptions},
    future::Future,
    io::{BufReader, BufWriter},
    num::NonZero,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Instant,
};

use indicatif::{ProgressBar, ProgressStyle};
use mancala_server::{
    clock,
    config::{Export, GameForm, Import, ImportVisibility, Serve, Solve},
    db::{
        self, DbError, migrations,
        records::verify::count,
        study::explorer_index::{Explored, begin_anew, count_waiting},
    },
    domain::{self, GameId, Visibility},
    engine::{Engine, Progress, Signal},
    http::{self, Form, ListForm, Refused},
    jobs::{
        explorer, transfer,
        verification::{self, verify_all},
    },
    rules::{AnyOptions, AnyPosition, Variant},
};
use sqlx::{PgPool, postgres::PgConnectOptions};
use time::OffsetDateTime;
use tokio::runtime;

use crate::{Failure, Stops, database, print, start_telemetry};

/// Compares all games with their logs.
pub fn verify(options: &Serve) -> Result<(), Failure> {
    let (games, flaws) = with_database(options, async |_, pool| {
        let at_once = cores();
        let count = count(&pool).await.map_err(Failure::new)?;
        let bar = bar(count, "games, about {len}; {per_sec}, {eta} left")?;
        let findings = Arc::new(Findings { bar, games: AtomicU64::new(0), flaws: AtomicU64::new(0) });
        let told = findings.clone();
        let tell = Arc::new(move |what: verification::Told<'_>| told.take(what));
        verify_all(&pool, at_once, tell).await.map_err(Failure::new)?;
        findings.bar.finish_and_clear();
        Ok((findings.games.load(Ordering::Relaxed), findings.flaws.load(Ordering::Relaxed)))
    })?;
    match flaws {
        0 => print(&format_args!("{games} games are sound\n")),
        _ => Err(Failure::new(format!("{flaws} flaws were found in {games} games"))),
    }
}

/// Tells what is wrong, a line each, on standard output, and how far it is on a terminal.
struct Findings {
    bar: ProgressBar,
    games: AtomicU64,
    flaws: AtomicU64,
}

impl Findings {
    fn take(&self, told: verification::Told<'_>) {
        match told {
            verification::Told::LookedAt(games) => {
                self.games.fetch_add(games, Ordering::Relaxed);
                self.bar.inc(games);
            }
            verification::Told::Flawed { game, seq, detail } => {
                self.flaws.fetch_add(1, Ordering::Relaxed);
                let seq = seq.map_or_else(String::new, |seq| format!(" seq {seq}"));
                self.bar.suspend(|| println!("game {game}{seq}: {detail}"));
            }
        }
    }
}

/// Writes all games to a file.
pub fn export(options: &Serve, export: &Export) -> Result<(), Failure> {
    let after = export.after.map_or(transfer::FIRST, GameId);
    let goes_on = export.after.is_some();
    let file = OpenOptions::new().write(true).create(true).append(goes_on).truncate(!goes_on).open(&export.file);
    let output = BufWriter::new(file.map_err(|error| of_file(&export.file, &error))?);
    let form = match export.format {
        GameForm::Ndjson => ListForm::Ndjson,
        GameForm::Text => ListForm::Text,
    };
    let write: transfer::WriteGame = Arc::new(move |text, seated, plies| {
        http::write_game(text, form, seated, plies, None, None);
    });
    let games = with_database(options, async |_, pool| {
        let count = count(&pool).await.map_err(Failure::new)?;
        let bar = bar(count, "games, about {len}; {per_sec}, {eta} left; the last is {msg}")?;
        let count = Cell::new(0);
        let written = |games, last: GameId| {
            count.set(count.get() + games);
            bar.inc(games);
            bar.set_message(last.0.to_string());
        };
        transfer::export_all(&pool, after, write, output, written).await.map_err(Failure::new)?;
        bar.finish_and_clear();
        Ok(count.get())
    })?;
    print(&format_args!("{games} games were exported\n"))
}

/// Imports the games of files.
pub fn import(options: &Serve, import: &Import) -> Result<(), Failure> {
    let visibility = match import.visibility {
        ImportVisibility::Public => Visibility::Public,
        ImportVisibility::Unlisted => Visibility::Unlisted,
    };
    // Before anything is imported, it is known that all of them can be read.
    let files =
        import.files.iter().map(|path| File::open(path).map(|file| (path, file)).map_err(|e| of_file(path, &e)));
    let files: Vec<_> = files.collect::<Result<_, _>>()?;
    let bytes = files.iter().filter_map(|(_, file)| file.metadata().ok()).map(|file| file.len()).sum();
    let (games, refused) = with_database(options, async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        let bar = bar(bytes, "bytes of {len}; {eta} left")?;
        let (mut games, mut refused) = (0, 0);
        for (path, file) in files {
            let importing = Arc::new(Importing {
                bar: bar.clone(),
                file: path.display().to_string(),
                games: AtomicU64::new(0),
                refused: AtomicU64::new(0),
            });
            let input = BufReader::with_capacity(1 << 20, file);
            let told = importing.clone();
            let tell = Arc::new(move |what: transfer::Told<'_>| told.take(what));
            let done = transfer::import_all(&pool, input, visibility, clock::now(), read, tell).await;
            done.map_err(|error| of_file(path, &error))?;
            games += importing.games.load(Ordering::Relaxed);
            refused += importing.refused.load(Ordering::Relaxed);
        }
        bar.finish_and_clear();
        Ok((games, refused))
    })?;
    print(&format_args!("{games} games were imported\n"))?;
    if refused == 0 { Ok(()) } else { Err(Failure::new(format!("{refused} games were refused"))) }
}

/// Fills the explorer anew.
pub fn reindex(options: &Serve) -> Result<(), Failure> {
    let begun = Instant::now();
    let (games, unreadable) = with_database(options, async |database, pool| {
        migrations::run(database).await.map_err(Failure::new)?;
        let read = |error| match error {
            DbError::Busy(_) => {
                Failure::new("somebody reads what the explorer knows, a backup perhaps: try again when that is done")
            }
            error => Failure::new(error),
        };
        let all = begin_anew(&pool).await.map_err(read)?;
        let bar = bar(all, "games of {len}; {per_sec}, {eta} left")?;
        let mut games = 0;
        let tell = |explored: Explored| {
            games += u64::from(explored.games);
            bar.inc(u64::from(explored.games) + explored.unreadable.len() as u64);
            for (game, error) in explored.unreadable {
                bar.suspend(|| println!("game {}: {error}", game.0));
            }
        };
        explorer::explore_all(&pool, tell).await.map_err(Failure::new)?;
        bar.finish_and_clear();
        // Also those that a server has taken, which says so in its log.
        let (_, unreadable) = count_waiting(&pool).await.map_err(Failure::new)?;
        Ok((games, unreadable))
    })?;
    print(&format_args!("{games} games were counted in {:.1} s\n", begun.elapsed().as_secs_f64()))?;
    match unreadable {
        0 => Ok(()),
        _ => Err(Failure::new(format!("{unreadable} games cannot be read"))),
    }
}

/// Says what a position is worth, and each of its moves.
pub fn solve(solve: &Solve) -> Result<(), Failure> {
    let variant: Variant = solve.variant.parse().map_err(Failure::misuse)?;
    let options = AnyOptions::parse(variant, &solve.preset, &solve.options).map_err(Failure::misuse)?;
    let position = match &solve.position {
        None => AnyPosition::opening(&options),
        Some(text) => AnyPosition::parse(&options, text).map_err(Failure::misuse)?,
    };
    let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}").map_err(Failure::new)?;
    let bar = ProgressBar::new_spinner().with_style(style);
    let told = |progress: Progress| {
        let Progress { moves_solved, moves, nodes } = progress;
        bar.set_message(format!("{moves_solved} of {moves} moves, {nodes} positions"));
        bar.tick();
    };
    // A signal ends the process: there is nothing to be put in order.
    let solved = Engine::new(solve.table_mib.into()).solve(&position, &Signal::new(), told);
    bar.finish_and_clear();
    let solution = solved.ok_or_else(|| Failure::misuse("the game is over in this position"))?;
    let mut text = format!("{position}\nvalue {:+} seeds, South's less North's\n", solution.value);
    for (m, value) in &solution.moves {
        writeln!(text, "{m} {value:+}").expect("a string takes everything");
    }
    print(&format_args!("{text}{} positions were looked at\n", solution.nodes))
}

/// Tells which games were refused, a line each, on standard output.
struct Importing {
    bar: ProgressBar,
    file: String,
    games: AtomicU64,
    refused: AtomicU64,
}

impl Importing {
    fn take(&self, told: transfer::Told<'_>) {
        match told {
            transfer::Told::Advanced { bytes, games } => {
                self.games.fetch_add(games, Ordering::Relaxed);
                self.bar.inc(bytes);
            }
            transfer::Told::Refused { line, column, why } => {
                self.refused.fetch_add(1, Ordering::Relaxed);
                let column = column.map_or_else(String::new, |column| format!(":{column}"));
                self.bar.suspend(|| println!("{}:{line}{column}: {why}", self.file));
            }
        }
    }
}

fn read(is_json: bool, text: &[u8], now: OffsetDateTime) -> Result<domain::Import, (usize, Option<usize>, String)> {
    let form = if is_json { Form::JsonLines } else { Form::Text };
    http::read_game(form, text, now).map_err(|Refused { line, column, detail }| (line, column, detail))
}

/// Does something with the database that the options name, or the embedded one, until it is done or a signal ends it.
fn with_database<T, W>(options: &Serve, work: impl FnOnce(PgConnectOptions, PgPool) -> W) -> Result<T, Failure>
where
    W: Future<Output = Result<T, Failure>>,
{
    let _telemetry = start_telemetry(options)?;
    let mut embedded = None;
    let done = runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::new)?.block_on(async {
        let mut stops = Stops::new()?;
        let stopped = || Failure::new("stopped before it was done");
        let database = database(&options.database, &mut embedded, &mut stops).await?.ok_or_else(stopped)?;
        let pool = db::pool(database.clone(), u32::try_from(cores() + 1).unwrap_or(u32::MAX));
        stops.cut_short(work(database, pool)).await.ok_or_else(stopped)?
    });
    if let Some(embedded) = embedded {
        embedded.stop();
    }
    done
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

fn bar(length: u64, told: &str) -> Result<ProgressBar, Failure> {
    let style = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}} {told}")).map_err(Failure::new)?;
    Ok(ProgressBar::new(length).with_style(style))
}

fn of_file(path: &Path, error: &impl std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}
