//! The cost of every list among a million games: the indexes and their rows that it reads, the buffers, and the time. The
//! queries and their plans are those of the service. PostgreSQL logs the plans by its module `auto_explain`, which has to be
//! installed (in Debian it is).
//!
//! `cargo bench --bench lists` prints a table. Games: `GAMES`, at least 1,000.

use std::{
    collections::BTreeMap,
    env, fmt, fs, io,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Instant,
};

mod filled;

use filled::{
    Recorded, Shares, fill,
    lists::{List, lists},
};
use mancala_server::{
    db::{self, DbError, migrations},
    embedded::{self, Durability, Embedded, Settings},
    rules::Variant,
};
use serde_json::Value;
use sqlx::PgPool;
use tracing::field::{Field, Visit};
use tracing_subscriber::{Layer, layer::Context, prelude::*};

/// The number of players, besides the first ten.
const PLAYERS: u32 = 20_000;

/// How often a list is read for the median of its time.
const RUNS: usize = 9;

fn main() -> io::Result<()> {
    // `cargo test --benches` passes flags of its own; there is nothing to test here.
    if env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let games = env::var("GAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench_lists");
    let _ = fs::remove_dir_all(&folder);
    // The measured calls write nothing, so commits need not wait for the disk.
    let settings = Settings { folder: folder.join("postgres"), durability: Durability::Ephemeral };
    let embedded = Embedded::start(&settings).map_err(io::Error::other)?;
    let plans = Plans::default();
    tracing_subscriber::registry().with(plans.clone()).init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(measure(&embedded, games, &plans));
    embedded.stop();
    fs::remove_dir_all(folder)?;
    outcome.map_err(io::Error::other)
}

/// Sets a clock for all active games.
const CLOCKS: &str = "update game set clock = 'per_move 259200', deadline = updated_at + interval '3 days', \
    wake_at = updated_at + interval '3 days' where status = 'active'";

async fn measure(
    embedded: &Embedded,
    games: u32,
    logged: &Plans,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let options = embedded::connect_options(embedded);
    migrations::run(options.clone()).await?;
    let begun = Instant::now();
    // Filling takes longer than the service's statement timeout allows.
    let filler = PgPool::connect_with(options.clone()).await?;
    fill(&filler, games, PLAYERS, Shares::GROWING, &recorded(), "true").await?;
    filled::done(&filler).await?;
    sqlx::raw_sql(CLOCKS).execute(&filler).await?;
    // Sets the visibility map, which index-only scans need; in the service's databases autovacuum does.
    sqlx::raw_sql("vacuum game, event, player").execute(&filler).await?;
    let took = begun.elapsed().as_secs_f64();
    println!("{games} games made in {took:.0} s; {} are the busy player's, {} the recluse's", games / 20, games / 50);

    // Only a superuser may log plans. The other settings are those of the service's connections.
    let plain = db::pool(options.clone(), 1);
    let explained = db::pool(
        options.username("postgres").options([
            ("session_preload_libraries", "auto_explain"),
            ("auto_explain.log_min_duration", "0"),
            ("auto_explain.log_analyze", "on"),
            ("auto_explain.log_buffers", "on"),
            ("auto_explain.log_format", "json"),
            ("client_min_messages", "log"),
        ]),
        1,
    );
    println!("| list | indexes: rows read | buffers | games | ms |\n| --- | --- | --- | --- | --- |");
    for (name, list) in lists(PLAYERS) {
        // Twice: the first run on a connection plans the statement.
        list.run(&explained).await?;
        logged.take();
        let shown = list.run(&explained).await?;
        let plans = logged.take();
        let plan = plans.first().ok_or("PostgreSQL logged no plan: auto_explain is not installed")?;
        let ms = time(&list, &plain).await?;
        println!("| {name} | {} | {} | {shown} | {ms:.2} |", scans(plan), buffers(plan));
    }
    Ok(())
}

/// Games of two plies, a third of them of Oware: lists do not read the log.
fn recorded() -> Vec<Recorded> {
    let variants = [Variant::Oware, Variant::Kalah, Variant::Kalah];
    variants.map(|variant| Recorded::play(variant, 2, |legal| legal[0])).into()
}

/// Milliseconds for both queries of a page, the median of several runs.
async fn time(list: &List, pool: &PgPool) -> Result<f64, DbError> {
    let mut times = vec![];
    for _ in 0..RUNS {
        let begun = Instant::now();
        list.run(pool).await?;
        times.push(begun.elapsed());
    }
    times.sort();
    Ok(times[RUNS / 2].as_secs_f64() * 1000.0)
}

/// The plans that PostgreSQL logs: its messages to the client arrive as tracing events.
#[derive(Clone, Default)]
struct Plans(Arc<Mutex<Vec<Value>>>);

impl Plans {
    /// The plans since the last call.
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock().expect("no panic while a plan is logged"))
    }
}

impl<S: tracing::Subscriber> Layer<S> for Plans {
    fn on_event(&self, event: &tracing::Event<'_>, _: Context<'_, S>) {
        struct Message(Option<Value>);

        impl Visit for Message {
            fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
                self.record_str(field, &format!("{value:?}"));
            }

            fn record_str(&mut self, field: &Field, value: &str) {
                if let (true, Some((_, plan))) = (field.name() == "message", value.split_once("plan:\n")) {
                    self.0 = serde_json::from_str(plan).ok();
                }
            }
        }

        if event.metadata().target() == "sqlx::postgres::notice" {
            let mut message = Message(None);
            event.record(&mut message);
            self.0.lock().expect("no panic while a plan is logged").extend(message.0);
        }
    }
}

/// The indexes of a plan, with the rows that were read by each.
fn scans(plan: &Value) -> String {
    fn collect(node: &Value, scans: &mut BTreeMap<String, f64>) {
        if let Some(relation) = node["Relation Name"].as_str() {
            let index = node["Index Name"].as_str().map_or_else(|| format!("all of {relation}"), ToOwned::to_owned);
            let rows =
                node["Actual Rows"].as_f64().unwrap_or(0.0) + node["Rows Removed by Filter"].as_f64().unwrap_or(0.0);
            *scans.entry(index).or_default() += rows * node["Actual Loops"].as_f64().unwrap_or(0.0);
        }
        node["Plans"].as_array().into_iter().flatten().for_each(|node| collect(node, scans));
    }
    let mut found = BTreeMap::new();
    collect(&plan["Plan"], &mut found);
    let found: Vec<_> = found.iter().map(|(index, rows)| format!("{index}: {rows:.0}")).collect();
    found.join(", ")
}

/// How many pages of the database a plan read.
fn buffers(plan: &Value) -> u64 {
    ["Shared Hit Blocks", "Shared Read Blocks"].iter().filter_map(|name| plan["Plan"][name].as_u64()).sum()
}
