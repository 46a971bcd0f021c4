//! How costs change as data grows: what the calls of the service cost PostgreSQL among ten thousand games, a hundred thousand and
//! a million, each with its whole log; and what they take on disk.
//!
//! `cargo bench --bench growth` makes a PostgreSQL for each number of games, and asks all of them the same in turns, so that
//! what else the machine does falls on all alike. Every call is the service's own, over its own connections, and every
//! commit is durable. Processor time bears more than the time that passes: it is that of the service's sessions alone.
//!
//! Settings, by environment: `GAMES` (10000,100000,1000000), of which a million take 9 GB of disk and ten minutes to be made;
//! `PARTITIONS` (whole), such as `whole,hash:16,range:16`, to try what the log would cost in that many parts. With
//! `PLANS=1` plans are shown as well, for which PostgreSQL's module `auto_explain` has to be installed. With `KEEP=1` what was
//! made is left for the next run, which then has it at once; its games have gone on by then.

mod calls;
mod cost;
#[path = "../filled/mod.rs"]
mod filled;
mod storage;

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Instant,
};

use calls::Figures;
use cost::Each;
use filled::{Recorded, fill};
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

/// What is played of: as often as variants stand here, so that a log has about as many events as one of Kalah.
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

/// Different games; they come again.
const RECORDED: usize = 500;

/// A million games have as many players as in the bench of lists.
const GAMES_OF_A_PLAYER: u32 = 50;

/// No game goes so far.
const PLIES_MAX: usize = 1000;

/// A checkpoint of PostgreSQL's own, or what else it notes in between, is less for each call.
const WAL_OF_NOTHING: f64 = 50.0;

/// By how much a call among the most games may cost more than among the fewest.
const RATIO_MAX: f64 = 1.5;

fn main() -> io::Result<()> {
    // `cargo test --benches` does not pass this; there is nothing to test here.
    if !env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    if env::var_os("PLANS").is_some() {
        tracing_subscriber::registry().with(Told).init();
    }
    let list = |name, usual: &str| env::var(name).unwrap_or_else(|_| usual.to_owned());
    let (games, partitions) = (list("GAMES", "10000,100000,1000000"), list("PARTITIONS", storage::WHOLE));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut places = vec![];
    for partitions in partitions.split(',') {
        for games in games.split(',') {
            let games = games.parse().map_err(io::Error::other)?;
            places.push(Place::start(&runtime, games, partitions).map_err(io::Error::other)?);
        }
    }
    let figures = runtime.block_on(measure(&places)).map_err(io::Error::other)?;
    let folders: Vec<PathBuf> = places
        .into_iter()
        .map(|place| {
            place.embedded.stop();
            place.folder
        })
        .collect();
    if !keeps() {
        folders.into_iter().try_for_each(fs::remove_dir_all)?;
    }
    compare(&figures);
    Ok(())
}

/// A PostgreSQL with so many games.
struct Place {
    name: String,
    folder: PathBuf,
    embedded: Embedded,
    /// A session that is not the service's.
    watcher: PgPool,
}

impl Place {
    fn start(runtime: &Runtime, games: u32, partitions: &str) -> Result<Self, Failure> {
        let name = if partitions == storage::WHOLE { games.to_string() } else { format!("{games}, {partitions}") };
        println!("\n== {name}");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bench_growth_{games}_{partitions}"));
        let made = folder.join("made");
        let is_new = !keeps() || !made.exists();
        if is_new {
            let _ = fs::remove_dir_all(&folder);
            // While they are made, the disk need not be waited for; while they are measured, it is.
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
        Ok(Self { name, folder, embedded, watcher })
    }
}

fn keeps() -> bool {
    env::var_os("KEEP").is_some()
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
    let mut lot = StdRng::seed_from_u64(1);
    let recorded: Vec<Recorded> = VARIANTS
        .into_iter()
        .cycle()
        .take(RECORDED)
        .map(|variant| Recorded::play(variant, PLIES_MAX, |legal| legal[lot.random_range(..legal.len())]))
        .collect();
    fill(&filler, games, games / GAMES_OF_A_PLAYER, &recorded).await?;
    sqlx::query("checkpoint").execute(&superuser(embedded, []).await?).await?;
    filler.close().await;
    println!("made in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

async fn measure(places: &[Place]) -> Result<Figures, Failure> {
    if env::var_os("PLANS").is_some() {
        for place in places {
            println!("\n== plans: {}", place.name);
            let told = [
                ("session_preload_libraries", "auto_explain"),
                ("auto_explain.log_min_duration", "0"),
                ("auto_explain.log_analyze", "on"),
                ("auto_explain.log_buffers", "on"),
                ("auto_explain.log_timing", "off"),
                ("client_min_messages", "log"),
            ];
            let options = embedded::connect_options(&place.embedded).username("postgres").options(told);
            calls::show_plans(options, &place.watcher).await?;
        }
    }
    let mut figures = Figures::of(places.iter().map(|place| place.name.clone()));
    calls::measure(places, &mut figures).await?;
    for place in places {
        println!("\n== after that: {}", place.name);
        storage::print_vacuum(&place.watcher).await?;
        place.watcher.close().await;
    }
    Ok(figures)
}

/// A session of PostgreSQL's own user, who may do what the service may not.
async fn superuser<const N: usize>(
    embedded: &Embedded,
    settings: [(&'static str, &'static str); N],
) -> Result<PgPool, sqlx::Error> {
    let options: PgConnectOptions = embedded::connect_options(embedded).username("postgres").options(settings);
    sqlx::postgres::PgPoolOptions::new().max_connections(1).connect_with(options).await
}

/// Prints what each call cost in each place, and the ratio of the last to the first.
fn compare(figures: &Figures) {
    println!(
        "\n== a call in microseconds of PostgreSQL's processor time, and the ratio of the last place to the first"
    );
    let ratio = |last: &Each, first: &Each| {
        let ratio = last.cpu / first.cpu;
        format!("{ratio:.2} | {}", if ratio <= RATIO_MAX { "met" } else { "not met" })
    };
    println!("| call | {} | ratio | at most {RATIO_MAX} |", figures.places.join(" | "));
    println!("| --- |{} --- | --- |", " --- |".repeat(figures.places.len()));
    for (name, each) in &figures.calls {
        let (Some(first), Some(last)) = (each.first(), each.last()) else { continue };
        let cpu: Vec<String> = each.iter().map(|each| format!("{:.1}", each.cpu)).collect();
        println!("| {name} | {} | {} |", cpu.join(" | "), ratio(last, first));
    }
    println!("\n== the same in microseconds that pass");
    for (name, each) in &figures.calls {
        let wall: Vec<String> = each.iter().map(|each| format!("{:.0}", each.wall)).collect();
        println!("| {name} | {} |", wall.join(" | "));
    }
    println!("\n== bytes of WAL");
    for (name, each) in figures.calls.iter().filter(|(_, each)| each.iter().any(|each| each.wal > WAL_OF_NOTHING)) {
        let wal: Vec<String> = each.iter().map(|each| format!("{:.0}", each.wal)).collect();
        println!("| {name} | {} |", wal.join(" | "));
    }
}

/// Prints what PostgreSQL tells: its notices come as events of the log.
struct Told;

impl<S: tracing::Subscriber> Layer<S> for Told {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        struct Plan;

        impl Visit for Plan {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.record_str(field, &format!("{value:?}"));
            }

            fn record_str(&mut self, field: &Field, value: &str) {
                if let ("message", Some((_, plan))) = (
                    field.name(),
                    value.split_once(
                        "plan:
",
                    ),
                ) {
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
