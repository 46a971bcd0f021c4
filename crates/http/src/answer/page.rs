//! Pages of lists: their size, and the link to the next page.

use std::{fmt, str::FromStr};

use actix_web::http::header::{HeaderName, HeaderValue};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{cursor::Cursors, problem::Problem};

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

/// A place in a list that is ordered by time and then by id. As a text it has microseconds, the precision of PostgreSQL's timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// The time of the item.
    pub at: OffsetDateTime,
    /// Its id.
    pub id: Uuid,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.at.unix_timestamp_nanos() / 1000, self.id)
    }
}

/// A text that is no moment.
#[derive(Clone, Copy, Debug)]
pub struct NoMoment;

impl FromStr for Moment {
    type Err = NoMoment;

    fn from_str(text: &str) -> Result<Self, NoMoment> {
        let read = || {
            let (at, id) = text.split_once(' ')?;
            let at = OffsetDateTime::from_unix_timestamp_nanos(at.parse::<i128>().ok()?.checked_mul(1000)?).ok()?;
            Some(Self { at, id: Uuid::try_parse(id).ok()? })
        };
        read().ok_or(NoMoment)
    }
}

/// The place in a list after which the page begins, if there is a cursor.
pub fn place_after<T: FromStr>(cursors: &Cursors, cursor: Option<&str>, list: &str) -> Result<Option<T>, Problem> {
    let place = |cursor| {
        let place = cursors.open(cursor, list).and_then(|text| text.parse().ok());
        place.ok_or_else(|| Problem::invalid("?cursor", "not a cursor of this list"))
    };
    cursor.map(place).transpose()
}

/// Drops the look-ahead item; returns the page's last item if another page follows.
pub fn take_page<T>(found: &mut Vec<T>, limit: u32) -> Option<&T> {
    let has_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    found.last().filter(|_| has_more)
}

/// The header `Link` to a list's next page (RFC 8288): the same query with another cursor.
pub fn next_link(path: &str, query_string: &str, cursor: &str) -> (HeaderName, HeaderValue) {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(form_urlencoded::parse(query_string.as_bytes()).filter(|(name, _)| name != "cursor"));
    query.append_pair("cursor", cursor);
    let value = HeaderValue::from_str(&format!("<{path}?{}>; rel=\"next\"", query.finish()));
    (HeaderName::from_static("link"), value.expect("paths and queries are percent-encoded"))
}
