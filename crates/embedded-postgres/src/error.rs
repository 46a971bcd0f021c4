//! Why there is no database: what the operator reads, so each message is one line that says what to do.

use std::io;
use std::path::{Path, PathBuf};

use super::binaries::MAJOR_MIN;

/// Why there is no database. Each message is one line that says what to do.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error(
        "the data folder {} is in use by another server (process {pid}): stop that one, or choose another folder",
        folder.display()
    )]
    InUse { folder: PathBuf, pid: String },

    #[error(
        "{} belongs to user {owner}: run the server as that user, or choose another data folder",
        folder.display()
    )]
    NotOurs { folder: PathBuf, owner: u32 },

    #[error(
        "others may write to {}: forbid it (chmod go-w), or choose another data folder",
        folder.display()
    )]
    OpenToOthers { folder: PathBuf },

    #[error(
        "the database in {} was made by PostgreSQL {made_by}, but {found}: install PostgreSQL {made_by}, \
         name the folder of its programs in PG_BIN, or choose another data folder",
        folder.display()
    )]
    OtherVersion { folder: PathBuf, made_by: u32, found: String },

    #[error(
        "PG_BIN must name the folder that holds the programs of PostgreSQL {MAJOR_MIN} or newer, but {found}: \
         correct it, or unset it"
    )]
    PgBin { found: String },

    #[error(
        "PostgreSQL {MAJOR_MIN} or newer is needed, but {found}: install PostgreSQL, \
         or set DATABASE_URL to a database that is running, or use docker compose up"
    )]
    NoPostgres { found: String },

    #[error(
        "PostgreSQL refuses to run as root, and there is neither a user postgres nor nobody to run it: \
         create one, or run the server as another user"
    )]
    NoUnprivilegedUser,

    #[error(
        "PostgreSQL refuses to run as root, and {who} cannot reach {} or run {}: \
         make the folders above searchable (chmod o+x), choose another data folder, or run the server as another user",
        folder.display(),
        programs.display()
    )]
    OutOfReach { who: String, folder: PathBuf, programs: PathBuf },

    #[error(
        "the socket folder {} cannot be trusted, because {why}: \
         remove it, or choose a data folder with a shorter path",
        folder.display()
    )]
    SocketFolder { folder: PathBuf, why: String },

    #[error(
        "processes of an earlier run still work on {} and do not end: end {pids:?}, and start again",
        folder.display()
    )]
    Leftovers { folder: PathBuf, pids: Vec<i32> },

    #[error("making the database failed at {step}: {why} (more may be in {})", log.display())]
    InitFailed { step: &'static str, why: String, log: PathBuf },

    #[error("PostgreSQL {how} instead of starting: {tail} (its log is {})", log.display())]
    Died { how: String, tail: String, log: PathBuf },

    #[error("PostgreSQL was not ready after {waited_s} s: {tail} (its log is {})", log.display())]
    NotReady { waited_s: u64, tail: String, log: PathBuf },

    #[error("cannot {doing}: {source}")]
    Io { doing: String, source: io::Error },
}

/// Says what was being done, and to what, when an input or output failed.
pub(super) fn at(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> EmbeddedError {
    move |source| EmbeddedError::Io { doing: format!("{doing} {}", path.display()), source }
}
