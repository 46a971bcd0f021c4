//! A place in a text. Knows how lines and columns are counted, and no game.

use std::fmt;

/// The character that some programs put before a text to mark it as UTF-8. It is not a part of the text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// A place in a text. Lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The line. A line feed, a carriage return, or both together end a line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

/// "line 3, column 7".
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column } = self;
        write!(f, "line {line}, column {column}")
    }
}

impl Location {
    /// The place of the byte at `offset`. It is computed only for an error, so that the reader need not count.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let before = before.strip_prefix(BYTE_ORDER_MARK).unwrap_or(before);
        let (mut line, mut column, mut previous) = (1, 1, ' ');
        for c in before.chars() {
            match c {
                '\n' if previous == '\r' => {}
                '\n' | '\r' => (line, column) = (line + 1, 1),
                _ => column += 1,
            }
            previous = c;
        }
        Self { line, column }
    }
}
