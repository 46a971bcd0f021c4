//! How a process divides the files that it may open: connections of clients, to the database, and to services of others.

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use thiserror::Error;

/// The most connections of clients: those that wait for a game and as many that call. More wait to be accepted. An idle
/// connection takes some 10 KiB.
const CONNECTIONS_MAX: u64 = 12_288;

/// Files that each connection of a client has open: its socket, and a duplicate that closes it.
const FILES_EACH: u64 = 2;

/// The most attempts to send webhooks and push notifications at once. Each holds a connection and a TLS session: about 50 KiB.
const ATTEMPTS_MAX: u64 = 512;

/// Files for all other uses. 64 of them are for listeners, the log, the threads' own, the embedded PostgreSQL, and issuers'
/// documents and keys. Another 24 are for codes that issuers exchange, and 4 for mails.
const OTHERS: u64 = 92;

/// The least connections that are left to moves and health.
const LEFT_MIN: u64 = 8;

/// The least files for connections of clients. With fewer a server is of no use.
const CLIENTS_MIN: u64 = 64;

/// How many connections of each kind a process has at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlan {
    /// Connections of clients.
    pub connections: usize,
    /// The most client connections that are long polls or streams. The rest is for moves and health.
    pub waiters: usize,
    /// Attempts to send webhooks and push notifications.
    pub attempts: usize,
}

/// The process may open too few files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the process may open {allowed} files and needs at least {least}: raise the limit (ulimit -Hn)")]
pub struct TooFewFiles {
    pub allowed: u64,
    pub least: u64,
}

impl FilePlan {
    /// Raises the limit of open files as far as needed and allowed, because the usual limit (1,024) is too low for a server. Divides the
    /// files, of which `database` are connections to the database.
    pub fn of_process(database: u32) -> Result<Self, TooFewFiles> {
        let (usual, allowed) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or((1024, 1024));
        let wanted = CONNECTIONS_MAX * FILES_EACH + ATTEMPTS_MAX + OTHERS + u64::from(database);
        let wanted = wanted.min(allowed).max(usual);
        let files = if setrlimit(Resource::RLIMIT_NOFILE, wanted, allowed).is_ok() { wanted } else { usual };
        Self::of(files, database)
    }

    fn of(files: u64, database: u32) -> Result<Self, TooFewFiles> {
        let reserved = OTHERS + u64::from(database);
        let least = reserved + CLIENTS_MIN;
        if files < least {
            return Err(TooFewFiles { allowed: files, least });
        }
        let free = files - reserved;
        let attempts = (free / 8).min(ATTEMPTS_MAX);
        let connections = ((free - attempts) / FILES_EACH).min(CONNECTIONS_MAX);
        let count = |number: u64| usize::try_from(number).expect("12,288 is a usize everywhere");
        Ok(Self {
            connections: count(connections),
            waiters: count(connections - (connections / 6).max(LEFT_MIN)),
            attempts: count(attempts),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sixth_of_the_connections_is_left_to_moves_and_health() {
        for files in [256, 1024, 4096, 65_536, 1_048_576] {
            for database in [8, 39, 100] {
                let FilePlan { connections, waiters, attempts } = FilePlan::of(files, database).expect("enough");
                let open = 2 * connections as u64 + attempts as u64 + u64::from(database) + OTHERS;
                assert!(open <= files, "{open} of {files}");
                assert!(connections - waiters >= connections / 6 && connections - waiters >= 8, "{waiters} wait");
            }
        }
        let many = FilePlan::of(1_048_576, 39).expect("enough");
        assert_eq!((many.connections, many.waiters, many.attempts), (12_288, 10_240, 512));
    }

    #[test]
    fn too_few_files_are_refused() {
        assert_eq!(FilePlan::of(100, 39), Err(TooFewFiles { allowed: 100, least: 195 }));
        assert!(FilePlan::of(195, 39).is_ok());
    }
}
