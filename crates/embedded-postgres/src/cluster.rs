//! The data folder: its one owner, the database in it, and the user who may run it.
//!
//! Knows how a database is made so that it is whole or not there. Does not know how it runs: that is the postmaster's.

use std::fmt;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, lchown};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Uid, geteuid, mkdtemp};

use super::binaries::{self, Binaries};
use super::child::{self, Identity, Ids, POLL_EVERY};
use super::error::{EmbeddedError, at};
use super::log::Log;
use super::{DATABASE, Durability, Settings, USER, leftovers, socket};

/// A data folder that we own, with a whole database in it.
///
/// The lock is held for as long as this value lives; the kernel lets go of it when the process ends, however it ends.
pub(super) struct Cluster {
    pub binaries: Binaries,
    pub identity: Identity,
    pub durability: Durability,
    /// PostgreSQL's own folder. It is whole whenever it exists: it is made elsewhere and moved here by one rename.
    pub data: PathBuf,
    pub socket_folder: PathBuf,
    pub log: Log,
    _lock: File,
}

/// PostgreSQL's folder within the data folder.
const DATA: &str = "pgdata";
/// Where root's databases go that no other user could reach, when there are no user namespaces to map root in.
const FALLBACK: &str = "/var/lib/mancala-server";

/// A process that was killed a moment ago may still be letting go of its lock.
const LOCK_MAX: Duration = Duration::from_millis(500);
/// Making a database takes a second; on a slow disk, minutes.
const MAKE_MAX: Duration = Duration::from_mins(3);

impl Cluster {
    /// Takes the data folder for this process, and makes the database where there is none.
    pub(super) fn open(settings: &Settings) -> Result<Self, EmbeddedError> {
        let folder = own_folder(&settings.folder)?;
        let lock = lock_folder(&folder)?;
        let fallback = fallback(&folder);
        let mut existing = None;
        for home in [folder.as_path(), &fallback] {
            existing = existing.or(made_by(&home.join(DATA))?.map(|major| (home, major)));
        }
        let (home, binaries, identity) = if let Some((home, major)) = existing {
            let binaries = Binaries::find(Some(major), home)?;
            let identity = owner_of(home, &binaries)?;
            (home, binaries, identity)
        } else {
            let binaries = Binaries::find(None, &folder)?;
            let (home, identity) = choose_home(&folder, &fallback, &binaries)?;
            (home, binaries, identity)
        };
        let cluster = Self {
            binaries,
            identity,
            durability: settings.durability,
            data: home.join(DATA),
            socket_folder: socket::place(home),
            log: Log::in_folder(&folder),
            _lock: lock,
        };
        if existing.is_none() {
            cluster.make(home)?;
        }
        Ok(cluster)
    }

    /// One of PostgreSQL's programs, run by the user who owns the database.
    pub(super) fn command(&self, program: &str, on_our_death: Signal) -> Command {
        child::command(&self.binaries.program(program), self.identity, on_our_death)
    }

    /// Makes the database under another name; one rename, after all of it is on disk, makes it the database.
    fn make(&self, home: &Path) -> Result<(), EmbeddedError> {
        let major = self.binaries.major;
        tracing::info!("making a database with PostgreSQL {major} in {}", home.display());
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
            // Who may connect is for the socket's folder to say; a TCP port, should somebody open one, lets nobody in.
            .args(["--auth-local=trust", "--auth-host=reject"])
            // We sync once, at the end.
            .args(["--no-instructions", "--no-sync"])
            .args(locale(self.binaries.major));
        initdb
    }

    /// PostgreSQL without connections: it runs a statement a line, and ends with the first error or the last line.
    fn first_statements(&self, data: &Path) -> Result<Command, EmbeddedError> {
        let (read, mut write) = io::pipe().map_err(at("make a pipe for", data))?;
        // They fit the pipe, so that this does not wait for a reader.
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
        let ended = child::run(command, MAKE_MAX).map_err(|error| failed(error.to_string()))?;
        if ended.status.success() {
            return Ok(());
        }
        self.log.append(&[&ended.stdout, &ended.stderr])?;
        Err(failed(child::reason(&ended.stderr)))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // One outside the data folder would be left behind. It is empty now, unless PostgreSQL could not be stopped.
        let _ = fs::remove_dir(&self.socket_folder);
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { binaries, identity, data, .. } = self;
        write!(f, "{} (PostgreSQL {}, run by {identity})", data.display(), binaries.major)
    }
}

/// The data folder, made when missing, checked to be ours.
fn own_folder(folder: &Path) -> Result<PathBuf, EmbeddedError> {
    let failed = at("use the data folder", folder);
    // Root's PostgreSQL runs as another user, who must be able to pass; nobody else needs more.
    let mode = if geteuid().is_root() { 0o711 } else { 0o700 };
    let used = || -> io::Result<_> {
        DirBuilder::new().recursive(true).mode(mode).create(folder)?;
        let folder = folder.canonicalize()?;
        let (found, is_empty) = (fs::metadata(&folder)?, fs::read_dir(&folder)?.next().is_none());
        // One that is empty, or was used by us before, is for this alone: its mode is ours to set.
        let is_for_this = found.uid() == geteuid().as_raw() && (is_empty || folder.join("lock").exists());
        if is_for_this {
            fs::set_permissions(&folder, Permissions::from_mode(mode))?;
        }
        Ok((folder, found, is_for_this))
    };
    match used().map_err(failed)? {
        (folder, found, _) if found.uid() != geteuid().as_raw() => {
            Err(EmbeddedError::NotOurs { folder, owner: found.uid() })
        }
        (folder, found, false) if found.mode() & 0o022 != 0 => Err(EmbeddedError::OpenToOthers { folder }),
        (folder, ..) => Ok(folder),
    }
}

fn lock_folder(folder: &Path) -> Result<File, EmbeddedError> {
    let path = folder.join("lock");
    lock(&path, LOCK_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let pid = fs::read_to_string(&path).unwrap_or_default();
            EmbeddedError::InUse { folder: folder.to_owned(), pid }
        }
        _ => at("lock", &path)(error),
    })
}

/// Takes the lock that `path` stands for, within `limit`, and writes our process id into it.
pub(super) fn lock(path: &Path, limit: Duration) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)?;
    let deadline = Instant::now() + limit;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => thread::sleep(POLL_EVERY),
            Err(error) => return Err(error.into()),
        }
    }
    file.set_len(0)?;
    write!(file, "{}", std::process::id())?;
    Ok(file)
}

/// The fallback of a data folder: always the same one, and no other folder's.
fn fallback(folder: &Path) -> PathBuf {
    Path::new(FALLBACK).join(socket::hash_of(folder))
}

/// The major version that made the database in `data`, if there is one.
fn made_by(data: &Path) -> Result<Option<u32>, EmbeddedError> {
    let path = data.join("PG_VERSION");
    let no_version = || io::Error::new(io::ErrorKind::InvalidData, "it holds no version");
    match fs::read_to_string(&path).and_then(|text| binaries::major(&text).ok_or_else(no_version)) {
        Ok(major) => Ok(Some(major)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("read", &path)(error)),
    }
}

/// As whom PostgreSQL must run on the database that is in `home`: as its owner.
fn owner_of(home: &Path, binaries: &Binaries) -> Result<Identity, EmbeddedError> {
    let data = home.join(DATA);
    let found = fs::metadata(&data).map_err(at("look at", &data))?;
    let owner = Ids { uid: Uid::from_raw(found.uid()), gid: Gid::from_raw(found.gid()) };
    let identity = match (geteuid().is_root(), owner.uid.is_root()) {
        (true, false) => Identity::User(owner),
        (true, true) => Identity::Namespace(unprivileged()?),
        (false, _) if owner.uid == geteuid() => Identity::Own,
        (false, _) => {
            return Err(EmbeddedError::NotOurs { folder: data, owner: found.uid() });
        }
    };
    if reach(binaries, home, identity)? { Ok(identity) } else { Err(out_of_reach(binaries, home, identity)) }
}

/// Where a new database goes, and as whom PostgreSQL shall run on it: `folder`, if there is a way.
fn choose_home<'a>(
    folder: &'a Path,
    fallback: &'a Path,
    binaries: &Binaries,
) -> Result<(&'a Path, Identity), EmbeddedError> {
    if !geteuid().is_root() {
        return Ok((folder, Identity::Own));
    }
    let ids = unprivileged()?;
    for identity in [Identity::User(ids), Identity::Namespace(ids)] {
        if reach(binaries, folder, identity)? {
            return Ok((folder, identity));
        }
    }
    own_folder(fallback)?;
    let identity = Identity::User(ids);
    if !reach(binaries, fallback, identity)? {
        return Err(out_of_reach(binaries, folder, identity));
    }
    tracing::warn!("{identity} cannot reach {}: the database is in {}", folder.display(), fallback.display());
    Ok((fallback, identity))
}

fn unprivileged() -> Result<Ids, EmbeddedError> {
    child::unprivileged().ok_or(EmbeddedError::NoUnprivilegedUser)
}

fn reach(binaries: &Binaries, folder: &Path, identity: Identity) -> Result<bool, EmbeddedError> {
    binaries.reach(folder, identity).map_err(at("try the programs in", binaries.folder()))
}

fn out_of_reach(binaries: &Binaries, folder: &Path, identity: Identity) -> EmbeddedError {
    let (folder, programs) = (folder.to_owned(), binaries.folder().to_owned());
    EmbeddedError::OutOfReach { who: identity.to_string(), folder, programs }
}

/// A new folder in `parent` for work that may be cut short; those in which it was are removed. No name is used twice: a
/// program that outlived its server cannot write into the new one.
pub(super) fn work_folder(parent: &Path, prefix: &str) -> Result<PathBuf, EmbeddedError> {
    for entry in fs::read_dir(parent).map_err(at("look into", parent))?.flatten() {
        let old = entry.path();
        if entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
            leftovers::end(&old, Duration::ZERO)?;
            fs::remove_dir_all(&old).map_err(at("remove the unfinished", &old))?;
        }
    }
    mkdtemp(&parent.join(format!("{prefix}XXXXXX"))).map_err(|error| at("write to", parent)(error.into()))
}

/// The same order and case rules on every machine: UTF-8 by code point, from PostgreSQL itself where it has them.
fn locale(major: u32) -> &'static [&'static str] {
    match major {
        17.. => &["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
        _ => &["--locale=C.UTF-8"],
    }
}

/// Makes `path`, which is ours, another user's; a link, should there be one by now, is not followed.
pub(super) fn give(path: &Path, to: Ids) -> Result<(), EmbeddedError> {
    lchown(path, Some(to.uid.as_raw()), Some(to.gid.as_raw())).map_err(at("give away", path))
}

/// Writes all that the file system of `folder` has in memory to disk.
pub(super) fn sync_file_system(folder: &Path) -> Result<(), EmbeddedError> {
    #[cfg(target_os = "linux")]
    let synced = File::open(folder).and_then(|folder| Ok(nix::unistd::syncfs(folder)?));
    #[cfg(not(target_os = "linux"))]
    let synced = {
        nix::unistd::sync();
        Ok(())
    };
    synced.map_err(at("sync", folder))
}

pub(super) fn remove_file_if_there(path: &Path) -> Result<(), EmbeddedError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_fallback_and_shares_it_with_no_other() {
        let of = |folder| fallback(Path::new(folder));
        assert_eq!(of("/root/data"), Path::new("/var/lib/mancala-server/09752435bb7e5347"));
        assert_ne!(of("/root/data"), of("/root/data2"));
    }
}
