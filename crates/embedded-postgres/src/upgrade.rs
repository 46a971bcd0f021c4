//! The way of a database to another major version. It is dumped from its own PostgreSQL and restored into a new one
//! beside it. One step of the file system exchanges the two.
//!
//! Until that step nothing of the old database changes, and afterwards all of it is kept.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::binaries::Binaries;
use crate::cluster::Cluster;
use crate::error::{EmbeddedError, at};
use crate::file_system::sync_file_system;
use crate::home::{DATA, made_by};
use crate::postmaster::Postmaster;
use crate::settings::{DATABASE, PORT, USER};
use crate::stop;
use crate::tools;
use crate::work_folder::{interrupted, work_folder};

/// The start of the names of folders that upgrades work in.
const WORK: &str = "upgrade-";

/// The end of the name of a database that is on its way out of its place, where the system cannot exchange two folders.
const ASIDE: &str = "aside";

/// A finished upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upgraded {
    /// The major version before.
    pub from: u32,
    /// The major version now.
    pub to: u32,
    /// Where the old database lies. It is complete.
    pub kept: PathBuf,
}

/// Moves the database in `folder` to the programs in `programs`, or to the newest that are found. Blocks.
///
/// # Errors
/// Nothing has changed: the database is in use, there is none, its own programs or newer ones are missing, or a step failed.
pub fn upgrade(folder: &Path, programs: Option<&Path>) -> Result<Upgraded, EmbeddedError> {
    // The kernel ends PostgreSQL when the thread that started it ends, so one thread does it all.
    let (folder, programs) = (folder.to_owned(), programs.map(Path::to_owned));
    let work = move || run(&folder, programs.as_deref());
    let failed = |source| EmbeddedError::Io { doing: "upgrade PostgreSQL".to_owned(), source };
    let thread = thread::Builder::new().name("upgrade".to_owned()).spawn(work).map_err(failed)?;
    thread.join().unwrap_or_else(|_| Err(failed(std::io::Error::other("its thread panicked"))))
}

fn run(folder: &Path, programs: Option<&Path>) -> Result<Upgraded, EmbeddedError> {
    let old = Cluster::open_existing(folder)?;
    let from = old.binaries.major;
    keep_former(old.home(), from)?;
    let new = match programs {
        Some(programs) => Binaries::in_folder(programs)?,
        None => Binaries::newest().filter(|new| new.major > from).ok_or(EmbeddedError::NothingNewer { from })?,
    };
    if new.major <= from {
        return Err(EmbeddedError::NotNewer { from, to: new.major });
    }
    move_to(&old, new)
}

/// Moves a database to other programs.
fn move_to(old: &Cluster, new: Binaries) -> Result<Upgraded, EmbeddedError> {
    let (from, to) = (old.binaries.major, new.major);
    let home = old.home().to_owned();
    let work = work_folder(&home, WORK)?;
    old.hand_over(&work)?;
    let new = old.beside(new, &work)?;
    let dump = work.join("dump");
    tracing::info!("dumping the database with PostgreSQL {from}");
    with_postmaster(old, || tools::run(&mut client(old, "pg_dump", &dump_arguments(&dump))))?;
    tracing::info!("restoring the database with PostgreSQL {to}");
    new.create_at(&work)?;
    with_postmaster(&new, || tools::run(&mut client(&new, "pg_restore", &restore_arguments(&dump))))?;
    fs::remove_file(&dump).map_err(at("remove", &dump))?;
    sync_file_system(&work)?;
    exchange(&new.data, &old.data)?;
    let kept = keep(&new.data, &home, from)?;
    drop(new);
    fs::remove_dir_all(&work).map_err(at("remove", &work))?;
    Ok(Upgraded { from, to, kept })
}

/// Keeps the former database of an upgrade that ended after the exchange: it lies in the work folder still. Its major version is
/// lower than the present one; that of a new database before the exchange is higher.
fn keep_former(home: &Path, present: u32) -> Result<(), EmbeddedError> {
    for work in interrupted(home, WORK)? {
        for data in [work.join(DATA), work.join(DATA).with_extension(ASIDE)] {
            if let Some(from) = made_by(&data)?.filter(|major| *major < present) {
                let kept = keep(&data, home, from)?;
                tracing::info!("the former database of an interrupted upgrade is kept in {}", kept.display());
            }
        }
    }
    Ok(())
}

/// Moves a former database out of a work folder, to a name of its own.
fn keep(data: &Path, home: &Path, from: u32) -> Result<PathBuf, EmbeddedError> {
    let kept = kept(home, from);
    fs::rename(data, &kept).map_err(at("move the old database to", &kept))?;
    File::open(home).and_then(|home| home.sync_all()).map_err(at("sync", home))?;
    Ok(kept)
}

/// Runs a cluster's PostgreSQL while `work` runs.
fn with_postmaster(cluster: &Cluster, work: impl FnOnce() -> Result<(), EmbeddedError>) -> Result<(), EmbeddedError> {
    let (_stop, request) = stop::channel();
    let postmaster = Postmaster::launch(cluster, &request)?.expect("no stop is requested");
    work()?;
    drop(postmaster);
    Ok(())
}

/// A client program that connects to a cluster as the owner of its database.
fn client(cluster: &Cluster, program: &str, arguments: &[OsString]) -> Command {
    let mut command = cluster.command(program, nix::sys::signal::Signal::SIGKILL);
    command.arg("--host").arg(&cluster.socket_folder).args(["--port", &PORT.to_string(), "--username", USER]);
    command.args(arguments);
    command
}

fn dump_arguments(dump: &Path) -> [OsString; 5] {
    let [format, compress] = ["--format=custom", "--compress=0"].map(OsString::from);
    [format, compress, "--file".into(), dump.into(), DATABASE.into()]
}

fn restore_arguments(dump: &Path) -> [OsString; 5] {
    let [owner, exit] = ["--no-owner", "--exit-on-error"].map(OsString::from);
    [owner, exit, "--dbname".into(), DATABASE.into(), dump.into()]
}

/// Exchanges both folders at once: a crash leaves the one or the other in place.
fn exchange(new: &Path, old: &Path) -> Result<(), EmbeddedError> {
    #[cfg(target_os = "linux")]
    {
        use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
        let exchanged = renameat2(AT_FDCWD, new, AT_FDCWD, old, RenameFlags::RENAME_EXCHANGE);
        exchanged.map_err(|error| at("exchange the new database with", old)(error.into()))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let aside = new.with_extension(ASIDE);
        fs::rename(old, &aside).map_err(at("move", old))?;
        fs::rename(new, old).map_err(at("move", new))?;
        fs::rename(&aside, new).map_err(at("move", &aside))
    }
}

/// Where the old database is kept: a name that is free.
fn kept(home: &Path, from: u32) -> PathBuf {
    let names = (1..).map(|n| if n == 1 { format!("pgdata-{from}") } else { format!("pgdata-{from}-{n}") });
    let mut folders = names.map(|name| home.join(name));
    folders.find(|folder| fs::symlink_metadata(folder).is_err()).expect("some name is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Durability, Settings};

    /// The folder of a test, gone with it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("mancala-upgrade-{name}-{}", std::process::id()));
            fs::create_dir(&path).expect("a folder");
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn psql(cluster: &Cluster, statement: &str) {
        let arguments = ["--dbname", DATABASE, "--command", statement].map(OsString::from);
        with_postmaster(cluster, || tools::run(&mut client(cluster, "psql", &arguments))).expect(statement);
    }

    #[test]
    fn a_move_keeps_every_row_and_the_former_database() {
        let folder = Folder::new("move");
        let settings = Settings { folder: folder.0.clone(), durability: Durability::Ephemeral };
        let old = Cluster::open(&settings).expect("a database");
        psql(&old, "create table kept as select 1 / count(*) from pg_class");
        // Programs of the same version do what newer ones do.
        let moved = move_to(&old, old.binaries.clone()).expect("it moves");
        assert_eq!(moved.kept, old.home().join(format!("pgdata-{}", moved.from)));
        assert_eq!(made_by(&moved.kept).expect("a version"), Some(moved.from));
        assert!(interrupted(old.home(), WORK).expect("a list").is_empty());
        psql(&old, "select 1 / count(*) from kept");
    }

    #[test]
    fn the_former_database_of_an_interrupted_upgrade_is_kept() {
        let folder = Folder::new("interrupted");
        let home = &folder.0;
        for (work, data, major) in [("one", DATA, "15\n"), ("two", "pgdata.aside", "15\n"), ("three", DATA, "18\n")] {
            let data = home.join(format!("{WORK}{work}")).join(data);
            fs::create_dir_all(&data).expect("a folder");
            fs::write(data.join("PG_VERSION"), major).expect("a file");
        }
        keep_former(home, 17).expect("they are kept");
        work_folder(home, WORK).expect("a folder");
        let found = |name| made_by(&home.join(name)).expect("a version");
        assert_eq!([found("pgdata-15"), found("pgdata-15-2"), found("pgdata-18")], [Some(15), Some(15), None]);
        assert_eq!(interrupted(home, WORK).expect("a list").len(), 1, "the rest is removed");
    }
}
