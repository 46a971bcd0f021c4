//! How costs change as data grows, among 10,000, 100,000 and 1,000,000 games. The benchmark measures the costs of the service's calls and
//! lists to PostgreSQL. It also measures the costs of the service's start, backup and check, and the size on disk.
//!
//! `cargo bench --bench growth` makes a PostgreSQL for each number of games, and makes each call in all of them in turns.
//! Other load on the machine then affects all alike. Every call is the service's own, over its own connections, and every
//! commit is durable. Processor time is steadier than wall time: it is that of the service's sessions alone.
//!
//! Settings, by environment: `GAMES` (10000,100000,1000000), of which a million take 9 GB of disk and ten minutes to be made; `ARCHIVED=1`
//! for logs that are archived once their games are over: ten million then take 16 GB; `COMMANDS=no` to leave out the start, the backup and
//! the check; `PARTITIONS` (whole), such as `whole,hash:16,range:16`, to measure a log in that many partitions; `PLAYERS=grow` for a busy
//! player and a recluse who have a share of all games. Otherwise the two have the same number of games in each database.
//! `SHARED_BUFFERS` (256MB) is PostgreSQL's setting, one for all databases or one for each. `WARM=1` loads the games into the shared buffers
//! first, as days of work do, by PostgreSQL's module `pg_prewarm`. `PLANS=1` prints
//! plans as well, for which PostgreSQL's module `auto_explain` has to be installed. `KEEP=1` keeps the databases for the next run, which
//! then starts at once; their games have more moves by then.

mod archives;
mod calls;
mod commands;
mod cost;
#[path = "../filled/mod.rs"]
mod filled;
#[path = "../programs/mod.rs"]
mod programs;
mod storage;

use std::{
    env,
    fmt::Write,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use calls::Figures;
use cost::Cost;
use filled::{Recorded, Shares, fill};
use mancala_server::{
    db::migrations,
    embedded::{self, Durability, Embedded, Settings},
    rules::Variant,
};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use sqlx::{AssertSqlSafe, PgPool, postgres::PgConnectOptions};
use tokio::runtime::Runtime;
use tracing::field::{Field, Visit};
use tracing_subscriber::{Layer, layer::Context, prelude::*};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The variants of the games, each in the share that it has here: a log then has about as many events as one of Kalah.
const VARIANTS: [Variant; 10] = [
    Variant::Kalah,
    Variant::Congkak,
    Variant::Kalah,
    Variant::Kalah,
    Variant::Congkak,
    Variant::Kalah,
    Variant::Oware,
    Variant::Kalah,
    Variant::Congkak,
    Variant::Kalah,
];

/// The environment variable that names the sizes of PostgreSQL's shared buffers.
const SHARED_BUFFERS: &str = "SHARED_BUFFERS";

/// Different games, which are repeated.
const RECORDED: usize = 500;

/// A million games have as many players as in the bench of lists.
const GAMES_OF_A_PLAYER: u32 = 50;

/// From here on the busy player has 5,000 games and the recluse 2,000, however many there are.
const SHARES_GROW_TO: u32 = 100_000;

/// More plies than any game has.
const PLIES_MAX: usize = 1000;

/// Up to this many bytes of WAL, a call counts as writing none: checkpoints and background records cause fewer.
const WAL_NOISE: f64 = 50.0;

/// The greatest ratio of a call's cost among the most games to its cost among the fewest.
const RATIO_MAX: f64 = 1.5;

fn main() -> io::Result<()> {
    // `cargo test --benches` does not pass this; there is nothing to test here.
    if !env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    if env::var_os("PLANS").is_some() {
        tracing_subscriber::registry().with(PlanPrinter).init();
    }
    let list = |name, usual: &str| env::var(name).unwrap_or_else(|_| usual.to_owned());
    let (games, partitions) = (list("GAMES", "10000,100000,1000000"), list("PARTITIONS", storage::WHOLE));
    if let Ok(sizes) = env::var(SHARED_BUFFERS) {
        return run_with(&sizes, &games);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut databases = vec![];
    for partitions in partitions.split(',') {
        for games in games.split(',') {
            let games = games.parse().map_err(io::Error::other)?;
            databases.push(Database::start(&runtime, games, partitions).map_err(io::Error::other)?);
        }
    }
    let figures = runtime.block_on(measure(&databases)).map_err(io::Error::other)?;
    let folders: Vec<PathBuf> = databases
        .into_iter()
        .map(|database| {
            database.embedded.stop();
            database.folder
        })
        .collect();
    if !keeps_databases() {
        folders.into_iter().try_for_each(fs::remove_dir_all)?;
    }
    compare(&figures);
    Ok(())
}

/// Measures in a child process of this program, whose databases have shared buffers of these sizes.
fn run_with(sizes: &str, games: &str) -> io::Result<()> {
    let (sizes, games): (Vec<_>, Vec<_>) = (sizes.split(',').collect(), games.split(',').collect());
    if ![1, games.len()].contains(&sizes.len()) {
        return Err(io::Error::other(format!("{SHARED_BUFFERS}: neither one size nor one for each of GAMES")));
    }
    let wrappers = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench_growth_programs");
    let mut before = String::new();
    for (games, size) in games.iter().zip(sizes.iter().cycle()) {
        let option = format!("set -- \"$@\" -c shared_buffers={size}");
        let _ = writeln!(before, "case \"$*\" in -D*/bench_growth_{games}_*) {option};; esac");
    }
    programs::write_wrappers(&wrappers, &programs::folder()?, &before, "")?;
    let mut command = Command::new(env::current_exe()?);
    let status = command.arg("--bench").env("PG_BIN", &wrappers).env_remove(SHARED_BUFFERS).status()?;
    fs::remove_dir_all(wrappers)?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("the measuring process ended with {status}"))) }
}

/// A PostgreSQL with a number of games.
struct Database {
    name: String,
    folder: PathBuf,
    games: u32,
    embedded: Embedded,
    /// A session that is not the service's.
    watcher: PgPool,
}

impl Database {
    fn start(runtime: &Runtime, games: u32, partitions: &str) -> Result<Self, Failure> {
        let form = if is_archived() { "archived" } else { partitions };
        let name = if form == storage::WHOLE { games.to_string() } else { format!("{games}, {form}") };
        println!("\n== {name}");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench_growth_{games}_{form}"));
        let made = folder.join("made");
        let is_new = !keeps_databases() || !made.exists();
        if is_new {
            let _ = fs::remove_dir_all(&folder);
            // Commits wait for the disk while calls are measured, and not while games are made.
            let embedded = start(&folder, Durability::Ephemeral)?;
            runtime.block_on(make(&embedded, games, partitions))?;
            embedded.stop();
        }
        let embedded = start(&folder, Durability::Durable)?;
        let watcher = runtime.block_on(superuser(&embedded, []))?;
        if is_new {
            runtime.block_on(storage::freeze(&watcher))?;
            File::create(made)?;
        }
        runtime.block_on(storage::print_sizes(&watcher))?;
        if env::var_os("WARM").is_some() {
            runtime.block_on(storage::warm(&watcher))?;
        }
        Ok(Self { name, folder, games, embedded, watcher })
    }
}

fn keeps_databases() -> bool {
    env::var_os("KEEP").is_some()
}

/// Whether the logs of games that are over are archived.
fn is_archived() -> bool {
    env::var_os("ARCHIVED").is_some()
}

/// The shares of the busy player and of the recluse. Every database of `SHARES_GROW_TO` games or more has as many games of each, unless
/// `PLAYERS` says that they grow.
fn shares(games: u32) -> Shares {
    let Shares { busy_every, recluse_every } = Shares::GROWING;
    let grow = env::var("PLAYERS").is_ok_and(|value| value == "grow");
    let times = if grow { 1 } else { (games / SHARES_GROW_TO).max(1) };
    Shares { busy_every: busy_every * times, recluse_every: recluse_every * times }
}

fn start(folder: &Path, durability: Durability) -> io::Result<Embedded> {
    Embedded::start(&Settings { folder: folder.join("postgres"), durability }).map_err(io::Error::other)
}

async fn make(embedded: &Embedded, games: u32, partitions: &str) -> Result<(), Failure> {
    let options = embedded::connect_options(embedded);
    migrations::run(options.clone()).await?;
    let filler = PgPool::connect_with(options).await?;
    if partitions != storage::WHOLE {
        sqlx::raw_sql(AssertSqlSafe(storage::partitioned(partitions)?)).execute(&filler).await?;
    }
    let begun = Instant::now();
    let mut rng = StdRng::seed_from_u64(1);
    let recorded: Vec<Recorded> = VARIANTS
        .into_iter()
        .cycle()
        .take(RECORDED)
        .map(|variant| Recorded::play(variant, PLIES_MAX, |legal| legal[rng.random_range(..legal.len())]))
        .collect();
    let is_logged = if is_archived() { archives::IS_LOGGED } else { "true" };
    fill(&filler, games, games / GAMES_OF_A_PLAYER, shares(games), &recorded, is_logged).await?;
    if is_archived() {
        archives::fill(&filler, &recorded).await?;
    }
    filled::done(&filler).await?;
    sqlx::query("checkpoint").execute(&superuser(embedded, []).await?).await?;
    filler.close().await;
    println!("made in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

async fn measure(databases: &[Database]) -> Result<Figures, Failure> {
    if env::var_os("PLANS").is_some() {
        for database in databases {
            println!("\n== plans: {}", database.name);
            let settings = [
                ("session_preload_libraries", "auto_explain"),
                ("auto_explain.log_min_duration", "0"),
                ("auto_explain.log_analyze", "on"),
                ("auto_explain.log_buffers", "on"),
                ("auto_explain.log_timing", "off"),
                ("client_min_messages", "log"),
            ];
            let options = embedded::connect_options(&database.embedded).username("postgres").options(settings);
            calls::show_plans(options, &database.watcher).await?;
        }
    }
    let mut figures = Figures::new(databases.iter().map(|database| database.name.clone()));
    if env::var("COMMANDS").is_ok_and(|value| value == "no") {
        println!("\nthe start, the backup and the check are left out");
    } else {
        commands::measure(databases, &mut figures).await?;
    }
    calls::measure(databases, &mut figures).await?;
    for database in databases {
        println!("\n== after that: {}", database.name);
        storage::print_vacuum(&database.watcher).await?;
        database.watcher.close().await;
    }
    Ok(figures)
}

/// A superuser's session, for what the service's role may not do.
async fn superuser<const N: usize>(
    embedded: &Embedded,
    settings: [(&'static str, &'static str); N],
) -> Result<PgPool, sqlx::Error> {
    let options: PgConnectOptions = embedded::connect_options(embedded).username("postgres").options(settings);
    sqlx::postgres::PgPoolOptions::new().max_connections(1).connect_with(options).await
}

/// Prints what each call cost in each database, and the ratio of the last to the first.
fn compare(figures: &Figures) {
    println!(
        "\n== a call in microseconds of PostgreSQL's processor time (commands: of all processes), and the ratio of the last database to the first"
    );
    let ratio = |last: &Cost, first: &Cost| {
        let ratio = last.cpu / first.cpu;
        format!("{ratio:.2} | {}", if ratio <= RATIO_MAX { "met" } else { "not met" })
    };
    println!("| call | {} | ratio | at most {RATIO_MAX} |", figures.databases.join(" | "));
    println!("| --- |{} --- | --- |", " --- |".repeat(figures.databases.len()));
    for (name, costs) in &figures.calls {
        let (Some(first), Some(last)) = (costs.first(), costs.last()) else { continue };
        let cpu: Vec<String> = costs.iter().map(|cost| format!("{:.1}", cost.cpu)).collect();
        println!("| {name} | {} | {} |", cpu.join(" | "), ratio(last, first));
    }
    println!("\n== the same in microseconds that pass");
    for (name, costs) in &figures.calls {
        let wall: Vec<String> = costs.iter().map(|cost| format!("{:.0}", cost.wall)).collect();
        println!("| {name} | {} |", wall.join(" | "));
    }
    println!("\n== bytes of WAL");
    for (name, costs) in figures.calls.iter().filter(|(_, costs)| costs.iter().any(|cost| cost.wal > WAL_NOISE)) {
        let wal: Vec<String> = costs.iter().map(|cost| format!("{:.0}", cost.wal)).collect();
        println!("| {name} | {} |", wal.join(" | "));
    }
}

/// Prints the plans that PostgreSQL logs: its messages to the client arrive as tracing events.
struct PlanPrinter;

impl<S: tracing::Subscriber> Layer<S> for PlanPrinter {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        struct Plan;

        impl Visit for Plan {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.record_str(field, &format!("{value:?}"));
            }

            fn record_str(&mut self, field: &Field, value: &str) {
                if let ("message", Some((_, plan))) = (field.name(), value.split_once("plan:\n")) {
                    // The text of the statement comes first.
                    for line in plan.lines().skip_while(|line| !line.contains("(cost=")) {
                        println!("{line}");
                    }
                }
            }
        }

        if event.metadata().target() == "sqlx::postgres::notice" {
            event.record(&mut Plan);
        }
    }
}
