//! Child processes: their environment, their lifetime and their output.
//!
//! Does not know what the programs are for.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::fork::bind_to_parent;
use crate::identity::Identity;
use crate::poll::POLL_EVERY;

/// A program in the environment of this process, which has the settings for network access: proxies, certificates,
/// mirrors. It is killed when this process dies.
pub(crate) fn helper(program: &str) -> Command {
    helper_at(Path::new(program))
}

/// A helper at a path.
pub(crate) fn helper_at(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    bind_to_parent(&mut command, Identity::Own, Signal::SIGKILL);
    command
}

/// A program with a clean environment, which gets the signal `on_parent_death` when the thread that starts it ends.
///
/// The program leads a process group of its own: a terminal's ^C reaches only the server, which then stops its database in
/// order.
pub(crate) fn command(program: &Path, identity: Identity, on_parent_death: Signal) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs([("LC_ALL", "C"), ("TZ", "UTC"), ("PATH", "/usr/bin:/bin")])
        .current_dir("/")
        .stdin(Stdio::null())
        .process_group(0);
    if let Identity::User(ids) = identity {
        // The standard library also drops all supplementary groups when root sets a uid.
        command.uid(ids.uid.as_raw()).gid(ids.gid.as_raw());
    }
    bind_to_parent(&mut command, identity, on_parent_death);
    command
}

/// Runs a program to its end, and kills it after `timeout`. Its output must fit a pipe (64 KiB).
pub(crate) fn run(command: &mut Command, timeout: Duration) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let deadline = Instant::now() + timeout;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("it was still running after {} s", timeout.as_secs()),
            ));
        }
        thread::sleep(POLL_EVERY);
    }
    child.wait_with_output()
}

/// Why a program failed: the last line of its output that reports an error, else the last that is not blank.
pub(crate) fn reason(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines = || text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let reports = |line: &&str| ["PANIC:", "FATAL:", "ERROR:", "error:"].iter().any(|word| line.contains(word));
    lines().find(reports).or_else(|| lines().next()).unwrap_or("no output").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_in_time_is_killed() {
        let error = run(helper("sleep").arg("60"), Duration::from_millis(20)).expect_err("the sleep is longer");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_reason_of_a_failure_is_the_last_line_that_reports_an_error() {
        assert_eq!(reason(b"FATAL:  no space\nchild process exited\ninitdb: removing contents\n"), "FATAL:  no space");
        assert_eq!(reason(b"No module named pip\n\n"), "No module named pip");
        assert_eq!(reason(b"\n"), "no output");
    }
}
