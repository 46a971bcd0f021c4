//! The folder that a database lies in, and the user who may run it.
//!
//! Knows owners, modes and fallbacks. Does not know how a database is created or run.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::{Gid, Uid, geteuid};

use crate::binaries::Binaries;
use crate::error::{EmbeddedError, at};
use crate::file_system::{is_own_lock, lock};
use crate::identity::{self, Identity, Ids};
use crate::socket;
use crate::version::parse_major;

/// PostgreSQL's folder within the home of a database.
pub(crate) const DATA: &str = "pgdata";
/// The parent of root's databases if no other user can reach the data folder, and there are no user namespaces.
const FALLBACK: &str = "/var/lib/mancala-server";

/// A process that was killed a moment ago may still hold its lock.
const LOCK_MAX: Duration = Duration::from_millis(500);

/// The data folder, created if it is missing. Checks that it belongs to our user.
pub(crate) fn own_folder(folder: &Path) -> Result<PathBuf, EmbeddedError> {
    let failed = at("use the data folder", folder);
    // Root's PostgreSQL runs as another user, which must be able to search the folder. No other user needs more.
    let mode = if geteuid().is_root() { 0o711 } else { 0o700 };
    let open = || -> io::Result<_> {
        DirBuilder::new().recursive(true).mode(mode).create(folder)?;
        let folder = folder.canonicalize()?;
        let (found, is_empty) = (fs::metadata(&folder)?, fs::read_dir(&folder)?.next().is_none());
        // A folder that is empty or has our lock is for this database alone, so that its mode may be set.
        let is_dedicated = found.uid() == geteuid().as_raw() && (is_empty || is_own_lock(&folder.join("lock")));
        if is_dedicated {
            fs::set_permissions(&folder, Permissions::from_mode(mode))?;
        }
        Ok((folder, found, is_dedicated))
    };
    match open().map_err(failed)? {
        (folder, found, _) if found.uid() != geteuid().as_raw() => {
            Err(EmbeddedError::NotOurs { folder, owner: found.uid() })
        }
        (folder, found, false) if found.mode() & 0o022 != 0 => Err(EmbeddedError::OpenToOthers { folder }),
        (folder, ..) => Ok(folder),
    }
}

/// Takes the lock of the data folder for this process.
pub(crate) fn lock_folder(folder: &Path) -> Result<File, EmbeddedError> {
    let path = folder.join("lock");
    lock(&path, LOCK_MAX).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let pid = fs::read_to_string(&path).unwrap_or_default();
            EmbeddedError::InUse { folder: folder.to_owned(), pid }
        }
        _ => at("lock", &path)(error),
    })
}

/// The fallback of a data folder: the same in every run, and different for every folder.
pub(crate) fn fallback(folder: &Path) -> PathBuf {
    Path::new(FALLBACK).join(socket::hash_of(folder))
}

/// The major version that created the database in `data`, if there is one.
pub(crate) fn made_by(data: &Path) -> Result<Option<u32>, EmbeddedError> {
    let path = data.join("PG_VERSION");
    let no_version = || io::Error::new(io::ErrorKind::InvalidData, "it contains no version");
    match fs::read_to_string(&path).and_then(|text| parse_major(&text).ok_or_else(no_version)) {
        Ok(major) => Ok(Some(major)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at("read", &path)(error)),
    }
}

/// The home of the database of a data folder, and the major version that created it, if there is one.
pub(crate) fn existing<'a>(folder: &'a Path, fallback: &'a Path) -> Result<Option<(&'a Path, u32)>, EmbeddedError> {
    for home in [folder, fallback] {
        if let Some(major) = made_by(&home.join(DATA))? {
            return Ok(Some((home, major)));
        }
    }
    Ok(None)
}

/// The socket folder of the PostgreSQL that another process runs on a data folder; `None` if none does.
#[must_use]
pub fn socket_of_running(folder: &Path) -> Option<PathBuf> {
    let folder = folder.canonicalize().ok()?;
    if lock(&folder.join("lock"), Duration::ZERO).is_ok() {
        return None;
    }
    let fallback = fallback(&folder);
    let (home, _) = existing(&folder, &fallback).ok()??;
    Some(socket::place(home)).filter(|place| socket::is_open(place))
}

/// The identity that PostgreSQL must run with on the existing database in `home`: its owner's.
pub(crate) fn owner_of(home: &Path, binaries: &Binaries) -> Result<Identity, EmbeddedError> {
    let data = home.join(DATA);
    let found = fs::metadata(&data).map_err(at("read the metadata of", &data))?;
    let owner = Ids { uid: Uid::from_raw(found.uid()), gid: Gid::from_raw(found.gid()) };
    let identity = match (geteuid().is_root(), owner.uid.is_root()) {
        (true, false) if identity::is_shared(owner) => return Err(EmbeddedError::OwnedByNobody { folder: data }),
        (true, false) => Identity::User(owner),
        (true, true) => Identity::Namespace(identity::inner().ok_or(EmbeddedError::NoUnprivilegedUser)?),
        (false, _) if owner.uid == geteuid() => Identity::Own,
        (false, _) => {
            return Err(EmbeddedError::NotOurs { folder: data, owner: found.uid() });
        }
    };
    if reach(binaries, home, identity)? { Ok(identity) } else { Err(out_of_reach(binaries, home, identity)) }
}

/// The home of a new database, and the identity that PostgreSQL runs with: `folder`, unless no identity can reach it.
pub(crate) fn choose_home<'a>(
    folder: &'a Path,
    fallback: &'a Path,
    binaries: &Binaries,
) -> Result<(&'a Path, Identity), EmbeddedError> {
    if !geteuid().is_root() {
        return Ok((folder, Identity::Own));
    }
    let candidates = identity::for_root();
    for &identity in &candidates {
        if reach(binaries, folder, identity)? {
            return Ok((folder, identity));
        }
    }
    let Some(&identity) = candidates.first() else { return Err(EmbeddedError::NoUnprivilegedUser) };
    // The files of a namespace are root's, who reaches every folder.
    if !matches!(identity, Identity::User(_)) {
        return Err(out_of_reach(binaries, folder, identity));
    }
    own_folder(fallback)?;
    if !reach(binaries, fallback, identity)? {
        return Err(out_of_reach(binaries, folder, identity));
    }
    tracing::warn!("{identity} cannot reach {}: the database is in {}", folder.display(), fallback.display());
    Ok((fallback, identity))
}

fn reach(binaries: &Binaries, folder: &Path, identity: Identity) -> Result<bool, EmbeddedError> {
    binaries.reach(folder, identity).map_err(at("run the programs in", binaries.folder()))
}

fn out_of_reach(binaries: &Binaries, folder: &Path, identity: Identity) -> EmbeddedError {
    let (folder, programs) = (folder.to_owned(), binaries.folder().to_owned());
    EmbeddedError::OutOfReach { identity: identity.to_string(), folder, programs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_has_a_fallback_of_its_own() {
        let of = |folder| fallback(Path::new(folder));
        assert_eq!(of("/root/data"), Path::new("/var/lib/mancala-server/09752435bb7e5347"));
        assert_ne!(of("/root/data"), of("/root/data2"));
    }
}
