//! PostgreSQL's log file: its size is bounded, and errors quote its end. Does not know PostgreSQL's settings.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;

use crate::error::{EmbeddedError, at};

/// A log file that another process appends to.
#[derive(Clone)]
pub(crate) struct Log {
    path: PathBuf,
}

/// A longer log is rotated, and replaces the previous one. Both take at most twice this, plus what is written between
/// two checks.
const SIZE_MAX: u64 = 8 * 1024 * 1024;
/// How many bytes of the log's end an error message reads, and how many lines it quotes.
const TAIL_SIZE_MAX: u64 = 4096;
const TAIL_LINES_MAX: usize = 4;

impl Log {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("postgres.log") }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file, opened to append. A link in its place is not followed.
    pub(crate) fn open(&self) -> io::Result<File> {
        let no_link = OFlag::O_NOFOLLOW.bits();
        OpenOptions::new().create(true).append(true).mode(0o600).custom_flags(no_link).open(&self.path)
    }

    pub(crate) fn append(&self, texts: &[&[u8]]) -> Result<(), EmbeddedError> {
        self.open().and_then(|mut file| file.write_all(&texts.concat())).map_err(at("write", &self.path))
    }

    /// Copies the log aside and truncates it if it is too long. Its writer appends, and so continues at the new
    /// beginning.
    pub(crate) fn rotate(&self) -> Result<(), EmbeddedError> {
        let rotated = || -> io::Result<()> {
            let file = self.open()?;
            if file.metadata()?.len() > SIZE_MAX {
                fs::copy(&self.path, self.path.with_extension("log.1"))?;
                file.set_len(0)?;
            }
            Ok(())
        };
        rotated().map_err(at("rotate the log", &self.path))
    }

    /// The last lines that were added since the log had `size_before` bytes, as one line.
    pub(crate) fn tail(&self, size_before: u64) -> String {
        let read = || -> io::Result<Vec<u8>> {
            let mut file = File::open(&self.path)?;
            let size = file.metadata()?.len();
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(size_before.max(size.saturating_sub(TAIL_SIZE_MAX))))?;
            file.take(TAIL_SIZE_MAX).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        one_line(&read().unwrap_or_default())
    }
}

fn one_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match &lines[lines.len().saturating_sub(TAIL_LINES_MAX)..] {
        [] => "no output".to_owned(),
        last => last.join(" | "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_too_long_is_moved_aside_and_continues_empty() {
        let folder = std::env::temp_dir().join(format!("mancala-server-log-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        let log = Log::in_folder(&folder);
        let size = |name: &str| fs::metadata(folder.join(name)).map(|found| found.len()).ok();

        let mut writer = log.open().expect("the folder is writable");
        writer.set_len(SIZE_MAX).expect("a file may have holes");
        log.rotate().expect("the folder is writable");
        assert_eq!((size("postgres.log"), size("postgres.log.1")), (Some(SIZE_MAX), None));

        writer.write_all(b"one more").expect("the file is open");
        log.rotate().expect("the folder is writable");
        writer.write_all(b"afterwards").expect("the file is open");
        assert_eq!((size("postgres.log"), size("postgres.log.1")), (Some(10), Some(SIZE_MAX + 8)));
        assert_eq!(log.tail(0), "afterwards");
        fs::remove_dir_all(&folder).expect("this test created it");
    }

    #[test]
    fn a_tail_is_the_last_lines_that_are_not_blank() {
        assert_eq!(one_line(b"1\n2\n3\n\n4\n5\n"), "2 | 3 | 4 | 5");
        assert_eq!(one_line(b"one\n"), "one");
        assert_eq!(one_line(b"\n"), "no output");
    }
}
