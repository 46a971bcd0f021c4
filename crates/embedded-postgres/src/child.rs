//! Forks: the only module with unsafe code.
//!
//! Knows as whom a program may run and how it is tied to this process. Does not know what the programs are for.

use std::fmt;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use nix::unistd::{Gid, Uid, User};

/// Whom a program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// As ourselves: we are not root.
    Own,
    /// We are root, which PostgreSQL refuses to run as: as an unprivileged user.
    User(Ids),
    /// We are root: in a user namespace of its own, where root is known by these ids and may do nothing special. Files
    /// stay root's, so that a folder which only root can reach is in reach; so are root's other files, which makes this
    /// the second choice.
    Namespace(Ids),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ids {
    pub uid: Uid,
    pub gid: Gid,
}

/// The users to take, in order, when root may not run a program.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

/// How often a wait looks again: short beside the work waited for, long beside the cost of a look.
pub(super) const POLL_EVERY: Duration = Duration::from_millis(5);

impl Identity {
    /// Who owns the files that the program writes.
    pub(super) fn owner(self) -> Option<Ids> {
        match self {
            Self::User(ids) => Some(ids),
            Self::Own | Self::Namespace(_) => None,
        }
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => write!(f, "our own user"),
            Self::User(ids) => write!(f, "user {}", ids.uid),
            Self::Namespace(_) => write!(f, "root in a user namespace"),
        }
    }
}

/// The ids of the first unprivileged user that this machine has.
pub(super) fn unprivileged() -> Option<Ids> {
    UNPRIVILEGED
        .iter()
        .find_map(|name| User::from_name(name).ok().flatten())
        .map(|user| Ids { uid: user.uid, gid: user.gid })
}

/// A helper in our own environment, which knows the way out: proxies, certificates, mirrors. It dies with us.
pub(super) fn helper(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    tie(&mut command, Identity::Own, Signal::SIGKILL);
    command
}

/// A program with a clean environment, which gets `on_our_death` when the thread that starts it ends, however it ends.
///
/// It leads a process group of its own: a terminal's ^C reaches only the server, which stops its database in order.
pub(super) fn command(program: &Path, identity: Identity, on_our_death: Signal) -> Command {
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
    tie(&mut command, identity, on_our_death);
    command
}

/// Runs a program to its end, which must come within `limit`; its output must fit a pipe (64 KiB).
pub(super) fn run(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let deadline = Instant::now() + limit;
    while child.try_wait()?.is_none() {
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("it was still running after {} s", limit.as_secs()),
            ));
        }
        thread::sleep(POLL_EVERY);
    }
    child.wait_with_output()
}

/// Why a program failed: the last line that tells of an error, else the last that says anything.
pub(super) fn reason(output: &[u8]) -> String {
    let text = String::from_utf8_lossy(output);
    let lines = || text.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let tells = |line: &&str| ["PANIC:", "FATAL:", "ERROR:", "error:"].iter().any(|word| line.contains(word));
    lines().find(tells).or_else(|| lines().next()).unwrap_or("it said nothing").to_owned()
}

#[cfg(target_os = "linux")]
fn tie(command: &mut Command, identity: Identity, on_our_death: Signal) {
    let us = nix::unistd::getpid();
    let maps = match identity {
        Identity::Namespace(ids) => Some(linux::IdMaps::new(ids)),
        Identity::Own | Identity::User(_) => None,
    };
    // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are sound. It makes system calls
    // only (setgroups, unshare, open, write, close, prctl, getppid), touches memory made before the fork, and neither
    // allocates nor locks nor panics.
    unsafe {
        command.pre_exec(move || {
            if let Some(maps) = &maps {
                linux::enter_user_namespace(maps)?;
            }
            linux::die_with(us, on_our_death)
        });
    }
}

/// Elsewhere a child that outlives us is found by `pg_ctl` at the next start.
#[cfg(not(target_os = "linux"))]
fn tie(_: &mut Command, _: Identity, _: Signal) {}

/// What the forked child does before it becomes the program: async-signal-safe calls only.
#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use nix::errno::Errno;
    use nix::fcntl::{OFlag, open};
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::prctl::set_pdeathsig;
    use nix::sys::signal::Signal;
    use nix::sys::stat::Mode;
    use nix::unistd::{Pid, getegid, geteuid, getppid, setgroups, write};

    use super::Ids;

    /// The lines of `/proc/self/uid_map` and `gid_map`, written out before the fork.
    pub(super) struct IdMaps {
        uid: String,
        gid: String,
    }

    impl IdMaps {
        pub(super) fn new(inside: Ids) -> Self {
            Self { uid: format!("{} {} 1", inside.uid, geteuid()), gid: format!("{} {} 1", inside.gid, getegid()) }
        }
    }

    pub(super) fn enter_user_namespace(maps: &IdMaps) -> io::Result<()> {
        setgroups(&[])?;
        unshare(CloneFlags::CLONE_NEWUSER)?;
        for (file, text) in
            [(c"/proc/self/setgroups", "deny"), (c"/proc/self/uid_map", &maps.uid), (c"/proc/self/gid_map", &maps.gid)]
        {
            write(open(file, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?, text.as_bytes())?;
        }
        Ok(())
    }

    /// Must come after every change of identity, which makes the kernel forget the signal.
    pub(super) fn die_with(parent: Pid, signal: Signal) -> io::Result<()> {
        set_pdeathsig(signal)?;
        // The parent may have died before the kernel knew that this matters.
        if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_in_time_is_killed() {
        let error = run(helper("sleep").arg("60"), Duration::from_millis(20)).expect_err("it sleeps for longer");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn the_reason_of_a_failure_is_the_last_line_that_tells_of_an_error() {
        assert_eq!(reason(b"FATAL:  no space\nchild process exited\ninitdb: removing contents\n"), "FATAL:  no space");
        assert_eq!(reason(b"No module named pip\n\n"), "No module named pip");
        assert_eq!(reason(b"\n"), "it said nothing");
    }
}
