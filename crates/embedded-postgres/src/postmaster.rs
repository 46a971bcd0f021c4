//! A run of PostgreSQL: how it is started, when it is ready, how it is stopped.
//!
//! Does not know restarts: those are the supervisor's.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::cluster::Cluster;
use crate::error::{EmbeddedError, at};
use crate::leftovers;
use crate::poll::POLL_EVERY;
use crate::processes::{self, FAST_STOP_MAX, KILL_MAX, signal};
use crate::settings::{Durability, PORT};
use crate::socket;
use crate::stop::StopRequest;

/// A PostgreSQL server that this process started; dropping it stops the server.
pub(crate) struct Postmaster {
    child: Child,
    data: PathBuf,
}

/// After a crash, PostgreSQL replays up to `max_wal_size` of its log before it is ready: minutes on a slow disk.
const READY_MAX: Duration = Duration::from_mins(5);
/// A start that takes longer is reported in the server's log, once.
const REPORT_AFTER: Duration = Duration::from_secs(5);
/// An immediate shutdown writes nothing.
const IMMEDIATE_STOP_MAX: Duration = Duration::from_secs(2);

/// Settings for a small service: 100 connections, the memory of a small machine, a crash recovery of seconds, and a log
/// of little but errors.
const SETTINGS: [(&str, &str); 12] = [
    ("cluster_name", "mancala-server"),
    ("listen_addresses", ""),
    ("unix_socket_permissions", "0700"),
    ("max_connections", "100"),
    ("shared_buffers", "256MB"),
    ("max_wal_size", "1GB"),
    // Queries are short: compiling them takes longer than running them.
    ("jit", "off"),
    ("logging_collector", "off"),
    ("log_checkpoints", "off"),
    // The details of a violated constraint quote text that a player wrote.
    ("log_error_verbosity", "terse"),
    ("timezone", "UTC"),
    ("log_timezone", "UTC"),
];

/// Recovery after a kill syncs the file system once instead of every file: 0.1 s instead of seconds.
const SETTINGS_LINUX: [(&str, &str); 1] = [("recovery_init_sync_method", "syncfs")];

/// No waiting for the disk, and connections for the servers of many tests.
const SETTINGS_EPHEMERAL: [(&str, &str); 4] =
    [("fsync", "off"), ("synchronous_commit", "off"), ("full_page_writes", "off"), ("max_connections", "400")];

impl Postmaster {
    /// Starts PostgreSQL and returns when it accepts connections; `None` if a stop is requested before that.
    pub(crate) fn launch(cluster: &Cluster, stop: &StopRequest) -> Result<Option<Self>, EmbeddedError> {
        leftovers::stop(cluster)?;
        socket::prepare(&cluster.socket_folder, cluster.identity)?;
        cluster.log.rotate()?;
        let opened = || {
            let log = cluster.log.open()?;
            Ok((log.metadata()?.len(), log.try_clone()?, log))
        };
        let (log_size, stdout, stderr) = opened().map_err(at("write", cluster.log.path()))?;
        let child = postgres(cluster)
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .map_err(at("run", &cluster.binaries.program("postgres")))?;
        Self { child, data: cluster.data.clone() }.ready(cluster, log_size, stop)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it did.
    pub(crate) fn death(&mut self) -> Option<String> {
        match self.child.try_wait() {
            Ok(status) => Some(format!("ended with {}", status?)),
            Err(error) => Some(format!("was lost: {error}")),
        }
    }

    fn ready(mut self, cluster: &Cluster, log_size: u64, stop: &StopRequest) -> Result<Option<Self>, EmbeddedError> {
        let (started, mut is_reported) = (Instant::now(), false);
        while !stop.is_requested_within(POLL_EVERY) {
            let log = || (cluster.log.tail(log_size), cluster.log.path().to_owned());
            if let Some(how) = self.death() {
                let (tail, log) = log();
                return Err(EmbeddedError::Died { how, tail, log });
            }
            let status = fs::read_to_string(self.data.join("postmaster.pid"));
            if status.is_ok_and(|text| is_ready(&text, self.pid())) {
                return Ok(Some(self));
            }
            if started.elapsed() > READY_MAX {
                let (tail, log) = log();
                return Err(EmbeddedError::NotReady { waited_s: READY_MAX.as_secs(), tail, log });
            }
            if started.elapsed() > REPORT_AFTER && !is_reported {
                is_reported = true;
                tracing::info!("waiting for PostgreSQL, which may be recovering: {}", log().0);
            }
        }
        Ok(None)
    }

    fn ends_within(&mut self, timeout: Duration) -> bool {
        let deadline = Instant::now() + timeout;
        while self.death().is_none() {
            if Instant::now() > deadline {
                return false;
            }
            thread::sleep(POLL_EVERY);
        }
        true
    }
}

impl Drop for Postmaster {
    /// A fast shutdown first, which ends all connections and writes a checkpoint; then an immediate one; then a kill.
    /// None of them loses anything that was committed.
    fn drop(&mut self) {
        if self.death().is_some() {
            return;
        }
        let pid = i32::try_from(self.pid()).expect("the kernel's process ids are positive i32");
        signal(pid, Signal::SIGINT);
        if self.ends_within(FAST_STOP_MAX) {
            return;
        }
        tracing::warn!(
            "PostgreSQL did not stop within {} s: requesting an immediate shutdown",
            FAST_STOP_MAX.as_secs()
        );
        signal(pid, Signal::SIGQUIT);
        if self.ends_within(IMMEDIATE_STOP_MAX) {
            return;
        }
        tracing::warn!("PostgreSQL did not stop on an immediate shutdown: killing it");
        signal(pid, Signal::SIGKILL);
        self.ends_within(KILL_MAX);
        if let Err(error) = processes::end(&self.data, Duration::ZERO) {
            tracing::error!("{error}");
        }
    }
}

/// The command for the server on this database. The kernel requests a fast shutdown if the supervising thread dies.
fn postgres(cluster: &Cluster) -> Command {
    let for_system: &[_] = if cfg!(target_os = "linux") { &SETTINGS_LINUX } else { &[] };
    let for_durability: &[_] = match cluster.durability {
        Durability::Durable => &[],
        Durability::Ephemeral => &SETTINGS_EPHEMERAL,
    };
    let mut socket_folder = OsString::from("unix_socket_directories=");
    socket_folder.push(socket::quoted(&cluster.socket_folder));
    let mut command = cluster.command("postgres", Signal::SIGINT);
    command.arg("-D").arg(&cluster.data).args(["-p", &PORT.to_string(), "-c"]).arg(socket_folder);
    for (name, value) in SETTINGS.iter().chain(for_system).chain(for_durability) {
        command.args(["-c", &format!("{name}={value}")]);
    }
    command
}

/// Whether this `postmaster.pid` is of process `pid` and has the status `ready`: connections are accepted.
fn is_ready(text: &str, pid: u32) -> bool {
    let mut lines = text.lines().map(str::trim);
    lines.next() == Some(&pid.to_string()) && lines.nth(6) == Some("ready")
}

#[cfg(test)]
mod tests {
    use super::*;

    const READY: &str = "4242\n/data/pgdata\n1790000000\n5432\n/data/socket\n\n   131     0\nready   \n";

    #[test]
    fn ready_is_the_eighth_line_of_the_childs_own_file() {
        assert!(is_ready(READY, 4242));
        assert!(!is_ready(READY, 4243));
        assert!(!is_ready(&READY.replace("ready   ", "starting"), 4242));
        assert!(!is_ready(READY.split_once("ready").expect("it is in the text").0, 4242));
        assert!(!is_ready("", 4242));
    }
}
