//! What a killed run leaves behind: processes that still work on the database, and a file that names one of them.
//!
//! Knows how to find them without believing a number: a process id in a file may be another process's by now, or a
//! zombie's that nobody waits for, and PostgreSQL, which takes both for a living postmaster, would refuse to start.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::child::{self, POLL_EVERY};
use super::cluster::{Cluster, remove_file_if_there};
use super::error::{EmbeddedError, at};
use super::postmaster::FAST_STOP_MAX;

/// What is left was told to stop when its server or its master died, and takes milliseconds, unless it is busy or
/// stuck: then it is killed, which loses nothing that was committed.
const PATIENCE: Duration = Duration::from_secs(2);
/// A killed process ends at once, unless the kernel waits for a disk.
pub(super) const KILL_MAX: Duration = Duration::from_secs(5);

/// Ends what still works on this database. We hold the lock, so it is an orphan of a run that was killed.
pub(super) fn stop(cluster: &Cluster) -> Result<(), EmbeddedError> {
    let data = &cluster.data;
    if cfg!(not(target_os = "linux")) {
        return stop_with_pg_ctl(cluster).map_err(at("stop what runs on", data));
    }
    let left = processes_on(data);
    if !left.is_empty() {
        tracing::info!("waiting for {} processes of an earlier run on {} to end", left.len(), data.display());
        end(data, PATIENCE)?;
    }
    remove_file_if_there(&data.join("postmaster.pid"))
}

/// Without `/proc`, PostgreSQL's own tool has to know. It fails when there is nothing to stop, which is the rule.
fn stop_with_pg_ctl(cluster: &Cluster) -> io::Result<()> {
    let mut pg_ctl = cluster.command("pg_ctl", Signal::SIGKILL);
    pg_ctl.arg("-D").arg(&cluster.data).args(["-m", "fast", "-w", "stop"]);
    child::run(&mut pg_ctl, FAST_STOP_MAX).map(drop)
}

/// Waits until no PostgreSQL works on `data` any more; kills what does after `patience`.
pub(super) fn end(data: &Path, patience: Duration) -> Result<(), EmbeddedError> {
    let started = Instant::now();
    loop {
        let pids = processes_on(data);
        if pids.is_empty() {
            return Ok(());
        }
        if started.elapsed() > patience + KILL_MAX {
            return Err(EmbeddedError::Leftovers { folder: data.to_owned(), pids });
        }
        if started.elapsed() >= patience {
            for pid in pids {
                signal(pid, Signal::SIGKILL);
            }
        }
        thread::sleep(POLL_EVERY);
    }
}

/// A process that is gone needs no signal.
pub(super) fn signal(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

/// The PostgreSQL processes that work on `data`: each has it as its current folder. A zombie has none.
fn processes_on(data: &Path) -> Vec<i32> {
    let Ok(data) = fs::metadata(data) else {
        return Vec::new();
    };
    let works_on_it = |process: &Path| {
        let cwd = fs::metadata(process.join("cwd"));
        cwd.is_ok_and(|cwd| (cwd.dev(), cwd.ino()) == (data.dev(), data.ino()))
            && fs::read_link(process.join("exe")).is_ok_and(|exe| is_postgres(&exe))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .filter_map(|(pid, process)| works_on_it(&process).then_some(pid))
        .collect()
}

/// A shell that somebody left in the folder is not ours to end. An upgraded program's name ends in " (deleted)".
fn is_postgres(exe: &Path) -> bool {
    exe.file_name().is_some_and(|name| name == "postgres" || name == "postgres (deleted)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_postgres_counts_as_a_leftover() {
        assert!(is_postgres(Path::new("/usr/lib/postgresql/15/bin/postgres")));
        assert!(is_postgres(Path::new("/usr/lib/postgresql/15/bin/postgres (deleted)")));
        assert!(!is_postgres(Path::new("/usr/bin/bash")));
    }
}
