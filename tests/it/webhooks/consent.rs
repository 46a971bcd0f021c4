//! The consent of endpoints: each repeats a challenge before it gets notices.

use mancala_server::{
    db::{
        outbound::{Full, Lane},
        webhooks::results::{AttemptOutcome, Attempted, LeaseResult, NextStep, record},
    },
    jobs::webhooks as job,
};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
    endpoint::{Endpoint, Received},
    webhooks::{create, created, deliver, let_pass},
};

/// A webhook whose endpoint was not challenged yet; returns its path and its secret.
async fn unverified(app: &TestApp, guest: &Guest, endpoint: &Endpoint) -> (String, String) {
    let made = create(app, guest, &json!({"url": endpoint.url(), "events": ["game.move"]})).await;
    assert_eq!((made.status.as_u16(), &made.body["verified_at"]), (201, &Value::Null), "{made:?}");
    (format!("/v1/webhooks/{}", made.string("/id")), made.string("/secret"))
}

async fn is_verified(app: &TestApp, guest: &Guest, path: &str) -> bool {
    app.get(path, Some(guest)).await.body["verified_at"].is_string()
}

#[actix_web::test]
async fn an_endpoint_gets_nothing_until_it_repeats_its_challenge() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    endpoint.agrees(false);
    let (path, secret) = unverified(&app, &ana, &endpoint).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    deliver(&app).await;
    app.played(&id, &bo, 2, "a").await;
    for _ in 0..3 {
        let_pass(&app, 400).await;
        deliver(&app).await;
    }
    // The endpoint answers 200 to all of it, and agrees to none.
    assert_eq!((endpoint.kinds(), endpoint.challenges().len() >= 3), (vec![], true));
    assert!(!is_verified(&app, &ana, &path).await);
    let log = app.get(&format!("{path}/deliveries"), Some(&ana)).await;
    let challenge = log.body["items"].as_array().expect("items").iter().find(|one| one["type"] == "webhook.challenge");
    let challenge = challenge.expect("the log has the challenge");
    assert_eq!((&challenge["status"], &challenge["last_error"]), (&json!("waiting"), &json!("challenge")));
    let nothing = json!({});
    app.post(&format!("{path}/ping"), Some(&ana), &nothing).await.is_problem(409, "webhook_not_verified");
    for delivery in log.ids() {
        let again = app.post(&format!("{path}/deliveries/{delivery}/redeliver"), Some(&ana), &nothing).await;
        again.is_problem(409, "webhook_not_verified");
    }
    endpoint.agrees(true);
    let_pass(&app, 40 * 60).await;
    deliver(&app).await;
    assert!(is_verified(&app, &ana, &path).await);
    // What happened since the webhook was made.
    assert_eq!(endpoint.received().iter().map(Received::seq).collect::<Vec<_>>(), [3, 4]);
    let challenges = endpoint.challenges();
    let webhook = path.rsplit('/').next().expect("an id");
    assert!(challenges.iter().all(|one| one.is_signed_by(&secret) && one.body["data"]["webhook_id"] == webhook));
    assert_eq!(app.post(&format!("{path}/ping"), Some(&ana), &nothing).await.status, 202);
}

#[actix_web::test]
async fn another_address_is_challenged_before_it_gets_what_waits() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (first, second) = (Endpoint::start().await, Endpoint::start().await);
    let (path, _) = created(&app, &ana, &first).await;
    second.agrees(false);
    app.patch(&path, Some(&ana), &json!({"url": first.url()})).await;
    assert!(is_verified(&app, &ana, &path).await, "the address is the same");
    let moved = app.patch(&path, Some(&ana), &json!({"url": second.url()})).await;
    assert_eq!((moved.status.as_u16(), &moved.body["verified_at"]), (200, &Value::Null));
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    deliver(&app).await;
    assert_eq!((first.kinds(), second.kinds(), second.challenges().len()), (vec![], vec![], 1));
    // A late answer to the challenge of another address verifies nothing.
    let_pass(&app, 10).await;
    let taken = job::take(&app.db, Lane::Failing, 1, &Full::default(), now()).await.expect("it is taken");
    assert!(taken[0].challenge.is_some());
    let third = second.url().replace("key=1", "key=3");
    app.patch(&path, Some(&ana), &json!({ "url": third })).await;
    let outcome =
        AttemptOutcome { status: Some(200), error: None, retry_after: Duration::ZERO, next: NextStep::Delivered };
    let made = Attempted { due: taken[0].clone(), outcome, begun: now(), ended: now() };
    record(&app.db, &[LeaseResult { first: made, rest: vec![] }], false, now()).await.expect("it is recorded");
    assert!(!is_verified(&app, &ana, &path).await);
    second.agrees(true);
    deliver(&app).await;
    assert!(is_verified(&app, &ana, &path).await);
    assert_eq!((first.kinds().len(), second.kinds()), (0, vec!["game.your_turn".to_owned(), "game.move".to_owned()]));
    assert!(second.received().iter().all(|one| one.path.ends_with("key=3")));
}

#[actix_web::test]
async fn a_challenge_is_given_up_after_a_day_and_sent_again_on_request() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    endpoint.agrees(false);
    let (path, _) = unverified(&app, &ana, &endpoint).await;
    let verify = async || app.post(&format!("{path}/verify"), Some(&ana), &json!({})).await;
    for hour in 0..60 {
        deliver(&app).await;
        assert!(hour >= 24 || app.get(&path, Some(&ana)).await.body["enabled"] == true, "after {hour} hours");
        let_pass(&app, 60 * 60).await;
    }
    let shown = app.get(&path, Some(&ana)).await.body;
    assert_eq!((&shown["enabled"], &shown["disabled_reason"]), (&json!(false), &json!("unverified")));
    let asked = endpoint.challenges().len();
    assert!((6..=8).contains(&asked), "{asked}");
    deliver(&app).await;
    assert_eq!(endpoint.challenges().len(), asked);
    let again = verify().await;
    assert_eq!((again.status.as_u16(), &again.body["enabled"]), (202, &json!(true)), "{again:?}");
    deliver(&app).await;
    assert_eq!(endpoint.challenges().len(), asked + 1);
    // Each is another one, and one at most waits.
    for _ in 0..3 {
        assert_eq!(verify().await.status, 202);
    }
    assert_eq!(count_rows(&app, "webhook_delivery where ended_at is null").await, 1);
    endpoint.agrees(true);
    deliver(&app).await;
    assert!(is_verified(&app, &ana, &path).await);
    let texts: Vec<_> = endpoint.challenges().iter().map(|one| one.body["data"]["challenge"].clone()).collect();
    assert_ne!(texts[0], texts[texts.len() - 1]);
    // A verified webhook stays as it is.
    let asked = endpoint.challenges().len();
    assert!(verify().await.body["verified_at"].is_string());
    deliver(&app).await;
    assert_eq!(endpoint.challenges().len(), asked);
    app.patch(&path, Some(&ana), &json!({"url": endpoint.url().replace("key=1", "key=2"), "enabled": false})).await;
    verify().await.is_problem(409, "webhook_disabled");
    assert_eq!(app.patch(&path, Some(&ana), &json!({"enabled": true})).await.status, 200);
    deliver(&app).await;
    assert!(is_verified(&app, &ana, &path).await);
    let bo = app.guest("Bo").await;
    app.post(&format!("{path}/verify"), Some(&bo), &json!({})).await.is_problem(404, "not_found");
    assert_eq!(send(signed(app.request(Method::DELETE, &path), Some(&ana))).await.status, 204);
}
