//! Headers that every answer has: what a browser may do with it, and how long it may be cached.

use actix_web::{
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
};

use crate::answer::headers::KEPT_FOR_MINUTES;

/// The policy of data: a browser that shows an answer loads and runs nothing, and puts it in no frame.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The policy of the documentation's pages. They load scripts and styles as files, have pictures in their styles, and call
/// this server only.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Headers of every answer. Browsers trust the declared type, and links send no referrer. Pages of other origins may read the
/// answer as far as CORS allows. `Strict-Transport-Security` is left to the proxy that terminates TLS.
const SAFE: [(HeaderName, &str); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CROSS_ORIGIN_RESOURCE_POLICY, "cross-origin"),
];

/// Adds the headers that an answer lacks. A handler's own `Cache-Control` and a picture's own policy stay; an answer without
/// `Cache-Control` gets `no-store`.
pub async fn complete(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let path = request.path();
    let is_page = path.starts_with("/docs");
    let kept =
        if is_page || ["/openapi.json", "/openapi-3.0.json"].contains(&path) { KEPT_FOR_MINUTES.1 } else { "no-store" };
    let policy = if is_page { DOCS_POLICY } else { DATA_POLICY };
    let outcome = next.call(request).await.map(ServiceResponse::map_into_boxed_body);
    with(outcome, move |headers| {
        for (name, value) in SAFE {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if !headers.contains_key(header::CONTENT_SECURITY_POLICY) {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
        }
        if !headers.contains_key(header::CACHE_CONTROL) {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
        }
    })
}

/// Changes the headers of an answer, or of an error that becomes an answer later.
pub fn with(
    outcome: Result<ServiceResponse<BoxBody>, actix_web::Error>,
    change: impl Fn(&mut HeaderMap) + 'static,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    match outcome {
        Ok(mut response) => {
            change(response.headers_mut());
            Ok(response)
        }
        Err(mut error) => {
            error.add_response_mapper(move |mut response| {
                change(response.headers_mut());
                response
            });
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::{
        App, HttpResponse,
        middleware::from_fn,
        test::{TestRequest, init_service, try_call_service},
        web,
    };

    use super::*;
    use crate::layers::{cors, envelope};

    async fn panics() -> HttpResponse {
        panic!("a bug")
    }

    #[actix_web::test]
    async fn an_answer_to_a_panic_has_all_headers_and_a_page_can_read_it() {
        let app = App::new()
            .route("/panics", web::get().to(panics))
            .wrap(from_fn(envelope::envelope))
            .wrap(cors::cors(&[cors::ANY_ORIGIN.to_owned()]))
            .wrap(from_fn(envelope::envelope))
            .wrap(from_fn(complete))
            .wrap(tracing_actix_web::TracingLogger::default());
        let app = init_service(app).await;
        let request = TestRequest::get().uri("/panics").insert_header(("origin", "https://play.example")).to_request();
        let error = try_call_service(&app, request).await.expect_err("a panic is passed on as an error");
        let response = error.error_response();
        for (name, value) in [
            ("content-type", "application/problem+json"),
            ("cache-control", "no-store"),
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", DATA_POLICY),
            ("access-control-allow-origin", "*"),
        ] {
            assert_eq!(response.headers().get(name).expect(name), value);
        }
        assert!(!response.headers().get("x-request-id").expect("an id").is_empty());
    }
}
