//! Sessions: what comes back from an issuer counts once, for the client that began, and for what it began.

use serde_json::{Value, json};

use crate::support::{
    database::count_rows,
    issuer::{BACK, Conduct, StubIssuer},
};

#[actix_web::test]
async fn without_its_session_a_code_is_worth_nothing() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let (mine, theirs) = (app.back_from(&issuer, "victim", None).await, app.back_from(&issuer, "attacker", None).await);
    // A code that was seen on its way, and one that was slipped into another's browser.
    for body in [
        json!({"session": theirs.session, "state": mine.state, "code": mine.code}),
        json!({"session": mine.session, "state": theirs.state, "code": theirs.code}),
        json!({"session": "", "state": mine.state, "code": mine.code}),
        json!({"session": "A".repeat(200), "state": mine.state, "code": mine.code}),
        json!({"session": mine.session, "state": "", "code": mine.code}),
        json!({"session": mine.session, "state": mine.state.to_lowercase(), "code": mine.code}),
    ] {
        app.complete(&body).await.is_problem(401, "sign_in_refused");
    }
    assert_eq!(issuer.asked("/token"), 0, "no code was sent to the issuer");
    // The state of the own session and another's code: the issuer sees that the proof of PKCE is another.
    let mixed = json!({"session": theirs.session, "state": theirs.state, "code": mine.code});
    app.complete(&mixed).await.is_problem(401, "sign_in_refused");
    assert_eq!(count_rows(&app, "player where kind = 'guest'").await, 0);
    assert_eq!(app.complete(&mine.body()).await.status, 401, "the issuer takes a code once");
    assert_eq!(app.sign_in_by(&issuer, "victim").await.status, 201);
}

#[actix_web::test]
async fn a_session_is_used_once_even_if_the_issuer_forgets() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    issuer.conduct(Conduct { is_forgetful: true, ..Conduct::default() });
    let back = app.back_from(&issuer, "person", None).await;
    let bodies: Vec<Value> = (0..5).map(|_| back.body()).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| app.complete(body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1, "{answers:?}");
    for refused in answers.iter().filter(|answer| answer.status != 201) {
        refused.is_problem(401, "sign_in_refused");
        assert_eq!(refused.string("/detail"), "the session was used before");
    }
    assert_eq!(issuer.asked("/token"), 1);
    // The same code with a session of its own: the proof of PKCE is another.
    let next = app.back_from(&issuer, "person", None).await;
    let replayed = json!({"session": next.session, "state": next.state, "code": back.code});
    app.complete(&replayed).await.is_problem(401, "sign_in_refused");
    // Used sessions are forgotten when they have run out.
    assert_eq!(count_rows(&app, "used_sign_in").await, 2);
    crate::support::webhooks::purge(&app).await;
    assert_eq!(count_rows(&app, "used_sign_in").await, 2);
    let moved = sqlx::raw_sql("update used_sign_in set expires_at = expires_at - interval '16 minutes'");
    moved.execute(&app.db).await.expect("time can be moved");
    crate::support::webhooks::purge(&app).await;
    assert_eq!(count_rows(&app, "used_sign_in").await, 0);
}

#[actix_web::test]
async fn a_session_is_for_one_purpose_and_one_player() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let to_link = app.back_from(&issuer, "person", Some(&ana)).await.body();
    app.complete(&to_link).await.is_problem(401, "sign_in_refused");
    let path = "/v1/me/identities/stub";
    app.put(path, Some(&bo), &to_link).await.is_problem(401, "sign_in_refused");
    app.put(path, None, &to_link).await.is_problem(401, "unauthenticated");
    let to_sign_in = app.back_from(&issuer, "person", None).await.body();
    app.put(path, Some(&ana), &to_sign_in).await.is_problem(401, "sign_in_refused");
    // None of that has used them up.
    assert_eq!(app.put(path, Some(&ana), &to_link).await.status, 201);
    let signed_in = app.complete(&to_sign_in).await;
    assert_eq!((signed_in.status.as_u16(), signed_in.string("/player/id")), (200, ana.id));
}

#[actix_web::test]
async fn malformed_requests_name_what_is_wrong() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let good = app.back_from(&issuer, "person", None).await.body();
    for (field, value, pointer) in [
        ("code", json!(""), "/code"),
        ("code", json!("a".repeat(4097)), "/code"),
        ("code", json!(5), "/code"),
        ("state", Value::Null, "/state"),
        ("name", json!("admin"), "/name"),
        ("name", json!("a".repeat(33)), "/name"),
        ("more", json!(1), "/more"),
    ] {
        let mut body = good.clone();
        body[field] = value;
        let refused = app.complete(&body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.string("/errors/0/pointer"), pointer);
    }
    for body in [json!({}), json!({"redirect_uri": BACK, "scope": "email"}), json!({"redirect_uri": [BACK]})] {
        app.post("/v1/sign-in/stub", None, &body).await.is_problem(422, "validation_failed");
    }
    assert_eq!((issuer.asked("/token"), count_rows(&app, "used_sign_in").await), (0, 0));
    assert_eq!(app.complete(&good).await.status, 201);
}

#[actix_web::test]
async fn an_issuer_that_names_itself_is_the_one_that_was_asked() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let with = |body: &Value, iss: Value| {
        let mut body = body.clone();
        body["iss"] = iss;
        body
    };
    let back = app.back_from(&issuer, "person", None).await.body();
    let other = app.complete(&with(&back, json!("https://evil.example"))).await;
    other.is_problem(401, "sign_in_refused");
    assert_eq!(issuer.asked("/token"), 0, "the code of another issuer goes nowhere");
    assert_eq!(app.complete(&with(&back, json!(issuer.url()))).await.status, 201);
    // An issuer whose metadata promises `iss` must send it.
    let issuer = StubIssuer::start();
    let document = json!({"authorization_response_iss_parameter_supported": true});
    issuer.conduct(Conduct { document, ..Conduct::default() });
    let app = issuer.app().await;
    let back = app.back_from(&issuer, "person", None).await.body();
    app.complete(&back).await.is_problem(401, "sign_in_refused");
    assert_eq!(app.complete(&with(&back, json!(issuer.url()))).await.status, 201);
}
