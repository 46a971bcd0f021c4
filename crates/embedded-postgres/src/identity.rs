//! The user that a program runs as. Knows which users may run PostgreSQL, but not the programs.

use std::fmt;

use nix::unistd::{Gid, Uid, User};

/// The user that a program runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The user of this process, which is not root.
    Own,
    /// This process is root's, and PostgreSQL refuses to run as root: a user that runs nothing but PostgreSQL.
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

/// The user that runs PostgreSQL, and nothing else, for root.
const DEDICATED: &str = "postgres";

/// A user that runs programs of any origin, which could connect to its databases and read its files. So it runs no PostgreSQL. In a
/// namespace it only gives root its name, because PostgreSQL looks its user up.
const SHARED: &str = "nobody";

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

/// The identities that may run a new database for root, in order of preference.
pub(crate) fn for_root() -> Vec<Identity> {
    candidates(ids_of(DEDICATED), inner())
}

fn candidates(dedicated: Option<Ids>, inner: Option<Ids>) -> Vec<Identity> {
    dedicated.map(Identity::User).into_iter().chain(inner.map(Identity::Namespace)).collect()
}

/// The ids that root has within a user namespace: any that this machine has a name for.
pub(crate) fn inner() -> Option<Ids> {
    [DEDICATED, SHARED].into_iter().find_map(ids_of)
}

/// Whether programs of any origin run with these ids.
pub(crate) fn is_shared(ids: Ids) -> bool {
    ids_of(SHARED).is_some_and(|shared| shared.uid == ids.uid)
}

fn ids_of(name: &str) -> Option<Ids> {
    User::from_name(name).ok().flatten().map(|user| Ids { uid: user.uid, gid: user.gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_user_of_its_own_a_database_runs_in_a_namespace() {
        let ids = |id| Ids { uid: Uid::from_raw(id), gid: Gid::from_raw(id) };
        let (postgres, nobody) = (ids(101), ids(65534));
        assert_eq!(
            candidates(Some(postgres), Some(postgres)),
            [Identity::User(postgres), Identity::Namespace(postgres)]
        );
        assert_eq!(candidates(None, Some(nobody)), [Identity::Namespace(nobody)]);
        assert_eq!(Identity::Namespace(nobody).owner(), None, "the files stay root's");
    }
}
