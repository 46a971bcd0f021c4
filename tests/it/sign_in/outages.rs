//! An issuer that fails costs a person a 503, and others nothing.

use std::{
    future::ready,
    net::Ipv4Addr,
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_server::{
    openid::{Failure, Issuers, Request, parse},
    webhook::{Names, Ports, Reach, Sender},
};
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::TestApp,
    clock::{until, until_async},
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
        let back = app.back_from(&issuer, "person", None).await.body();
        is_unavailable(&app.complete(&back).await);
        assert_eq!(issuer.asked("/token"), 0, "the code is not spent before it is of use");
        issuer.conduct(Conduct::default());
        let is_completed = async || app.complete(&back).await.status == 201;
        until_async("the failure is forgotten after some seconds", is_completed).await;
    }
}

#[actix_web::test]
async fn a_code_that_the_issuer_refuses_is_no_outage() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    for tokens in [
        Reply::Error(400, "invalid_grant"),
        Reply::Error(400, "invalid_request"),
        Reply::Error(401, "invalid_grant"),
        Reply::Status(400),
        Reply::Status(404),
        Reply::Status(422),
    ] {
        let back = app.back_from(&issuer, "person", None).await.body();
        issuer.conduct(Conduct { tokens, ..Conduct::default() });
        app.complete(&back).await.is_problem(401, "sign_in_refused");
        issuer.conduct(Conduct::default());
        // The session is used, so one session asks the issuer once.
        app.complete(&back).await.is_problem(401, "sign_in_refused");
    }
    assert_eq!(issuer.asked("/token"), 6);
    for tokens in [
        Reply::Error(401, "invalid_client"),
        Reply::Error(400, "invalid_client"),
        Reply::Error(400, "redirect_uri_mismatch"),
        Reply::Status(401),
        Reply::Status(403),
    ] {
        let back = app.back_from(&issuer, "person", None).await.body();
        issuer.conduct(Conduct { tokens, ..Conduct::default() });
        is_unavailable(&app.complete(&back).await);
        issuer.conduct(Conduct::default());
        assert!(app.complete(&back).await.status.is_success());
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
        until("the issuer is asked", || issuer.asked("/token") >= 16).await;
        let asked = Instant::now();
        assert_eq!(app.begin_sign_in(None).await.status, 200, "others may begin");
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
    let app = TestApp::start_with(|service| service.issuers = issuer.issuers(Reach::Public(Ports::HTTPS))).await;
    is_unavailable(&app.begin_sign_in(None).await);
    assert_eq!(issuer.asked(""), 0);
    // A public name that leads inward, and documents that do.
    let names: Names = Arc::new(|_| Box::pin(ready(Ok(vec![Ipv4Addr::LOCALHOST.into()]))));
    let sender = Sender::new(Reach::Public(Ports::HTTPS), names);
    for url in ["https://169.254.169.254/keys", "https://issuer.example:8443/", "http://issuer.example/"] {
        assert!(!sender.may_reach(url), "{url}");
    }
    let file = json!({"issuers": [{"id": "a", "name": "A", "issuer": "https://issuer.example", "client_id": "a",
        "redirect_uris": ["https://play.example/back"]}]});
    let settings = parse(&file.to_string(), |_| Err(String::new()), |url, _| sender.may_reach(url)).expect("settings");
    let issuers = Issuers::new(settings, &sender);
    let request = Request { redirect_uri: "https://play.example/back", state: "a", nonce: "b", verifier: "c" };
    let refused = issuers.find("a").expect("an issuer").authorization_url(request).await;
    assert_eq!(refused, Err(Failure::Unavailable("its document: address_not_allowed".to_owned())));
}
