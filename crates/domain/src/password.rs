//! Passwords, as players type them. Does not know how they are hashed.

use std::{collections::HashSet, fmt, str::FromStr, sync::LazyLock};

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::{PlayerName, likeness};

/// The most common passwords of at least 8 characters, in lower case, which attackers try first. The list is that of zxcvbn (MIT, Dropbox
/// and its contributors), which came from leaks.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| include_str!("common_passwords.txt").lines().collect());

/// A password as it is typed: 8 to 128 characters of any kind. It is compared in Unicode's form NFC, because
/// keyboards differ in how they write an accent (RFC 8265, section 4.2).
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The fewest characters.
    pub const CHARS_MIN: usize = 8;

    /// The most characters: enough for any sentence, and quick to hash.
    pub const CHARS_MAX: usize = 128;

    /// Accepts a password that a player of this name may choose. The most common passwords are refused, and also the name itself, with or
    /// without digits and punctuation after it. An account that already has such a password keeps it.
    ///
    /// # Errors
    ///
    /// The password is too short or too long, or guessed easily.
    pub fn choose(text: &str, name: &PlayerName) -> Result<Self, PasswordError> {
        let password = Self::uncommon(text)?;
        let bare = password.0.trim_end_matches(|c: char| c.is_numeric() || c.is_ascii_punctuation());
        let names = name.forms();
        let is_name = |text: &str| likeness::forms(text).iter().any(|form| names.contains(form));
        if is_name(&password.0) || is_name(bare) { Err(PasswordError::Name) } else { Ok(password) }
    }

    /// A password that may be chosen as far as its player's name does not matter.
    pub fn uncommon(text: &str) -> Result<Self, PasswordError> {
        let password: Self = text.parse()?;
        if COMMON.contains(password.0.to_lowercase().as_str()) { Err(PasswordError::Common) } else { Ok(password) }
    }

    /// The bytes to hash.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl FromStr for Password {
    type Err = PasswordError;

    fn from_str(text: &str) -> Result<Self, PasswordError> {
        // A much longer text is not composed: composing makes no text four times shorter.
        if text.chars().nth(4 * Self::CHARS_MAX).is_some() {
            return Err(PasswordError::Length);
        }
        let password: String = text.nfc().collect();
        let chars = password.chars().count();
        (Self::CHARS_MIN..=Self::CHARS_MAX).contains(&chars).then_some(Self(password)).ok_or(PasswordError::Length)
    }
}

/// Hides the password.
impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Why a text is no password, or none to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PasswordError {
    /// The password is too short or too long.
    #[error("a password has 8 to 128 characters")]
    Length,
    /// The password is one of the most common ones.
    #[error("this password is one of the most common ones, and is guessed at once")]
    Common,
    /// The password is the player's name.
    #[error("a password is not the name of its player, with digits after it or without")]
    Name,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_8_to_128_characters() {
        for good in ["8 chars!", &"é".repeat(128), &"e\u{301}".repeat(128), "        "] {
            assert!(good.parse::<Password>().is_ok());
        }
        for bad in ["", "7 chars", &"é".repeat(129), &"e\u{301}".repeat(7), &"x".repeat(100_000)] {
            assert_eq!(bad.parse::<Password>(), Err(PasswordError::Length));
        }
    }

    #[test]
    fn a_password_does_not_depend_on_how_its_accents_are_typed() {
        assert_eq!("cafe\u{301} noir".parse::<Password>(), "café noir".parse());
        assert_eq!(format!("{:?}", "correct horse".parse::<Password>()), "Ok(Password(…))");
    }

    #[test]
    fn a_password_that_is_guessed_first_is_not_chosen() {
        let choose = |text: &str, name: &str| Password::choose(text, &name.parse().expect("a name")).map(|_| ());
        for common in
            ["password", "Password", "PASSWORD1", "12345678", "qwertyuiop", "iloveyou", "baseball", "11111111"]
        {
            assert_eq!(choose(common, "Ana"), Err(PasswordError::Common), "{common}");
            assert!(common.parse::<Password>().is_ok(), "who has it signs in");
        }
        assert!(COMMON.len() > 10_000);
        assert!(COMMON.iter().all(|common| common.parse::<Password>().is_ok() && *common == common.to_lowercase()));
        for text in ["Ana Maria", "ana maria", "ANA  MARIA", "Ana Maria1", "ana maria2024!", "\u{410}na Maria"] {
            assert_eq!(choose(text, "Ana Maria"), Err(PasswordError::Name), "{text}");
            assert_eq!(choose(text, "Bo"), Ok(()));
        }
        assert_eq!(choose("Anabel2024", "Anabel7"), Ok(()));
        assert_eq!(choose("20242024", "2024"), Ok(()));
        for good in ["correct horse", "ana plays mancala", "7 chars!"] {
            assert_eq!(choose(good, "Ana"), Ok(()), "{good}");
        }
        assert_eq!(choose("short", "Ana"), Err(PasswordError::Length));
    }
}
