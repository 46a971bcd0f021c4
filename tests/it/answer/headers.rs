//! Headers of every answer: caching, what a browser may do with it, and compression.

use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::{Method, StatusCode, header};
use serde_json::{Value, json};

use crate::support::{
    answer::{Answer, send_raw},
    app::{TestApp, limited},
    calls::{Guest, send, signed},
};

const PAGE: &str = "https://play.example";

/// A call of a page.
async fn call(app: &TestApp, method: &Method, path: &str, guest: Option<&Guest>, body: Option<&'static str>) -> Answer {
    let request = signed(app.request(method.clone(), path), guest).header(header::ORIGIN, PAGE);
    send(match body {
        Some(body) => request.header(header::CONTENT_TYPE, "application/json").body(body),
        None => request,
    })
    .await
}

/// What is asserted of every answer, whatever it is.
#[track_caller]
fn is_complete(answer: &Answer, what: &str) {
    let header = |name: &str| {
        let values: Vec<_> = answer.headers.get_all(name).iter().map(|value| value.to_str().expect("text")).collect();
        assert!(values.len() <= 1, "{what}: {name} twice: {values:?}");
        values.first().copied().unwrap_or_default().to_owned()
    };
    let kept = header("cache-control");
    assert!(!kept.is_empty(), "{what}: {answer:?}");
    if answer.status.is_client_error() || answer.status.is_server_error() {
        assert_eq!(kept, "no-store", "{what}");
        answer.is_problem(answer.status.as_u16(), answer.body["code"].as_str().expect("a code"));
    }
    assert_eq!(header("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(header("referrer-policy"), "no-referrer", "{what}");
    assert_eq!(header("cross-origin-resource-policy"), "cross-origin", "{what}");
    let policy = header("content-security-policy");
    assert!(
        policy.starts_with("default-src 'none'; ") && policy.contains("frame-ancestors 'none'"),
        "{what}: {policy}"
    );
    assert!(!header("x-request-id").is_empty(), "{what}");
    assert_eq!(header("access-control-allow-origin"), "*", "{what}");
    assert!(header("access-control-expose-headers").contains("ratelimit-policy"), "{what}");
    assert_eq!(header("server") + &header("x-powered-by") + &header("set-cookie"), "", "{what}");
    if header("vary").contains("Authorization") {
        assert!(!kept.contains("public") || kept.contains("immutable"), "{what}");
    }
}

fn operations(document: &Value) -> Vec<(Method, String)> {
    let paths = document["paths"].as_object().expect("paths");
    let methods = |(path, item): (&String, &Value)| {
        let names: Vec<_> = item.as_object().expect("operations").keys().map(|name| name.to_uppercase()).collect();
        let path = path.clone();
        names.into_iter().map(move |name| (name.parse().expect("a method"), path.clone()))
    };
    paths.iter().flat_map(methods).collect()
}

#[actix_web::test]
async fn every_answer_of_every_route_is_complete() {
    let app = TestApp::start_with(limited).await;
    let (id, south, _) = app.started(&json!({})).await;
    let document = app.get("/openapi.json", None).await.body;
    let mut statuses = vec![];
    for (method, path) in operations(&document) {
        let path = path.replace("{id}", &id).replace("{ply}", "0").replace("{variant}", "kalah");
        let path = path.replace("{code}", "internal").replace("{player_id}", &south.id);
        let long: &'static str = " ".repeat(70_000).leak();
        let bad = Guest { token: "bad".to_owned(), ..south.clone() };
        for (guest, body, path) in [
            (Some(&south), None, path.clone()),
            (None, None, path.clone()),
            (Some(&bad), None, path.clone()),
            (Some(&south), Some("{}"), path.clone()),
            (Some(&south), Some("{"), path.clone()),
            (Some(&south), Some(long), path.clone()),
            (Some(&south), None, format!("{path}?no_such_parameter=1")),
            (Some(&south), None, format!("{path}/nothing")),
        ] {
            for method in [&method, &Method::HEAD, &Method::PUT] {
                let answer = call(&app, method, &path, guest, body).await;
                if *method == Method::HEAD {
                    assert!(answer.headers.contains_key("cache-control"), "{path}");
                    continue;
                }
                is_complete(&answer, &format!("{method} {path}"));
                statuses.push(answer.status.as_u16());
            }
        }
        let plain = signed(app.request(method.clone(), &path), Some(&south)).header(header::ORIGIN, PAGE);
        let picky = send(plain.header(header::ACCEPT, "image/png")).await;
        is_complete(&picky, &format!("{method} {path} as a picture"));
        statuses.push(picky.status.as_u16());
    }
    statuses.sort_unstable();
    statuses.dedup();
    for status in [200, 201, 400, 401, 404, 405, 406, 413, 415, 422] {
        assert!(statuses.contains(&status), "{status} has not come: {statuses:?}");
    }
}

#[actix_web::test]
async fn failures_of_the_server_and_too_many_calls_are_complete_as_well() {
    let app = TestApp::start_with(limited).await;
    let (id, south, _) = app.started(&json!({})).await;
    let path = format!("/v1/games/{id}");
    sqlx::raw_sql("alter table game rename column version to broken").execute(&app.db).await.expect("it breaks");
    let broken = call(&app, &Method::GET, &path, Some(&south), None).await;
    sqlx::raw_sql("alter table game rename column broken to version").execute(&app.db).await.expect("it mends");
    broken.is_problem(500, "internal");
    is_complete(&broken, "500");
    sqlx::raw_sql("delete from _sqlx_migrations").execute(&app.db).await.expect("rows go");
    let unready = call(&app, &Method::GET, "/readyz", None, None).await;
    unready.is_problem(503, "unavailable");
    is_complete(&unready, "503");
    let limited = loop {
        let answer = call(&app, &Method::GET, "/v1/nothing", Some(&south), None).await;
        if answer.status == 429 {
            break answer;
        }
    };
    limited.is_problem(429, "rate_limited");
    is_complete(&limited, "429");
}

#[actix_web::test]
async fn the_documentation_is_complete_and_runs_under_its_policy() {
    let app = TestApp::start().await;
    for path in ["/docs", "/docs/", "/openapi.json", "/docs/swagger-ui-bundle.js", "/docs/none", "/nothing"] {
        is_complete(&call(&app, &Method::GET, path, None, None).await, path);
    }
    let page = app.get("/docs/", None).await;
    let policy = page.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
    // All scripts and styles are files of this server: none stands in the page, where the policy forbids it.
    for (tag, file) in [("<script", "src=\"./"), ("<link", "href=\"")] {
        for line in page.text.lines().filter(|line| line.contains(tag)) {
            assert!(line.contains(file) && !line.contains("://"), "{line}");
        }
    }
    assert!(
        !page.text.contains("<style") && !page.text.contains(" style=") && !page.text.contains(" on"),
        "{}",
        page.text
    );
    let script = app.get("/docs/swagger-initializer.js", None).await;
    assert!(script.text.contains("/openapi.json") && !script.text.contains("eval("), "{}", script.text);
    let problem = app.get("/problems/internal", None).await;
    assert_eq!(
        problem.headers["content-security-policy"],
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    );
}

#[actix_web::test]
async fn how_long_an_answer_may_be_kept_depends_on_what_it_is() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let (minutes, ever) = ("public, max-age=300", "public, max-age=31536000, immutable");
    let played = app.play_move(&id, &south, 1, "A").await;
    let joined = app.join_game(&id, &north).await;
    let mut cases = vec![(played, "private, no-cache"), (joined, "private, no-cache")];
    let history = [format!("/v1/games/{id}/moves"), format!("/v1/games/{id}/positions/1")];
    for path in &history {
        cases.push((app.get(path, None).await, "private, no-cache"));
    }
    cases.push((app.resign_game(&id, &south).await, "private, no-cache"));
    for path in &history {
        cases.push((app.get(path, None).await, ever));
        cases.push((app.get(path, Some(&north)).await, ever));
    }
    for path in [format!("/v1/games/{id}"), "/v1/games".to_owned()] {
        // Both answers show names, which change.
        cases.push((app.get(&path, None).await, "private, no-cache"));
    }
    for (answer, kept) in &cases {
        assert_eq!(answer.headers["cache-control"], *kept, "{answer:?}");
        assert!(answer.headers["vary"].to_str().expect("text").starts_with("Authorization, Prefer"), "{answer:?}");
    }
    for path in ["/v1/variants", "/v1/variants/kalah", "/problems/internal", "/.well-known/jwks.json", "/openapi.json"]
    {
        assert_eq!(app.get(path, None).await.headers["cache-control"], minutes, "{path}");
    }
    let tokens = app.post("/v1/players", None, &json!({})).await;
    let refreshed = json!({"grant_type": "refresh_token", "refresh_token": tokens.string("/refresh_token")});
    let refreshed = app.post("/v1/tokens", None, &refreshed).await;
    let revoked = app.post("/v1/tokens/revoke", None, &json!({"token": "none"})).await;
    for answer in [tokens, refreshed, revoked, app.get("/livez", None).await] {
        assert!(answer.status.is_success());
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
}

#[actix_web::test]
async fn what_an_answer_varies_by_is_one_list() {
    let app = TestApp::start_for(&[PAGE]).await;
    let ana = app.guest("Ana").await;
    for _ in 0..3 {
        app.created(&ana, &json!({"variant": "kalah"})).await;
    }
    let vary = |answer: &Answer| {
        let values: Vec<_> = answer.headers.get_all("vary").iter().collect();
        assert_eq!(values.len(), 1, "{answer:?}");
        values[0].to_str().expect("text").to_owned()
    };
    let list = call(&app, &Method::GET, "/v1/games", None, None).await;
    for name in ["Authorization", "Prefer", "Accept-Encoding", "Origin"] {
        assert!(vary(&list).split(", ").any(|item| item.eq_ignore_ascii_case(name)), "{name}: {}", vary(&list));
    }
    let failure = call(&app, &Method::GET, "/v1/nothing", None, None).await;
    assert!(vary(&failure).contains("Origin") && !vary(&failure).contains("Accept-Encoding"));
}

/// The answer to a GET that asks for these encodings, and its body as it came.
async fn get_encoded(app: &TestApp, method: Method, path: &str, accepted: &str) -> (reqwest::Response, Vec<u8>) {
    send_raw(app.request(method, path).header(header::ACCEPT_ENCODING, accepted)).await
}

#[actix_web::test]
async fn long_answers_are_compressed_on_request() {
    let app = TestApp::start().await;
    for path in ["/openapi.json", "/openapi-3.0.json", "/docs/swagger-ui.css", "/v1/variants"] {
        let plain = app.get(path, None).await;
        assert!(
            !plain.headers.contains_key("content-encoding") && plain.headers["vary"] == "Accept-Encoding",
            "{path}"
        );
        for accepted in ["gzip", "br, gzip;q=0.8, *;q=0.1", "deflate, gzip"] {
            let (response, body) = get_encoded(&app, Method::GET, path, accepted).await;
            let headers = response.headers();
            assert_eq!(
                (headers["content-encoding"].as_bytes(), headers["vary"].as_bytes()),
                (&b"gzip"[..], &b"Accept-Encoding"[..])
            );
            assert_eq!(headers["content-length"], body.len().to_string());
            assert_eq!(headers["content-type"], plain.headers["content-type"]);
            assert!(body.len() * 2 < plain.text.len(), "{path}: {} of {}", body.len(), plain.text.len());
            let mut text = String::new();
            GzDecoder::new(body.as_slice()).read_to_string(&mut text).expect("it is gzip");
            assert_eq!(text, plain.text);
            let (head, nothing) = get_encoded(&app, Method::HEAD, path, accepted).await;
            assert_eq!((head.status(), nothing.len()), (StatusCode::OK, 0));
            assert_eq!(head.headers()["content-length"], headers["content-length"]);
        }
        for accepted in ["", "identity", "gzip;q=0", "br", "identity, gzip;q=0.5", "nonsense;;q=", "gzip;q=2"] {
            let (response, body) = get_encoded(&app, Method::GET, path, accepted).await;
            assert!(!response.headers().contains_key("content-encoding"), "{accepted}");
            assert_eq!(body.len(), plain.text.len(), "{accepted}");
        }
    }
}

#[actix_web::test]
async fn streamed_answers_are_compressed_as_well() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for _ in 0..45 {
        app.created(&ana, &json!({"variant": "kalah"})).await;
    }
    let export = |method| signed(app.request(method, "/v1/me/export"), Some(&ana));
    let plain = send(export(Method::GET)).await;
    assert!(!plain.headers.contains_key("content-encoding"));
    assert_eq!(
        (&plain.headers["vary"], &plain.headers["transfer-encoding"]),
        (&"Accept-Encoding".parse().expect("a header"), &"chunked".parse().expect("a header"))
    );
    let (response, body) = send_raw(export(Method::GET).header(header::ACCEPT_ENCODING, "gzip")).await;
    assert_eq!(
        (&response.headers()["content-encoding"], &response.headers()["vary"]),
        (&"gzip".parse().expect("a header"), &plain.headers["vary"])
    );
    assert!(!response.headers().contains_key("content-length"));
    let mut text = String::new();
    GzDecoder::new(body.as_slice()).read_to_string(&mut text).expect("it is gzip, and whole");
    assert!(text == plain.text && body.len() * 5 < text.len(), "{} of {}", body.len(), text.len());
    let (head, nothing) = send_raw(export(Method::HEAD).header(header::ACCEPT_ENCODING, "gzip")).await;
    assert_eq!((head.status(), nothing.len()), (StatusCode::OK, 0));
}

#[actix_web::test]
async fn answers_are_compressed_from_512_bytes_on() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let played = app.play_move(&id, &south, 1, "B").await;
    assert_eq!(played.status, 201);
    let paths = [format!("/v1/games/{id}"), format!("/v1/games/{id}/moves"), format!("/v1/games/{id}/positions/1")];
    let mut seen = vec![];
    for path in paths {
        let plain = app.get(&path, None).await;
        let (response, body) = get_encoded(&app, Method::GET, &path, "gzip").await;
        let is_compressed = response.headers().contains_key("content-encoding");
        assert_eq!(is_compressed, plain.text.len() >= 512, "{path}: {}", plain.text.len());
        assert_eq!(is_compressed, plain.headers["vary"].to_str().expect("text").contains("Accept-Encoding"), "{path}");
        assert!(!is_compressed || body.len() * 10 < plain.text.len() * 7, "{} of {}", body.len(), plain.text.len());
        seen.push(is_compressed);
    }
    assert!(seen.contains(&true) && seen.contains(&false), "{seen:?}");
}

#[actix_web::test]
async fn short_answers_pixels_and_what_has_not_changed_are_not_compressed() {
    let app = TestApp::start().await;
    let (id, ..) = app.started(&json!({})).await;
    let (response, _) = get_encoded(&app, Method::GET, "/v1/variants/kalah/board.png?width=64", "gzip").await;
    assert!(!response.headers().contains_key("content-encoding") && !response.headers().contains_key("vary"));
    for path in ["/livez", "/nothing", "/docs/icon.svg"] {
        let (response, _) = get_encoded(&app, Method::GET, path, "gzip").await;
        assert!(!response.headers().contains_key("content-encoding"), "{path}");
        assert!(!response.headers().contains_key("vary"), "{path}");
    }
    let path = format!("/v1/games/{id}");
    let etag = app.get(&path, None).await.headers["etag"].clone();
    let request = app.request(Method::GET, &path).header(header::IF_NONE_MATCH, &etag);
    let unchanged = send(request.header(header::ACCEPT_ENCODING, "gzip")).await;
    assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str()), (304, ""));
    assert_eq!(unchanged.headers["etag"], etag);
    assert_eq!(unchanged.headers["vary"], "Authorization, Prefer, Accept-Encoding");
    assert!(!unchanged.headers.contains_key("content-encoding"));
}

#[actix_web::test]
async fn a_long_failure_can_be_compressed_and_a_compressed_request_is_refused() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    for (ply, guest, mv) in [(1, &south, "A"), (2, &north, "a"), (3, &south, "C"), (4, &north, "c")] {
        assert_eq!(app.play_move(&id, guest, ply, mv).await.status, 201);
    }
    let path = format!("/v1/games/{id}/moves");
    let request = app.request(Method::POST, &path).bearer_auth(&north.token).header(header::ACCEPT_ENCODING, "gzip");
    let stale = request.json(&json!({"ply": 1, "move": "a"})).send().await.expect("the server answers");
    assert_eq!(
        (stale.status().as_u16(), stale.headers()["content-type"].as_bytes()),
        (409, &b"application/problem+json"[..])
    );
    assert_eq!(stale.headers()["content-encoding"], "gzip");

    for encoding in ["gzip", "deflate", "br", "zstd", "gzip, identity", "GZIP"] {
        // A bomb, and it would be a good body if it were not compressed.
        let request = app.request(Method::POST, "/v1/players").header(header::CONTENT_ENCODING, encoding);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        let mut bomb = flate2::write::GzEncoder::new(vec![], flate2::Compression::best());
        std::io::copy(&mut std::io::repeat(b' ').take(10_000_000), &mut bomb).expect("a Vec takes everything");
        let bomb = bomb.finish().expect("a Vec takes everything");
        assert!(bomb.len() < 16_384);
        send(request.try_clone().expect("a request").body(bomb)).await.is_problem(415, "unsupported_media_type");
        send(request.body("{}")).await.is_problem(415, "unsupported_media_type");
    }
    let plain = app.request(Method::POST, "/v1/players").header(header::CONTENT_ENCODING, "identity");
    assert_eq!(send(plain.json(&json!({}))).await.status, 201);
}
