//! The path of a move, from the client to the disk and back: its throughput, latency and cost, beside a baseline. Server,
//! PostgreSQL and load share the machine. Every commit is durable, every answer is checked, and every game is replayed
//! afterwards.
//!
//! `cargo bench --bench moves` starts all that it needs, measures the first three parts, and prints which bars are met.
//! Arguments select other parts, as in `cargo bench --bench moves -- reads memory`; `all` selects every part.
//!
//! | part | measures | takes |
//! | --- | --- | --- |
//! | `games` | whole random games of each variant, in turns with pgbench running the statement of one move | 3 min |
//! | `rate` | moves at a fixed rate, timed from when each was due; beside it a bare handler and pgbench at that rate | 30 s |
//! | `reads` | the most frequent requests, in turns with an actix-web handler that does nothing | 20 s |
//! | `processes` | two servers on one database, in turns with one | 20 s |
//! | `streams` | the delay of a move's event through another server, and moves with a stream for each player | 40 s |
//! | `webhooks` | moves with a webhook on each turn, and messages sent a second | 1 min |
//! | `thinking` | moves while the computer thinks, and while games are analysed; how long an analysis takes | 3 min |
//! | `sign-ins` | moves beside sign-ins | 40 s |
//! | `memory` | a server's resident memory, at last with 100,000 active games | 40 s |
//! | `fastify` | a server written by hand with fastify and pg, in turns with ours; needs node and npm | 40 s |
//! | `slow-disk` | `games` again, 32 and 128 at once, while a flush takes a millisecond longer; needs cc | 2 min |
//!
//! Settings of rounds, by environment: their `SECONDS` (3), `ROUNDS` (3; medians are shown), and `SEED` of the random
//! moves (1). Settings of the load: `CLIENTS` are the numbers of games at once (1,8,32,128). `VARIANTS` are its games
//! (kalah,oware,congkak). `RATE` is in moves a second (4000), and `STREAM_RATE` is that of the part `streams` (1000).
//! `READERS` are those of the part `reads` (32). `READS` has the names of its reads or how they begin, as in
//! `READS=page,history` (all). `GAMES` are the active ones of `memory` (100000). `PG_BIN` is the folder of PostgreSQL's
//! programs.
//!
//! `STATEMENTS=on` prints which statements take the database's time in the parts `streams` and `webhooks`: PostgreSQL's module
//! `pg_stat_statements` counts them, which itself takes some time of every statement.
//!
//! `RATE_LIMITS=on` plays the part `games` with rate limits, at most as long as the burst of a player. Each client has
//! an address of its own. `RATE_LIMITS=on CLIENTS=128 SECONDS=1 cargo bench --bench moves -- games`.
//!
//! Absolute figures depend on other load on the machine. Ratios are taken within a round, and vary less.

mod baseline;
mod bench;
mod check;
mod connection;
mod cost;
mod disk;
mod fastify;
mod games;
mod load;
mod memory;
#[path = "../programs/mod.rs"]
mod programs;
mod rate;
mod reads;
mod report;
mod schedule;
mod server;
mod settings;
mod statements;
mod streams;
mod thinking;
mod webhooks;

use std::{
    env, fs,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use bench::Bench;
use disk::Disk;
use report::{Bar, Bars, heading};
use settings::{AS_IS, DISK, SLOW, Settings, counts_statements};

/// Enough for the most clients of pgbench and for the service; the embedded PostgreSQL allows 100.
const CONNECTIONS_MAX: u32 = 400;

/// All parts, in the order in which they are measured.
const PARTS: [&str; 11] = [
    "games",
    "rate",
    "reads",
    "processes",
    "streams",
    "webhooks",
    "thinking",
    "sign-ins",
    "memory",
    "fastify",
    SLOW_DISK,
];

/// How many of them are measured without arguments, from the first on.
const DEFAULT_PARTS: usize = 3;

/// The part that has a process and a database of its own.
const SLOW_DISK: &str = "slow-disk";

fn main() -> ExitCode {
    match begin() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn begin() -> io::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == baseline::BARE) {
        return baseline::serve_bare();
    }
    if env::var_os(DISK).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        return runtime.block_on(measure(&chosen(&arguments)?));
    }
    // `cargo bench` passes `--bench`; `cargo test --benches` does not, and there is nothing to test here.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let parts = chosen(&arguments)?;
    Settings::read()?;
    let mut bars = Bars::default();
    let (slow, others): (Vec<&str>, Vec<&str>) = parts.into_iter().partition(|part| *part == SLOW_DISK);
    if !others.is_empty() {
        bars.extend(run(&others, Disk::AsIs)?);
    }
    if !slow.is_empty() {
        bars.extend(run(&["games"], Disk::Slow)?);
    }
    heading("bars");
    print!("{bars}");
    Ok(())
}

/// The parts that the arguments select.
fn chosen(arguments: &[String]) -> io::Result<Vec<&'static str>> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| *word != "--bench").collect();
    if let Some(unknown) = words.iter().find(|word| **word != "all" && !PARTS.contains(word)) {
        return Err(io::Error::other(format!("{unknown} is none of the parts: {}, all", PARTS.join(", "))));
    }
    Ok(match words[..] {
        [] => PARTS[..DEFAULT_PARTS].to_vec(),
        _ if words.contains(&"all") => PARTS.to_vec(),
        _ => PARTS.into_iter().filter(|part| words.contains(part)).collect(),
    })
}

/// Measures some parts in a child process of this program, with wrappers of PostgreSQL's programs. Prints the child's
/// output and returns its bars.
fn run(parts: &[&str], disk: Disk) -> io::Result<Vec<Bar>> {
    let folder = folder(disk);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let counting = if counts_statements() { " -c shared_preload_libraries=pg_stat_statements" } else { "" };
    let options = format!("-c max_connections={CONNECTIONS_MAX}{counting}");
    let wrappers = folder.join("programs");
    programs::write_wrappers(&wrappers, &programs::folder()?, &disk.preload(&folder)?, &options)?;
    let mut command = Command::new(env::current_exe()?);
    command.args(parts).env("PG_BIN", &wrappers).stdout(Stdio::piped());
    match disk {
        Disk::AsIs => command.env(DISK, AS_IS),
        Disk::Slow => {
            println!("\n== the same with a slow disk");
            command.env(DISK, SLOW).env("CLIENTS", "32,128")
        }
    };
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    let mut bars = vec![];
    for line in BufReader::new(stdout).lines() {
        let line = line?;
        match Bar::parse(&line) {
            Some(bar) => bars.push(bar),
            None => println!("{line}"),
        }
    }
    let status = child.wait()?;
    fs::remove_dir_all(folder)?;
    if status.success() {
        Ok(bars)
    } else {
        Err(io::Error::other(format!("the measuring process ended with {status}")))
    }
}

fn folder(disk: Disk) -> PathBuf {
    let name = if disk == Disk::Slow { "bench_moves_slow" } else { "bench_moves" };
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Measures some parts, one after the other, on one database.
async fn measure(parts: &[&str]) -> io::Result<()> {
    let settings = Settings::read()?;
    let folder = folder(settings.disk);
    let mut bench = Bench::start(settings, folder).await?;
    for part in parts {
        match *part {
            "games" => games::measure(&mut bench).await?,
            "rate" => rate::measure(&mut bench).await?,
            "reads" => reads::measure(&mut bench).await?,
            "processes" => games::measure_processes(&mut bench).await?,
            "streams" => streams::measure(&mut bench).await?,
            "webhooks" => webhooks::measure(&mut bench).await?,
            "thinking" => thinking::measure(&mut bench).await?,
            "sign-ins" => games::measure_sign_ins(&mut bench).await?,
            "memory" => memory::measure(&mut bench).await?,
            "fastify" => fastify::measure(&mut bench).await?,
            _ => return Err(io::Error::other(format!("{part} is measured by a process of its own"))),
        }
    }
    bench.bars.print_for_parent();
    bench.measure_warm_start().await
}
