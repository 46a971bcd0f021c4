//! Players: who may sit in a game.

use std::{fmt, str::FromStr};

use thiserror::Error;
use time::OffsetDateTime;
use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use uuid::Uuid;

/// How many games a player may have that are not over: active ones, and open ones that the player created. Nobody plays
/// more, and so a list of them is sorted in no time. Of several that begin at once a few more may be let through.
pub const RUNNING_GAMES_MAX: u32 = 1000;

/// A player's id, a UUIDv7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub Uuid);

/// Who may sit in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Player {
    pub id: PlayerId,
    pub kind: PlayerKind,
    pub name: PlayerName,
    pub created_at: OffsetDateTime,
}

/// What a player is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayerKind {
    /// Somebody without a password: only the token tells who it is.
    Guest,
    /// Somebody who can sign in.
    Account,
    /// The server itself.
    Computer,
    /// A name in imported games; nobody here.
    Imported,
    /// Somebody who has left. Their games stay.
    Deleted,
}

impl PlayerKind {
    pub const ALL: [PlayerKind; 5] =
        [PlayerKind::Guest, PlayerKind::Account, PlayerKind::Computer, PlayerKind::Imported, PlayerKind::Deleted];

    /// Whether there is somebody who can play.
    pub const fn is_somebody(self) -> bool {
        matches!(self, PlayerKind::Guest | PlayerKind::Account)
    }

    /// The word for it, in the database and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            PlayerKind::Guest => "guest",
            PlayerKind::Account => "account",
            PlayerKind::Computer => "computer",
            PlayerKind::Imported => "imported",
            PlayerKind::Deleted => "deleted",
        }
    }
}

/// The name that others see, in Unicode's form NFC: 1 to 32 characters, none of them a control character or invisible, no
/// blank at either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerName(String);

impl PlayerName {
    /// The longest name, in characters: what fits beside a board on a phone.
    pub const CHARS_MAX: usize = 32;

    /// A name that was accepted once, maybe by an earlier release, which knew fewer characters that show nothing.
    pub const fn recorded(name: String) -> Self {
        Self(name)
    }

    /// A name for a guest who gave none. `lot` is a number drawn by the caller.
    pub fn for_guest(lot: u32) -> Self {
        Self(format!("Guest-{:06}", lot % 1_000_000))
    }

    /// What is shown in place of the name of a player who has left.
    pub fn of_deleted() -> Self {
        Self("Deleted player".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as names are compared: by Unicode's full case folding, all blanks alike. Names with one key are one name to
    /// a reader.
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
    /// A name of so many characters at most, in NFC.
    pub(super) fn check(text: &str, chars_max: usize) -> Result<String, PlayerNameError> {
        // What is longer before it is composed need not be composed: no text gets four times shorter.
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

/// Characters that show nothing, turn the writing direction of what follows them, or mean nothing to others: those of
/// Unicode's categories "other" and of lines and paragraphs, and what shows nothing in spite of its category.
fn is_invisible(c: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, Surrogate, Unassigned};
    matches!(
        c.general_category(),
        Control | Format | Surrogate | PrivateUse | Unassigned | LineSeparator | ParagraphSeparator
    ) || matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fffc}' | '\u{1d159}' | '\u{e0100}'..='\u{e01ef}')
}

/// Whether a character stands by itself: blanks do not, nor do marks, which are written upon another.
fn is_written(c: char) -> bool {
    !c.is_whitespace() && c.general_category_group() != GeneralCategoryGroup::Mark
}

/// Why a text is no player's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PlayerNameError {
    #[error("a name has 1 to 32 characters")]
    Length,
    #[error("a name has no control characters and no invisible ones")]
    Invisible,
    #[error("a name neither begins nor ends with a blank")]
    Blank,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_a_person_can_see() {
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
        for lot in [0, 1, u32::MAX] {
            let name = PlayerName::for_guest(lot);
            assert_eq!(name.as_str().parse(), Ok(name.clone()));
        }
    }
}
