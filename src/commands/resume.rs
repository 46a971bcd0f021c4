//! Files with the position of a command, so that it can be continued after an interruption.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use mancala_server::db::databases;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use uuid::Uuid;

use super::{failure::Failure, whole_file};

/// The file is written at most this often: an interruption costs so much work.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// The work of a command. A position is valid only for the same work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The command.
    pub command: String,
    /// The file that it writes, from the root on.
    pub output: Option<PathBuf>,
    /// The format of that file.
    pub format: Option<String>,
}

/// How far a command came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    work: Work,
    /// The identity of the database.
    database: String,
    /// The last game that is done.
    pub after: Uuid,
    /// How many games are done.
    pub games: u64,
    /// How many flaws or damaged games were found.
    pub damaged: u64,
    /// The size of the output up to the position.
    pub bytes: u64,
}

impl Position {
    fn begin(work: Work, database: String) -> Self {
        Self { work, database, after: Uuid::nil(), games: 0, damaged: 0, bytes: 0 }
    }

    /// The beginning of a hash, so that a file that was edited or damaged is noticed.
    fn checksum(&self) -> io::Result<Uuid> {
        let hash = Sha256::digest(serde_json::to_vec(self)?);
        let (first, _) = hash.split_first_chunk().expect("a SHA-256 has 32 bytes");
        Ok(Uuid::from_bytes(*first))
    }

    /// Why it cannot be the position of a command that begins so.
    fn flaw(&self, begin: &Self) -> Option<&'static str> {
        if self.work.command != begin.work.command {
            Some("another command wrote this file")
        } else if self.work.output != begin.work.output {
            Some("this is the position in another output")
        } else if self.work.format != begin.work.format {
            Some("this is the position in an output of another --format")
        } else if self.database != begin.database {
            Some("this is the position in another database")
        } else {
            None
        }
    }
}

/// The content of a resume file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeContent {
    position: Position,
    checksum: Uuid,
}

/// The resume file of a command, if the operator named one.
pub struct ResumeFile {
    path: Option<PathBuf>,
    written_at: Option<Instant>,
}

impl ResumeFile {
    /// The position in the file; at the beginning if there is no file yet. It is written at once: a place that cannot be written
    /// fails before the work begins.
    pub async fn open(path: Option<&PathBuf>, pool: &PgPool, work: Work) -> Result<(Self, Position), Failure> {
        let Some(path) = path else {
            return Ok((Self { path: None, written_at: None }, Position::begin(work, String::new())));
        };
        let database = databases::identity(pool).await.map_err(Failure::new)?;
        let position = read(path, Position::begin(work, database))?;
        let mut file = Self { path: Some(path.clone()), written_at: None };
        file.write(&position).map_err(|error| Failure::of_file(path, &error))?;
        Ok((file, position))
    }

    /// Whether a position is due to be written.
    pub fn is_due(&self) -> bool {
        self.path.is_some() && self.written_at.is_none_or(|at| at.elapsed() >= WRITE_EVERY)
    }

    /// Replaces the position in the file, whole or not at all.
    pub fn write(&mut self, position: &Position) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        let kept = ResumeContent { position: position.clone(), checksum: position.checksum()? };
        whole_file::replace(path, &serde_json::to_vec(&kept)?)
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        self.written_at = Some(Instant::now());
        Ok(())
    }

    /// Removes the file: the command is done.
    pub fn remove(&self) {
        if let Some(path) = &self.path
            && let Err(error) = fs::remove_file(path)
            && error.kind() != ErrorKind::NotFound
        {
            tracing::warn!("{}: {error}", path.display());
        }
    }
}

/// The position in the file, or `begin` if there is no file.
fn read(path: &Path, begin: Position) -> Result<Position, Failure> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(begin),
        Err(error) => return Err(Failure::of_file(path, &error)),
    };
    let wrong = |cause: &str| Failure::misuse(format!("{}: {cause}", path.display()));
    let Ok(ResumeContent { position, checksum }) = serde_json::from_str(&text) else {
        return Err(wrong("this is no file that --resume has written"));
    };
    if let Some(flaw) = position.flaw(&begin) {
        return Err(wrong(flaw));
    }
    match position.checksum() {
        Ok(sum) if sum == checksum => Ok(position),
        _ => Err(wrong("this file was changed since --resume has written it")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Position, Work};

    #[test]
    fn a_position_is_only_for_its_work_and_database() {
        let begin = |command: &str, output: &str, format: &str, database: &str| {
            let (output, format) = (Some(PathBuf::from(output)), Some(format.to_owned()));
            Position::begin(Work { command: command.to_owned(), output, format }, database.to_owned())
        };
        let kept = Position { games: 5, ..begin("export", "/file", "text", "1/2") };
        assert_eq!(kept.flaw(&begin("export", "/file", "text", "1/2")), None);
        for (other, said) in [
            (begin("verify", "/file", "text", "1/2"), "another command"),
            (begin("export", "/other", "text", "1/2"), "another output"),
            (begin("export", "/file", "ndjson", "1/2"), "another --format"),
            (begin("export", "/file", "text", "1/3"), "another database"),
        ] {
            assert!(kept.flaw(&other).is_some_and(|flaw| flaw.contains(said)), "{said}");
        }
    }
}
