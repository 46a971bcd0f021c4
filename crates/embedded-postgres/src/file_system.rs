//! Operations on files and folders: locks, owners, syncs. Knows nothing of PostgreSQL.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, lchown};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;

use crate::error::{EmbeddedError, at};
use crate::identity::Ids;
use crate::poll::POLL_EVERY;

/// Takes the lock of the file at `path` within `timeout`, and writes this process's id into it.
pub(crate) fn lock(path: &Path, timeout: Duration) -> io::Result<File> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(OFlag::O_NOFOLLOW.bits())
        .open(path)?;
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
