//! Rate limits: which calls count against whom, and what an answer says of it.

use std::iter;

use futures_util::{StreamExt, stream};
use mancala_server::http::RateLimits;
use reqwest::{Method, RequestBuilder, StatusCode, header};
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::until_async,
};

/// Calls that a test has in flight at once, so that many take little time.
const AT_ONCE: usize = 16;

/// A server whose quotas are not refilled, so that a slow machine changes no count.
async fn limited(trusted_proxies: &[&'static str]) -> TestApp {
    limited_as(RateLimits::NeverRefilled, trusted_proxies).await
}

async fn limited_as(rate_limits: RateLimits, trusted_proxies: &[&'static str]) -> TestApp {
    TestApp::start_with(|service| {
        service.rate_limits = rate_limits;
        service.trusted_proxies = trusted_proxies.iter().map(|text| text.parse().expect("a network")).collect();
    })
    .await
}

/// A call that comes through a proxy from an address.
async fn from(app: &TestApp, address: &str, method: Method, path: &str) -> Answer {
    send(app.request(method, path).header("x-forwarded-for", address)).await
}

/// A call that is counted as a new player and makes none.
async fn sign_up(app: &TestApp, address: &str) -> Answer {
    let request = app.request(Method::POST, "/v1/players").header("x-forwarded-for", address);
    send(request.json(&json!({"name": ""}))).await
}

/// Makes so many calls, and counts those that were refused for being too many.
async fn refused<F: Future<Output = Answer>>(count: usize, call: impl Fn() -> F) -> usize {
    let answers = stream::iter(0..count).map(|_| call()).buffer_unordered(AT_ONCE);
    answers.filter(|answer| std::future::ready(answer.status == 429)).count().await
}

/// The policy's name, the calls that are left, and the seconds, from the headers.
fn standing(answer: &Answer) -> (String, u32, u32) {
    let text = answer.headers["ratelimit"].to_str().expect("text");
    let (name, rest) =
        text.strip_prefix('"').and_then(|text| text.split_once("\";r=")).expect("a name and what is left");
    let (remaining, reset) = rest.split_once(";t=").expect("what is left, and when");
    (name.to_owned(), remaining.parse().expect("a number"), reset.parse().expect("seconds"))
}

#[actix_web::test]
async fn every_limited_answer_has_the_policy_and_what_is_left() {
    let app = limited(&[]).await;
    let ana = app.guest("Ana").await;
    let made = send(app.request(Method::POST, "/v1/players")).await;
    assert_eq!(made.status, 201);
    assert_eq!(made.headers["ratelimit-policy"], "\"new-players\";q=100;w=600");
    assert!((90..100).contains(&standing(&made).1), "{made:?}");
    for (answer, policy, name) in [
        (app.create_game(&ana, &json!({"variant": "kalah"})).await, "\"player\";q=300;w=30", "player"),
        (app.create_game(&ana, &json!({"variant": "chess"})).await, "\"player\";q=300;w=30", "player"),
        (app.get("/v1/nothing", Some(&ana)).await, "\"player\";q=300;w=30", "player"),
        (app.get("/v1/variants", None).await, "\"address\";q=1000;w=10", "address"),
        (app.create_game(&app.stranger(), &json!({"variant": "kalah"})).await, "\"player\";q=300;w=30", "player"),
        (app.get("/nothing", None).await, "\"address\";q=1000;w=10", "address"),
        (app.post("/v1/tokens", Some(&ana), &json!({})).await, "\"tokens\";q=300;w=600", "tokens"),
        (app.patch("/v1/me", Some(&ana), &json!({"password": "short"})).await, "\"tokens\";q=300;w=600", "tokens"),
        (app.get("/v1/me", Some(&ana)).await, "\"player\";q=300;w=30", "player"),
        (app.post("/v1/players", Some(&ana), &json!({"name": ""})).await, "\"new-players\";q=100;w=600", "new-players"),
        (app.post("/v1/players", Some(&ana), &json!({"x": 1})).await, "\"address\";q=1000;w=10", "address"),
        (send(app.request(Method::GET, "/v1/games").bearer_auth("none")).await, "\"address\";q=1000;w=10", "address"),
    ] {
        assert_eq!(answer.headers["ratelimit-policy"], policy, "{answer:?}");
        let (told, remaining, reset) = standing(&answer);
        assert_eq!(told, name);
        assert!(remaining > 90 && (1..=600).contains(&reset), "{answer:?}");
    }
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let path = format!("/v1/games/{}", game["id"].as_str().expect("an id"));
    let etag = app.get(&path, Some(&ana)).await.headers["etag"].clone();
    let unchanged = send(signed(app.request(Method::GET, &path), Some(&ana)).header(header::IF_NONE_MATCH, etag)).await;
    assert_eq!((unchanged.status.as_u16(), standing(&unchanged).0.as_str()), (304, "player"));
}

#[actix_web::test]
async fn only_the_player_over_the_limit_is_refused_with_a_retry_after() {
    let app = limited(&[]).await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    assert_eq!(refused(400, || app.get("/v1/games/none", Some(&ana))).await, 100);
    let answer = app.get("/v1/variants", Some(&ana)).await;
    answer.is_problem(429, "rate_limited");
    assert_eq!(standing(&answer).1, 0);
    assert_eq!(answer.headers["retry-after"], standing(&answer).2.to_string());
    assert_eq!(answer.headers["ratelimit-policy"], "\"player\";q=300;w=30");
    assert_eq!(answer.headers["cache-control"], "no-store");
    for other in [app.get("/v1/variants", Some(&bo)).await, app.get("/v1/variants", None).await] {
        assert_eq!(other.status, 200);
    }
}

#[actix_web::test]
async fn a_player_over_the_limit_may_call_again_after_a_while() {
    let app = limited_as(RateLimits::On, &[]).await;
    let ana = app.guest("Ana").await;
    // Ten calls a second are given back, so how many pass depends on how long they take.
    let mut calls = 0;
    while refused(AT_ONCE, || app.get("/v1/variants", Some(&ana))).await == 0 {
        calls += AT_ONCE;
        assert!(calls < 20_000, "no call was refused");
    }
    until_async("a call passes", async || app.get("/v1/variants", Some(&ana)).await.status != 429).await;
}

#[actix_web::test]
async fn sign_ups_are_limited_by_address_with_or_without_a_token() {
    let app = limited(&["127.0.0.0/8"]).await;
    let ana = app.guest("Ana").await;
    assert_eq!(refused(100, || sign_up(&app, "192.0.2.1")).await, 0, "three classes sign up at once");
    assert_eq!(refused(10, || sign_up(&app, "192.0.2.1")).await, 10);
    // Neither a token, nor a header that the proxy would not have written, nor another spelling of the path helps.
    for path in ["/v1/players", "/v1/%70layers", "/%761/players"] {
        let request = app.request(Method::POST, path).bearer_auth(&ana.token);
        let request = request.header("x-forwarded-for", "203.0.113.9, 192.0.2.1").json(&json!({"name": ""}));
        assert_eq!(send(request).await.status, 429, "{path}");
    }
    // Other addresses, and other calls from this one, are not limited.
    assert_eq!(sign_up(&app, "192.0.2.2").await.status, 422);
    assert_eq!(from(&app, "192.0.2.1", Method::GET, "/v1/variants").await.status, 200);
}

#[actix_web::test]
async fn a_refused_body_costs_a_call_for_each_4_kib_begun() {
    let app = limited(&["127.0.0.0/8"]).await;
    let ana = app.guest("Ana").await;
    let call = async |guest: Option<&Guest>, path: &str, body: String| {
        let request = signed(app.request(Method::POST, path), guest).header("x-forwarded-for", "192.0.2.1");
        let answer = send(request.header("content-type", "application/json").body(body)).await;
        (answer.status, standing(&answer).1)
    };
    let play = "/v1/variants/kalah/play";
    let long = |bytes: usize, text: &str| format!("{}{text}", " ".repeat(bytes - text.len()));
    for (guest, quota) in [(Some(&ana), 300), (None, 1000)] {
        let mut left = quota;
        for (bytes, text, status, calls) in [
            (4096, "{}", 422, 1),
            (4097, "{}", 422, 2),
            (20_000, r#"{"moves":[3]}"#, 422, 5),
            (65_536, "{", 400, 16),
            // Nothing of it was read.
            (65_537, "{", 413, 1),
            // What is accepted costs what its moves cost.
            (65_536, r#"{"moves":["C"]}"#, 200, 1),
        ] {
            left -= calls;
            assert_eq!(
                call(guest, play, long(bytes, text)).await,
                (StatusCode::from_u16(status).expect("a status"), left),
                "{bytes} {text}"
            );
        }
    }
    // A quota of its own shows what is left of it, and the address pays for the body.
    assert_eq!(call(None, "/v1/tokens", long(4096, "{}")).await, (StatusCode::UNPROCESSABLE_ENTITY, 299));
}

#[actix_web::test]
async fn new_accounts_of_an_address_are_few_and_leave_its_guests_alone() {
    let app = limited(&["127.0.0.0/8"]).await;
    let guest = app.guest("Ana").await;
    let at = |method: Method, path: &str| app.request(method, path).header("x-forwarded-for", "192.0.2.1");
    let sign_up_as_account = || send(at(Method::POST, "/v1/players").json(&json!({"name": "", "password": "x"})));
    let first = sign_up_as_account().await;
    assert_eq!((first.status.as_u16(), standing(&first).1), (422, 29));
    assert_eq!(first.headers["ratelimit-policy"], "\"new-accounts\";q=30;w=900");
    assert_eq!(refused(29, sign_up_as_account).await, 0);
    sign_up_as_account().await.is_problem(429, "rate_limited");
    // A guest that would become one is counted with them.
    let password = json!({"password": "correct horse"});
    let become_account = |request: RequestBuilder| send(signed(request, Some(&guest)).json(&password));
    become_account(at(Method::PATCH, "/v1/me")).await.is_problem(429, "rate_limited");
    assert_eq!(standing(&sign_up(&app, "192.0.2.1").await), ("new-players".to_owned(), 99, 6));
    assert_eq!(become_account(app.request(Method::PATCH, "/v1/me")).await.status, 200);
}

#[actix_web::test]
async fn guests_and_new_accounts_of_an_address_share_a_quota() {
    let app = limited(&["127.0.0.0/8"]).await;
    let account = app.established_account("Ana").await;
    let mut guests = vec![app.account("New", "correct horse").await];
    for n in 0..13 {
        guests.push(app.guest(&format!("Guest {n}")).await);
    }
    let call = |guest: &Guest| {
        send(signed(app.request(Method::GET, "/nothing"), Some(guest)).header("x-forwarded-for", "192.0.2.1"))
    };
    let policies: Vec<_> = stream::iter(guests.iter().flat_map(|guest| iter::repeat_n(guest, 290)))
        .map(call)
        .buffer_unordered(AT_ONCE)
        .filter(|answer| std::future::ready(answer.status == 429))
        .map(|answer| answer.headers["ratelimit-policy"].to_str().expect("text").to_owned())
        .collect()
        .await;
    // No guest has used up its own quota.
    assert_eq!(policies.len(), 14 * 290 - 3000);
    assert!(policies.iter().all(|policy| policy == "\"guests\";q=3000;w=10"), "{policies:?}");
    assert_eq!(call(&account).await.status, 404);
    assert_eq!(app.get("/nothing", Some(&guests[13])).await.status, 404, "from another address");
}

#[actix_web::test]
async fn whole_games_are_charged_by_their_plies_from_a_budget_of_their_own() {
    let app = limited(&["127.0.0.0/8"]).await;
    let bo = app.established_account("Bo").await;
    let id = app.imported_long_game(&bo, 1999).await;
    let verify = |address: &'static str| {
        let path = format!("/v1/games/{id}/verify");
        let request = app.request(Method::GET, &path).header("x-forwarded-for", address);
        send(request)
    };
    // 21 units each, of 1,000.
    for _ in 0..47 {
        assert_eq!(verify("192.0.2.1").await.status, 200);
    }
    let refused = verify("192.0.2.1").await;
    refused.is_problem(429, "rate_limited");
    assert_eq!(refused.headers["ratelimit-policy"], "\"address\";q=1000;w=10");
    assert!(refused.headers.contains_key("retry-after"));
    // The other calls of the address have their own quota, and so do other addresses.
    assert_eq!(from(&app, "192.0.2.1", Method::GET, "/v1/variants").await.status, 200);
    assert_eq!(verify("192.0.2.2").await.status, 200);
    // Guests and new accounts of the address share the budget, another account has its own.
    let (guest, new) = (app.guest("Ana").await, app.account("New", "correct horse").await);
    let path = format!("/v1/games/{id}/export");
    let export =
        |caller| send(signed(app.request(Method::GET, &path), Some(caller)).header("x-forwarded-for", "192.0.2.1"));
    assert_eq!([export(&guest).await.status, export(&new).await.status], [429, 429]);
    assert_eq!(export(&bo).await.status, 200);
    // Pixels are charged to the same budget, before they are drawn.
    let png = "/v1/variants/kalah/board.png?width=960";
    from(&app, "192.0.2.1", Method::GET, png).await.is_problem(429, "rate_limited");
    assert_eq!(from(&app, "192.0.2.2", Method::GET, png).await.status, 200);
    assert_eq!(from(&app, "192.0.2.1", Method::GET, "/v1/variants/kalah/board.svg").await.status, 200);
    // A graph that the client has costs nothing.
    let path = format!("/v1/games/{id}/graph.svg");
    let etag = app.get(&path, Some(&bo)).await.headers["etag"].clone();
    let graph = app.request(Method::GET, &path).header("x-forwarded-for", "192.0.2.1");
    let unchanged = send(graph.header(header::IF_NONE_MATCH, etag)).await;
    assert_eq!(unchanged.status, 304);
}

#[actix_web::test]
async fn without_trusted_proxies_no_client_can_spoof_its_address() {
    let app = limited(&[]).await;
    let mut last = None;
    for n in 0..20 {
        sign_up(&app, &format!("192.0.2.{n}")).await;
        let request = app.request(Method::POST, "/v1/players").header("forwarded", format!("for=192.0.2.{n}"));
        last = Some(send(request.json(&json!({"name": ""}))).await);
    }
    let left = standing(&last.expect("there were calls")).1;
    assert_eq!(left, 60, "all are counted at one address: {left}");
}

#[actix_web::test]
async fn clients_behind_a_trusted_proxy_are_counted_apart_and_cannot_spoof() {
    let app = limited(&["127.0.0.1/32"]).await;
    // Each of these is one client, whatever it writes itself and however its address is written.
    for spellings in [
        ["192.0.2.1", "192.0.2.1:4711", "192.0.2.99, 192.0.2.1"],
        ["192.0.2.2", "::ffff:192.0.2.2", "nonsense,192.0.2.2"],
        ["2001:db8::1", "[2001:db8::1]:4711", "2001:db8::ffff:2"],
        ["2001:db8:0:1::1", "2001:db8:0:1::2", "127.0.0.1, 2001:db8:0:1::3"],
        // Nothing but the proxy's own address is left.
        ["nonsense", "192.0.2.1, unknown", "127.0.0.1"],
    ] {
        let fresh = sign_up(&app, spellings[0]).await;
        assert_eq!(standing(&fresh).1, 99, "{spellings:?}");
        refused(20, || sign_up(&app, spellings[1])).await;
        let counted = sign_up(&app, spellings[2]).await;
        assert!(standing(&counted).1 < 90, "{spellings:?} {counted:?}");
    }
    let request = app.request(Method::POST, "/v1/players").header("forwarded", "for=192.0.2.1;proto=https");
    assert!(standing(&send(request.json(&json!({"name": ""}))).await).1 < 99);
}

#[actix_web::test]
async fn a_bad_token_counts_against_the_address_and_so_do_calls_without_one() {
    let app = limited(&["127.0.0.0/8"]).await;
    let bad = || send(app.request(Method::GET, "/v1/games").bearer_auth("bad").header("x-forwarded-for", "192.0.2.1"));
    let plain = || from(&app, "192.0.2.1", Method::GET, "/nothing");
    assert_eq!((refused(500, bad).await, refused(500, plain).await), (0, 0));
    assert_eq!(
        (bad().await.status, plain().await.status),
        (StatusCode::TOO_MANY_REQUESTS, StatusCode::TOO_MANY_REQUESTS)
    );
    assert_eq!(from(&app, "192.0.2.2", Method::GET, "/v1/variants").await.status, 200);
}

#[actix_web::test]
async fn health_problems_and_preflights_are_not_limited() {
    let app = limited(&[]).await;
    for path in ["/livez", "/readyz", "/problems/internal"] {
        let answer = app.get(path, None).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.headers.contains_key("ratelimit"), "{path}");
    }
    let preflight = app.request(Method::OPTIONS, "/v1/games").header(header::ORIGIN, "https://play.example");
    let preflight = send(preflight.header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")).await;
    assert_eq!(preflight.status, 200);
    assert!(!preflight.headers.contains_key("ratelimit"));
    for path in [
        "/v1/variants",
        "/.well-known/jwks.json",
        "/openapi.json",
        "/docs",
        "/docs/",
        "/docs/swagger-ui-bundle.js",
        "/docsomething",
        "/",
    ] {
        let answer = app.get(path, None).await;
        assert_eq!(answer.headers["ratelimit-policy"], "\"address\";q=1000;w=10", "{path}");
    }
}

#[actix_web::test]
async fn a_server_with_limits_off_limits_no_client() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    assert_eq!(refused(400, || app.get("/v1/variants", Some(&ana))).await, 0);
    assert!(!app.get("/v1/variants", Some(&ana)).await.headers.contains_key("ratelimit"));
}
