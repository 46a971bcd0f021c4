//! The languages in which the service speaks to people. Each text is kept in the module that shows it.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

/// A language of texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// English.
    #[default]
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

    /// Its tag (BCP 47), in the database and on the wire.
    #[must_use]
    pub const fn tag(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::De => "de",
            Self::Fr => "fr",
            Self::Es => "es",
        }
    }

    /// The language of a range such as `de-AT` (RFC 4647): a region or a script makes no difference. `None` if there are no texts
    /// in it.
    #[must_use]
    pub fn of_range(range: &str) -> Option<Self> {
        let primary = range.split('-').next().unwrap_or_default();
        Self::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_is_found_by_its_tag_and_by_those_of_its_regions() {
        for language in Language::ALL {
            let tag = language.tag();
            assert_eq!([tag, &format!("{tag}-XX"), &tag.to_uppercase()].map(Language::of_range), [Some(language); 3]);
        }
        assert_eq!(["", "-", "deu", "tlh"].map(Language::of_range), [None; 4]);
    }
}
