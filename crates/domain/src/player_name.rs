//! The names of players: which texts are names, and which names read alike.

use std::{fmt, str::FromStr};

use thiserror::Error;
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// The name that others see, in Unicode's form NFC: 1 to 32 characters, none of them a control character or invisible,
/// and no blank at either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerName(String);

impl PlayerName {
    /// The longest name, in characters: what fits beside a board on a phone.
    pub const CHARS_MAX: usize = 32;

    /// A stored name. An earlier release, which knew fewer invisible characters, may have accepted it.
    pub const fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// The name of a guest that gave none, from a random number.
    pub fn for_guest(random: u32) -> Self {
        Self(format!("Guest-{:06}", random % 1_000_000))
    }

    /// The name that an erased player is shown with.
    pub fn of_deleted() -> Self {
        Self("Deleted player".to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key by which names are compared: Unicode's full case folding, with all blanks alike. Names with the same key
    /// read alike.
    pub fn key(&self) -> String {
        let words: Vec<_> = self.0.split_whitespace().collect();
        UniCase::unicode(words.join(" ")).to_folded_case().nfc().collect()
    }
}

impl FromStr for PlayerName {
    type Err = PlayerNameError;

    fn from_str(text: &str) -> Result<Self, PlayerNameError> {
        Self::check(text, Self::CHARS_MAX).map(Self)
    }
}

impl PlayerName {
    /// A name of at most `chars_max` characters, in NFC.
    pub(crate) fn check(text: &str, chars_max: usize) -> Result<String, PlayerNameError> {
        // A much longer text is not composed: composing makes no text four times shorter.
        if text.chars().nth(4 * chars_max).is_some() {
            return Err(PlayerNameError::Length);
        }
        let name: String = text.nfc().collect();
        if !(1..=chars_max).contains(&name.chars().count()) {
            return Err(PlayerNameError::Length);
        }
        if name.chars().any(is_invisible) || !name.chars().any(is_written) {
            return Err(PlayerNameError::Invisible);
        }
        if name.trim() != name {
            return Err(PlayerNameError::Blank);
        }
        Ok(name)
    }
}

impl fmt::Display for PlayerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Characters that show nothing, turn the writing direction, or have no common meaning: those of Unicode's categories
/// "other", line and paragraph, and the others that show nothing.
fn is_invisible(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Surrogate, Unassigned};
    matches!(
        c.general_category(),
        Control | Format | Surrogate | PrivateUse | Unassigned | LineSeparator | ParagraphSeparator
    ) || matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fffc}' | '\u{1d159}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character stands by itself: blanks and marks, which combine with another character, do not.
fn is_written(c: char) -> bool {
    !c.is_whitespace() && c.general_category_group() != GeneralCategoryGroup::Mark
}

/// Why a text is not a player's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlayerNameError {
    /// It is empty or too long.
    #[error("a name has 1 to 32 characters")]
    Length,
    /// It has an invisible character, or shows nothing.
    #[error("a name has no control characters and no invisible ones")]
    Invisible,
    /// It begins or ends with a blank.
    #[error("a name neither begins nor ends with a blank")]
    Blank,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_visible_characters_only() {
        assert!("Ana".parse::<PlayerName>().is_ok());
        assert!("Ана Мария".parse::<PlayerName>().is_ok());
        assert!("あ".repeat(32).parse::<PlayerName>().is_ok());
        assert_eq!("".parse::<PlayerName>(), Err(PlayerNameError::Length));
        assert_eq!("x".repeat(33).parse::<PlayerName>(), Err(PlayerNameError::Length));
        assert_eq!(" Ana".parse::<PlayerName>(), Err(PlayerNameError::Blank));
        assert_eq!("An\na".parse::<PlayerName>(), Err(PlayerNameError::Invisible));
        assert_eq!("An\u{200b}a".parse::<PlayerName>(), Err(PlayerNameError::Invisible));
        assert_eq!("\u{202e}Ana".parse::<PlayerName>(), Err(PlayerNameError::Invisible));
        for unseen in
            ['\u{1d173}', '\u{1bca0}', '\u{13430}', '\u{1d159}', '\u{e000}', '\u{fffe}', '\u{fffc}', '\u{e0100}']
        {
            assert_eq!(format!("Ana{unseen}").parse::<PlayerName>(), Err(PlayerNameError::Invisible), "{unseen:?}");
        }
        assert_eq!("\u{301}\u{302}".parse::<PlayerName>(), Err(PlayerNameError::Invisible));
        for seen in ["Ana 🙂", "¿?", "7", "שרה", "नमस्ते", "ａ"] {
            assert!(seen.parse::<PlayerName>().is_ok(), "{seen}");
        }
        assert_eq!("e\u{301}".repeat(32).parse::<PlayerName>().expect("32 characters").as_str(), "é".repeat(32));
        assert_eq!("e\u{301}".repeat(1 << 20).parse::<PlayerName>(), Err(PlayerNameError::Length));
    }

    #[test]
    fn names_that_read_alike_have_one_key() {
        let key = |name: &str| name.parse::<PlayerName>().expect("a name").key();
        for (one, other) in [
            ("Ana", "aNA"),
            ("É", "e\u{301}"),
            ("Straße", "STRASSE"),
            ("ΣΟΦΟΣ", "σοφος"),
            ("ﬁn", "FIN"),
            ("A na", "a\u{a0}  NA"),
        ] {
            assert_eq!(key(one), key(other), "{one} {other}");
        }
        assert_ne!(key("Ana"), key("Anna"));
    }

    #[test]
    fn a_made_up_name_is_a_valid_one() {
        for random in [0, 1, u32::MAX] {
            let name = PlayerName::for_guest(random);
            assert_eq!(name.as_str().parse(), Ok(name.clone()));
        }
    }
}
