//! The PostgreSQL processes that work on a folder: how they are found and ended.
//!
//! Does not trust a process id in a file: it may be that of another process by now, or of a zombie.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::EmbeddedError;
use crate::poll::POLL_EVERY;

/// A fast shutdown writes a checkpoint of up to `shared_buffers` of changed pages. The wait for it is short, because
/// the server itself may be stopped with a deadline (containers are killed after 10 s). A crash recovery takes no
/// longer.
pub(crate) const FAST_STOP_MAX: Duration = Duration::from_secs(5);
/// A killed process ends at once, unless the kernel waits for a disk.
pub(crate) const KILL_MAX: Duration = Duration::from_secs(5);

/// Waits until no PostgreSQL process works on `folder`; kills those that still do after `patience`.
pub(crate) fn end(folder: &Path, patience: Duration) -> Result<(), EmbeddedError> {
    let started = Instant::now();
    loop {
        let pids = working_on(folder);
        if pids.is_empty() {
            return Ok(());
        }
        if started.elapsed() > patience + KILL_MAX {
            return Err(EmbeddedError::Leftovers { folder: folder.to_owned(), pids });
        }
        if started.elapsed() >= patience {
            for pid in pids {
                signal(pid, Signal::SIGKILL);
            }
        }
        thread::sleep(POLL_EVERY);
    }
}

/// Sends a signal; a process that has ended is no error.
pub(crate) fn signal(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}

/// The PostgreSQL processes that work on `folder`: each has it as its current folder. A zombie has none.
pub(crate) fn working_on(folder: &Path) -> Vec<i32> {
    let Ok(folder) = fs::metadata(folder) else {
        return Vec::new();
    };
    let works_on_it = |process: &Path| {
        let cwd = fs::metadata(process.join("cwd"));
        cwd.is_ok_and(|cwd| (cwd.dev(), cwd.ino()) == (folder.dev(), folder.ino()))
            && fs::read_link(process.join("exe")).is_ok_and(|exe| is_postgres(&exe))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
        .filter_map(|(pid, process)| works_on_it(&process).then_some(pid))
        .collect()
}

/// Excludes a shell that was left in the folder. The name of an upgraded program ends in " (deleted)".
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
