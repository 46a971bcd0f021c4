//! Files that hold a private key: written so that no other user can read or replace one, and read only if no other user could.
//! Knows nothing of what the key is for.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use nix::{
    fcntl::OFlag,
    unistd::{Gid, getegid, geteuid, getgroups},
};
use thiserror::Error;

/// The largest file that is read; a key has some hundred bytes.
const BYTES_MAX: u64 = 16 * 1024;

/// Whether the path may be a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The operator named the path. Containers mount secrets as links. What the link leads to is checked.
    Followed,
    /// The server itself made the file.
    Refused,
}

/// Why a file is not believed to hold a secret.
#[derive(Debug, Error)]
pub enum KeyFileError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("other users may open it (mode {mode:04o}): forbid it with chmod {wanted}")]
    OpenToOthers { mode: u32, wanted: &'static str },
    #[error("it belongs to user {owner}: give it to the server's user with chown {user}")]
    NotOurs { owner: u32, user: u32 },
}

/// Reads a file that only this process's user and root can open: its owner is one of them, and its mode keeps others out. A file
/// of root's may be readable for one of our groups, as secrets of containers are (0440). The open file is checked, not its path.
pub fn read(path: &Path, links: Links) -> Result<String, KeyFileError> {
    // Without O_NONBLOCK, opening a pipe would wait for its writer.
    let no_follow = if links == Links::Refused { OFlag::O_NOFOLLOW } else { OFlag::empty() };
    let file = OpenOptions::new().read(true).custom_flags((no_follow | OFlag::O_NONBLOCK).bits()).open(path);
    let is_link = || links == Links::Refused && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let file = file.map_err(|error| if is_link() { io::Error::other("it is a symbolic link") } else { error })?;
    check(&file)?;
    let mut text = String::new();
    file.take(BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

fn check(file: &File) -> Result<(), KeyFileError> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is no regular file").into());
    }
    let mut groups = getgroups().unwrap_or_default();
    groups.push(getegid());
    let is_in_group = groups.contains(&Gid::from_raw(found.gid()));
    judge(found.uid(), is_in_group, found.mode() & 0o777, geteuid().as_raw())
}

/// Whether a file is a secret of `user`, by its owner, by whether the user is in its group, and by its mode.
fn judge(owner: u32, is_in_group: bool, mode: u32, user: u32) -> Result<(), KeyFileError> {
    if owner != user && owner != 0 {
        return Err(KeyFileError::NotOurs { owner, user });
    }
    let (allowed, wanted) = if owner != user && is_in_group { (0o740, "440") } else { (0o700, "600") };
    if mode & !allowed == 0 { Ok(()) } else { Err(KeyFileError::OpenToOthers { mode, wanted }) }
}

/// Writes a new file, whole or not at all. Fails with `AlreadyExists` if there is one at the path, a link included.
pub fn write_new(path: &Path, content: &str) -> io::Result<()> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{:032x}", rand::random::<u128>()));
    let partial = path.with_file_name(name);
    let written = write_partial(&partial, content).and_then(|()| put_in_place(&partial, path));
    // After a rename the partial file is gone already.
    let _ = fs::remove_file(&partial);
    written
}

fn write_partial(partial: &Path, content: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file =
        options.write(true).create_new(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits()).open(partial)?;
    file.write_all(content.as_bytes())?;
    file.sync_all()
}

/// A link, unlike a rename, replaces nothing.
fn put_in_place(partial: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(partial, path) {
        // File systems without links: the folder is the server's own, so that nothing appears there between both steps.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && fs::symlink_metadata(path).is_err() => {
            fs::rename(partial, path)?;
        }
        linked => linked?,
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A folder that is removed with its content.
    struct Folder(std::path::PathBuf);

    impl Folder {
        fn new() -> Self {
            let folder = std::env::temp_dir().join(format!("key-file-{:032x}", rand::random::<u128>()));
            fs::create_dir(&folder).expect("a folder is made");
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn refusal(path: &Path, links: Links) -> String {
        read(path, links).expect_err("it is refused").to_string()
    }

    #[test]
    fn a_new_file_is_the_owners_alone_and_leaves_nothing_beside_it() {
        let folder = Folder::new();
        let path = folder.0.join("key.pem");
        write_new(&path, "secret").expect("it is written");
        assert_eq!(read(&path, Links::Refused).expect("it is read"), "secret");
        assert_eq!(fs::metadata(&path).expect("it is there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(&folder.0).expect("a folder").count(), 1);
    }

    #[test]
    fn a_new_file_replaces_nothing_and_follows_no_link() {
        let folder = Folder::new();
        let (victim, path) = (folder.0.join("victim"), folder.0.join("key.pem"));
        fs::write(&victim, "theirs").expect("it is written");
        for target in [victim.clone(), folder.0.join("nowhere")] {
            symlink(&target, &path).expect("a link");
            let error = write_new(&path, "secret").expect_err("there is one");
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
            fs::remove_file(&path).expect("it is removed");
        }
        // The name that an earlier release wrote to.
        symlink(&victim, path.with_extension("new")).expect("a link");
        write_new(&path, "secret").expect("it is written");
        assert_eq!(fs::read_to_string(&victim).expect("it is read"), "theirs");
    }

    #[test]
    fn a_file_that_others_may_open_is_refused_with_the_remedy() {
        let folder = Folder::new();
        let path = folder.0.join("key.pem");
        write_new(&path, "secret").expect("it is written");
        for mode in [0o644, 0o640, 0o604, 0o660, 0o620, 0o610] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("the mode is set");
            let line = refusal(&path, Links::Followed);
            assert!(line.contains(&format!("mode {mode:04o}")) && line.contains("chmod 600"), "{line}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).expect("the mode is set");
        assert!(read(&path, Links::Followed).is_ok());
    }

    #[test]
    fn a_secret_is_the_servers_own_or_roots_for_its_group() {
        const SERVER: u32 = 10001;
        for (owner, is_in_group, mode, is_good) in [
            (SERVER, true, 0o600, true),
            (SERVER, true, 0o400, true),
            (SERVER, true, 0o440, false),
            (0, true, 0o440, true),
            (0, true, 0o640, true),
            (0, true, 0o460, false),
            (0, true, 0o444, false),
            (0, false, 0o440, false),
            (0, false, 0o404, false),
            (1000, true, 0o440, false),
            (1000, false, 0o600, false),
        ] {
            let judged = judge(owner, is_in_group, mode, SERVER);
            assert_eq!(judged.is_ok(), is_good, "{owner} {is_in_group} {mode:o}");
        }
        assert!(judge(0, false, 0o600, 0).is_ok());
        let line = judge(1000, false, 0o600, SERVER).expect_err("another's").to_string();
        assert!(line.contains("user 1000") && line.contains("chown 10001"), "{line}");
    }

    #[test]
    fn a_link_is_followed_only_where_the_operator_named_it() {
        let folder = Folder::new();
        let (path, link) = (folder.0.join("key.pem"), folder.0.join("link.pem"));
        write_new(&path, "secret").expect("it is written");
        symlink(&path, &link).expect("a link");
        assert!(read(&link, Links::Followed).is_ok());
        assert!(refusal(&link, Links::Refused).contains("symbolic link"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("the mode is set");
        assert!(refusal(&link, Links::Followed).contains("chmod"), "what the link leads to is checked");
        assert!(refusal(&folder.0, Links::Followed).contains("no regular file"));
    }
}
