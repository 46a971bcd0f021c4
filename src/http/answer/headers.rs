//! Headers that every answer has: what a browser may do with it, and how long it may be kept.

use std::hash::{DefaultHasher, Hash, Hasher};

use actix_web::{
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{self, EntityTag, HeaderMap, HeaderName, HeaderValue},
    middleware::Next,
};

/// What may change, or shows people's names: asked for again each time, and kept for nobody else.
pub const NOT_KEPT: (HeaderName, &str) = (header::CACHE_CONTROL, "private, no-cache");

/// What is the same for everybody until the server is replaced by another version.
pub const KEPT_FOR_MINUTES: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=300");

/// What is the same for everybody, and changes a little all the time.
pub const KEPT_FOR_A_MINUTE: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=60");

/// What never changes again.
pub const KEPT_FOR_EVER: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=31536000, immutable");

/// What answers about games depend on beside the address.
pub const VARIES: (HeaderName, &str) = (header::VARY, "Authorization, Prefer");

/// An answer is data: a browser that shows it loads and runs nothing, and puts it in no frame.
const DATA_POLICY: &str = "default-src 'none'; frame-ancestors 'none'";

/// The same of a picture, which has its colours in it.
pub const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/// The page that shows the API runs its own scripts, all of them files, has its pictures in its styles, and calls this
/// server only.
const DOCS_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                           base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Of every answer: the type is what it says, links tell nobody where they were, and pages of other origins may read it (as
/// far as CORS lets them). Whether a browser must use TLS is for the proxy to say that speaks it.
const SAFE: [(HeaderName, &str); 3] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CROSS_ORIGIN_RESOURCE_POLICY, "cross-origin"),
];

/// The tag of an answer that has no version: by what it says.
pub fn digest_tag(body: &str) -> EntityTag {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    EntityTag::new_weak(format!("{:016x}", hasher.finish()))
}

/// Adds what an answer lacks. What a handler says of how long it may be kept holds, and so does the policy of a picture; what it says
/// nothing of is not kept.
pub async fn complete(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let path = request.path();
    let is_page = path.starts_with("/docs");
    let kept = if is_page || path == "/openapi.json" { KEPT_FOR_MINUTES.1 } else { "no-store" };
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

/// Changes the headers of what comes of a request: of an answer, or of a failure that is yet to become one.
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

/// Says that an answer also depends on a header of the request, in one line with what it depends on already.
pub fn add_vary(headers: &mut HeaderMap, name: &str) {
    let known: Vec<&str> = headers.get_all(header::VARY).filter_map(|value| value.to_str().ok()).collect();
    let value = if known.is_empty() { name.to_owned() } else { format!("{}, {name}", known.join(", ")) };
    headers.insert(header::VARY, HeaderValue::from_str(&value).expect("names of headers are header values"));
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
    use crate::http::{answer::problem, layers::cors};

    async fn panics() -> HttpResponse {
        panic!("a bug")
    }

    #[actix_web::test]
    async fn what_comes_of_a_panic_is_complete_and_can_be_read_by_a_page() {
        let app = App::new()
            .route("/panics", web::get().to(panics))
            .wrap(from_fn(problem::envelope))
            .wrap(cors::cors(&[cors::ANY_ORIGIN.to_owned()]))
            .wrap(from_fn(problem::envelope))
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
