//! PostgreSQL's programs that dump and restore a database, for clients of any server.
//!
//! Knows where they lie and their versions. Does not know to which server they connect.

use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use crate::binaries::{self, PROBE_MAX};
use crate::child;
use crate::error::EmbeddedError;
use crate::identity::Identity;
use crate::version::parse_major;

/// A folder with `pg_dump` and `pg_restore`, and their major version.
///
/// ```no_run
/// use mancala_embedded_postgres::Tools;
///
/// let tools = Tools::find(15)?;
/// tools.run(tools.dump().args(["--file=games.dump", "--dbname=games"]))?;
/// # Ok::<(), mancala_embedded_postgres::EmbeddedError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    folder: PathBuf,
    /// The major version of the programs.
    pub major: u32,
}

impl Tools {
    /// The programs for a server of this major version: the same version if it is there, otherwise a newer one. Older programs
    /// refuse a newer server.
    ///
    /// # Errors
    /// There are none: the message says what was found instead.
    pub fn find(server: u32) -> Result<Self, EmbeddedError> {
        let mut found: Vec<_> = binaries::folders().iter().filter_map(|folder| Self::probe(folder)).collect();
        found.sort_by_key(|tools| tools.major);
        let fits = found.iter().find(|tools| tools.major >= server);
        fits.cloned().ok_or_else(|| EmbeddedError::NoTools { server, found: describe(&found) })
    }

    fn probe(folder: &Path) -> Option<Self> {
        let dump = folder.join("pg_dump").canonicalize().ok()?;
        // Debian's /usr/bin/pg_dump is a script that chooses a version by itself.
        let folder = dump.parent().filter(|folder| dump.ends_with("pg_dump") && folder.join("pg_restore").is_file())?;
        let mut command = child::command(&dump, Identity::Own, Signal::SIGKILL);
        let version = child::run(command.arg("--version"), PROBE_MAX).ok()?;
        let text = String::from_utf8_lossy(&version.stdout).into_owned();
        let major = parse_major(text.strip_prefix("pg_dump (PostgreSQL) ")?)?;
        Some(Self { folder: folder.to_owned(), major })
    }

    /// `pg_dump`. It is killed when the thread that starts it ends.
    #[must_use]
    pub fn dump(&self) -> Command {
        child::helper_at(&self.folder.join("pg_dump"))
    }

    /// `pg_restore`. It is killed when the thread that starts it ends.
    #[must_use]
    pub fn restore(&self) -> Command {
        child::helper_at(&self.folder.join("pg_restore"))
    }

    /// Runs one of the programs to its end. Blocks.
    ///
    /// # Errors
    /// The program failed: the message is its own.
    pub fn run(&self, command: &mut Command) -> Result<(), EmbeddedError> {
        run(command)
    }
}

/// Runs a program of PostgreSQL to its end, however long it takes.
pub(crate) fn run(command: &mut Command) -> Result<(), EmbeddedError> {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |why| EmbeddedError::ToolFailed { program: program.clone(), why };
    // `output` reads while the program runs, so that no amount of output blocks it.
    let ended = command.output().map_err(|error| failed(error.to_string()))?;
    if ended.status.success() { Ok(()) } else { Err(failed(child::reason(&ended.stderr))) }
}

fn describe(found: &[Tools]) -> String {
    let found: Vec<_> = found.iter().map(|it| format!("{} in {}", it.major, it.folder.display())).collect();
    if found.is_empty() { "none was found".to_owned() } else { format!("only {} was found", found.join(", ")) }
}
