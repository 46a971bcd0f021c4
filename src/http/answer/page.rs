//! Pages of lists: their size, and the link to the next one.

use actix_web::http::header::{HeaderName, HeaderValue};

use super::problem::Problem;

/// How many items a page of a list has at most.
pub const PAGE_SIZE_MAX: u32 = 100;

/// How many it has if the client does not say.
pub(crate) const PAGE_SIZE_DEFAULT: u32 = 20;

/// How many items a page may have.
pub fn page_size(limit: Option<u32>) -> Result<u32, Problem> {
    match limit {
        None => Ok(PAGE_SIZE_DEFAULT),
        Some(limit @ 1..=PAGE_SIZE_MAX) => Ok(limit),
        Some(_) => Err(Problem::invalid("?limit", "a page has 1 to 100 items")),
    }
}

/// The header that leads to a list's next page (RFC 8288): what was asked for, from another place on.
pub fn next_link(path: &str, asked: &str, cursor: &str) -> (HeaderName, HeaderValue) {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(form_urlencoded::parse(asked.as_bytes()).filter(|(name, _)| name != "cursor"));
    query.append_pair("cursor", cursor);
    let value = HeaderValue::from_str(&format!("<{path}?{}>; rel=\"next\"", query.finish()));
    (HeaderName::from_static("link"), value.expect("paths and queries are percent-encoded"))
}
