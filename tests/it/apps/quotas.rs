//! The quotas that an operator chooses for an app: by the command, on a server that runs.

use mancala_server::db::apps::issuers::KeySource;
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::{TestApp, never_refilled},
    binary::{server, url},
    calls::Guest,
    database::count_rows,
    key_server::{AUDIENCE, Key, claims},
};

fn shown(answer: &Answer, name: &str) -> String {
    answer.headers[name].to_str().expect("text").to_owned()
}

#[actix_web::test]
async fn an_operator_chooses_the_quotas_of_an_app_that_is_served() {
    let app = TestApp::start_with(never_refilled).await;
    let database = url(&app);
    let run = |arguments: &[&str]| {
        let output = server(&[&["--database-url", &database, "app"], arguments].concat()).output().expect("it runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (status, key, _) = run(&["create", "acme", "--players-per-day", "2"]);
    assert_eq!(status, Some(0));
    let acme = Guest { id: String::new(), token: key.trim_end().to_owned() };
    let other = app.new_app("other").await;
    for id in ["1", "2"] {
        assert_eq!(app.write_app_player(&acme, id, "Ana").await.status, 201);
    }
    let refused = app.write_app_player(&acme, "3", "Ana").await;
    refused.is_problem(429, "rate_limited");
    assert_eq!(shown(&refused, "ratelimit-policy"), "\"app\";q=3000;w=30");
    // An exchange creates within the same quota, and finds who is there.
    let signer = Key::p256();
    let keys = json!({"keys": [signer.jwk("k1")]}).to_string();
    app.trust("acme", AUDIENCE, KeySource::Stored(keys)).await;
    let token = |subject: &str| signer.token(&json!({"alg": "ES256", "kid": "k1"}), &claims(subject));
    app.exchange(&token("3")).await.is_problem(429, "rate_limited");
    app.exchanged(&token("1")).await;
    assert_eq!(count_rows(&app, "app_player").await, 2);

    assert_eq!(run(&["update", "acme", "--calls-per-minute", "60", "--players-per-day", "0"]).0, Some(0));
    let third = app.write_app_player(&acme, "3", "Ana").await;
    assert_eq!((third.status.as_u16(), shown(&third, "ratelimit-policy")), (201, "\"app\";q=60;w=60".to_owned()));
    for _ in 0..59 {
        assert_eq!(app.get("/v1/apps/me", Some(&acme)).await.status, 200);
    }
    app.get("/v1/apps/me", Some(&acme)).await.is_problem(429, "rate_limited");
    assert_eq!(app.get("/v1/apps/me", Some(&other)).await.status, 200, "another app has its own quota");
    assert_eq!(run(&["update", "acme", "--calls-per-minute", "100", "--plays-with", "app"]).0, Some(0));
    assert_eq!(app.get("/v1/apps/me", Some(&acme)).await.status, 200);
    let listed = run(&["list"]).1;
    assert!(listed.contains(" enabled plays-with=app calls-per-minute=100\n"), "{listed}");
    assert_eq!(run(&["update", "acme", "--calls-per-minute", "0", "--plays-with", "everyone"]).0, Some(0));
    let listed = run(&["list"]).1;
    assert!(listed.lines().next().is_some_and(|line| line.ends_with(" enabled")), "{listed}");
    for (arguments, status, line) in [
        (&["update", "acme"][..], 2, "nothing is to be changed"),
        (&["update", "acme", "--calls-per-minute", "59"], 2, "at least 60"),
        (&["update", "none", "--players-per-day", "7"], 1, "there is no such app"),
        (&["disable", "acme", "--players-per-day", "7"], 2, "--players-per-day"),
        (&["update", "acme", "--players-per-day", "10000001"], 2, "--players-per-day"),
    ] {
        let (found, output, error) = run(arguments);
        assert_eq!((found, output.as_str()), (Some(status), ""), "{arguments:?}: {error}");
        assert!(error.contains(line), "{arguments:?}: {error}");
    }
}
