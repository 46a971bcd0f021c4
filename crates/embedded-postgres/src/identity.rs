//! The user that a program runs as. Knows which users may run PostgreSQL, and not what they run.

use std::fmt;

use nix::unistd::{Gid, Uid, User};

/// The user that a program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The user of this process, which is not root.
    Own,
    /// This process is root's, and PostgreSQL refuses to run as root: an unprivileged user.
    User(Ids),
    /// This process is root's: a user namespace in which root has these ids and no privileges. Files stay root's, so
    /// that the program can reach a folder that only root can reach. It can also reach root's other files, which makes
    /// this the second choice.
    Namespace(Ids),
}

/// The ids of a user and of its primary group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ids {
    pub uid: Uid,
    pub gid: Gid,
}

/// The users that run a program for root, in order of preference.
const UNPRIVILEGED: [&str; 2] = ["postgres", "nobody"];

impl Identity {
    /// The owner of the files that the program writes, if it is another user than that of this process.
    pub(crate) fn owner(self) -> Option<Ids> {
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
pub(crate) fn unprivileged() -> Option<Ids> {
    UNPRIVILEGED
        .iter()
        .find_map(|name| User::from_name(name).ok().flatten())
        .map(|user| Ids { uid: user.uid, gid: user.gid })
}
