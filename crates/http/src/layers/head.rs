//! HEAD requests, and the headers that a waiting request keeps in memory.

use actix_web::{
    HttpMessage,
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{self, HeaderMap, HeaderName},
    },
    middleware::Next,
};

/// Marks a HEAD request, for handlers whose body would never end.
#[derive(Clone, Copy, Debug)]
pub struct AsksForHead;

/// Handles HEAD as GET, and drops the headers of a waiting request that no handler reads.
pub async fn simplify(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    head_as_get(&mut request);
    drop_unread_headers(&mut request);
    next.call(request).await
}

/// RFC 9110 gives HEAD the answer of GET. actix-web leaves out the body by itself.
fn head_as_get(request: &mut ServiceRequest) {
    if request.method() == Method::HEAD {
        request.head_mut().method = Method::GET;
        request.extensions_mut().insert(AsksForHead);
    }
}

/// Headers that the handlers of waiting requests still read.
static READ_HEADERS: [HeaderName; 6] = [
    header::AUTHORIZATION,
    header::ACCEPT,
    header::IF_NONE_MATCH,
    header::ORIGIN,
    HeaderName::from_static("prefer"),
    HeaderName::from_static("last-event-id"),
];

/// As parsed, the map of headers has room for 28, which is a quarter of a waiting client's memory.
fn drop_unread_headers(request: &mut ServiceRequest) {
    if request.method().is_safe() && request.headers().contains_key("prefer") {
        let sent = request.headers();
        let mut headers = HeaderMap::with_capacity(READ_HEADERS.len());
        for (name, value) in sent.iter().filter(|(name, _)| READ_HEADERS.contains(name)) {
            headers.append(name.clone(), value.clone());
        }
        *request.headers_mut() = headers;
    }
}
