//! The errors of starting a server. An operator reads them, so each message is one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::version::MAJOR_MIN;

/// The reason why there is no database. Each message is one line that says what the operator can do.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    /// Another process holds the lock of the data folder.
    #[error(
        "the data folder {} is in use by another server (process {pid}): stop that one, or choose another folder",
        folder.display()
    )]
    InUse {
        /// The data folder.
        folder: PathBuf,
        /// The process id in the lock file; empty if it cannot be read.
        pid: String,
    },

    /// The data folder, or the database in it, belongs to another user.
    #[error(
        "{} belongs to user {owner}: run the server as that user, or choose another data folder",
        folder.display()
    )]
    NotOurs {
        /// The folder.
        folder: PathBuf,
        /// The user id of its owner.
        owner: u32,
    },

    /// The database belongs to the user `nobody`, as which an earlier release ran PostgreSQL.
    #[error(
        "the database {0} belongs to the user nobody, as which programs of any origin run: \
         create a user postgres, and give the database to it (chown -R postgres: {0})",
        folder.display()
    )]
    OwnedByNobody {
        /// The database.
        folder: PathBuf,
    },

    /// The data folder is writable by its group or by all users.
    #[error(
        "other users may write to {}: forbid it (chmod go-w), or choose another data folder",
        folder.display()
    )]
    OpenToOthers {
        /// The data folder.
        folder: PathBuf,
    },

    /// The database was created by a major version that is not installed.
    #[error(
        "the database in {} was created by PostgreSQL {made_by}, but {found}: install PostgreSQL {made_by}, \
         or name the folder of its programs in PG_BIN; where both versions are installed, \
         `mancala-server upgrade` moves the database to the newer one",
        folder.display()
    )]
    OtherVersion {
        /// The home of the database.
        folder: PathBuf,
        /// The major version that created it.
        made_by: u32,
        /// The finding of the search, as part of a sentence.
        found: String,
    },

    /// There is no database in the data folder.
    #[error("there is no database in {}: there is nothing to upgrade", folder.display())]
    NoDatabase {
        /// The data folder.
        folder: PathBuf,
    },

    /// No newer programs were found.
    #[error(
        "the database was created by PostgreSQL {from}, and no newer one was found: install it beside PostgreSQL {from}, \
         or name the folder of its programs with --programs"
    )]
    NothingNewer {
        /// The major version of the database.
        from: u32,
    },

    /// The named programs are not newer than the database.
    #[error("the database was created by PostgreSQL {from}, and PostgreSQL {to} is not newer")]
    NotNewer {
        /// The major version of the database.
        from: u32,
        /// The major version of the programs.
        to: u32,
    },

    /// A named folder holds no usable programs.
    #[error("{} does not hold the programs of PostgreSQL {MAJOR_MIN} or newer", folder.display())]
    NoPrograms {
        /// The folder.
        folder: PathBuf,
    },

    /// No programs that dump and restore were found.
    #[error(
        "pg_dump and pg_restore of PostgreSQL {server} or newer are needed, but {found}: install them \
         (Debian's package postgresql-client), or name their folder in PG_BIN"
    )]
    NoTools {
        /// The major version of the server.
        server: u32,
        /// The finding of the search, as part of a sentence.
        found: String,
    },

    /// A program that dumps or restores failed.
    #[error("{program} failed: {why}")]
    ToolFailed {
        /// The program.
        program: String,
        /// The reason, as it printed it.
        why: String,
    },

    /// The environment variable `PG_BIN` names no usable programs.
    #[error(
        "PG_BIN must name the folder that holds the programs of PostgreSQL {MAJOR_MIN} or newer, but {found}: \
         correct it, or unset it"
    )]
    PgBin {
        /// The finding of the search, as part of a sentence.
        found: String,
    },

    /// No usable PostgreSQL was found or downloaded.
    #[error(
        "PostgreSQL {MAJOR_MIN} or newer is needed, but {found}: install PostgreSQL, \
         or set DATABASE_URL to a database that is running, or use docker compose up"
    )]
    NoPostgres {
        /// The finding of the search, as part of a sentence.
        found: String,
    },

    /// This process runs as root, and the machine has no unprivileged user to run PostgreSQL.
    #[error(
        "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody to run it: \
         create postgres, or run the server as another user"
    )]
    NoUnprivilegedUser,

    /// This process runs as root, and no unprivileged identity can reach the data folder and the programs.
    #[error(
        "PostgreSQL refuses to run as root, and {identity} cannot reach {} or run {}: \
         make the folders above searchable (chmod o+x) for a user postgres, choose another data folder, or run the server as another user",
        folder.display(),
        programs.display()
    )]
    OutOfReach {
        /// The identity that was tried, as part of a sentence.
        identity: String,
        /// The home of the database.
        folder: PathBuf,
        /// The folder of the programs.
        programs: PathBuf,
    },

    /// The socket folder exists, and another user may control it.
    #[error(
        "the socket folder {} cannot be trusted, because {why}: \
         remove it, or choose a data folder with a shorter path",
        folder.display()
    )]
    SocketFolder {
        /// The socket folder.
        folder: PathBuf,
        /// The reason, as part of a sentence.
        why: String,
    },

    /// Processes of an earlier run did not end, not even when killed.
    #[error(
        "processes of an earlier run still work on {} and do not end: end {pids:?}, and start again",
        folder.display()
    )]
    Leftovers {
        /// The folder that they work on.
        folder: PathBuf,
        /// Their process ids.
        pids: Vec<i32>,
    },

    /// Creating the database failed.
    #[error("creating the database failed at {step}: {why} (more may be in {})", log.display())]
    InitFailed {
        /// The step that failed.
        step: &'static str,
        /// The reason, as the failed program printed it.
        why: String,
        /// The log file.
        log: PathBuf,
    },

    /// PostgreSQL ended before it was ready.
    #[error("PostgreSQL {how} instead of starting: {tail} (its log is {})", log.display())]
    Died {
        /// How it ended, as part of a sentence.
        how: String,
        /// The last lines of the log.
        tail: String,
        /// The log file.
        log: PathBuf,
    },

    /// PostgreSQL accepted no connections before the timeout.
    #[error("PostgreSQL was not ready after {waited_s} s: {tail} (its log is {})", log.display())]
    NotReady {
        /// The timeout, in seconds.
        waited_s: u64,
        /// The last lines of the log.
        tail: String,
        /// The log file.
        log: PathBuf,
    },

    /// An operation of the system failed.
    #[error("cannot {doing}: {source}")]
    Io {
        /// The operation and its object, after "cannot".
        doing: String,
        /// The cause.
        source: io::Error,
    },
}

/// Adds to a failed input or output the operation and its path.
pub(crate) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EmbeddedError {
    move |source| EmbeddedError::Io { doing: format!("{doing} {}", path.display()), source }
}
