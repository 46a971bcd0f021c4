//! The path of a move, from the client to the disk and back: how fast it is, what it costs, and how near that is to what can be
//! had. Server, PostgreSQL and load share the machine, every commit is durable, every answer is checked, and every game is
//! replayed afterwards.
//!
//! `cargo bench --bench moves` starts all that it needs, measures the first three parts, and says which bars are met. Others are
//! asked for by name, as in `cargo bench --bench moves -- reads memory`; `all` is all of them.
//!
//! | part | measures | takes |
//! | --- | --- | --- |
//! | `games` | whole random games of each variant, in turns with pgbench running the statement of one move | 3 min |
//! | `rate` | moves at a fixed rate, from when each was due | 10 s |
//! | `reads` | what clients read most, in turns with a handler of actix-web that does nothing | 20 s |
//! | `processes` | two servers on one database, in turns with one | 20 s |
//! | `streams` | how soon a move is told through another server, and moves while their players are told of them | 40 s |
//! | `webhooks` | moves while their players are told of each turn, and how many notices are sent | 1 min |
//! | `thinking` | moves while the computer thinks, and while games are analysed; how long an analysis takes | 3 min |
//! | `sign-ins` | moves while people sign in | 40 s |
//! | `memory` | what a server takes, at last with 100,000 active games | 40 s |
//! | `fastify` | a server written by hand with fastify and pg, in turns with ours; needs node and npm | 40 s |
//! | `slow-disk` | `games` again, 32 and 128 at once, while a flush takes a millisecond longer; needs cc | 2 min |
//!
//! Settings, by environment: `SECONDS` of a round (3), `ROUNDS` (3; the middle one is shown), `CLIENTS`, the numbers of games at
//! once (1,8,32,128), `VARIANTS` (kalah,oware,congkak), `RATE` in moves a second (4000), `GAMES`, the active ones of `memory`
//! (100000), `SEED` of the random moves (1), and `PG_BIN`, the folder of PostgreSQL's programs.
//!
//! Absolute figures are as good as the machine is quiet; ratios are taken within a round, and bear more.

mod bench;
mod check;
mod connection;
mod cost;
mod fastify;
mod floor;
mod games;
mod load;
mod memory;
mod programs;
mod reads;
mod report;
mod server;
mod settings;
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
use programs::Disk;
use report::{Bar, Bars, heading};
use settings::{AS_IS, DISK, SLOW, Settings};

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

/// How many of them are measured unless others are asked for.
const USUAL: usize = 3;

/// The part that is a run of its own, on a database of its own.
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
    if arguments.iter().any(|argument| argument == floor::BARE) {
        return floor::serve_bare();
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

/// The parts that the arguments name.
fn chosen(arguments: &[String]) -> io::Result<Vec<&'static str>> {
    // cargo passes `--bench`.
    let words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| *word != "--bench").collect();
    if let Some(unknown) = words.iter().find(|word| **word != "all" && !PARTS.contains(word)) {
        return Err(io::Error::other(format!("{unknown} is none of the parts: {}, all", PARTS.join(", "))));
    }
    Ok(match words[..] {
        [] => PARTS[..USUAL].to_vec(),
        _ if words.contains(&"all") => PARTS.to_vec(),
        _ => PARTS.into_iter().filter(|part| words.contains(part)).collect(),
    })
}

/// Starts this program once more, to measure some parts with PostgreSQL's programs replaced by ours: what it prints is printed,
/// and its bars are given back.
fn run(parts: &[&str], disk: Disk) -> io::Result<Vec<Bar>> {
    let folder = folder(disk);
    let _ = fs::remove_dir_all(&folder);
    let stand_ins = folder.join("programs");
    programs::stand_ins(&stand_ins, &programs::folder()?, disk)?;
    let mut command = Command::new(env::current_exe()?);
    command.args(parts).env("PG_BIN", &stand_ins).stdout(Stdio::piped());
    match disk {
        Disk::AsIs => command.env(DISK, AS_IS),
        Disk::Slow => {
            println!("\n== the same with a slow disk");
            command.env(DISK, SLOW).env("CLIENTS", "32,128")
        }
    };
    let mut child = command.spawn()?;
    let told = child.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    let mut bars = vec![];
    for line in BufReader::new(told).lines() {
        let line = line?;
        match Bar::told(&line) {
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
            "rate" => games::measure_at_rate(&mut bench).await?,
            "reads" => reads::measure(&mut bench).await?,
            "processes" => games::measure_processes(&mut bench).await?,
            "streams" => streams::measure(&mut bench).await?,
            "webhooks" => webhooks::measure(&mut bench).await?,
            "thinking" => thinking::measure(&mut bench).await?,
            "sign-ins" => games::measure_sign_ins(&mut bench).await?,
            "memory" => memory::measure(&mut bench).await?,
            "fastify" => fastify::measure(&mut bench).await?,
            _ => return Err(io::Error::other(format!("{part} is measured by a run of its own"))),
        }
    }
    bench.bars.tell();
    bench.start_again().await
}
