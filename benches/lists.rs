//! What every list costs among a million games: the indexes that it reads, how many of their rows, how many pages of memory,
//! and how long it takes. The queries are the service's own, with the plans that it uses: PostgreSQL tells them by its
//! module `auto_explain`, which has to be installed beside it (in Debian it is).
//!
//! `cargo bench --bench lists` prints a table. Games: `GAMES`, at least 1,000.

use std::{
    collections::BTreeMap,
    env, fmt, fs, io,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use mancala_server::{
    db::{
        self, DbError,
        embedded::{Durability, Embedded, Settings},
        game_list::{self, Ended, Filter, Of, Order, Page, Place, Whose},
        games,
        invitations::{self, Direction},
        migrations,
    },
    domain::{GameId, PlayerId, Status, Visibility},
    rules::{AnyOptions, AnyPosition, Variant},
};
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgPool};
use time::{OffsetDateTime, macros::datetime};
use tracing::field::{Field, Visit};
use tracing_subscriber::{Layer, layer::Context, prelude::*};
use uuid::Uuid;

/// Who plays in the games; all others play now and then.
const BUSY: u32 = 0;
const RECLUSE: u32 = 1;
const FRIEND: u32 = 2;
const ORDINARY: u32 = 5000;

/// When the first game begins; the others follow within two years.
const BEGIN: OffsetDateTime = datetime!(2024-11-01 00:00 UTC);
const YEARS_S: f64 = 2.0 * 365.0 * 86_400.0;

/// How often a list is read for its time.
const RUNS: usize = 9;

const PAGE: u32 = 20;

/// All public games, newest first.
const EVERYBODYS: Filter = Filter {
    whose: Whose::Everybodys,
    status: None,
    variant: None,
    ended: None,
    since: None,
    until: None,
    order: Order::Created,
    viewer: None,
};

/// A third of the games are of Oware, in which the same two moves lead to the same positions as in Kalah. A game in 20 is one of
/// a player who has as many active ones as are allowed; a game in 50 one of a player who hides all of
/// theirs. `{begin}`, `{step}`, `{opening}`, `{first}` and `{second}` are filled in.
const FILL: &str = "
create function pg_temp.player_id(n int) returns uuid language sql immutable as
    $$ select ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid $$;
insert into player (id, kind, name, created_at)
select pg_temp.player_id(n), 'guest', 'Guest-' || n, '{begin}' from generate_series(0, 20010) n;
select setseed(0.5);
insert into game (id, created_at, variant, preset, options, rules_version, opponent, invited_player_id, visibility,
    creator_seat, updated_at, started_at, finished_at, aborted_at, version, ply, seat_0_player_id, seat_1_player_id,
    seat_0_moved, seat_1_moved, status, position, result_winner, result_reason, result_score_south, result_score_north,
    winner_seat, turn_seat)
select (lpad(to_hex((extract(epoch from created_at) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
    created_at, case n / 7 % 3 when 0 then 'oware' else 'kalah' end, 'standard', '', 1, case when invited then 'player' else 'open' end,
    case when invited then pg_temp.player_id(other) end, visibility, seat, created_at + length,
    case when status in ('active', 'finished') then created_at + interval '1 min' end,
    case when status = 'finished' then created_at + length end, case when status = 'aborted' then created_at + length end,
    2, ply, case when seat = 0 then pg_temp.player_id(one) when status <> 'open' then pg_temp.player_id(other) end,
    case when seat = 1 then pg_temp.player_id(one) when status <> 'open' then pg_temp.player_id(other) end,
    ply > 0, ply > 1, status, case ply when 0 then '{opening}' when 1 then '{first}' else '{second}' end,
    case when status = 'finished' and won < 0.5 then 'south' when status = 'finished' and won < 0.96 then 'north' end,
    case when status = 'finished' then 'resignation' end, case when status = 'finished' then 0 end,
    case when status = 'finished' then 0 end,
    case when status = 'finished' and won < 0.5 then 0 when status = 'finished' and won < 0.96 then 1 end,
    case when status = 'active' then ply % 2 end
from (
    select *, status = 'open' and (busy or random() < 0.2) as invited,
        case when status in ('active', 'finished') then 1 + n % 2 else 0 end as ply,
        case when n % 50 = 1 then 'private' when chance < 0.85 then 'public' when chance < 0.95 then 'unlisted'
            else 'private' end as visibility
    from (
        select *, case
                when busy and n % 1000 = 0 then case when n % 100000 = 0 then 'open' else 'active' end
                when busy then case when n % 5000 = 20 then 'aborted' else 'finished' end
                when kind < 0.80 then 'finished' when kind < 0.90 then 'active' when kind < 0.95 then 'open' else 'aborted'
            end as status
        from (
            select n, '{begin}'::timestamptz + n * interval '{step} s' as created_at, n % 20 = 0 as busy, random() as kind,
                random() as won, random() as chance, random() * interval '20 days' as length, (random() * 1)::int as seat,
                case when n % 20 = 0 then 0 when n % 50 = 1 then 1 else 10 + (20000 * power(random(), 1.5))::int end as one,
                case when n % 40000 = 40 then 2 else 10 + (19999 * power(random(), 1.5))::int end as other
            from generate_series(1, {games}) n
        ) drawn
    ) begun
) told;
insert into event (game_id, at, seq, ply, seat, kind, move, position)
select id, created_at + interval '1 min' * seq, seq + 2, seq, seq - 1, 'moved', case seq when 1 then 'A' else 'a' end,
    case seq when 1 then '{first}' else '{second}' end
from game, generate_series(1, ply) seq;
analyze;
";

fn main() -> io::Result<()> {
    // `cargo test --benches` passes flags of its own; there is nothing to test here.
    if env::args().any(|argument| argument == "--test") {
        return Ok(());
    }
    let games = env::var("GAMES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bench_lists");
    let _ = fs::remove_dir_all(&folder);
    // Nothing is written while it is measured, so the disk need not be waited for.
    let settings = Settings { folder: folder.join("postgres"), durability: Durability::Ephemeral };
    let embedded = Embedded::start(&settings).map_err(io::Error::other)?;
    let told = Told::default();
    tracing_subscriber::registry().with(told.clone()).init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(measure(&embedded, games, &told));
    embedded.stop();
    fs::remove_dir_all(folder)?;
    outcome.map_err(io::Error::other)
}

async fn measure(embedded: &Embedded, games: u32, told: &Told) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let options = db::embedded_options(embedded);
    migrations::run(options.clone()).await?;
    let begun = Instant::now();
    // The service's own limits on a statement's time are too narrow for this one.
    let filler = PgPool::connect_with(options.clone()).await?;
    sqlx::raw_sql(AssertSqlSafe(fill(games))).execute(&filler).await?;
    // Only an owner's vacuum tells the indexes which rows all can see; the service's databases have it of autovacuum.
    sqlx::raw_sql("vacuum game, event, player").execute(&filler).await?;
    let took = begun.elapsed().as_secs_f64();
    println!("{games} games made in {took:.0} s; {} are the busy player's, {} the recluse's", games / 20, games / 50);

    // Only a superuser may have plans told; what else is set for the service's connections holds here too.
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
        // Twice: the first time a connection asks something, it is planned.
        list.run(&explained).await?;
        told.take();
        let shown = list.run(&explained).await?;
        let plans = told.take();
        let plan = plans.first().ok_or("PostgreSQL told no plan: auto_explain is not installed")?;
        let ms = list.time(&plain).await?;
        println!("| {name} | {} | {} | {shown} | {ms:.2} |", scans(plan), buffers(plan));
    }
    Ok(())
}

/// The statements that make the games.
fn fill(games: u32) -> String {
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("the standard preset is valid");
    let opening = AnyPosition::opening(&options);
    let after = |position: &AnyPosition, mv: &str| {
        let mv = mv.parse().expect("a move");
        position.play(mv).expect("it is legal").0
    };
    let first = after(&opening, "A");
    let second = after(&first, "a");
    let facts = [
        ("{begin}", "2024-11-01T00:00:00Z".to_owned()),
        ("{step}", (YEARS_S / f64::from(games)).to_string()),
        ("{games}", games.to_string()),
        ("{opening}", opening.to_string()),
        ("{first}", first.to_string()),
        ("{second}", second.to_string()),
    ];
    facts.iter().fold(FILL.to_owned(), |text, (name, fact)| text.replace(name, fact))
}

/// A list to read.
enum List {
    Games(Filter, Option<Place>),
    Invitations(u32, Direction),
    Running(u32),
}

impl List {
    /// How many games there are on a page.
    async fn run(&self, pool: &PgPool) -> Result<usize, DbError> {
        let page: Page = match self {
            List::Games(filter, after) => game_list::list(pool, filter, *after, PAGE).await?,
            List::Invitations(player, direction) => {
                invitations::list(pool, player_id(*player), *direction, None, PAGE).await?
            }
            List::Running(player) => {
                return Ok(games::count_running(pool, player_id(*player)).await? as usize);
            }
        };
        Ok(page.games.len())
    }

    /// Milliseconds for both queries of a page, the middle of several runs.
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

fn player_id(n: u32) -> PlayerId {
    PlayerId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 + u128::from(n)))
}

fn of(player: u32, viewer: u32) -> Filter {
    let of = Of { player: player_id(player), opponent: None, visibility: None, to_move: false };
    Filter { whose: Whose::Players(of), viewer: Some(player_id(viewer)), ..EVERYBODYS }
}

/// Only some of a player's games.
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
    first(Filter { status: Some(Status::Finished), ended: Some(ended), ..filter.clone() })
}

/// Every query, with what is asked for often and with what is rare.
fn lists() -> Vec<(&'static str, List)> {
    let mut lists = public_lists();
    lists.extend(lists_of_players());
    lists.extend([
        ("invitations received", List::Invitations(ORDINARY, Direction::Received)),
        ("invitations sent", List::Invitations(BUSY, Direction::Sent)),
        ("(how many are not over), the busy player", List::Running(BUSY)),
        ("(how many are not over), an ordinary player", List::Running(ORDINARY)),
    ]);
    lists
}

fn public_lists() -> Vec<(&'static str, List)> {
    let middle = BEGIN + Duration::from_secs_f64(YEARS_S / 2.0);
    let ms = u128::try_from(middle.unix_timestamp()).expect("after 1970") * 1000;
    let place = Some(Place { at: middle, id: GameId(Uuid::from_u128(ms << 80)) });
    let of_status = |status| first(Filter { status: Some(status), ..EVERYBODYS });
    let by_end = Filter { order: Order::Finished, ..EVERYBODYS };
    let day = Filter { since: Some(middle), until: Some(middle + time::Duration::DAY), ..EVERYBODYS };
    vec![
        ("(no filter)", first(EVERYBODYS)),
        ("`status=open`", of_status(Status::Open)),
        ("`status=active`", of_status(Status::Active)),
        ("`status=finished`", of_status(Status::Finished)),
        ("`status=aborted`", of_status(Status::Aborted)),
        ("(no filter), after half of all", List::Games(EVERYBODYS, place)),
        ("`since` and `until`, a day", first(day)),
        ("`result=draw`", ended(&EVERYBODYS, Ended::Drawn)),
        ("`sort=finished_at`", first(by_end.clone())),
        ("`sort=finished_at`, after half", List::Games(by_end.clone(), place)),
        ("`sort=finished_at&result=draw`", ended(&by_end, Ended::Drawn)),
    ]
}

fn lists_of_players() -> Vec<(&'static str, List)> {
    let own = of(BUSY, BUSY);
    let active = Filter { status: Some(Status::Active), ..own.clone() };
    let by_change = Filter { order: Order::Updated, ..active.clone() };
    let by_end = Filter { order: Order::Finished, status: Some(Status::Finished), ..own.clone() };
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
        ("`player=me&status=aborted`", first(Filter { status: Some(Status::Aborted), ..own.clone() })),
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

/// What PostgreSQL tells: its notices come as events of the log.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<Value>>>);

impl Told {
    /// The plans since the last time.
    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.0.lock().expect("nobody panics while telling"))
    }
}

impl<S: tracing::Subscriber> Layer<S> for Told {
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
            self.0.lock().expect("nobody panics while telling").extend(message.0);
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

/// Pages of the database that a plan touched.
fn buffers(plan: &Value) -> u64 {
    ["Shared Hit Blocks", "Shared Read Blocks"].iter().filter_map(|name| plan["Plan"][name].as_u64()).sum()
}
