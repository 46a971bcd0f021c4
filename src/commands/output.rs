//! Standard output.

use std::{fmt::Display, io::Write};

use super::failure::Failure;

/// Prints a text, and fails if standard output is closed.
pub fn print(text: &impl Display) -> Result<(), Failure> {
    let mut output = std::io::stdout();
    write!(output, "{text}").and_then(|()| output.flush()).map_err(Failure::new)
}
