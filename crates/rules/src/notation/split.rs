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
    /// The element that continues from the line before.
    inside: Inside,
    /// Whether this record has had anything but tags and comments.
    has_moves: bool,
}

/// The element to which a character belongs. The reader of records, which [`Source`](super::scan::Source) scans, divides the text in the
/// same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Inside {
    /// Neither a comment nor a tag.
    #[default]
    Moves,
    /// A comment, which may have many lines.
    Comment,
    /// A tag, which may have many lines.
    Tag,
    /// The value of a tag, which ends with its line at the latest.
    Value {
        /// Whether a backslash precedes, so that a quote does not end the value.
        is_escaped: bool,
    },
}

impl Splitter {
    /// Whether the next line of the text begins a new record.
    #[expect(clippy::match_same_arms, reason = "the arms stand in the order of what a character is inside of")]
    pub fn begins_record(&mut self, line: &str) -> bool {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        // Whether nothing but blanks and whole comments has come so far.
        let mut is_first = self.inside == Inside::Moves;
        let mut begins = false;
        for c in line.chars() {
            self.inside = match (self.inside, c) {
                (Inside::Comment, '}') | (Inside::Tag, ']') => Inside::Moves,
                (Inside::Comment, _) => Inside::Comment,
                (Inside::Tag, '"') => Inside::Value { is_escaped: false },
                (Inside::Tag, '_' | '-') => Inside::Tag,
                (Inside::Tag, c) if c.is_ascii_alphanumeric() || c.is_whitespace() => Inside::Tag,
                (Inside::Value { is_escaped: false }, '"') => Inside::Tag,
                (Inside::Value { is_escaped }, c) => Inside::Value { is_escaped: c == '\\' && !is_escaped },
                // A character that no tag contains ends a broken tag, so that it spoils no other record.
                (Inside::Moves | Inside::Tag, '{') => Inside::Comment,
                (Inside::Moves, c) if c.is_whitespace() => Inside::Moves,
                (Inside::Moves | Inside::Tag, '[') => {
                    begins |= is_first && self.has_moves;
                    self.has_moves &= !begins;
                    is_first = false;
                    Inside::Tag
                }
                (Inside::Moves | Inside::Tag, _) => {
                    is_first = false;
                    self.has_moves = true;
                    Inside::Moves
                }
            };
        }
        if matches!(self.inside, Inside::Value { .. }) {
            self.inside = Inside::Moves;
        }
        begins
    }
}
