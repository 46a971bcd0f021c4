//! The steps between fork and exec: the only module with unsafe code.
//!
//! Knows how a child is bound to this process and enters a user namespace. Does not know which program it becomes.

use std::process::Command;

use nix::sys::signal::Signal;

use crate::identity::Identity;

/// Makes the kernel send `on_parent_death` to the command's process when the thread that starts it ends.
///
/// For [`Identity::Namespace`], the process enters its user namespace first.
#[cfg(target_os = "linux")]
pub(crate) fn bind_to_parent(command: &mut Command, identity: Identity, on_parent_death: Signal) {
    use std::os::unix::process::CommandExt;

    let parent = nix::unistd::getpid();
    let maps = match identity {
        Identity::Namespace(ids) => Some(linux::IdMaps::new(ids.uid, ids.gid)),
        Identity::Own | Identity::User(_) => None,
    };
    let before_exec = move || {
        if let Some(maps) = &maps {
            linux::enter_user_namespace(maps)?;
        }
        linux::die_with(parent, on_parent_death)
    };
    // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are sound. It makes system calls
    // only (setgroups, unshare, open, write, close, prctl, getppid) and reads memory written before the fork. It does
    // not allocate, lock or panic.
    unsafe {
        command.pre_exec(before_exec);
    }
}

/// Outside Linux a child can outlive this process; `pg_ctl` finds it at the next start.
#[cfg(not(target_os = "linux"))]
pub(crate) fn bind_to_parent(_: &mut Command, _: Identity, _: Signal) {}

/// The steps of the forked child before it becomes the program: async-signal-safe calls only.
#[cfg(target_os = "linux")]
mod linux {
    use std::io;

    use nix::errno::Errno;
    use nix::fcntl::{OFlag, open};
    use nix::sched::{CloneFlags, unshare};
    use nix::sys::prctl::set_pdeathsig;
    use nix::sys::signal::Signal;
    use nix::sys::stat::Mode;
    use nix::unistd::{Gid, Pid, Uid, getegid, geteuid, getppid, setgroups, write};

    /// The lines of `/proc/self/uid_map` and `gid_map`, formatted before the fork.
    pub(super) struct IdMaps {
        uid: String,
        gid: String,
    }

    impl IdMaps {
        pub(super) fn new(uid: Uid, gid: Gid) -> Self {
            Self { uid: format!("{uid} {} 1", geteuid()), gid: format!("{gid} {} 1", getegid()) }
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

    /// Must come after every change of identity, because each makes the kernel drop the signal.
    pub(super) fn die_with(parent: Pid, signal: Signal) -> io::Result<()> {
        set_pdeathsig(signal)?;
        // The parent may have died before the kernel knew about the signal.
        if getppid() == parent { Ok(()) } else { Err(Errno::ESRCH.into()) }
    }
}
