//! A stolen access token is not the account: what takes it over needs a sign-in of late, or the password.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use mancala_server::{
    http::{Caller, Mailing},
    webhook::Reach,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::{TestApp, behind_proxy},
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
    issuer::{StubIssuer, player_of},
};

const PASSWORD: &str = "correct horse";

async fn start() -> (TestApp, StubIssuer) {
    let issuer = StubIssuer::start();
    (
        TestApp::start_with(|service| {
            service.settings.mailing = Mailing::On;
            service.issuers = issuer.issuers(Reach::Anywhere);
        })
        .await,
        issuer,
    )
}

/// The body with a password, if there is one.
fn with(mut body: Value, password: Option<&str>) -> Value {
    if let Some(password) = password {
        body["current_password"] = json!(password);
    }
    body
}

/// Every call that takes an account over by itself, the erasure last. What each was answered.
async fn take_over(
    app: &TestApp,
    issuer: &StubIssuer,
    player: &Guest,
    password: Option<&str>,
) -> Vec<(&'static str, Answer)> {
    let call = async |method: Method, path: &str, body: Value| {
        send(signed(app.request(method, path), Some(player)).json(&with(body, password))).await
    };
    let nothing = || json!({});
    let identity = app.back_from(issuer, "thief", Some(player)).await.body();
    let guest = player_of(&app.sign_in_by(issuer, "another thief").await);
    vec![
        ("code", call(Method::POST, "/v1/me/recovery-code", nothing()).await),
        ("link", call(Method::PUT, "/v1/me/identities/stub", identity).await),
        ("unlink", call(Method::DELETE, "/v1/me/identities/stub", nothing()).await),
        ("merge", call(Method::POST, "/v1/me/merge", json!({"guest_token": guest.token})).await),
        ("address", call(Method::PUT, "/v1/me/email", json!({"email": "thief@mail.example"})).await),
        ("no address", call(Method::PUT, "/v1/me/email", json!({"email": null})).await),
        ("erasure", call(Method::DELETE, "/v1/me", nothing()).await),
    ]
}

/// The claim `auth_time` of an access token, in seconds before now.
fn age(token: &str) -> Option<i64> {
    let claims = token.split('.').nth(1).expect("a payload");
    let claims: Value =
        serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(claims).expect("base64url")).expect("JSON");
    Some(now().unix_timestamp() - claims["auth_time"].as_i64()?)
}

#[actix_web::test]
async fn a_token_alone_takes_no_account_over_and_its_password_does() {
    let (app, issuer) = start().await;
    app.account("Ana", PASSWORD).await;
    let ana = app.signed_in_ago(&app.sign_in("Ana", PASSWORD).await, 11).await;
    let mut new = json!({"password": "battery staple"});
    app.patch("/v1/me", Some(&ana), &new).await.is_problem(403, "recent_sign_in_required");
    for (what, answer) in take_over(&app, &issuer, &ana, None).await {
        assert_eq!(
            (answer.status.as_u16(), answer.string("/code")),
            (403, "recent_sign_in_required".to_owned()),
            "{what}"
        );
    }
    for (what, answer) in take_over(&app, &issuer, &ana, Some("wrong horse")).await {
        assert_eq!((answer.status.as_u16(), answer.string("/code")), (401, "invalid_credentials".to_owned()), "{what}");
    }
    // The only identity is the guest's.
    assert_eq!(count_rows(&app, "player_identity").await, 1);
    assert_eq!(count_rows(&app, "account_email").await, 0);
    // What is no way in needs no more than the token.
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"name": "Ana Maria"})).await.status, 200);
    let bo = app.guest("Bo").await;
    assert_eq!(app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": bo.token})).await.status, 200);
    assert_eq!(app.get(&format!("/v1/players/{}", ana.id), None).await.body["kind"], "account");
    new["current_password"] = json!("wrong horse");
    app.patch("/v1/me", Some(&ana), &new).await.is_problem(401, "invalid_credentials");
    for (what, answer) in take_over(&app, &issuer, &ana, Some(PASSWORD)).await {
        assert!(answer.status.is_success(), "{what} {answer:?}");
    }
}

#[actix_web::test]
async fn a_new_password_takes_the_one_before_or_a_recent_sign_in() {
    let (app, _) = start().await;
    app.account("Ana", PASSWORD).await;
    let old = app.signed_in_ago(&app.sign_in("Ana", PASSWORD).await, 11).await;
    let body = json!({"password": "battery staple", "current_password": PASSWORD});
    let changed = app.patch("/v1/me", Some(&old), &body).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let ana = Guest { id: old.id, token: changed.string("/tokens/access_token") };
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"password": PASSWORD})).await.status, 200);
    // A password that is given must be right, also where none is needed.
    let ana = player_of(&app.sign_in("Ana", PASSWORD).await);
    let wrong = json!({"password": "battery staple", "current_password": "wrong horse"});
    app.patch("/v1/me", Some(&ana), &wrong).await.is_problem(401, "invalid_credentials");
    let alone = app.patch("/v1/me", Some(&ana), &json!({"current_password": PASSWORD})).await;
    alone.is_problem(422, "validation_failed");
    assert_eq!(alone.body["errors"][0]["pointer"], "/current_password");
}

#[actix_web::test]
async fn a_refresh_keeps_the_time_of_the_sign_in_and_a_sign_in_sets_it() {
    let (app, issuer) = start().await;
    let made = app.post("/v1/players", None, &json!({"name": "Ana", "password": PASSWORD})).await;
    let old = app.signed_in_ago(&made, 30).await;
    assert!((1800..1900).contains(&age(&old.token).expect("a time")));
    app.post("/v1/me/recovery-code", Some(&old), &json!({})).await.is_problem(403, "recent_sign_in_required");
    let recovery = json!({"grant_type": "recovery_code", "recovery_code": made.string("/recovery_code")});
    let linked = player_of(&app.sign_in("Ana", PASSWORD).await);
    assert_eq!(app.link(&issuer, "ana", &linked).await.status, 201);
    for tokens in [app.post("/v1/tokens", None, &recovery).await, app.sign_in_by(&issuer, "ana").await] {
        let ana = player_of(&tokens);
        assert!(age(&ana.token).is_some_and(|age| age < 60));
        assert_eq!(app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await.status, 200);
    }
    // Tokens of a release that noted no time.
    let caller = Caller { auth_time: None, ..app.tokens.verify(old.token.as_bytes(), now()).expect("valid") };
    let ana = Guest { token: app.tokens.issue(caller, now()), ..old };
    assert_eq!(age(&ana.token), None);
    app.delete_me(&ana).await.is_problem(403, "recent_sign_in_required");
    assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200);
}

#[actix_web::test]
async fn a_guest_needs_no_recent_sign_in_and_its_first_password_is_one() {
    let (app, issuer) = start().await;
    let made = app.post("/v1/players", None, &json!({"name": "Bo"})).await;
    let bo = app.signed_in_ago(&made, 600).await;
    assert_eq!(app.link(&issuer, "bo", &bo).await.status, 201);
    assert_eq!(app.post("/v1/me/recovery-code", Some(&bo), &json!({})).await.status, 200);
    let first = app.patch("/v1/me", Some(&bo), &json!({"password": PASSWORD, "current_password": "none"})).await;
    assert_eq!(first.status, 200, "{first:?}");
    let bo = Guest { id: bo.id, token: first.string("/tokens/access_token") };
    assert_eq!(app.unlink("stub", &bo).await.status, 204);
    let cy = app.signed_in_ago(&app.post("/v1/players", None, &json!({})).await, 600).await;
    assert_eq!(app.delete_me(&cy).await.status, 204);
}

#[actix_web::test]
async fn a_wrong_current_password_counts_as_a_failed_sign_in() {
    let app = TestApp::start_with(behind_proxy).await;
    let ana = app.account("Ana", PASSWORD).await;
    let code = async |n: usize, password: &str| {
        let request =
            app.request(Method::POST, "/v1/me/recovery-code").header("x-forwarded-for", format!("192.0.2.{n}"));
        send(signed(request, Some(&ana)).json(&json!({ "current_password": password }))).await
    };
    let mut statuses = vec![];
    for n in 0..6 {
        statuses.push(code(n / 6, "wrong horse").await.status.as_u16());
    }
    assert_eq!(statuses, [401, 401, 401, 401, 401, 429]);
    code(0, PASSWORD).await.is_problem(429, "rate_limited");
    assert_eq!(code(1, PASSWORD).await.status, 200);
}
