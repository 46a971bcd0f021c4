//! Compresses answers by gzip, for clients that accept it.
//!
//! Compressed requests are refused: see `request::extract`.

use std::{
    error::Error as StdError,
    io::Write,
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use actix_web::{
    HttpRequest, HttpResponse,
    body::{BodySize, BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, AcceptEncoding, Encoding, Header, HeaderValue},
    middleware::Next,
    web::{self, Bytes},
};
use flate2::{Compression, write::GzEncoder};

use crate::answer::{
    code::{Code, NOT_MODIFIED},
    headers,
    problem::Problem,
};

/// Shorter answers are sent as they are: of these gzip saves 40 % at most, and no packet, for some 40 µs of the processor. Above, it halves
/// the body, and from 800 bytes on it mostly saves a packet (`cargo bench --bench compression`).
const BYTES_MIN: u64 = 512;

/// Longer answers are compressed on another thread, because that takes a millisecond or more and would delay other answers.
const BYTES_INLINE_MAX: usize = 64 * 1024;

/// Types that compression makes smaller.
const TYPES: [&str; 6] = [
    "text/",
    "application/json",
    "application/problem+json",
    "application/javascript",
    "application/xml",
    "image/svg+xml",
];

/// Never compressed, because each event must arrive at once; the encoder would hold it back until more follow.
const EVENTS: &str = "text/event-stream";

/// Compresses bodies, including streamed ones. A body that already has an encoding stays as it is. So does the answer to a faulty
/// request: compressing its list of faults would take longer than finding them.
pub async fn compress(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let wanted = accepts_gzip(request.request());
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
        Err(body) => {
            let encoder = Some(GzEncoder::new(vec![], Compression::fast()));
            let response = response.set_body(BoxBody::new(Gzipped { body, chunk: Bytes::new(), encoder }));
            return Ok(ServiceResponse::new(request, with_gzip_header(response)));
        }
    };
    let gzipped = if bytes.len() <= BYTES_INLINE_MAX {
        gzip(&bytes, Compression::fast())
    } else {
        web::block(move || gzip(&bytes, Compression::fast())).await.map_err(Problem::internal)?
    };
    Ok(ServiceResponse::new(request, with_gzip_header(response.set_body(BoxBody::new(gzipped)))))
}

fn with_gzip_header(mut response: HttpResponse) -> HttpResponse {
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}

/// Whether the answer depends on `Accept-Encoding`. A 304 has the headers of the unchanged answer, so it always may.
fn varies(response: &HttpResponse) -> bool {
    let is_long = matches!(response.body().size(), BodySize::Sized(BYTES_MIN..) | BodySize::Stream);
    let content_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let is_text = || {
        content_type
            .is_some_and(|value| TYPES.iter().any(|prefix| value.starts_with(prefix)) && !value.starts_with(EVENTS))
    };
    let is_plain = || !response.headers().contains_key(header::CONTENT_ENCODING);
    let names_faults = response.extensions().get::<Code>() == Some(&Code::ValidationFailed);
    response.head().status == NOT_MODIFIED || (is_long && !names_faults && is_text() && is_plain())
}

/// Whether a client takes answers by gzip.
pub fn accepts_gzip(request: &HttpRequest) -> bool {
    let offered = [Encoding::gzip(), Encoding::identity()];
    // Without the header nothing is parsed.
    let asked = request.headers().contains_key(header::ACCEPT_ENCODING).then(|| AcceptEncoding::parse(request).ok());
    asked.flatten().and_then(|asked| asked.negotiate(offered.iter())) == Some(Encoding::gzip())
}

/// The bytes as gzip.
pub fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::with_capacity(bytes.len() / 4), level);
    encoder.write_all(bytes).expect("a Vec takes everything");
    encoder.finish().expect("a Vec takes everything").into()
}

/// The bytes of a streamed body that are compressed before other requests are served: some tenths of a millisecond.
const BYTES_AT_ONCE: usize = 32 * 1024;

/// A body that is compressed as it is sent.
struct Gzipped {
    body: BoxBody,
    /// The rest of the last chunk of the body.
    chunk: Bytes,
    /// `None` after the whole body was sent.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl MessageBody for Gzipped {
    type Error = Box<dyn StdError>;

    fn size(&self) -> BodySize {
        BodySize::Stream
    }

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let Self { body, chunk, encoder } = &mut *self;
        let Some(open) = encoder else { return Poll::Ready(None) };
        if chunk.is_empty() {
            let Some(bytes) = ready!(Pin::new(&mut *body).poll_next(cx)?) else {
                let rest = encoder.take().map(GzEncoder::finish).transpose().expect("a Vec takes everything");
                return Poll::Ready(rest.map(|rest| Ok(rest.into())));
            };
            *chunk = bytes;
        }
        let some = chunk.split_to(chunk.len().min(BYTES_AT_ONCE));
        open.write_all(&some).expect("a Vec takes everything");
        let compressed = mem::take(open.get_mut());
        if compressed.is_empty() {
            // The encoder keeps the bytes until it has more. Other requests come first.
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Some(Ok(compressed.into())))
    }
}
