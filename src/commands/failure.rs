//! How a command fails: one line on standard error, and an exit status.

use std::{error::Error, fmt::Display, path::Path, process::ExitCode};

use mancala_server::db::migrations::MigrationError;

/// The exit status for wrong options; the command line's own errors have it too.
const MISUSE: u8 = 2;

/// The exit status of a command that is done, and found damaged games or refused some.
const DAMAGED: u8 = 3;

/// The exit status of a command that a signal stopped before it was done.
const STOPPED: u8 = 4;

/// A failure in one line, and its exit status.
pub struct Failure {
    line: String,
    status: u8,
}

impl Failure {
    /// A failure with exit status 1.
    pub fn new(error: impl Display) -> Self {
        Self { line: error.to_string(), status: 1 }
    }

    /// A failure with exit status 1 that names its cause.
    pub fn with_cause(error: &impl Error) -> Self {
        match error.source() {
            Some(cause) => Self::new(format!("{error}: {cause}")),
            None => Self::new(error),
        }
    }

    /// A failure because of wrong options, with exit status 2.
    pub fn misuse(error: impl Display) -> Self {
        Self { line: error.to_string(), status: MISUSE }
    }

    /// The command is done, and games are damaged or were refused, or a name is: exit status 3.
    pub fn damaged(error: impl Display) -> Self {
        Self { line: error.to_string(), status: DAMAGED }
    }

    /// A signal stopped the command before it was done: exit status 4.
    pub fn stopped() -> Self {
        Self { line: "stopped before it was done".to_owned(), status: STOPPED }
    }

    /// A failure with exit status 1 that names the file.
    pub fn of_file(path: &Path, error: &impl Display) -> Self {
        Self::new(format!("{}: {error}", path.display()))
    }

    /// Prints the line to standard error and returns the exit status.
    pub fn report(self) -> ExitCode {
        let Self { line, status } = self;
        eprintln!("mancala-server: {line}");
        ExitCode::from(status)
    }
}

impl From<MigrationError> for Failure {
    fn from(error: MigrationError) -> Self {
        match error {
            // `DATABASE_URL` names a database that stays wrong.
            MigrationError::Encoding { .. } => Self::misuse(error),
            _ => Self::new(error),
        }
    }
}
