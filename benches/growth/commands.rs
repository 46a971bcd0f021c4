//! What the programs that concern the whole database cost: the start of a server, a backup, and the check of all games.

use std::{
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use mancala_server::{embedded::PORT, http::new_key};
use sqlx::PgPool;

use crate::{Database, Failure, calls::Figures, cost::Cost};

/// How often a server is started.
const STARTS: u32 = 3;

/// How long a server may take to be ready.
const START_MAX: Duration = Duration::from_mins(1);

/// Measures the start in all databases, then the backup, then the check.
pub async fn measure(databases: &[Database], figures: &mut Figures) -> Result<(), Failure> {
    for database in databases {
        let cost = cost(database, STARTS, || (0..STARTS).try_for_each(|_| start(database))).await?;
        figures.add("the start of a server".to_owned(), cost);
    }
    for database in databases {
        let file = database.folder.join("backup");
        let cost = cost(database, database.games, || run(database, &["backup", &file.to_string_lossy()])).await?;
        println!(
            "{}: the backup has {} bytes a game",
            database.name,
            fs::metadata(&file)?.len() / u64::from(database.games)
        );
        fs::remove_file(file)?;
        figures.add("a game's part of a backup".to_owned(), cost);
    }
    for database in databases {
        let cost = cost(database, database.games, || run(database, &["verify"])).await?;
        figures.add("a game's part of `verify`".to_owned(), cost);
    }
    Ok(())
}

/// What some work costs the programs that it starts, and PostgreSQL's sessions; divided by `parts`.
async fn cost(database: &Database, parts: u32, work: impl FnOnce() -> io::Result<()>) -> Result<Cost, Failure> {
    let postmaster = postmaster(&database.watcher).await?;
    let ended = || Ok::<_, io::Error>(time_of_ended_children("self")? + time_of_ended_children(&postmaster)?);
    let (before, begun) = (ended()?, Instant::now());
    work()?;
    let wall = begun.elapsed().as_secs_f64() * 1e6;
    // A session's process ends a moment after its client.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let parts = f64::from(parts);
    Ok(Cost { cpu: (ended()? - before) / parts, wall: wall / parts, wal: 0.0 })
}

/// The number of PostgreSQL's first process, whose children are the sessions.
async fn postmaster(watcher: &PgPool) -> Result<String, Failure> {
    let session: i32 = sqlx::query_scalar("select pg_backend_pid()").fetch_one(watcher).await?;
    let fields = stat(&session.to_string())?;
    Ok(fields.get(1).ok_or("no parent")?.clone())
}

/// Microseconds of processor time that the ended children of a process have used.
fn time_of_ended_children(pid: &str) -> io::Result<f64> {
    let fields = stat(pid)?;
    let ticks = fields.iter().skip(13).take(2).map(|ticks| ticks.parse().unwrap_or(0.0));
    // A tick of Linux's clock is 10 ms for programs.
    Ok(ticks.sum::<f64>() * 10_000.0)
}

/// The fields of a process after its name, its state first (`man 5 proc`).
fn stat(pid: &str) -> io::Result<Vec<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = text.rsplit_once(") ").ok_or_else(|| io::Error::other("not a process's state"))?;
    Ok(fields.split_whitespace().map(ToOwned::to_owned).collect())
}

/// Starts a server, and ends it when it is ready.
fn start(database: &Database) -> io::Result<()> {
    let log = database.folder.join("server.log");
    let mut command = command(database)?;
    command.args(["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0"]);
    let mut server = command.stdout(Stdio::null()).stderr(fs::File::create(&log)?).spawn()?;
    let begun = Instant::now();
    let is_ready = || Ok::<_, io::Error>(fs::read_to_string(&log)?.contains("API http://"));
    while !is_ready()? && begun.elapsed() < START_MAX {
        std::thread::sleep(Duration::from_millis(5));
    }
    let is_ready = is_ready()?;
    // The server is killed: what it does until the signal is what counts.
    server.kill()?;
    server.wait()?;
    if is_ready { Ok(()) } else { Err(io::Error::other(fs::read_to_string(log)?)) }
}

fn run(database: &Database, arguments: &[&str]) -> io::Result<()> {
    let done = command(database)?.args(arguments).output()?;
    if done.status.success() {
        return Ok(());
    }
    let (said, why) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    Err(io::Error::other(said.lines().take(10).chain(why.lines()).collect::<Vec<_>>().join("\n")))
}

fn command(database: &Database) -> io::Result<Command> {
    let embedded = &database.embedded;
    let (user, name, host) = (embedded.user(), embedded.database(), embedded.socket_folder().display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_mancala-server"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("DATABASE_URL", format!("postgres://{user}@localhost:{PORT}/{name}?host={host}"));
    command.env("JWT_PRIVATE_KEY_FILE", key(&database.folder)?).stdin(Stdio::null());
    Ok(command)
}

/// A new key that signs tokens.
fn key(folder: &Path) -> io::Result<PathBuf> {
    let file = folder.join("jwt.pem");
    fs::write(&file, new_key())?;
    fs::set_permissions(&file, Permissions::from_mode(0o600))?;
    Ok(file)
}
