//! Costs: processor time of the server, of PostgreSQL and of the load, as Linux counts it; and bytes of WAL.

use std::{fs, io};

use sqlx::PgConnection;

use crate::{load::count_as_f64, report::median};

/// The ticks a second in which Linux reports processor time; the same on every machine.
const TICKS: f64 = 100.0;

/// The costs up to a moment, or between two.
#[derive(Clone, Copy, Debug, Default)]
pub struct Costs {
    /// Processor time in microseconds.
    pub server: f64,
    pub postgres: f64,
    pub load: f64,
    /// Bytes.
    pub wal: f64,
}

/// The processes whose costs are counted.
#[derive(Clone, Debug)]
pub struct Pids {
    /// Ids of the servers; the cost includes their child processes.
    pub servers: Vec<u32>,
    pub postmaster: u32,
}

impl Costs {
    pub async fn until_now(pids: &Pids, database: &mut PgConnection) -> io::Result<Self> {
        let wal = sqlx::query_scalar("select (pg_current_wal_insert_lsn() - '0/0')::float8").fetch_one(database);
        let wal = wal.await.map_err(io::Error::other)?;
        let servers: io::Result<Vec<f64>> = pids.servers.iter().map(|pid| with_children(*pid)).collect();
        Ok(Self {
            server: servers?.iter().sum(),
            postgres: with_children(pids.postmaster)?,
            load: Times::of(std::process::id())?.own,
            wal,
        })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            server: self.server - before.server,
            postgres: self.postgres - before.postgres,
            load: self.load - before.load,
            wal: self.wal - before.wal,
        }
    }

    /// The cost of one of `count` operations.
    pub fn per_operation(self, count: usize) -> Self {
        let count = count_as_f64(count.max(1));
        Self {
            server: self.server / count,
            postgres: self.postgres / count,
            load: self.load / count,
            wal: self.wal / count,
        }
    }
}

/// The median of one cost of several rounds.
pub fn median_of(costs: &[Costs], of: fn(&Costs) -> f64) -> f64 {
    median(&costs.iter().map(of).collect::<Vec<_>>())
}

/// The processor time of one process, in microseconds.
struct Times {
    parent: u32,
    own: f64,
    /// The time of its children that have ended, and of their children.
    reaped: f64,
}

impl Times {
    fn of(pid: u32) -> io::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name before it may contain spaces and parentheses.
        let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
        let numbers: Vec<f64> = fields.split_whitespace().skip(1).map(|field| field.parse().unwrap_or(0.0)).collect();
        let Some(&[parent, .., user, system, user_reaped, system_reaped]) = numbers.get(..14) else {
            return Err(io::Error::other(format!("not a process's times: {stat}")));
        };
        let microseconds = |ticks: f64| ticks / TICKS * 1e6;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was written as a whole number")]
        Ok(Self {
            parent: parent as u32,
            own: microseconds(user + system),
            reaped: microseconds(user_reaped + system_reaped),
        })
    }
}

/// The time of a process and its children, running and ended. A session of PostgreSQL that ends between two samples is
/// counted in both: first as a running child, then as an ended one.
fn with_children(pid: u32) -> io::Result<f64> {
    let parent = Times::of(pid)?;
    let processes = fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let children = processes.filter_map(|process| Times::of(process).ok()).filter(|times| times.parent == pid);
    Ok(parent.own + parent.reaped + children.map(|child| child.own + child.reaped).sum::<f64>())
}
