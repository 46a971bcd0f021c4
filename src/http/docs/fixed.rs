//! Answers that stay the same as long as the server runs.

use actix_web::{
    HttpResponse,
    http::header::{self, EntityTag},
    web::Bytes,
};

use crate::http::{
    answer::headers::{KEPT_FOR_MINUTES, digest_tag},
    request::conditional::IfNoneMatch,
};

/// An answer of this kind: its bytes, which all workers share, its type and its tag.
#[derive(Clone, Debug)]
pub struct Fixed {
    body: Bytes,
    content_type: &'static str,
    etag: EntityTag,
}

impl Fixed {
    pub fn new(body: impl Into<Bytes>, content_type: &'static str) -> Self {
        let body = body.into();
        Self { etag: digest_tag(&body), body, content_type }
    }

    /// The answer to a client that may have it already.
    pub fn answer(&self, known: &IfNoneMatch) -> HttpResponse {
        let is_news = !known.has(&self.etag);
        let mut response = if is_news { HttpResponse::Ok() } else { HttpResponse::NotModified() };
        response.insert_header((header::ETAG, self.etag.clone())).insert_header(KEPT_FOR_MINUTES);
        if is_news { response.content_type(self.content_type).body(self.body.clone()) } else { response.finish() }
    }
}
