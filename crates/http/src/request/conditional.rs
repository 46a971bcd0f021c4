//! Conditional requests: `If-Match` and `If-None-Match` (RFC 9110, section 13).

use std::future::{Ready, ready};

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, EntityTag, Header},
};

use crate::answer::problem::Problem;

/// The versions in `If-Match`; `None` accepts any. Only the version of a tag counts, weak or strong. A tag of another form
/// matches no version.
#[derive(Clone, Debug)]
pub struct IfMatch(pub Option<Vec<u32>>);

impl FromRequest for IfMatch {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        if !request.headers().contains_key(header::IF_MATCH) {
            return ready(Ok(Self(None)));
        }
        let versions = match header::IfMatch::parse(request) {
            Ok(header::IfMatch::Any) => None,
            Ok(header::IfMatch::Items(tags)) => {
                let version = |tag: &header::EntityTag| tag.tag().split('-').next()?.parse().ok();
                Some(tags.iter().filter_map(version).collect())
            }
            Err(_) => Some(vec![]),
        };
        ready(Ok(Self(versions)))
    }
}

/// The answers in `If-None-Match`, which the client has already.
#[derive(Clone, Debug)]
pub enum IfNoneMatch {
    /// No header, or an unreadable one.
    Nothing,
    /// Matches any answer (`*`).
    Any,
    Tags(Vec<EntityTag>),
}

impl FromRequest for IfNoneMatch {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        if !request.headers().contains_key(header::IF_NONE_MATCH) {
            return ready(Ok(Self::Nothing));
        }
        ready(Ok(match header::IfNoneMatch::parse(request) {
            Ok(header::IfNoneMatch::Any) => Self::Any,
            Ok(header::IfNoneMatch::Items(tags)) if !tags.is_empty() => Self::Tags(tags),
            _ => Self::Nothing,
        }))
    }
}

impl IfNoneMatch {
    /// Whether the client has the answer with this tag.
    pub fn has(&self, etag: &EntityTag) -> bool {
        match self {
            Self::Nothing => false,
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|tag| tag.weak_eq(etag)),
        }
    }
}
