//! Apps: how they are named, and by which ids they know their users. Knows no key and no token.

use std::{fmt, str::FromStr};

use thiserror::Error;

/// The longest name of an app, in characters: as long as that of a player, because it is stored as one.
const NAME_MAX: usize = 32;

/// The longest external id, in characters: that of any identity provider we know, with a prefix.
const EXTERNAL_ID_MAX: usize = 128;

/// The name of an app, which the operator chooses: ASCII letters, digits, dots, dashes and underscores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppName(String);

/// The id by which an app knows one of its users. As it is part of addresses, it has no character with a meaning there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExternalId(String);

/// Why a text is no name of an app.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the name of an app has 1 to 32 letters and digits, and . _ - between them")]
pub struct AppNameError;

/// Why a text is no external id.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ExternalIdError {
    /// The id is empty or too long.
    #[error("an external id has 1 to 128 characters")]
    Length,
    /// The id has a character that is not allowed.
    #[error("an external id has ASCII letters, digits and . _ ~ : @ | = - only")]
    Character,
    /// The id would be read as a step in a path.
    #[error("an external id is not . or ..")]
    Dots,
}

impl AppName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for AppName {
    type Err = AppNameError;

    fn from_str(text: &str) -> Result<Self, AppNameError> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric();
        let bytes = text.as_bytes();
        let is_good = (1..=NAME_MAX).contains(&bytes.len())
            && [bytes.first(), bytes.last()].iter().all(|end| end.is_some_and(|byte| is_word(*byte)))
            && bytes.iter().all(|byte| is_word(*byte) || b"._-".contains(byte));
        if is_good { Ok(Self(text.to_owned())) } else { Err(AppNameError) }
    }
}

impl ExternalId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// An id that was stored.
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for ExternalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for ExternalId {
    type Err = ExternalIdError;

    fn from_str(text: &str) -> Result<Self, ExternalIdError> {
        if text.is_empty() || text.chars().count() > EXTERNAL_ID_MAX {
            return Err(ExternalIdError::Length);
        }
        if !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~:@|=-".contains(&byte)) {
            return Err(ExternalIdError::Character);
        }
        if [".", ".."].contains(&text) {
            return Err(ExternalIdError::Dots);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_external_id_has_characters_of_addresses_only() {
        let long = "a".repeat(128);
        for id in ["7", "auth0|5f7c", "ana@example.org", "a.b_c~d:e=f-g", "...", &long] {
            assert_eq!(id.parse::<ExternalId>().map(|id| id.to_string()), Ok(id.to_owned()));
        }
        for (id, error) in [
            ("", ExternalIdError::Length),
            (&*format!("{long}a"), ExternalIdError::Length),
            ("a b", ExternalIdError::Character),
            ("a/b", ExternalIdError::Character),
            ("a%2Fb", ExternalIdError::Character),
            ("a+b", ExternalIdError::Character),
            ("ä", ExternalIdError::Character),
            ("a\0", ExternalIdError::Character),
            (".", ExternalIdError::Dots),
            ("..", ExternalIdError::Dots),
        ] {
            assert_eq!(id.parse::<ExternalId>(), Err(error), "{id:?}");
        }
    }

    #[test]
    fn the_name_of_an_app_is_a_word() {
        for name in ["a", "Acme-2", "games.example_org"] {
            assert_eq!(name.parse::<AppName>().map(|name| name.as_str().to_owned()), Ok(name.to_owned()));
        }
        for name in ["", "-a", "a.", "a b", "é", &"a".repeat(33)] {
            assert_eq!(name.parse::<AppName>(), Err(AppNameError), "{name:?}");
        }
    }
}
