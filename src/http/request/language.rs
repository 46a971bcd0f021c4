//! The language in which people read: pages for them are in one of those that pictures have.

use actix_web::{
    HttpRequest,
    http::header::{AcceptLanguage, Header, Quality},
};

use crate::picture::Language;

/// The language that the reader prefers, by `Accept-Language`; English if none of the accepted ones is there.
pub fn preferred_language(request: &HttpRequest) -> Language {
    let Ok(mut accepted) = AcceptLanguage::parse(request) else { return Language::En };
    accepted.0.retain(|range| range.quality > Quality::ZERO);
    let ranges = accepted.ranked();
    ranges.iter().find_map(|range| language(&range.to_string())).unwrap_or(Language::En)
}

/// The language of a range such as `de-AT`: a region or a script makes no difference.
fn language(range: &str) -> Option<Language> {
    let primary = range.split('-').next().unwrap_or_default();
    let is_primary = |language: &Language| language.tag().eq_ignore_ascii_case(primary);
    if primary == "*" { Some(Language::En) } else { Language::ALL.into_iter().find(is_primary) }
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
