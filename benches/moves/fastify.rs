//! The server written by hand in `fastify/`, measured in turns with ours.

use std::{
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use mancala_rules::Variant;

use crate::{
    bench::Bench,
    load::Load,
    report::{Bound, Figure, Latency, heading, median},
};

/// Games at once.
const GAMES: [usize; 2] = [32, 128];

/// Connections to the database of each process: the default of `pg`.
const POOL: usize = 10;

/// The least ratio of our moves to its moves.
const RATIO_MIN: f64 = 4.0;

/// How long it is warmed up: node compiles code that has run for a while.
const WARM_UP: Duration = Duration::from_secs(4);

/// Copies of the service's tables, which stay as they are.
const TABLES: &str = "
create table fastify_game (like game including all) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create table fastify_event (like event including all);";

/// The other server; dropping it ends it.
struct Fastify {
    child: Child,
    address: String,
}

pub async fn measure(bench: &mut Bench) -> io::Result<()> {
    heading("fastify: moves a second beside a server written by hand");
    bench.execute(TABLES).await?;
    let (ours, theirs) = (bench.server()?, Fastify::start(bench)?);
    let pids = bench.pids(&[ours.pid()])?;
    let their_pids = bench.pids(&[theirs.child.id()])?;
    let (time, seed) = (bench.settings.round(), bench.settings.seed);
    let (mut records, mut their_records) = (vec![], vec![]);
    for games in GAMES {
        let mut load = Load::new(std::slice::from_ref(&ours.address), Variant::Kalah, games, seed).await?;
        let mut their_load = Load::new(std::slice::from_ref(&theirs.address), Variant::Kalah, games, seed).await?;
        their_load.prepare(WARM_UP).await?;
        their_load.play(WARM_UP).await?;
        let (mut rounds, mut their_rounds, mut ratios) = (vec![], vec![], vec![]);
        for _ in 0..bench.settings.rounds {
            let round = bench.round(&mut load, &pids, time).await?;
            let their_round = bench.round(&mut their_load, &their_pids, time).await?;
            ratios.push(round.played.rate() / their_round.played.rate());
            rounds.push(round);
            their_rounds.push(their_round);
        }
        for (name, rounds) in [("ours", &rounds), ("fastify + pg", &their_rounds)] {
            let latency = Latency::of_all(rounds.iter().map(|round| &round.played));
            let middle = |of: fn(&crate::bench::Round) -> f64| median(&rounds.iter().map(of).collect::<Vec<_>>());
            println!(
                "{games} games, {name}: {:.0} moves/s, {latency}, server {} µs, PostgreSQL {} µs a move",
                middle(|round| round.played.rate()),
                Figure(middle(|round| round.per_move.server)),
                Figure(middle(|round| round.per_move.postgres))
            );
        }
        let what = format!("{games} games: moves/s to those of fastify + pg");
        bench.bars.add(what, Bound::AtLeast, RATIO_MIN, " ×", &[median(&ratios)]);
        records.extend(load.records());
        their_records.extend(their_load.records());
    }
    drop((ours, theirs));
    bench.check(records).await?;
    let moves: i64 = their_records.iter().map(|record| i64::from(record.ply)).sum();
    let stored = sqlx::query_scalar("select count(*) from fastify_event where kind = 'moved'");
    let stored: i64 = stored.fetch_one(&mut bench.database).await.map_err(io::Error::other)?;
    if moves == stored { Ok(()) } else { Err(io::Error::other(format!("fastify: {moves} moves, {stored} stored"))) }
}

impl Fastify {
    fn start(bench: &Bench) -> io::Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/moves/fastify");
        if !folder.join("node_modules").exists() {
            let status = Command::new("npm").args(["ci", "--silent"]).current_dir(&folder).status()?;
            if !status.success() {
                return Err(io::Error::other("npm ci failed"));
            }
        }
        let workers = thread::available_parallelism().map_or(1, usize::from);
        let mut command = Command::new("node");
        command
            .arg(folder.join("server.mjs"))
            .env("NODE_ENV", "production")
            .env("PGHOST", bench.embedded.socket_folder())
            .env("PGUSER", bench.embedded.user())
            .env("PGDATABASE", bench.embedded.database())
            .env("WORKERS", workers.to_string())
            .env("POOL", POOL.to_string());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
        let mut address = String::new();
        BufReader::new(stdout).read_line(&mut address)?;
        Ok(Self { child, address: address.trim().to_owned() })
    }
}

impl Drop for Fastify {
    /// Its processes end when its standard input closes.
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
