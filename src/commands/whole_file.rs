//! Files that appear whole or not at all, for their owner only.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// A partial file beside its final place. The file is removed unless it is moved there.
pub struct Partial {
    path: PathBuf,
}

impl Partial {
    /// A new, empty file in the folder of `place`.
    pub fn create(place: &Path) -> io::Result<Self> {
        let name = place.file_name().ok_or_else(|| io::Error::other("it is no name of a file"))?;
        let name = format!(".{}.{:016x}.partial", name.to_string_lossy(), rand::random::<u64>());
        let path = place.with_file_name(name);
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        Ok(Self { path })
    }

    /// Where it is written.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Puts it in its place, and fails if there is a file.
    pub fn place_new(self, place: &Path) -> io::Result<()> {
        File::open(&self.path)?.sync_all()?;
        // A link, unlike a rename, replaces nothing.
        fs::hard_link(&self.path, place)?;
        sync_folder(place)
    }

    /// Puts it in its place, instead of a file that is there.
    pub fn place(self, place: &Path) -> io::Result<()> {
        File::open(&self.path)?.sync_all()?;
        fs::rename(&self.path, place)?;
        sync_folder(place)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        // After a rename the partial file is gone already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Replaces the content of a file.
pub fn replace(place: &Path, content: &[u8]) -> io::Result<()> {
    let partial = Partial::create(place)?;
    OpenOptions::new().write(true).open(partial.path())?.write_all(content)?;
    partial.place(place)
}

fn sync_folder(place: &Path) -> io::Result<()> {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
