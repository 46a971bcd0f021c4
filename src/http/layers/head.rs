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

/// Handles HEAD as GET (RFC 9110). actix-web leaves out the body by itself.
pub async fn head_as_get(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    if request.method() == Method::HEAD {
        request.head_mut().method = Method::GET;
        request.extensions_mut().insert(AsksForHead);
    }
    next.call(request).await
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

/// Drops the headers of a waiting request that no handler reads, and shrinks their map. As parsed, the map has room for 28
/// headers, which is a quarter of a waiting client's memory.
pub async fn drop_unread_headers(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    if request.method().is_safe() && request.headers().contains_key("prefer") {
        let sent = request.headers();
        let mut headers = HeaderMap::with_capacity(READ_HEADERS.len());
        for (name, value) in sent.iter().filter(|(name, _)| READ_HEADERS.contains(name)) {
            headers.append(name.clone(), value.clone());
        }
        *request.headers_mut() = headers;
    }
    next.call(request).await
}
