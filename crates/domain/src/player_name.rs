//! The names of players: which texts are names, and which names read alike.

use std::{fmt, str::FromStr};

use icu_properties::{CodePointSetData, props::DefaultIgnorableCodePoint};
use thiserror::Error;
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_security::general_security_profile::{GeneralSecurityProfile, IdentifierType};

use crate::likeness;

/// The name that others see, in Unicode's form NFC: 1 to 32 characters, without control or invisible characters, and without a blank at
/// either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerName(String);

impl PlayerName {
    /// The longest name, in characters: it fits beside a board on a phone.
    pub const CHARS_MAX: usize = 32;

    /// The name of all erased players.
    pub(crate) const DELETED: &'static str = "Deleted player";

    /// A stored name. An earlier release, which knew fewer invisible characters, may have accepted it.
    pub const fn from_stored(name: String) -> Self {
        Self(name)
    }

    /// The name of an account in a sign-in, as the person typed it; `None` if it is longer than any name. An earlier release may have
    /// accepted characters that are refused today.
    pub fn for_sign_in(typed: &str) -> Option<Self> {
        // A much longer text is not composed: composing makes no text four times shorter.
        typed.chars().nth(4 * Self::CHARS_MAX).is_none().then(|| Self(typed.nfc().collect()))
    }

    /// The name of a guest that gave none, from a random number.
    pub fn for_guest(random: u32) -> Self {
        Self(format!("Guest-{:06}", random % 1_000_000))
    }

    /// The name that an erased player is shown with.
    pub fn of_deleted() -> Self {
        Self(Self::DELETED.to_owned())
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The key by which an account signs in: Unicode's full case folding, with all blanks alike. It is the same in every
    /// release.
    pub fn key(&self) -> String {
        let words: Vec<_> = self.0.split_whitespace().collect();
        UniCase::unicode(words.join(" ")).to_folded_case().nfc().collect()
    }

    /// The forms of the name's look, one or two, sorted. Names read alike if they have a form in common, which no two accounts may. A
    /// release with a newer Unicode may have other forms.
    pub fn forms(&self) -> Vec<String> {
        likeness::forms(&self.0)
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

/// Characters that show nothing, turn the writing direction, or have no common meaning. They are those of Unicode's
/// categories "other", line and paragraph, and those that a program may leave out. Letters, marks and digits that no
/// living script has are among them too (UTS #39).
fn is_invisible(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Surrogate, Unassigned};
    use IdentifierType::{Default_Ignorable, Deprecated, Exclusion, Not_Character};
    let is_of_words = matches!(
        c.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark | GeneralCategoryGroup::Number
    );
    matches!(
        c.general_category(),
        Control | Format | Surrogate | PrivateUse | Unassigned | LineSeparator | ParagraphSeparator
    ) || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(c)
        || is_of_words
            && matches!(c.identifier_type(), Some(Default_Ignorable | Deprecated | Exclusion | Not_Character))
        // Symbols without a visible shape, for which Unicode has no property.
        || matches!(c, '\u{2800}' | '\u{fffc}' | '\u{1d159}')
}

/// Whether a character stands by itself: blanks and marks, which combine with another character, do not.
fn is_written(c: char) -> bool {
    !c.is_whitespace() && c.general_category_group() != GeneralCategoryGroup::Mark
}

/// Why a text is not a player's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlayerNameError {
    /// The name is empty or too long.
    #[error("a name has 1 to 32 characters")]
    Length,
    /// The name has an invisible character, or shows nothing.
    #[error("a name has no control characters and no invisible ones")]
    Invisible,
    /// The name begins or ends with a blank.
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
    fn an_invisible_character_is_known_by_its_properties() {
        for unseen in [
            '\u{34f}',
            '\u{ad}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180f}',
            '\u{200b}',
            '\u{2065}',
            '\u{2800}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{ffa0}',
            '\u{1107f}',
            '\u{13441}',
            '\u{13442}',
            '\u{13443}',
            '\u{13455}',
            '\u{16fe4}',
            '\u{1da9b}',
            '\u{e0001}',
            '\u{e0fff}',
            '\u{149}',
            '\u{673}',
            '\u{16a0}',
        ] {
            let name = format!("Ana{unseen}");
            assert_eq!(name.parse::<PlayerName>(), Err(PlayerNameError::Invisible), "{:x}", u32::from(unseen));
        }
        for marks in ["\u{301}", "\u{301}\u{302}", "\u{20dd}", "\u{93f}"] {
            assert_eq!(marks.parse::<PlayerName>(), Err(PlayerNameError::Invisible), "{marks:?}");
        }
        // Living scripts, some of which few people write; symbols, digits, wide letters.
        for seen in [
            "ꦗꦮ",
            "ᬩᬮᬶ",
            "ᐃᓄᒃᑎᑐᑦ",
            "ᏣᎳᎩ",
            "ߒߞߏ",
            "ཀ་ཁ",
            "ជា",
            "نِدا",
            "தமிழ்",
            "한글",
            "日本",
            "Ňàü",
            "½",
            "٣",
            "𝕬𝖓𝖆",
            "ａｎａ",
            "★",
            "♟",
            "🙂",
            "👨🏽",
            "—",
            "…",
            "O’Neil",
            "a.b_c-d",
        ] {
            assert!(seen.parse::<PlayerName>().is_ok(), "{seen}");
        }
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
