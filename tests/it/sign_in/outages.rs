//! An issuer that fails costs a person a 503, and others nothing.

use std::time::{Duration, Instant};

use mancala_server::webhook::{Ports, Reach};
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::{Setup, TestApp},
    database::count_rows,
    issuer::{Conduct, Reply, StubIssuer},
};

fn is_unavailable(answer: &Answer) {
    answer.is_problem(503, "issuer_unavailable");
    assert_eq!(answer.headers["retry-after"], "5");
}

#[actix_web::test]
async fn an_issuer_without_proper_documents_is_unavailable() {
    for conduct in [
        Conduct { discovery: Reply::Status(500), ..Conduct::default() },
        Conduct { discovery: Reply::Status(404), ..Conduct::default() },
        Conduct { discovery: Reply::Redirect, ..Conduct::default() },
        Conduct { discovery: Reply::Huge, ..Conduct::default() },
        Conduct { discovery: Reply::Text("<html>"), ..Conduct::default() },
        Conduct { document: json!({"issuer": "https://evil.example"}), ..Conduct::default() },
        Conduct { document: json!({"token_endpoint": "file:///etc/passwd"}), ..Conduct::default() },
        Conduct { document: json!({"authorization_endpoint": "javascript:alert(1)"}), ..Conduct::default() },
        Conduct { document: json!({"jwks_uri": null}), ..Conduct::default() },
    ] {
        let issuer = StubIssuer::start();
        let app = issuer.app().await;
        issuer.conduct(conduct);
        is_unavailable(&app.begin_sign_in(None).await);
        // A failure is remembered for some seconds.
        is_unavailable(&app.begin_sign_in(None).await);
        assert_eq!(issuer.asked(""), 1);
    }
}

#[actix_web::test]
async fn a_sign_in_goes_on_when_the_issuer_is_back() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let back = app.back_from(&issuer, "person", None).await.body();
    for tokens in [Reply::Status(500), Reply::Status(429), Reply::Redirect, Reply::Huge, Reply::Text("{}")] {
        issuer.conduct(Conduct { tokens, ..Conduct::default() });
        is_unavailable(&app.complete(&back).await);
    }
    assert_eq!((count_rows(&app, "player where kind = 'guest'").await, count_rows(&app, "used_sign_in").await), (0, 0));
    issuer.conduct(Conduct::default());
    assert_eq!(app.complete(&back).await.status, 201);
}

#[actix_web::test]
async fn an_issuer_whose_keys_fail_is_unavailable() {
    for keys in [Reply::Status(500), Reply::Huge, Reply::Text("{\"keys\": 5}")] {
        let issuer = StubIssuer::start();
        let app = issuer.app().await;
        issuer.conduct(Conduct { keys, ..Conduct::default() });
        is_unavailable(&app.sign_in_by(&issuer, "person").await);
        assert_eq!(count_rows(&app, "player where kind = 'guest'").await, 0);
    }
}

#[actix_web::test]
async fn a_silent_issuer_holds_up_no_other_call() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let mut backs = vec![];
    for n in 0..24 {
        backs.push(app.back_from(&issuer, &format!("person {n}"), None).await.body());
    }
    issuer.conduct(Conduct { tokens: Reply::Silence, ..Conduct::default() });
    let begun = Instant::now();
    let waiting = futures_util::future::join_all(backs.iter().map(|body| app.complete(body)));
    let others = async {
        while issuer.asked("/token") < 16 {
            assert!(begun.elapsed() < Duration::from_secs(4));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let asked = Instant::now();
        assert_eq!(app.get("/v1/sign-in", None).await.status, 200);
        let ana = app.guest("Ana").await;
        assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200);
        asked.elapsed()
    };
    let (answers, took) = futures_util::future::join(waiting, others).await;
    answers.iter().for_each(is_unavailable);
    assert_eq!(issuer.asked("/token"), 16, "further ones are refused at once");
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[actix_web::test]
async fn issuers_are_asked_at_public_addresses_only() {
    let issuer = StubIssuer::start();
    let app =
        TestApp::start_with(Setup { issuers: issuer.issuers(Reach::Public(Ports::HTTPS)), ..Setup::default() }).await;
    is_unavailable(&app.begin_sign_in(None).await);
    assert_eq!(issuer.asked(""), 0);
}
