//! Notes: what a player writes on a game for private use.

use std::str::FromStr;

use thiserror::Error;

/// The text of a note: 1 to 4,000 characters, without control characters except line feeds and tabs. The text is stored unchanged, because
/// only its writer reads it, and it is compared with no other text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText(String);

impl NoteText {
    /// The longest note, in characters: two pages. With each character escaped, it still fits the largest body of a
    /// request.
    pub const CHARS_MAX: usize = 4000;

    /// A stored text, which was accepted before.
    pub const fn from_stored(text: String) -> Self {
        Self(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for NoteText {
    type Err = NoteTextError;

    fn from_str(text: &str) -> Result<Self, NoteTextError> {
        if text.is_empty() || text.chars().nth(Self::CHARS_MAX).is_some() {
            return Err(NoteTextError::Length);
        }
        if text.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
            return Err(NoteTextError::Control);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Why a text is no note.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoteTextError {
    /// The note is empty or too long.
    #[error("a note has 1 to 4,000 characters")]
    Length,
    /// The note has a control character.
    #[error("a note has no control characters but line feeds and tabs")]
    Control,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_kept_as_it_was_written() {
        for text in [".", " ", "F was better:\n\tit feeds no pit", "e\u{301}", "👩\u{200d}👧", &"𝄞".repeat(4000)]
        {
            assert_eq!(text.parse::<NoteText>().expect("a note").as_str(), text);
        }
    }

    #[test]
    fn an_empty_text_a_long_one_and_control_characters_are_refused() {
        for text in ["", &"x".repeat(4001), &"x".repeat(1 << 20)] {
            assert_eq!(text.parse::<NoteText>(), Err(NoteTextError::Length));
        }
        for control in ['\0', '\u{1}', '\u{8}', '\u{b}', '\r', '\u{1b}', '\u{7f}', '\u{85}', '\u{9f}'] {
            assert_eq!(format!("a{control}b").parse::<NoteText>(), Err(NoteTextError::Control), "{control:?}");
        }
    }
}
