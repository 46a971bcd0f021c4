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
    time::{Duration, Instant},
};

mod filled;

use filled::{BEGIN, PUBLIC, Recorded, YEARS_S, fill, player_id};
use mancala_server::{
    db::{
        self, DbError,
        events::player_feed::{self, FeedQuery, Moment},
        games::{self, wakes},
        kinds::OpponentKind,
        lists::{
            self, Ended, Filter, Of, Order, Page, PageKey, Statuses, Whose,
            invitations::{self, Direction},
        },
        migrations,
        players::summary,
    },
    domain::{GameId, Status, Visibility},
    embedded::{self, Durability, Embedded, Settings},
    rules::Variant,
};
use serde_json::Value;
use sqlx::PgPool;
use tokio::sync::OnceCell;
use tracing::field::{Field, Visit};
use tracing_subscriber::{Layer, layer::Context, prelude::*};
use uuid::Uuid;

/// The players whose lists are measured: `BUSY` has the most games, and `RECLUSE` only private ones.
const BUSY: u32 = 0;
const RECLUSE: u32 = 1;
const FRIEND: u32 = 2;
const ORDINARY: u32 = 5000;

/// The number of players, besides the first ten.
const PLAYERS: u32 = 20_000;

/// How often a list is read for the median of its time.
const RUNS: usize = 9;

const PAGE: u32 = 20;

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
    fill(&filler, games, PLAYERS, &recorded()).await?;
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
    for (name, list) in lists() {
        // Twice: the first run on a connection plans the statement.
        list.run(&explained).await?;
        logged.take();
        let shown = list.run(&explained).await?;
        let plans = logged.take();
        let plan = plans.first().ok_or("PostgreSQL logged no plan: auto_explain is not installed")?;
        let ms = list.time(&plain).await?;
        println!("| {name} | {} | {} | {shown} | {ms:.2} |", scans(plan), buffers(plan));
    }
    Ok(())
}

/// Games of two plies, a third of them of Oware: lists do not read the log.
fn recorded() -> Vec<Recorded> {
    let variants = [Variant::Oware, Variant::Kalah, Variant::Kalah];
    variants.map(|variant| Recorded::play(variant, 2, |legal| legal[0])).into()
}

/// A list to read.
enum List {
    Games(Filter, Option<PageKey>),
    Invitations(u32, Direction),
    Running(u32),
    Summary(u32),
    /// The new events in a player's games since a moment ago.
    News(u32),
    /// Taking games whose deadlines have passed, of which there are none.
    Due,
}

impl List {
    /// Reads the list, and returns how many games the page has.
    async fn run(&self, pool: &PgPool) -> Result<usize, DbError> {
        let page: Page = match self {
            List::Games(filter, after) => lists::list(pool, filter, *after, PAGE).await?.load(pool).await?,
            List::Invitations(player, direction) => {
                invitations::list(pool, player_id(*player), *direction, None, PAGE).await?.load(pool).await?
            }
            List::Running(player) => {
                return Ok(games::count_running(pool, player_id(*player)).await? as usize);
            }
            List::Summary(player) => {
                return Ok(usize::try_from(summary::find(pool, player_id(*player)).await?.active).unwrap_or(0));
            }
            List::News(player) => {
                static SINCE: OnceCell<Moment> = OnceCell::const_new();
                let since = SINCE.get_or_try_init(|| player_feed::now(pool)).await?;
                let query = FeedQuery { since, ahead: &[], until: None, past: None, limit: PAGE };
                return Ok(player_feed::news(pool, player_id(*player), &query).await?.games.len());
            }
            List::Due => {
                let taken = wakes::take(pool, BEGIN, BEGIN, PAGE).await?;
                return Ok(taken.looked_at);
            }
        };
        Ok(page.games.len())
    }

    /// Milliseconds for both queries of a page, the median of several runs.
    async fn time(&self, pool: &PgPool) -> Result<f64, DbError> {
        let mut times = vec![];
        for _ in 0..RUNS {
            let begun = Instant::now();
            self.run(pool).await?;
            times.push(begun.elapsed());
        }
        times.sort();
        Ok(times[RUNS / 2].as_secs_f64() * 1000.0)
    }
}

fn of(player: u32, viewer: u32) -> Filter {
    let of = Of { player: player_id(player), opponent: None, visibility: None, to_move: false };
    Filter { whose: Whose::Players(of), viewer: Some(player_id(viewer)), ..PUBLIC }
}

/// A filter of a player's games with one more condition.
fn among(filter: &Filter, change: fn(&mut Of)) -> Filter {
    let mut filter = filter.clone();
    if let Whose::Players(of) = &mut filter.whose {
        change(of);
    }
    filter
}

fn first(filter: Filter) -> List {
    List::Games(filter, None)
}

fn ended(filter: &Filter, ended: Ended) -> List {
    first(Filter { status: Statuses::One(Status::Finished), ended: Some(ended), ..filter.clone() })
}

/// Every query, with frequent filters and with rare ones.
fn lists() -> Vec<(&'static str, List)> {
    let mut lists = public_lists();
    lists.extend(lists_of_players());
    lists.extend([
        ("invitations received", List::Invitations(ORDINARY, Direction::Received)),
        ("invitations sent", List::Invitations(BUSY, Direction::Sent)),
        ("(how many are not over), the busy player", List::Running(BUSY)),
        ("(how many are not over), an ordinary player", List::Running(ORDINARY)),
        ("`/v1/me/summary`, the busy player", List::Summary(BUSY)),
        ("`/v1/me/summary`, an ordinary player", List::Summary(ORDINARY)),
        ("`/v1/me/events`, nothing new, the busy player", List::News(BUSY)),
        ("`/v1/me/events`, nothing new, an ordinary player", List::News(ORDINARY)),
        ("(which deadlines have passed)", List::Due),
    ]);
    lists
}

fn public_lists() -> Vec<(&'static str, List)> {
    let middle = BEGIN + Duration::from_secs_f64(YEARS_S / 2.0);
    let ms = u128::try_from(middle.unix_timestamp()).expect("after 1970") * 1000;
    let key = Some(PageKey { at: middle, id: GameId(Uuid::from_u128(ms << 80)) });
    let of_status = |status| first(Filter { status: Statuses::One(status), ..PUBLIC });
    let by_end = Filter { order: Order::Finished, ..PUBLIC };
    let lobby = Filter {
        status: Statuses::One(Status::Open),
        preset: Some("standard"),
        open_to: Some(OpponentKind::Open),
        ..PUBLIC
    };
    let day = Filter { since: Some(middle), until: Some(middle + time::Duration::DAY), ..PUBLIC };
    vec![
        ("(no filter)", first(PUBLIC)),
        ("`status=open`", of_status(Status::Open)),
        ("`status=open&preset=standard&opponent_type=open`", first(lobby)),
        ("`status=active`", of_status(Status::Active)),
        ("`status=finished`", of_status(Status::Finished)),
        ("`status=aborted`", of_status(Status::Aborted)),
        ("(no filter), after half of all", List::Games(PUBLIC, key)),
        ("`since` and `until`, a day", first(day)),
        ("`result=draw`", ended(&PUBLIC, Ended::Drawn)),
        ("`sort=finished_at`", first(by_end.clone())),
        ("`sort=finished_at`, after half", List::Games(by_end.clone(), key)),
        ("`sort=finished_at&result=draw`", ended(&by_end, Ended::Drawn)),
    ]
}

fn lists_of_players() -> Vec<(&'static str, List)> {
    let own = of(BUSY, BUSY);
    let active = Filter { status: Statuses::One(Status::Active), ..own.clone() };
    let by_change = Filter { order: Order::Updated, ..active.clone() };
    let by_end = Filter { order: Order::Finished, status: Statuses::One(Status::Finished), ..own.clone() };
    let with_friend = |filter: &Filter| first(among(filter, |of| of.opponent = Some(player_id(FRIEND))));
    let to_move = |filter: &Filter| first(among(filter, |of| of.to_move = true));
    vec![
        ("`player=me`", first(own.clone())),
        ("`player=me`, an ordinary player", first(of(ORDINARY, ORDINARY))),
        ("`player=…` of the busy player, by a stranger", first(of(BUSY, ORDINARY))),
        ("`player=…` of the recluse, by a stranger", first(of(RECLUSE, ORDINARY))),
        ("`player=me&status=active`", first(active.clone())),
        ("`turn=me`", to_move(&active)),
        ("`player=me&status=active&sort=updated_at`", first(by_change.clone())),
        ("`turn=me&sort=updated_at`", to_move(&by_change)),
        ("`player=me&status=active&sort=turn`", first(Filter { order: Order::Turn, ..active.clone() })),
        ("`player=me&status=aborted`", first(Filter { status: Statuses::One(Status::Aborted), ..own.clone() })),
        ("`player=me&result=won`", ended(&own, Ended::Won)),
        ("`player=me&result=draw`", ended(&own, Ended::Drawn)),
        ("`player=me&visibility=private`", first(among(&own, |of| of.visibility = Some(Visibility::Private)))),
        ("`player=me&sort=finished_at`", first(by_end.clone())),
        ("`player=me&sort=finished_at&result=lost`", ended(&by_end, Ended::Lost)),
        ("`player=me&sort=finished_at`, of a friend", with_friend(&by_end)),
        ("`player=me&opponent=…`, a friend", with_friend(&own)),
        ("`player=me&opponent=…&status=active`", with_friend(&active)),
    ]
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
