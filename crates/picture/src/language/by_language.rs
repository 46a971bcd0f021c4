//! Where the words of each language are. Knows not which words there are.

use mancala_texts::Language;

use super::{de::DE, en::EN, es::ES, fr::FR, words::Words};

/// The words of a language.
pub(crate) const fn words(language: Language) -> &'static Words {
    match language {
        Language::En => &EN,
        Language::De => &DE,
        Language::Fr => &FR,
        Language::Es => &ES,
    }
}
