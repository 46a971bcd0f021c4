//! Operations on files and folders: locks, owners, syncs. Knows nothing of PostgreSQL.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, lchown};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

use crate::error::{EmbeddedError, at};
use crate::identity::Ids;
use crate::poll::POLL_EVERY;

/// Takes the lock of the file at `path` within `timeout`, and writes this process's id into it. A file that another user
/// could have put there is refused.
pub(crate) fn lock(path: &Path, timeout: Duration) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)?;
    if !is_ours_alone(&file.metadata()?) {
        return Err(io::Error::other("it is no file of ours alone: remove it"));
    }
    let deadline = Instant::now() + timeout;
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

/// Whether there is a lock file that only this user can have made. A link is none.
pub(crate) fn is_own_lock(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| is_ours_alone(&found))
}

fn is_ours_alone(found: &Metadata) -> bool {
    let is_open_to_others = found.mode() & 0o077 != 0;
    found.is_file() && found.uid() == geteuid().as_raw() && !is_open_to_others
}

/// Gives `path`, which is ours, to another user. A link in its place is not followed.
pub(crate) fn give(path: &Path, to: Ids) -> Result<(), EmbeddedError> {
    lchown(path, Some(to.uid.as_raw()), Some(to.gid.as_raw())).map_err(at("change the owner of", path))
}

/// Writes all cached data of the file system of `folder` to disk.
pub(crate) fn sync_file_system(folder: &Path) -> Result<(), EmbeddedError> {
    #[cfg(target_os = "linux")]
    let synced = File::open(folder).and_then(|folder| Ok(nix::unistd::syncfs(folder)?));
    #[cfg(not(target_os = "linux"))]
    let synced = {
        nix::unistd::sync();
        Ok(())
    };
    synced.map_err(at("sync", folder))
}

/// Removes a file; a missing file is no error.
pub(crate) fn remove_file_if_there(path: &Path) -> Result<(), EmbeddedError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(at("remove", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_lock_is_believed_only_if_it_is_ours_alone() {
        let folder = nix::unistd::mkdtemp(&std::env::temp_dir().join("lock-XXXXXX")).expect("a folder is made");
        let (path, victim) = (folder.join("lock"), folder.join("victim"));
        assert!(!is_own_lock(&path));
        drop(lock(&path, Duration::ZERO).expect("the lock is free"));
        assert!(is_own_lock(&path));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).expect("the mode is set");
        assert!(!is_own_lock(&path));
        let error = lock(&path, Duration::ZERO).expect_err("others may write to it").to_string();
        assert!(error.contains("remove it"), "{error}");
        fs::remove_file(&path).expect("it is removed");
        fs::write(&victim, "theirs").expect("it is written");
        fs::set_permissions(&victim, fs::Permissions::from_mode(0o600)).expect("the mode is set");
        symlink(&victim, &path).expect("a link");
        assert!(!is_own_lock(&path));
        assert!(lock(&path, Duration::ZERO).is_err());
        assert_eq!(fs::read_to_string(&victim).expect("it is read"), "theirs");
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
