//! What the environment asks for; `main.rs` tells what each means.

use std::{env, fmt::Display, io, str::FromStr, time::Duration};

use mancala_server::rules::Variant;

use crate::programs::Disk;

/// Set by the bench for the process that measures: the speed of the disk, by these words.
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
    pub games: usize,
    pub seed: u64,
    pub disk: Disk,
}

impl Settings {
    pub fn read() -> io::Result<Self> {
        let games = one("GAMES", 100_000)?;
        let disk = if env::var(DISK).is_ok_and(|word| word == SLOW) { Disk::Slow } else { Disk::AsIs };
        Ok(Self {
            seconds: one("SECONDS", 3)?,
            rounds: one("ROUNDS", 3)?,
            clients: many("CLIENTS", &[1, 8, 32, 128])?,
            variants: many("VARIANTS", &Variant::ALL)?,
            rate: one("RATE", 4000)?,
            games,
            seed: one("SEED", 1)?,
            disk,
        })
    }

    /// How long a round takes.
    pub fn round(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

fn one<T: FromStr<Err: Display>>(name: &str, default: T) -> io::Result<T> {
    match env::var(name) {
        Ok(text) => text.parse().map_err(|error| io::Error::other(format!("{name}: {error}"))),
        Err(_) => Ok(default),
    }
}

fn many<T: FromStr<Err: Display> + Clone>(name: &str, default: &[T]) -> io::Result<Vec<T>> {
    match env::var(name) {
        Ok(text) => text
            .split(',')
            .map(|part| part.trim().parse().map_err(|error| io::Error::other(format!("{name}: {error}"))))
            .collect(),
        Err(_) => Ok(default.to_vec()),
    }
}
