//! Which languages pictures have. Knows where the words of each are, not which words there are.

use super::{de::DE, en::EN, es::ES, fr::FR, words::Words};

/// A language of the words in a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// English.
    En,
    /// German.
    De,
    /// French.
    Fr,
    /// Spanish.
    Es,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 4] = [Self::En, Self::De, Self::Fr, Self::Es];

    /// The tag of the language (BCP 47), such as `de`.
    #[must_use]
    pub fn tag(self) -> &'static str {
        self.words().tag
    }

    /// The words of the language.
    pub(crate) fn words(self) -> &'static Words {
        match self {
            Self::En => &EN,
            Self::De => &DE,
            Self::Fr => &FR,
            Self::Es => &ES,
        }
    }
}
