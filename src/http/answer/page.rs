//! Pages of lists: their size, and the link to the next page.

use actix_web::http::header::{HeaderName, HeaderValue};

use super::problem::Problem;

/// The most items of a page.
pub const PAGE_SIZE_MAX: u32 = 100;

/// The number of items of a page without `limit`.
const PAGE_SIZE_DEFAULT: u32 = 20;

/// The number of items that the page may have.
pub fn page_size(limit: Option<u32>) -> Result<u32, Problem> {
    match limit {
        None => Ok(PAGE_SIZE_DEFAULT),
        Some(limit @ 1..=PAGE_SIZE_MAX) => Ok(limit),
        Some(_) => Err(Problem::invalid_as("out_of_range", "?limit", "a page has 1 to 100 items")),
    }
}

/// The header `Link` to a list's next page (RFC 8288): the same query with another cursor.
pub fn next_link(path: &str, query_string: &str, cursor: &str) -> (HeaderName, HeaderValue) {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(form_urlencoded::parse(query_string.as_bytes()).filter(|(name, _)| name != "cursor"));
    query.append_pair("cursor", cursor);
    let value = HeaderValue::from_str(&format!("<{path}?{}>; rel=\"next\"", query.finish()));
    (HeaderName::from_static("link"), value.expect("paths and queries are percent-encoded"))
}
