//! Whole games: as fast as possible, in turns with pgbench; beside sign-ins; and by two servers.

use std::{
    io,
    time::{Duration, Instant},
};

use mancala_rules::Variant;
use sqlx::Row;
use tokio::{task::JoinHandle, time::sleep};

use crate::{
    baseline::Pgbench,
    bench::{Bench, Round},
    connection::{Connection, request},
    cost::{Costs, median_of},
    disk::Disk,
    load::{Load, Record, count_as_f64},
    programs,
    report::{Bound, Figure, Latency, heading, median},
    server::Server,
};

/// Games at once for which there are bars, and the least ratio of moves to pgbench's statements.
const RATIOS: [(usize, f64); 2] = [(32, 1.2), (128, 1.6)];

/// The same on the slow disk, where more moves have to share a flush.
const RATIOS_SLOW: [(usize, f64); 2] = [(32, 1.0), (128, 2.0)];

/// Games at once while two servers share them.
const GAMES_OF_TWO: usize = 32;

/// The account, and the request of a sign-in.
const ACCOUNT: &str = r#"{"name":"Ana","password":"correct horse"}"#;
const SIGN_IN: &str = r#"{"grant_type":"password","name":"Ana","password":"correct horse"}"#;

/// Sign-ins a second that are tried beside the moves.
const SIGN_INS: u32 = 50;

/// All rounds of one variant with one number of games at once.
struct Measured {
    variant: Variant,
    load: Load,
    rounds: Vec<Round>,
    /// The ratio of moves to pgbench's statements, by round.
    ratios: Vec<f64>,
}

/// Games of each variant, with each number at once, in turns with pgbench.
pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading("games: moves a second, and what one takes and costs");
    let server = bench.server()?;
    let folder = programs::folder()?;
    let pgbench = Pgbench::new(&folder, &bench.folder, &mut bench.database).await?;
    println!(
        "{:>5} {:<10} {:>8} {:>9} {:>9} {:>9} {:>9} {:>10} {:>12} {:>8} {:>8}",
        "games",
        "",
        "moves/s",
        "× pgbench",
        "p50 ms",
        "p99 ms",
        "p99.9 ms",
        "server µs",
        "PostgreSQL µs",
        "load µs",
        "WAL B"
    );
    let mut records = vec![];
    for clients in bench.settings.clients.clone() {
        let all = measure_with(bench, &server, &pgbench, clients).await?;
        add_bars(bench, clients, &all);
        records.extend(all.iter().flat_map(|measured| measured.load.records()));
    }
    drop(server);
    bench.check(records).await?;
    report_storage(bench).await
}

async fn measure_with(
    bench: &mut Bench,
    server: &Server,
    pgbench: &Pgbench,
    clients: usize,
) -> io::Result<Vec<Measured>> {
    let (seconds, time) = (bench.settings.seconds, bench.settings.round());
    let pids = bench.pids(&[server.pid()])?;
    let mut all = vec![];
    for variant in bench.settings.variants.clone() {
        let load = Load::new(std::slice::from_ref(&server.address), variant, clients, bench.settings.seed).await?;
        all.push(Measured { variant, load, rounds: vec![], ratios: vec![] });
    }
    let (mut baselines, mut baseline_costs) = (vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        let before = Costs::until_now(&pids, &mut bench.database).await?;
        let baseline = pgbench.run(&bench.embedded, &mut bench.database, clients, seconds, None).await?;
        let after = Costs::until_now(&pids, &mut bench.database).await?;
        baselines.push(baseline.rate);
        baseline_costs.push(after.since(before).per_operation(baseline.count));
        for measured in &mut all {
            let round = bench.round(&mut measured.load, &pids, time).await?;
            measured.ratios.push(round.played.rate() / baseline.rate);
            measured.rounds.push(round);
        }
    }
    println!(
        "{clients:>5} {:<10} {:>8.0} {:>9} {:>9} {:>9} {:>9} {:>10} {:>12} {:>8} {:>8.0}",
        "(pgbench)",
        median(&baselines),
        "",
        "",
        "",
        "",
        "",
        Figure(median_of(&baseline_costs, |cost| cost.postgres)),
        "",
        median_of(&baseline_costs, |cost| cost.wal)
    );
    for measured in &all {
        measured.print(clients);
    }
    Ok(all)
}

impl Measured {
    fn print(&self, clients: usize) {
        let Latency { p50, p99, p999 } = self.latency();
        println!(
            "{clients:>5} {:<10} {:>8.0} {:>9} {:>9} {:>9} {:>9} {:>10} {:>12} {:>8} {:>8.0}",
            self.variant.to_string(),
            median(&self.rounds.iter().map(|round| round.played.rate()).collect::<Vec<_>>()),
            Figure(median(&self.ratios)),
            Figure(p50),
            Figure(p99),
            Figure(p999),
            Figure(self.per_move(|cost| cost.server)),
            Figure(self.per_move(|cost| cost.postgres)),
            Figure(self.per_move(|cost| cost.load)),
            self.per_move(|cost| cost.wal)
        );
    }

    fn latency(&self) -> Latency {
        Latency::of_all(self.rounds.iter().map(|round| &round.played))
    }

    /// A cost of a move, the median of all rounds.
    fn per_move(&self, of: fn(&Costs) -> f64) -> f64 {
        median_of(&self.rounds.iter().map(|round| round.per_move).collect::<Vec<_>>(), of)
    }
}

fn add_bars(bench: &mut Bench, clients: usize, all: &[Measured]) {
    let is_slow = bench.settings.disk == Disk::Slow;
    let (ratios, disk) = if is_slow { (RATIOS_SLOW, ", slow disk") } else { (RATIOS, "") };
    let Some((_, wanted)) = ratios.into_iter().find(|(games, _)| *games == clients) else { return };
    let of = |figure: fn(&Measured) -> f64| all.iter().map(figure).collect::<Vec<_>>();
    let what = |figure| format!("{clients} games{disk}: {figure}");
    let bars = &mut bench.bars;
    bars.add(what("moves/s to pgbench"), Bound::AtLeast, wanted, " ×", &of(|it| median(&it.ratios)));
    if is_slow {
        return;
    }
    if clients == 32 {
        bars.add(
            what("p99 of a move to its p50"),
            Bound::AtMost,
            2.0,
            " ×",
            &of(|it| it.latency().p99 / it.latency().p50),
        );
    }
    bars.add(what("server's CPU a move"), Bound::AtMost, 30.0, " µs", &of(|it| it.per_move(|cost| cost.server)));
    bars.add(what("PostgreSQL's CPU a move"), Bound::AtMost, 25.0, " µs", &of(|it| it.per_move(|cost| cost.postgres)));
    bars.add(what("WAL a move"), Bound::AtMost, 440.0, " bytes", &of(|it| it.per_move(|cost| cost.wal)));
}

/// Prints the share of heap-only updates of games, and the bytes that a move takes on disk.
async fn report_storage(bench: &mut Bench) -> io::Result<()> {
    // A session reports its statistics before it ends, and all sessions have ended.
    let counts = "select n_tup_upd::float8, n_tup_hot_upd::float8 from pg_stat_user_tables where relname = 'game'";
    let row = sqlx::query(counts).fetch_one(&mut bench.database).await.map_err(io::Error::other)?;
    let (updates, heap_only): (f64, f64) = (row.get(0), row.get(1));
    println!(
        "heap-only updates: {heap_only} of {updates}, {:.1} % (not so: joining a game, and its last move)",
        heap_only * 100.0 / updates
    );
    let sizes = "select (select avg(pg_column_size(game.*)) from game)::float8, \
                 (select avg(pg_column_size(event.*)) from event where kind = 'moved')::float8, \
                 (select pg_total_relation_size('event')::float8 / count(*) from event)";
    let row = sqlx::query(sizes).fetch_one(&mut bench.database).await.map_err(io::Error::other)?;
    let (game, event, with_index): (f64, f64, f64) = (row.get(0), row.get(1), row.get(2));
    println!("stored bytes: {game:.0} a game's row, {event:.0} a move's event ({with_index:.0} with its index)");
    Ok(())
}

/// Two servers with half of the games each, in turns with one server that has all.
pub async fn measure_processes(bench: &mut Bench) -> io::Result<()> {
    heading(&format!("processes: {GAMES_OF_TWO} games by one server, and by two"));
    let (one, other) = (bench.server()?, bench.server()?);
    let pids = bench.pids(&[one.pid(), other.pid()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let mut alone = Load::new(std::slice::from_ref(&one.address), Variant::Kalah, GAMES_OF_TWO, seed).await?;
    let mut shared =
        Load::new(&[one.address.clone(), other.address.clone()], Variant::Kalah, GAMES_OF_TWO, seed + 1).await?;
    let (mut by_one, mut by_two, mut ratios) = (vec![], vec![], vec![]);
    for _ in 0..bench.settings.rounds {
        by_one.push(bench.round(&mut alone, &pids, time).await?.played.rate());
        by_two.push(bench.round(&mut shared, &pids, time).await?.played.rate());
        ratios.push(by_two[by_two.len() - 1] / by_one[by_one.len() - 1]);
    }
    println!(
        "moves/s by one: {:.0}, by two: {:.0}, ratio {}",
        median(&by_one),
        median(&by_two),
        Figure(median(&ratios))
    );
    bench.bars.add("two servers' moves/s to one's", Bound::AtLeast, 0.9, " ×", &[median(&ratios)]);
    drop((one, other));
    bench.check([alone.records(), shared.records()].concat()).await
}

/// The cost of a move without sign-ins and beside many sign-ins: with a few games at once, and with as many as possible.
pub async fn measure_sign_ins(bench: &mut Bench) -> io::Result<()> {
    heading(&format!("sign-ins: moves beside {SIGN_INS} sign-ins a second that are tried"));
    let server = bench.server()?;
    let pids = bench.pids(&[server.pid()])?;
    Connection::open(&server.address).await?.post("/v1/players", "", ACCOUNT, 201).await?;
    let mut records: Vec<Record> = vec![];
    for games in [2, 32] {
        let addresses = std::slice::from_ref(&server.address);
        let mut load = Load::new(addresses, Variant::Kalah, games, bench.settings.seed).await?;
        let (mut alone, mut beside, mut signed_in) = (vec![], vec![], 0);
        for _ in 0..bench.settings.rounds {
            let time = bench.settings.round();
            alone.push(bench.round(&mut load, &pids, time).await?.played);
            load.prepare(time).await?;
            let sign_ins: Vec<JoinHandle<io::Result<usize>>> =
                (0..SIGN_INS).map(|n| tokio::spawn(sign_in(server.address.clone(), n, time))).collect();
            beside.push(load.play(time).await?);
            for task in sign_ins {
                signed_in += task.await.map_err(io::Error::other)??;
            }
        }
        let seconds = bench.settings.round().as_secs_f64() * count_as_f64(bench.settings.rounds);
        println!("{games} games at once: {}", Latency::of_all(&alone));
        println!("{games} games at once, and sign-ins: {}", Latency::of_all(&beside));
        println!("sign-ins a second: {:.0}", count_as_f64(signed_in) / seconds);
        records.extend(load.records());
    }
    drop(server);
    bench.check(records).await
}

/// Tries to sign in once a second, and returns the number of successes. A refused client retries a second later.
async fn sign_in(address: String, n: u32, time: Duration) -> io::Result<usize> {
    let until = Instant::now() + time;
    sleep(Duration::from_secs(1) * n / SIGN_INS).await;
    let mut connection = Connection::open(&address).await?;
    let request = request("POST", "/v1/tokens", "", "", SIGN_IN);
    let mut signed_in = 0;
    while Instant::now() < until {
        let begun = Instant::now();
        let answer = connection.exchange(&request).await?;
        match answer.status {
            200 => signed_in += 1,
            503 => {}
            _ => return Err(answer.unexpected("a sign-in")),
        }
        sleep(Duration::from_secs(1).saturating_sub(begun.elapsed())).await;
    }
    Ok(signed_in)
}
