//! The layer that gives every failure the one form, whatever it comes from: a handler, actix-web, or a panic.
//!
//! The layer knows [`Problem`]s and no route.

use std::panic::AssertUnwindSafe;

use actix_web::{
    HttpMessage, ResponseError,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    http::header::{HeaderMap, HeaderValue},
    middleware::Next,
};
use futures_util::FutureExt;
use tracing_actix_web::RequestId;

use crate::{
    answer::{
        code::Code,
        problem::{Problem, X_REQUEST_ID},
    },
    request::faults,
};

/// Gives every answer its request id, every failure the one form, and every fault of the server one line in the log.
pub async fn envelope(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, actix_web::Error> {
    let id = request.extensions().get::<RequestId>().copied();
    let request_id = || id.map(|id| id.to_string()).unwrap_or_default();
    let outcome = AssertUnwindSafe(next.call(request)).catch_unwind().await;
    match outcome {
        Ok(Ok(response)) if fails(&response) && !is_problem(&response) => {
            let problem = response.response().error().map(Problem::of);
            let problem = problem.unwrap_or_else(|| Problem::of_status(response.status()));
            let problem = faults::complete(problem, response.request());
            let (request, before) = response.into_parts();
            let mut response = problem.of_request(request_id()).error_response();
            keep_added(response.headers_mut(), before.headers());
            Ok(ServiceResponse::new(request, response))
        }
        Ok(Ok(mut response)) => {
            // An answer of the inner envelope has the header already.
            if !response.headers().contains_key(&X_REQUEST_ID) {
                let id = HeaderValue::try_from(request_id()).expect("a UUID is a header value");
                response.headers_mut().insert(X_REQUEST_ID.clone(), id);
            }
            Ok(response.map_into_boxed_body())
        }
        // An error that is in the envelope already may have been given headers since.
        Ok(Err(error)) if error.as_error::<Problem>().is_some_and(Problem::has_request) => Err(error),
        Ok(Err(error)) => Err(Problem::of(&error).of_request(request_id()).into()),
        Err(panic) => {
            let message = panic.downcast_ref::<&str>().map(ToString::to_string);
            let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            Err(Problem::internal(format!("a handler panicked: {message}")).of_request(request_id()).into())
        }
    }
}

/// Copies the headers that other layers have added to an answer, such as `RateLimit`, to its new form.
fn keep_added(headers: &mut HeaderMap, before: &HeaderMap) {
    for (name, value) in before {
        if !headers.contains_key(name) {
            headers.append(name.clone(), value.clone());
        }
    }
}

fn fails<B>(response: &ServiceResponse<B>) -> bool {
    response.status().is_client_error() || response.status().is_server_error()
}

/// Whether a failure is in the envelope already. Layers around the routes may fail too, so the envelope is applied twice.
///
/// A problem marks its answer with its code, also where it is a page for people.
fn is_problem<B>(response: &ServiceResponse<B>) -> bool {
    response.response().extensions().get::<Code>().is_some() && response.response().error().is_none()
}

#[cfg(test)]
mod tests {
    use actix_web::{
        App, HttpResponse,
        middleware::from_fn,
        test::{TestRequest, init_service, try_call_service},
        web,
    };
    use serde_json::Value;

    use super::*;

    async fn panics() -> HttpResponse {
        panic!("a bug with a secret in it")
    }

    #[actix_web::test]
    async fn a_panic_is_an_opaque_500_in_the_one_envelope() {
        let app = App::new().wrap(from_fn(envelope)).route("/panics", web::get().to(panics));
        let app = init_service(app).await;
        let request = TestRequest::get().uri("/panics").to_request();
        let error = try_call_service(&app, request).await.expect_err("the layer turns a panic into an error");
        let response = error.error_response();
        assert_eq!(response.status(), 500);
        assert_eq!(response.headers().get("content-type").expect("a type"), "application/problem+json");
        let body = actix_web::body::to_bytes(response.into_body()).await.unwrap_or_default();
        let body: Value = serde_json::from_slice(&body).expect("the body is JSON");
        assert_eq!(body["code"], "internal");
        assert!(!body.to_string().contains("secret"));
    }
}
