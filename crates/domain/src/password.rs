//! Passwords, as players type them. Does not know how they are hashed.

use std::{fmt, str::FromStr};

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

/// A password that may be chosen: 8 to 128 characters of any kind. It is compared in Unicode's form NFC, because
/// keyboards differ in how they write an accent (RFC 8265, section 4.2).
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// The fewest characters.
    pub const CHARS_MIN: usize = 8;

    /// The most characters: enough for any sentence, and quick to hash.
    pub const CHARS_MAX: usize = 128;

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
            return Err(PasswordError);
        }
        let password: String = text.nfc().collect();
        let chars = password.chars().count();
        (Self::CHARS_MIN..=Self::CHARS_MAX).contains(&chars).then_some(Self(password)).ok_or(PasswordError)
    }
}

/// Hides the password.
impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Why a text is no password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a password has 8 to 128 characters")]
pub struct PasswordError;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_has_8_to_128_characters() {
        for good in ["8 chars!", &"é".repeat(128), &"e\u{301}".repeat(128), "        "] {
            assert!(good.parse::<Password>().is_ok());
        }
        for bad in ["", "7 chars", &"é".repeat(129), &"e\u{301}".repeat(7), &"x".repeat(100_000)] {
            assert_eq!(bad.parse::<Password>(), Err(PasswordError));
        }
    }

    #[test]
    fn a_password_does_not_depend_on_how_its_accents_are_typed() {
        assert_eq!("cafe\u{301} noir".parse::<Password>(), "café noir".parse());
        assert_eq!(format!("{:?}", "correct horse".parse::<Password>()), "Ok(Password(…))");
    }
}
