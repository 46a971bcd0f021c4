//! HEAD requests, and the headers that a waiting request keeps.

use actix_web::HttpMessage;
use actix_web::{
    body::MessageBody,
    dev::{ServiceRequest, ServiceResponse},
    http::{
        Method,
        header::{self, HeaderMap, HeaderName},
    },
    middleware::Next,
};

/// With a request for an answer's head: for whoever would never come to an end with the body.
#[derive(Clone, Copy, Debug)]
pub struct AsksForHead;

/// HEAD is GET without the body (RFC 9110), which the server leaves out by itself.
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

/// Headers that are still read of a request that asks to wait.
pub(crate) static READ: [HeaderName; 6] = [
    header::AUTHORIZATION,
    header::ACCEPT,
    header::IF_NONE_MATCH,
    header::ORIGIN,
    HeaderName::from_static("prefer"),
    HeaderName::from_static("last-event-id"),
];

/// A request that asks to wait keeps the headers that are still read, and no more room than these need: as they come, they have
/// room for 28, which is a quarter of what a client that waits would cost.
pub async fn slim_down(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, actix_web::Error> {
    if request.method().is_safe() && request.headers().contains_key("prefer") {
        let sent = request.headers();
        let mut headers = HeaderMap::with_capacity(READ.len());
        for (name, value) in sent.iter().filter(|(name, _)| READ.contains(name)) {
            headers.append(name.clone(), value.clone());
        }
        *request.headers_mut() = headers;
    }
    next.call(request).await
}
