//! The keys of trusted issuers: fetched when they are needed, kept while the issuer is down, and not fetched for what tokens make up.

use std::{fs, time::Instant};

use futures_util::future::join_all;
use mancala_server::{
    db::apps::issuers::{self, AUDIENCES_MAX, KeySource, Trust, Trusting},
    webhook::{Ports, Reach},
};
use serde_json::json;

use crate::support::{
    app::TestApp,
    apps::app_name,
    binary::{server, url},
    clock::{now, until, until_async},
    database::count_rows,
    key_server::{AUDIENCE, ISSUER, Key, KeyServer, claims},
};

/// An app that trusts an issuer whose keys are at this server.
async fn trusting(app: &TestApp, server: &KeyServer) {
    app.new_app("acme").await;
    assert_eq!(app.trust("acme", AUDIENCE, KeySource::Url(server.url())).await, Trusting::Stored);
}

fn token(key: &Key, kid: &str) -> String {
    key.token(&json!({"alg": key.alg(), "kid": kid}), &claims("7"))
}

#[actix_web::test]
async fn keys_are_fetched_once_and_used_while_the_issuer_is_down() {
    let app = TestApp::start().await;
    let (server, key) = (KeyServer::start().await, Key::p256());
    trusting(&app, &server).await;
    server.publish(&[key.jwk("k1")]);
    let good = token(&key, "k1");
    let many = join_all((0..8).map(|_| app.exchange(&good)));
    assert!(many.await.iter().all(|answer| answer.status == 200));
    assert_eq!((server.asked(), count_rows(&app, "app_player").await), (1, 1));
    server.go_down();
    app.exchanged(&token(&key, "k1")).await;
    assert_eq!(server.asked(), 1);
}

#[actix_web::test]
async fn a_new_key_is_found_and_made_up_keys_cause_one_fetch() {
    let app = TestApp::start().await;
    let (server, old, new) = (KeyServer::start().await, Key::p256(), Key::ed25519());
    trusting(&app, &server).await;
    server.publish(&[old.jwk("k1")]);
    app.exchanged(&token(&old, "k1")).await;
    server.publish(&[old.jwk("k1"), new.jwk("k2")]);
    app.exchanged(&token(&new, "k2")).await;
    assert_eq!(server.asked(), 2);
    for n in 0..20 {
        app.exchange(&token(&new, &format!("made-up-{n}"))).await.is_problem(401, "invalid_token");
    }
    assert_eq!(server.asked(), 2);
    app.exchanged(&token(&old, "k1")).await;
}

#[actix_web::test]
async fn a_client_that_goes_away_takes_no_fetch_with_it() {
    let app = TestApp::start().await;
    let (server, old, new) = (KeyServer::start().await, Key::p256(), Key::ed25519());
    trusting(&app, &server).await;
    server.publish(&[old.jwk("k1")]);
    app.exchanged(&token(&old, "k1")).await;
    server.publish(&[old.jwk("k1"), new.jwk("k2")]);
    server.hold(true);
    let asked = until("the keys are asked for", || server.asked() >= 2);
    let good = token(&new, "k2");
    tokio::select! {
        answer = app.exchange(&good) => panic!("{answer:?}"),
        () = asked => {}
    }
    server.hold(false);
    until_async("the new key is found", async || app.exchange(&good).await.status == 200).await;
    assert_eq!(server.asked(), 2);
}

#[actix_web::test]
async fn without_keys_an_exchange_is_refused_for_a_moment() {
    let app = TestApp::start().await;
    let key = Key::p256();
    let down = KeyServer::start().await;
    trusting(&app, &down).await;
    down.go_down();
    for _ in 0..3 {
        let answer = app.exchange(&token(&key, "k1")).await;
        answer.is_problem(503, "unavailable");
        assert_eq!(answer.headers["retry-after"], "5");
    }
    assert_eq!(down.asked(), 1, "the server waits before it asks again");
    for (n, (status, body)) in [
        ("404 Not Found", json!({"keys": [key.jwk("k1")]}).to_string()),
        ("302 Found", json!({"keys": [key.jwk("k1")]}).to_string()),
        ("200 OK", "<html>".to_owned()),
        ("200 OK", json!({"keys": []}).to_string()),
        ("200 OK", json!({"keys": [{"kty": "oct", "kid": "k1", "k": "c2VjcmV0"}]}).to_string()),
        ("200 OK", json!({"keys": [key.jwk("k1")], "padding": "a".repeat(70_000)}).to_string()),
    ]
    .into_iter()
    .enumerate()
    {
        let (server, audience) = (KeyServer::start().await, format!("audience-{n}"));
        server.answer_with(status, &body);
        assert_eq!(app.trust("acme", &audience, KeySource::Url(server.url())).await, Trusting::Stored);
        let mut claims = claims("7");
        claims["aud"] = json!(audience);
        let answer = app.exchange(&key.token(&json!({"alg": key.alg(), "kid": "k1"}), &claims)).await;
        answer.is_problem(503, "unavailable");
        assert_eq!(server.asked(), 1, "{status} {body}");
    }
    assert_eq!(count_rows(&app, "app_player").await, 0);
}

#[actix_web::test]
async fn keys_are_not_fetched_from_private_addresses() {
    let webhook_reach = Reach::Public(Ports::new(&[443]).expect("a port"));
    let app = TestApp::start_with(|service| service.settings.webhook_reach = webhook_reach).await;
    let (server, key) = (KeyServer::start().await, Key::p256());
    trusting(&app, &server).await;
    server.publish(&[key.jwk("k1")]);
    let begun = Instant::now();
    app.exchange(&token(&key, "k1")).await.is_problem(503, "unavailable");
    assert_eq!(server.asked(), 0, "{:?}", begun.elapsed());
}

#[actix_web::test]
async fn an_app_trusts_one_issuer_for_a_bounded_number_of_audiences() {
    let app = TestApp::start().await;
    app.new_app("acme").await;
    for n in 0..AUDIENCES_MAX {
        let stored = app.trust("acme", &format!("audience-{n}"), KeySource::Stored("{}".to_owned())).await;
        assert_eq!(stored, Trusting::Stored);
    }
    assert_eq!(app.trust("acme", "more", KeySource::Stored("{}".to_owned())).await, Trusting::TooMany);
    // The keys of an audience that is there are replaced.
    assert_eq!(app.trust("acme", "audience-0", KeySource::Stored("{}".to_owned())).await, Trusting::Stored);
    let other = Trust { issuer: "https://other.example".to_owned(), audience: "more".to_owned() };
    let stored = issuers::trust(&app.db, &app_name("acme"), &other, &KeySource::Stored("{}".to_owned()), now()).await;
    assert_eq!(stored.expect("a database"), Trusting::OtherIssuer);
    assert_eq!(app.trust("none", "more", KeySource::Stored("{}".to_owned())).await, Trusting::NoApp);
}

#[actix_web::test]
async fn the_command_trusts_lists_and_untrusts_issuers() {
    let app = TestApp::start().await;
    let database = url(&app);
    let run = |arguments: &[&str]| {
        let arguments = [&["--database-url", &database, "app"], arguments].concat();
        let output = server(&arguments).output().expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    app.new_app("acme").await;
    app.new_app("other").await;
    let key = Key::p256();
    let folder = std::env::temp_dir().join(format!("mancala-trust-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).expect("a file");
        path.to_str().expect("text").to_owned()
    };
    let good = file("good", &json!({"keys": [key.jwk("k1")]}).to_string());
    let other = file("other", &json!({"keys": [Key::p256().jwk("k1")]}).to_string());
    let mut private = key.jwk("k1");
    private["d"] = json!("AAAA");
    let private = file("private", &json!({"keys": [private]}).to_string());
    let pair = ["--issuer", ISSUER, "--audience", AUDIENCE];
    let with = |first: &[&'static str], last: &[&str]| {
        let arguments: Vec<&str> = [first, &pair, last].concat();
        run(&arguments)
    };
    assert_eq!(with(&["trust", "acme"], &["--jwks-file", &good]), (Some(0), String::new(), String::new()));
    app.exchanged(&token(&key, "k1")).await;
    let published = ["--issuer", ISSUER, "--audience", "web", "--jwks-url", "https://sign-in.example/keys"];
    assert!(run(&["list"]).1.contains("\n    trusts https://sign-in.example for acme-phone, by stored keys\n"));
    assert_eq!(run(&[&["trust", "acme"][..], &published].concat()).0, Some(0));
    let listed = run(&["list"]).1;
    let trusts: Vec<&str> = listed.lines().filter(|line| line.starts_with("    trusts")).collect();
    assert_eq!(
        trusts,
        [
            "    trusts https://sign-in.example for acme-phone, by https://sign-in.example/keys",
            "    trusts https://sign-in.example for web, by https://sign-in.example/keys",
        ]
    );
    for ((found, output, error), status, line) in [
        (with(&["trust", "other"], &["--jwks-file", &good]), 1, "another app trusts this issuer for this audience"),
        (with(&["trust", "none"], &["--jwks-file", &good]), 1, "there is no such app"),
        (with(&["trust", "acme"], &["--jwks-file", &private]), 1, "secret key"),
        (with(&["trust", "acme"], &["--jwks-file", "/dev/null"]), 1, "no JSON Web Key Set"),
        (with(&["trust", "acme"], &["--jwks-url", "http://sign-in.example/keys"]), 2, "https://"),
        (with(&["trust", "acme"], &["--jwks-url", "https://10.0.0.1/keys"]), 2, "must be public"),
        (with(&["trust", "acme"], &[]), 2, "--jwks-file <FILE>> is missing"),
        (
            with(&["trust", "acme"], &["--jwks-file", &good, "--jwks-url", "https://sign-in.example/keys"]),
            2,
            "it excludes",
        ),
        (with(&["untrust", "acme"], &["--jwks-file", &good]), 2, "--jwks-file: unknown option"),
        (with(&["disable", "acme"], &[]), 2, "--issuer: unknown option"),
        (run(&["trust", "acme", "--issuer", ISSUER, "--jwks-file", &good]), 2, "--audience <AUDIENCE> is missing"),
        (run(&["untrust", "acme", "--issuer", "a b", "--audience", AUDIENCE]), 2, "no spaces"),
        (with(&["untrust", "other"], &[]), 1, "the app trusts no such issuer"),
    ] {
        assert_eq!((found, output.as_str()), (Some(status), ""), "{line}: {error}");
        assert!(error.contains(line) && error.lines().count() == 1, "{line}: {error}");
    }
    assert_eq!(with(&["trust", "acme"], &["--jwks-file", &good]).0, Some(0), "keys replace an address");
    let ana = app.exchanged(&token(&key, "k1")).await;
    assert_eq!(with(&["trust", "acme"], &["--jwks-file", &other]).0, Some(0), "other keys replace those that were");
    app.exchange(&token(&key, "k1")).await.is_problem(401, "invalid_token");
    assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200, "tokens stay");
    assert_eq!(with(&["untrust", "acme"], &[]).0, Some(0));
    app.exchange(&token(&key, "k1")).await.is_problem(401, "invalid_token");
    fs::remove_dir_all(&folder).expect("it is deleted");
}
