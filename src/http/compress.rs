//! Answers compressed by gzip, for clients that ask for it.
//!
//! Requests are never taken compressed: see `extract`.

use std::io::Write;

use actix_web::{
    HttpResponse,
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, AcceptEncoding, Encoding, Header, HeaderValue},
    middleware::Next,
    web::{self, Bytes},
};
use flate2::{Compression, write::GzEncoder};

use super::{
    error::{NOT_MODIFIED, Problem},
    headers,
};

/// What is shorter is sent as it is: it fits in two packets, and arrives no sooner for being smaller. So a game, or the
/// answer to a move, costs nobody the time to compress it.
const BYTES_MIN: u64 = 2048;

/// What is longer is compressed on another thread, so that no other answer of this one waits: it takes a millisecond or more.
const BYTES_INLINE_MAX: usize = 64 * 1024;

/// Types of which compression makes something smaller. Server-sent events have no length, and are left alone for that.
const TYPES: [&str; 6] = [
    "text/",
    "application/json",
    "application/problem+json",
    "application/javascript",
    "application/xml",
    "image/svg+xml",
];

/// Compresses whole bodies. What has an encoding already stays as it is, and so does what is sent piece by piece.
pub async fn compress(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let wanted = takes_gzip(&request);
    let mut response = next.call(request).await?.map_into_boxed_body();
    if !varies(response.response()) {
        return Ok(response);
    }
    headers::add_vary(response.headers_mut(), "Accept-Encoding");
    if !wanted || response.status() == NOT_MODIFIED {
        return Ok(response);
    }
    let (request, response) = response.into_parts();
    let (response, body) = response.into_parts();
    let bytes = match body.try_into_bytes() {
        Ok(bytes) => bytes,
        Err(body) => return Ok(ServiceResponse::new(request, response.set_body(body))),
    };
    let small = bytes.len() <= BYTES_INLINE_MAX;
    let gzipped =
        if small { gzip(&bytes) } else { web::block(move || gzip(&bytes)).await.map_err(Problem::internal)? };
    let mut response = response.set_body(BoxBody::new(gzipped));
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    Ok(ServiceResponse::new(request, response))
}

/// Whether an answer would be another one for a client that asks otherwise. That nothing has changed is said with the headers
/// of what has not.
fn varies(response: &HttpResponse) -> bool {
    let is_long = matches!(response.body().size(), BodySize::Sized(BYTES_MIN..));
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = || content_type.is_some_and(|value| TYPES.iter().any(|prefix| value.starts_with(prefix)));
    let is_plain = || !response.headers().contains_key(header::CONTENT_ENCODING);
    response.head().status == NOT_MODIFIED || (is_long && is_text() && is_plain())
}

fn takes_gzip(request: &ServiceRequest) -> bool {
    let offered = [Encoding::gzip(), Encoding::identity()];
    // Without the header there is nothing to parse.
    let asked = request.headers().contains_key(header::ACCEPT_ENCODING).then(|| AcceptEncoding::parse(request).ok());
    asked.flatten().and_then(|asked| asked.negotiate(offered.iter())) == Some(Encoding::gzip())
}

fn gzip(bytes: &Bytes) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), Compression::fast());
    encoder.write_all(bytes).expect("a Vec takes everything");
    encoder.finish().expect("a Vec takes everything").into()
}
