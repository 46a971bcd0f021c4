//! Folders for work that may be interrupted. Knows how an interrupted one is removed, and nothing of the work.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::mkdtemp;

use crate::error::{EmbeddedError, at};
use crate::processes;

/// A new folder in `parent` for work that may be interrupted; removes those of earlier, interrupted work.
///
/// No name is used twice: a program that outlived its server cannot write into the new folder.
pub(crate) fn work_folder(parent: &Path, prefix: &str) -> Result<PathBuf, EmbeddedError> {
    for old in interrupted(parent, prefix)? {
        fs::remove_dir_all(&old).map_err(at("remove the unfinished", &old))?;
    }
    mkdtemp(&parent.join(format!("{prefix}XXXXXX"))).map_err(|error| at("write to", parent)(error.into()))
}

/// The folders of earlier, interrupted work. No program works on them any more.
pub(crate) fn interrupted(parent: &Path, prefix: &str) -> Result<Vec<PathBuf>, EmbeddedError> {
    let entries = fs::read_dir(parent).map_err(at("list", parent))?.flatten();
    let old = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()));
    let old: Vec<_> = old.map(|entry| entry.path()).collect();
    for folder in &old {
        processes::end(folder, Duration::ZERO)?;
    }
    Ok(old)
}
