//! How a command fails: one line on standard error, and an exit status.

use std::{fmt::Display, path::Path, process::ExitCode};

/// The exit status for wrong options; the command line's own errors have it too.
const MISUSE: u8 = 2;

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

    /// A failure because of wrong options, with exit status 2.
    pub fn misuse(error: impl Display) -> Self {
        Self { line: error.to_string(), status: MISUSE }
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
