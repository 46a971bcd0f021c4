//! The folder of the Unix socket, through which alone clients reach the database.
//!
//! Knows where the folder may lie and when it can be trusted. Does not know PostgreSQL's settings.
//!
//! Only the owner of the folder and root can connect. Both can read and change the files of the database anyway, so
//! that a password would protect nothing, and none is needed.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use nix::unistd::{Uid, geteuid};

use crate::error::{EmbeddedError, at};
use crate::file_system::{give, remove_file_if_there};
use crate::identity::Identity;
use crate::settings::PORT;

/// The longest path of a socket that the kernel accepts, in bytes, without the closing zero.
const SOCKET_PATH_MAX: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The socket folder of the database in `home`.
///
/// The folder lies in `home` itself, which is ours, unless the path of the socket would be too long for the kernel. Then it
/// lies in this user's runtime folder or, if there is none, in `/tmp`, where another user could have created it first.
pub(crate) fn place(home: &Path) -> PathBuf {
    let elsewhere = format!("mancala-server-{}-{}", geteuid(), hash_of(home));
    let runtime = if geteuid().is_root() { Some("/run".into()) } else { env::var_os("XDG_RUNTIME_DIR") };
    let runtime = runtime.map(PathBuf::from).filter(|folder| is_safe_parent(folder));
    [Some(home.join("socket")), runtime.map(|folder| folder.join(&elsewhere))]
        .into_iter()
        .flatten()
        .find(|folder| is_short_enough(folder))
        .unwrap_or_else(|| Path::new("/tmp").join(&elsewhere))
}

/// Creates the folder, or checks that the existing one is ours alone. Removes the socket of an earlier run, because its
/// lock file names a process id that may be another process's by now.
pub(crate) fn prepare(folder: &Path, identity: Identity) -> Result<(), EmbeddedError> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(at("create the socket folder", folder)(error));
        }
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(folder).map_err(at("read the metadata of", folder))?;
    let user = identity.owner();
    let ours = [Some(geteuid()), user.map(|ids| ids.uid)];
    let why = if !found.is_dir() {
        Some("it is not a folder".to_owned())
    } else if !ours.contains(&Some(Uid::from_raw(found.uid()))) {
        Some(format!("it belongs to user {}", found.uid()))
    } else if found.mode() & 0o077 != 0 {
        Some("other users may enter it".to_owned())
    } else {
        None
    };
    if let Some(why) = why {
        return Err(EmbeddedError::SocketFolder { folder: folder.to_owned(), why });
    }
    if let Some(ids) = user {
        give(folder, ids)?;
    }
    for file in [socket_file(), format!("{}.lock", socket_file())] {
        remove_file_if_there(&folder.join(file))?;
    }
    Ok(())
}

/// The value of `unix_socket_directories`: in quotes, because it is a list.
pub(crate) fn quoted(folder: &Path) -> OsString {
    let escaped = folder.as_os_str().as_bytes().split(|&byte| byte == b'"').collect::<Vec<_>>().join(&b"\"\""[..]);
    OsString::from_vec([b"\"", &escaped[..], b"\""].concat())
}

/// A short name for a path: FNV-1a, which is the same in every run and every build. The standard library's hash does
/// not guarantee that.
pub(crate) fn hash_of(path: &Path) -> String {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = path.as_os_str().as_bytes().iter().fold(0xcbf2_9ce4_8422_2325, step);
    format!("{hash:016x}")
}

fn socket_file() -> String {
    format!(".s.PGSQL.{PORT}")
}

/// Whether there is a socket.
pub(crate) fn is_open(folder: &Path) -> bool {
    folder.join(socket_file()).exists()
}

fn is_short_enough(folder: &Path) -> bool {
    folder.join(socket_file()).as_os_str().len() <= SOCKET_PATH_MAX
}

/// Whether only our user and root can rename or replace files in it.
fn is_safe_parent(folder: &Path) -> bool {
    folder.is_absolute()
        && fs::symlink_metadata(folder).is_ok_and(|found| {
            found.is_dir() && [0, geteuid().as_raw()].contains(&found.uid()) && found.mode() & 0o022 == 0
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_path_may_reach_the_limit_but_not_exceed_it() {
        let room = SOCKET_PATH_MAX - "/.s.PGSQL.5432".len();
        assert!(is_short_enough(Path::new(&format!("/{}", "x".repeat(room - 1)))));
        assert!(!is_short_enough(Path::new(&format!("/{}", "x".repeat(room)))));
    }

    #[test]
    fn a_long_data_folder_has_its_socket_elsewhere() {
        assert_eq!(place(Path::new("/srv/mancala")), Path::new("/srv/mancala/socket"));
        let far = place(Path::new(&format!("/{}", "x".repeat(200))));
        assert!(is_short_enough(&far), "{}", far.display());
    }

    #[test]
    fn a_quoted_folder_survives_commas_and_quotes() {
        assert_eq!(quoted(Path::new("/a, \"b\"/c")), r#""/a, ""b""/c""#);
    }
}
