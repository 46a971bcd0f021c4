//! Calls from pages of other origins.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::{answer::Answer, app::TestApp, calls::send};

const PAGE: &str = "https://play.example";

/// Headers that a page may send: those that the API knows.
const ALLOWED: &str = "authorization, content-type, prefer, if-match, if-none-match, idempotency-key, last-event-id, traceparent, \
     tracestate, baggage, sentry-trace, x-requested-with";

/// Headers that a page may read.
const EXPOSED: &str = "etag, link, location, retry-after, ratelimit, ratelimit-policy, idempotent-replayed, preference-applied, \
                       x-request-id";

/// A list of names, which has no order.
fn names(list: &str) -> Vec<String> {
    let mut names: Vec<_> = list.split(',').map(|name| name.trim().to_lowercase()).collect();
    names.sort();
    names
}

async fn call(app: &TestApp, method: Method, path: &str, origin: &str) -> Answer {
    send(app.request(method, path).header(header::ORIGIN, origin)).await
}

async fn preflight(app: &TestApp, path: &str, origin: &str, method: &str, headers: &str) -> Answer {
    let request = app.request(Method::OPTIONS, path).header(header::ORIGIN, origin);
    let request = request.header(header::ACCESS_CONTROL_REQUEST_METHOD, method);
    send(request.header(header::ACCESS_CONTROL_REQUEST_HEADERS, headers)).await
}

#[actix_web::test]
async fn every_route_can_be_called_from_a_page_and_its_failures_read() {
    let app = TestApp::start().await;
    let document: Value = app.get("/openapi.json", None).await.body;
    let mut paths: Vec<String> = document["paths"].as_object().expect("paths").keys().cloned().collect();
    paths.extend(["/openapi.json", "/docs/", "/nothing", "/v1/games?limit=0"].map(str::to_owned));
    for path in paths {
        for method in [Method::GET, Method::POST, Method::PUT] {
            let answer = call(&app, method.clone(), &path, PAGE).await;
            assert_eq!(answer.headers["access-control-allow-origin"], "*", "{method} {path}");
            let exposed = answer.headers["access-control-expose-headers"].to_str().expect("text");
            assert_eq!(names(exposed), names(EXPOSED), "{method} {path}");
            if answer.status.is_client_error() {
                answer.is_problem(answer.status.as_u16(), answer.body["code"].as_str().expect("a code"));
            }
        }
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            let allowed = preflight(&app, &path, PAGE, method, ALLOWED).await;
            assert_eq!(allowed.status, 200, "{path} {allowed:?}");
            let methods = allowed.headers["access-control-allow-methods"].to_str().expect("text");
            assert_eq!(names(methods), names("get, head, post, put, patch, delete"));
            let headers = allowed.headers["access-control-allow-headers"].to_str().expect("text");
            assert_eq!(names(headers), names(ALLOWED));
            assert_eq!(allowed.headers["access-control-max-age"], "3600");
        }
        for (method, headers) in [("TRACE", "authorization"), ("GET", "x-other")] {
            preflight(&app, &path, PAGE, method, headers).await.is_problem(400, "malformed_request");
        }
    }
}

#[actix_web::test]
async fn a_failure_keeps_what_it_says_beside_the_headers_for_the_page() {
    let app = TestApp::start().await;
    let (id, _, north) = app.started(&json!({})).await;
    let request = app.request(Method::POST, &format!("/v1/games/{id}/moves")).header(header::ORIGIN, PAGE);
    let refused = send(request.bearer_auth(&north.token).json(&json!({"ply": 1, "move": "a"}))).await;
    refused.is_problem(409, "not_your_turn");
    assert_eq!(refused.body["game"]["id"], id);
    assert_eq!(refused.headers["access-control-allow-origin"], "*");
}

#[actix_web::test]
async fn only_pages_of_the_configured_origins_may_call() {
    let app = TestApp::start_for(&[PAGE, "http://localhost:5173"]).await;
    for origin in [PAGE, "http://localhost:5173"] {
        for path in ["/v1/variants", "/v1/nothing"] {
            let answer = call(&app, Method::GET, path, origin).await;
            assert_eq!(answer.headers["access-control-allow-origin"], origin);
            assert!(answer.headers["vary"].to_str().expect("text").contains("Origin"));
        }
    }
    for origin in ["https://evil.example", "http://play.example", "https://play.example.evil.example", "null"] {
        let answer = call(&app, Method::GET, "/v1/variants", origin).await;
        assert!(!answer.headers.contains_key("access-control-allow-origin"), "{origin}");
        preflight(&app, "/v1/games", origin, "POST", "authorization").await.is_problem(400, "malformed_request");
    }
    // A client that is no page is not restricted.
    assert_eq!(app.get("/v1/variants", None).await.status, 200);
}
