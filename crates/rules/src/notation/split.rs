//! Where one record ends and the next begins, in a text of many. Knows the layout of records, not their content.

use super::BYTE_ORDER_MARK;

/// Divides a text of many records, line by line: a new record begins with a line that has a tag after moves. It stores
/// none of the text, so the text may have any length.
///
/// ```
/// use mancala_rules::notation::Splitter;
///
/// let text = "[Variant \"oware\"]\n[South \"ana\"]\n\n1. A {[not a tag]} b *\n[Variant \"kalah\"]\n1. A *\n";
/// let mut splitter = Splitter::default();
/// let begins: Vec<_> = text.lines().map(|line| splitter.begins_record(line)).collect();
/// assert_eq!(begins, [false, false, false, false, true, false]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Splitter {
    /// Whether a comment goes on from the line before.
    in_comment: bool,
    /// Whether this record has had anything but tags and comments.
    has_moves: bool,
}

impl Splitter {
    /// Whether the next line of the text begins a new record.
    pub fn begins_record(&mut self, line: &str) -> bool {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        let begins = !self.in_comment && self.has_moves && line.trim_start().starts_with('[');
        if begins {
            self.has_moves = false;
        }
        let mut in_tag = false;
        let mut in_quotes = false;
        for c in line.chars() {
            match c {
                '}' if self.in_comment => self.in_comment = false,
                _ if self.in_comment => {}
                '"' if in_tag => in_quotes = !in_quotes,
                _ if in_quotes => {}
                ']' if in_tag => in_tag = false,
                _ if in_tag => {}
                '{' => self.in_comment = true,
                '[' => in_tag = true,
                _ if c.is_whitespace() => {}
                _ => self.has_moves = true,
            }
        }
        begins
    }
}
