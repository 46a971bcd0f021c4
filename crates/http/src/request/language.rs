//! The language in which people read.

use actix_web::{
    HttpRequest,
    http::header::{AcceptLanguage, Header, Quality},
};

use mancala_texts::Language;
use serde::Deserialize;
use utoipa::ToSchema;

/// The language that the reader prefers, by `Accept-Language`; English if none of the accepted ones is there.
pub fn preferred_language(request: &HttpRequest) -> Language {
    let Ok(mut accepted) = AcceptLanguage::parse(request) else { return Language::En };
    accepted.0.retain(|range| range.quality > Quality::ZERO);
    let ranges = accepted.ranked();
    ranges.iter().find_map(|range| language(&range.to_string())).unwrap_or(Language::En)
}

/// The language of a range; of `*`, English.
fn language(range: &str) -> Option<Language> {
    if range == "*" { Some(Language::En) } else { Language::of_range(range) }
}

/// The language of the texts that a device or a picture shows.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeviceLanguage)]
pub enum LanguageWord {
    En,
    De,
    Fr,
    Es,
}

impl From<LanguageWord> for Language {
    fn from(word: LanguageWord) -> Self {
        match word {
            LanguageWord::En => Self::En,
            LanguageWord::De => Self::De,
            LanguageWord::Fr => Self::Fr,
            LanguageWord::Es => Self::Es,
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::{http::header, test::TestRequest};

    use super::*;

    #[test]
    fn the_most_wanted_language_that_is_there_is_chosen() {
        for (accepted, expected) in [
            ("de", Language::De),
            ("fr-CA, fr;q=0.9, en;q=0.8", Language::Fr),
            ("en;q=0.5, es-MX;q=0.8", Language::Es),
            ("ja, DE-at;q=0.7, en;q=0.3", Language::De),
            ("ja, *;q=0.5, de;q=0.3", Language::En),
            ("de;q=0, ja", Language::En),
            ("*", Language::En),
            ("", Language::En),
            ("de;q=x", Language::En),
            ("-", Language::En),
        ] {
            let request = TestRequest::get().insert_header((header::ACCEPT_LANGUAGE, accepted)).to_http_request();
            assert_eq!(preferred_language(&request), expected, "{accepted}");
        }
        assert_eq!(preferred_language(&TestRequest::get().to_http_request()), Language::En);
    }
}
