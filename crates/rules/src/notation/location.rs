//! A place in a text. Knows how lines and columns are counted, and nothing of games.

use std::fmt;

/// What some programs put at the beginning of a text to say that it is UTF-8. It is no part of the text.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// A place in a text, as people count: from 1, and columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// The line. A line feed, a carriage return, or both together end one.
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
    /// The place of the byte at `offset`. It is looked for only when something is wrong, which spares the reader to count.
    pub(super) fn of(text: &str, offset: usize) -> Self {
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
