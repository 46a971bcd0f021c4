//! The settings from the environment; `main.rs` describes each.

use std::{env, fmt::Display, io, str::FromStr, time::Duration};

use mancala_rules::Variant;

use crate::disk::Disk;

/// The variable that the bench sets for the process that measures, and its values: the speed of the disk.
pub const DISK: &str = "BENCH_DISK";
pub const AS_IS: &str = "as-is";
pub const SLOW: &str = "slow";

#[derive(Clone, Debug)]
pub struct Settings {
    pub seconds: u64,
    pub rounds: usize,
    pub clients: Vec<usize>,
    pub variants: Vec<Variant>,
    pub rate: u32,
    /// The rate while streams are followed.
    pub stream_rate: u32,
    pub games: usize,
    /// Connections that read at once.
    pub readers: usize,
    /// Only reads whose names begin with one of these; all if there are none.
    pub reads: Vec<String>,
    pub seed: u64,
    pub disk: Disk,
    /// Whether PostgreSQL counts the time of each statement.
    pub statements: bool,
}

impl Settings {
    pub fn read() -> io::Result<Self> {
        let games = parse("GAMES", 100_000)?;
        let disk = if env::var(DISK).is_ok_and(|word| word == SLOW) { Disk::Slow } else { Disk::AsIs };
        Ok(Self {
            seconds: parse("SECONDS", 3)?,
            rounds: parse("ROUNDS", 3)?,
            clients: parse_list("CLIENTS", &[1, 8, 32, 128])?,
            variants: parse_list("VARIANTS", &Variant::ALL)?,
            rate: parse("RATE", 4000)?,
            stream_rate: parse("STREAM_RATE", 1000)?,
            games,
            readers: parse("READERS", 32)?,
            reads: parse_list("READS", &[])?,
            seed: parse("SEED", 1)?,
            disk,
            statements: counts_statements(),
        })
    }

    /// The duration of a round.
    pub fn round(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

/// Whether PostgreSQL counts the time of each statement.
pub fn counts_statements() -> bool {
    env::var("STATEMENTS").is_ok_and(|word| word == "on")
}

/// Whether the server limits the rate of calls.
pub fn has_rate_limits() -> bool {
    env::var("RATE_LIMITS").is_ok_and(|word| word == "on")
}

fn parse<T: FromStr<Err: Display>>(name: &str, default: T) -> io::Result<T> {
    match env::var(name) {
        Ok(text) => text.parse().map_err(|error| io::Error::other(format!("{name}: {error}"))),
        Err(_) => Ok(default),
    }
}

fn parse_list<T: FromStr<Err: Display> + Clone>(name: &str, default: &[T]) -> io::Result<Vec<T>> {
    match env::var(name) {
        Ok(text) => text
            .split(',')
            .map(|part| part.trim().parse().map_err(|error| io::Error::other(format!("{name}: {error}"))))
            .collect(),
        Err(_) => Ok(default.to_vec()),
    }
}
