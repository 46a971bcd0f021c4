//! Answers that stay the same as long as the server runs: the pages, their files, and the OpenAPI documents.

use std::sync::{Arc, OnceLock};

use actix_web::{
    HttpRequest, HttpResponse,
    http::header::{self, EntityTag, HeaderValue},
    web::Bytes,
};
use flate2::Compression;
use mancala_http::{
    answer::headers::{KEPT_FOR_MINUTES, digest_tag},
    layers::compress::{accepts_gzip, gzip},
    request::conditional::IfNoneMatch,
};

/// Smaller answers are not compressed: they fit in two packets anyway.
const BYTES_MIN: usize = 2048;

/// An answer of this kind: its bytes, which all workers share, its type and its tag.
#[derive(Clone, Debug)]
pub struct Fixed {
    pub content_type: &'static str,
    pub etag: EntityTag,
    body: Bytes,
    /// The body as gzip, where that is smaller. The first request for it compresses, so that no later one does.
    compressed: Arc<OnceLock<Option<Bytes>>>,
}

impl Fixed {
    pub fn new(body: impl Into<Bytes>, content_type: &'static str) -> Self {
        let body = body.into();
        Self { etag: digest_tag(&body), body, content_type, compressed: Arc::default() }
    }

    /// The answer to a client that may have it already. Clients keep it for minutes, unless the caller sets another time.
    pub fn answer(&self, request: &HttpRequest, known: &IfNoneMatch) -> HttpResponse {
        let is_news = !known.has(&self.etag);
        let mut response = if is_news { HttpResponse::Ok() } else { HttpResponse::NotModified() };
        response.insert_header((header::ETAG, self.etag.clone())).insert_header(KEPT_FOR_MINUTES);
        if !is_news {
            return response.finish();
        }
        response.content_type(self.content_type);
        match self.compressed() {
            Some(compressed) if accepts_gzip(request) => {
                let gzip = HeaderValue::from_static("gzip");
                response.insert_header((header::CONTENT_ENCODING, gzip));
                response.insert_header((header::VARY, "Accept-Encoding")).body(compressed.clone())
            }
            _ => response.body(self.body.clone()),
        }
    }

    fn compressed(&self) -> Option<&Bytes> {
        let compress = || {
            let is_long = self.body.len() >= BYTES_MIN;
            is_long
                .then(|| gzip(&self.body, Compression::best()))
                .filter(|compressed| compressed.len() < self.body.len())
        };
        self.compressed.get_or_init(compress).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use actix_web::{body::MessageBody, test::TestRequest};

    use super::*;

    #[test]
    fn a_body_is_compressed_once_and_shared_by_all_answers() {
        let fixed = Fixed::new("{\"openapi\":\"3.1.0\"}".repeat(1000), "application/json");
        let request = TestRequest::get().insert_header((header::ACCEPT_ENCODING, "gzip")).to_http_request();
        let body = || {
            let response = fixed.clone().answer(&request, &IfNoneMatch::Nothing);
            assert_eq!(response.headers().get(header::CONTENT_ENCODING), Some(&HeaderValue::from_static("gzip")));
            response.into_body().try_into_bytes().expect("a whole body")
        };
        let (one, other) = (body(), body());
        assert!(one.len() < 1000 && one.as_ptr() == other.as_ptr());
    }
}
