//! The data folder of one server, and the database in it.
//!
//! Knows how a database is created atomically: complete, or not at all. Does not know how it runs: that is the
//! postmaster's.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::binaries::Binaries;
use crate::child;
use crate::error::{EmbeddedError, at};
use crate::file_system::{give, sync_file_system};
use crate::home::{self, DATA};
use crate::identity::Identity;
use crate::log::Log;
use crate::settings::{DATABASE, Durability, Settings, USER};
use crate::socket;
use crate::work_folder::work_folder;

/// A data folder that this process has locked, with a complete database in it.
///
/// The lock is held as long as this value lives. The kernel releases it when the process ends.
pub(crate) struct Cluster {
    pub binaries: Binaries,
    pub identity: Identity,
    pub durability: Durability,
    /// PostgreSQL's own folder. It is complete if it exists: it is created elsewhere and moved here by one rename.
    pub data: PathBuf,
    pub socket_folder: PathBuf,
    pub log: Log,
    lock: File,
}

/// Creating a database takes a second; on a slow disk, minutes.
const CREATE_MAX: Duration = Duration::from_mins(3);

impl Cluster {
    /// Locks the data folder for this process, and creates the database if there is none.
    pub(crate) fn open(settings: &Settings) -> Result<Self, EmbeddedError> {
        let folder = home::own_folder(&settings.folder)?;
        let lock = home::lock_folder(&folder)?;
        let fallback = home::fallback(&folder);
        let existing = home::existing(&folder, &fallback)?;
        let (home, binaries, identity) = if let Some((home, major)) = existing {
            let binaries = Binaries::find(Some(major), home)?;
            let identity = home::owner_of(home, &binaries)?;
            (home, binaries, identity)
        } else {
            let binaries = Binaries::find(None, &folder)?;
            let (home, identity) = home::choose_home(&folder, &fallback, &binaries)?;
            (home, binaries, identity)
        };
        let cluster = Self {
            binaries,
            identity,
            durability: settings.durability,
            data: home.join(DATA),
            socket_folder: socket::place(home),
            log: Log::in_folder(&folder),
            lock,
        };
        if existing.is_none() {
            cluster.create(home)?;
        }
        Ok(cluster)
    }

    /// Locks the data folder for this process. There must be a database.
    pub(crate) fn open_existing(folder: &Path) -> Result<Self, EmbeddedError> {
        let fallback = home::fallback(&folder.canonicalize().map_err(at("open the data folder", folder))?);
        match home::existing(folder, &fallback)? {
            Some(_) => Self::open(&Settings { folder: folder.to_owned(), durability: Durability::Durable }),
            None => Err(EmbeddedError::NoDatabase { folder: folder.to_owned() }),
        }
    }

    /// A cluster of other programs in another folder, which lies in the home of this one and shares its lock. Its database does
    /// not exist yet.
    pub(crate) fn beside(&self, binaries: Binaries, folder: &Path) -> Result<Self, EmbeddedError> {
        Ok(Self {
            binaries,
            identity: self.identity,
            durability: self.durability,
            data: folder.join(DATA),
            socket_folder: socket::place(folder),
            log: self.log.clone(),
            lock: self.lock.try_clone().map_err(at("share the lock of", folder))?,
        })
    }

    /// Creates the database of a cluster from [`Self::beside`].
    pub(crate) fn create_at(&self, folder: &Path) -> Result<(), EmbeddedError> {
        self.create(folder)
    }

    /// The folder that the database lies in.
    pub(crate) fn home(&self) -> &Path {
        self.data.parent().expect("the database lies in a folder")
    }

    /// Gives a folder to the user who runs PostgreSQL.
    pub(crate) fn hand_over(&self, folder: &Path) -> Result<(), EmbeddedError> {
        self.identity.owner().map_or(Ok(()), |ids| give(folder, ids))
    }

    /// Builds the command of a PostgreSQL program, to run as the owner of the database.
    pub(crate) fn command(&self, program: &str, on_parent_death: Signal) -> Command {
        child::command(&self.binaries.program(program), self.identity, on_parent_death)
    }

    /// Creates the database under another name. When all of it is on disk, one rename puts it in place.
    fn create(&self, home: &Path) -> Result<(), EmbeddedError> {
        let major = self.binaries.major;
        tracing::info!("creating a database with PostgreSQL {major} in {}", home.display());
        let partial = work_folder(home, "initdb-")?;
        if let Some(ids) = self.identity.owner() {
            give(&partial, ids)?;
        }
        self.step("initdb", &mut self.initdb(&partial))?;
        self.step("the first statements", &mut self.first_statements(&partial)?)?;
        let is_durable = self.durability == Durability::Durable;
        if is_durable {
            sync_file_system(&partial)?;
        }
        fs::rename(&partial, &self.data).map_err(at("move the new database to", &self.data))?;
        if is_durable {
            File::open(home).and_then(|home| home.sync_all()).map_err(at("sync", home))?;
        }
        Ok(())
    }

    fn initdb(&self, data: &Path) -> Command {
        let mut initdb = self.command("initdb", Signal::SIGKILL);
        initdb
            .arg("-D")
            .arg(data)
            .args(["--username=postgres", "--encoding=UTF8", "--data-checksums"])
            // The mode of the socket folder decides which users may connect. A TCP port, if one is opened, rejects all.
            .args(["--auth-local=trust", "--auth-host=reject"])
            // A single sync follows at the end.
            .args(["--no-instructions", "--no-sync"])
            .args(locale(self.binaries.major));
        initdb
    }

    /// PostgreSQL in single-user mode: it runs one statement per line, and ends at the first error or after the last
    /// line.
    fn first_statements(&self, data: &Path) -> Result<Command, EmbeddedError> {
        let (read, mut write) = io::pipe().map_err(at("create a pipe for", data))?;
        // The statements fit the pipe, so that this does not wait for a reader.
        writeln!(write, "create role {USER} login createdb;\ncreate database {DATABASE} owner {USER};")
            .map_err(at("write to the pipe for", data))?;
        let mut single = self.command("postgres", Signal::SIGKILL);
        single
            .arg("--single")
            .arg("-D")
            .arg(data)
            .args(["-c", "exit_on_error=on", "-c", "fsync=off", "postgres"])
            .stdin(read);
        Ok(single)
    }

    fn step(&self, step: &'static str, command: &mut Command) -> Result<(), EmbeddedError> {
        let failed = |why| EmbeddedError::InitFailed { step, why, log: self.log.path().to_owned() };
        let ended = child::run(command, CREATE_MAX).map_err(|error| failed(error.to_string()))?;
        if ended.status.success() {
            return Ok(());
        }
        self.log.append(&[&ended.stdout, &ended.stderr])?;
        Err(failed(child::reason(&ended.stderr)))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The folder may lie outside of the data folder. It is empty now, unless PostgreSQL could not be stopped.
        let _ = fs::remove_dir(&self.socket_folder);
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { binaries, identity, data, .. } = self;
        write!(f, "{} (PostgreSQL {}, run by {identity})", data.display(), binaries.major)
    }
}

/// The same collation and case rules on every machine: UTF-8 by code point, from PostgreSQL itself where it has them.
fn locale(major: u32) -> &'static [&'static str] {
    match major {
        17.. => &["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
        _ => &["--locale=C.UTF-8"],
    }
}
