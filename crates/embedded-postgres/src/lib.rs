//! The default database: a PostgreSQL of the server's own, run as a child process.
//!
//! Knows how to keep one PostgreSQL running on one data folder: starts it, starts it again when it dies, stops it.
//! What the work is made of lies beside it: `cluster` owns the data folder, `postmaster` is one life of the child,
//! `leftovers` ends what a killed run left behind, `socket` is the door, `log` what PostgreSQL says, `binaries`
//! finds the programs, `child` forks. None of them knows tables, migrations or connection pools, and nobody outside
//! knows that there is a child: a client sees a socket folder, a user and a database.

mod binaries;
mod child;
mod cluster;
mod error;
mod leftovers;
mod log;
mod postmaster;
mod socket;

use std::convert::Infallible;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cluster::Cluster;
pub use error::EmbeddedError;
use postmaster::Postmaster;

/// A running PostgreSQL of our own; dropping it stops it.
///
/// While this value lives, the database is up or being brought up again, unless the log says that it was given up.
pub struct Embedded {
    socket_folder: PathBuf,
    /// The process id of the present postmaster, or 0 while there is none.
    postmaster: Arc<AtomicU32>,
    /// Never carries a message: hanging up asks the supervisor to stop. `None` only while being dropped.
    stop: Option<Sender<Infallible>>,
    supervisor: Option<JoinHandle<()>>,
}

/// What to run and where.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The data folder, made when missing. One server at a time may own it.
    pub folder: PathBuf,
    pub durability: Durability,
}

/// What a commit survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A commit survives power loss.
    #[default]
    Durable,
    /// A commit survives the death of the server, but not of the machine: for tests.
    Ephemeral,
}

/// Only names the socket file, `.s.PGSQL.5432`: no TCP port is listened on.
pub const PORT: u16 = 5432;

/// Owns [`DATABASE`] and may create databases, but is no superuser: SQL that somebody smuggles in cannot run programs.
const USER: &str = "mancala";
const DATABASE: &str = "mancala";

/// How often the supervisor looks whether the child still lives: an outage grows by at most this.
const WATCH_EVERY: Duration = Duration::from_millis(50);
/// How often the supervisor looks at the size of the log.
const LOG_LOOK_EVERY: Duration = Duration::from_mins(1);
/// The wait before the second attempt to start again; each further one waits twice as long.
const DELAY_FIRST: Duration = Duration::from_millis(100);
/// The longest wait between two attempts: a cause that goes away by itself (memory, disk) is noticed this soon.
const DELAY_MAX: Duration = Duration::from_secs(5);
/// A child that was ready for this long has recovered: the next wait is short again.
const STEADY: Duration = Duration::from_secs(2);
/// Starts in a row that never became ready before the supervisor gives up: with the waits above, more than a minute.
const FAILURES_MAX: u32 = 20;

impl Embedded {
    /// Starts PostgreSQL and returns when it accepts connections; makes the database first where there is none.
    ///
    /// Blocks, for seconds when the database has to be made: in async code, call it where blocking is allowed.
    ///
    /// # Errors
    /// Each error is one line that says what to do about it.
    pub fn start(settings: &Settings) -> Result<Self, EmbeddedError> {
        let failed = |source| EmbeddedError::Io { doing: "supervise PostgreSQL".to_owned(), source };
        let (stop, stop_asked) = mpsc::channel();
        let (report, reported) = mpsc::sync_channel(1);
        let postmaster = Arc::new(AtomicU32::new(0));
        let supervisor = {
            let (settings, postmaster) = (settings.clone(), Arc::clone(&postmaster));
            let supervise = move || supervise(&settings, &stop_asked, &postmaster, &report);
            thread::Builder::new().name("postgres".to_owned()).spawn(supervise).map_err(failed)?
        };
        let socket_folder = reported.recv().map_err(|_| failed(io::Error::other("its thread panicked")))??;
        Ok(Self { socket_folder, postmaster, stop: Some(stop), supervisor: Some(supervisor) })
    }

    /// The folder of the Unix socket: what a client takes as its host.
    #[must_use]
    pub fn socket_folder(&self) -> &Path {
        &self.socket_folder
    }

    /// The role to connect as: it exists, needs no password, and owns [`Self::database`].
    #[must_use]
    pub fn user(&self) -> &str {
        USER
    }

    /// The database to connect to: it exists.
    #[must_use]
    pub fn database(&self) -> &str {
        DATABASE
    }

    /// The process id of the present postmaster; none while it is being started again or was given up.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        Some(self.postmaster.load(Ordering::Relaxed)).filter(|&pid| pid != 0)
    }

    /// Ends all connections and shuts PostgreSQL down in order; returns when it is gone. Blocks, as dropping does.
    pub fn stop(self) {
        drop(self);
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(supervisor) = self.supervisor.take()
            && supervisor.join().is_err()
        {
            tracing::error!("the thread that ran PostgreSQL had panicked");
        }
    }
}

/// The life of the supervising thread. It forks every child itself, and the kernel ends a child when the thread that
/// forked it ends: so no child outlives this function.
fn supervise(
    settings: &Settings,
    stop: &Receiver<Infallible>,
    pid: &AtomicU32,
    report: &SyncSender<Result<PathBuf, EmbeddedError>>,
) {
    let report = |outcome| report.send(outcome).expect("start() waits for the report");
    // The postmaster is dropped before the cluster: the lock is held until it is gone.
    let (cluster, mut postmaster) = match open_and_launch(settings, stop) {
        Ok(Some(started)) => started,
        Ok(None) => unreachable!("start() does not hang up before the report"),
        Err(error) => return report(Err(error)),
    };
    tracing::info!(postgres.pid = postmaster.pid(), "PostgreSQL is up on {cluster}");
    pid.store(postmaster.pid(), Ordering::Relaxed);
    report(Ok(cluster.socket_folder.clone()));

    let mut hasty_deaths = 0;
    loop {
        let ready_at = Instant::now();
        let died = watch(&cluster, &mut postmaster, stop);
        pid.store(0, Ordering::Relaxed);
        let Some(how) = died else { return };
        tracing::warn!(postgres.pid = postmaster.pid(), "PostgreSQL {how}: starting it again");
        hasty_deaths = if ready_at.elapsed() < STEADY { hasty_deaths + 1 } else { 0 };
        let Some(next) = launch_again(&cluster, hasty_deaths, stop) else {
            return;
        };
        postmaster = next;
        pid.store(postmaster.pid(), Ordering::Relaxed);
        tracing::info!(postgres.pid = postmaster.pid(), "PostgreSQL is up again");
    }
}

fn open_and_launch(
    settings: &Settings,
    stop: &Receiver<Infallible>,
) -> Result<Option<(Cluster, Postmaster)>, EmbeddedError> {
    let cluster = Cluster::open(settings)?;
    let postmaster = Postmaster::launch(&cluster, stop)?;
    Ok(postmaster.map(|postmaster| (cluster, postmaster)))
}

/// Returns how the child died, or `None` when asked to stop.
fn watch(cluster: &Cluster, postmaster: &mut Postmaster, stop: &Receiver<Infallible>) -> Option<String> {
    let mut log_looked_at = Instant::now();
    while !stop_asked(stop, WATCH_EVERY) {
        if let Some(how) = postmaster.death() {
            return Some(how);
        }
        if log_looked_at.elapsed() > LOG_LOOK_EVERY {
            log_looked_at = Instant::now();
            if let Err(error) = cluster.log.bound() {
                tracing::warn!("{error}");
            }
        }
    }
    None
}

/// Returns `None` when asked to stop, or having given up.
fn launch_again(cluster: &Cluster, hasty_deaths: u32, stop: &Receiver<Infallible>) -> Option<Postmaster> {
    for failures in 0..FAILURES_MAX {
        if stop_asked(stop, delay(hasty_deaths.saturating_add(failures))) {
            return None;
        }
        match Postmaster::launch(cluster, stop) {
            Ok(postmaster) => return postmaster,
            Err(error) => tracing::warn!("PostgreSQL did not start again ({} failures): {error}", failures + 1),
        }
    }
    tracing::error!("gave up on PostgreSQL after {FAILURES_MAX} failures: mend the cause and restart the server");
    None
}

/// The wait before an attempt that follows `failures` failures in a row.
fn delay(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        _ => DELAY_FIRST.saturating_mul(2_u32.saturating_pow(failures - 1)).min(DELAY_MAX),
    }
}

/// Waits for `within`, unless the [`Embedded`] is dropped before.
fn stop_asked(stop: &Receiver<Infallible>, within: Duration) -> bool {
    stop.recv_timeout(within) == Err(RecvTimeoutError::Disconnected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_attempt_does_not_wait_and_no_attempt_waits_longer_than_the_bound() {
        assert_eq!(delay(0), Duration::ZERO);
        assert_eq!(delay(1), DELAY_FIRST);
        assert_eq!(delay(2), DELAY_FIRST * 2);
        assert_eq!(delay(FAILURES_MAX), DELAY_MAX);
        assert_eq!(delay(u32::MAX), DELAY_MAX);
    }
}
