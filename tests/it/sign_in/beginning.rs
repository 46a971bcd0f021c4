//! Signing in: which issuers there are, who is created, and who comes back.

use mancala_server::{
    http::RateLimits,
    jobs::purge::{self, Guests},
    webhook::Reach,
};
use serde_json::json;
use time::Duration;

use crate::support::{
    app::TestApp,
    clock::now,
    database::count_rows,
    issuer::{BACK, Conduct, Signed, StubIssuer, player_of},
};

#[actix_web::test]
async fn who_signs_in_by_an_issuer_again_is_the_same_player() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let mut body = app.back_from(&issuer, "person-1", None).await.body();
    body["name"] = json!("Ana");
    let first = app.complete(&body).await;
    assert_eq!((first.status.as_u16(), first.string("/player/name")), (201, "Ana".to_owned()), "{first:?}");
    assert_eq!(
        (first.string("/player/kind"), &first.headers["cache-control"]),
        ("guest".to_owned(), &"no-store".parse().expect("a value"))
    );
    assert!(first.body["recovery_code"].is_string());
    let ana = player_of(&first);
    assert_eq!(app.get("/v1/me", Some(&ana)).await.string("/name"), "Ana");
    issuer.conduct(Conduct { signed: Signed::Es256, ..Conduct::default() });
    let mut body = app.back_from(&issuer, "person-1", None).await.body();
    body["name"] = json!("Other");
    let again = app.complete(&body).await;
    assert_eq!((again.status.as_u16(), &again.body["player"]), (200, &first.body["player"]), "{again:?}");
    assert!(again.body.get("recovery_code").is_none());
    assert_eq!(app.refresh(&again.string("/refresh_token")).await.status, 200);
    let other = app.sign_in_by(&issuer, "person-2").await;
    assert_eq!(other.status, 201);
    assert_ne!(player_of(&other).id, ana.id);
    let rows: String = sqlx::query_scalar("select string_agg(player_identity::text, ' ') from player_identity")
        .fetch_one(&app.db)
        .await
        .expect("rows");
    assert!(!rows.contains("person"), "the issuer's id of a person is stored as a hash: {rows}");
}

#[actix_web::test]
async fn only_the_operators_issuers_and_addresses_are_offered() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let list = app.get("/v1/sign-in", None).await;
    assert_eq!(
        (list.status.as_u16(), list.body),
        (200, json!({"items": [{"id": "stub", "name": "Stub"}], "next_cursor": null}))
    );
    app.post("/v1/sign-in/other", None, &json!({"redirect_uri": BACK})).await.is_problem(404, "not_found");
    app.post("/v1/sign-in/STUB", None, &json!({"redirect_uri": BACK})).await.is_problem(404, "not_found");
    let near = ["/../x", "/", "?a=b", "#a", "%2f"].map(|more| format!("{BACK}{more}"));
    let far = ["https://evil.example/back", "https://play.example", "", "http://play.example/back"].map(str::to_owned);
    for uri in near.into_iter().chain(far) {
        let refused = app.post("/v1/sign-in/stub", None, &json!({"redirect_uri": uri})).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.string("/errors/0/pointer"), "/redirect_uri");
    }
    assert_eq!(issuer.asked(""), 0, "nothing was asked of the issuer");
    let of_app = app.post("/v1/sign-in/stub", None, &json!({"redirect_uri": "com.example.stub:/back"})).await;
    assert!(of_app.string("/authorization_url").contains("redirect_uri=com.example.stub%3A%2Fback&"), "{of_app:?}");
    assert_eq!(of_app.body["expires_in"], 600);
    app.begin_sign_in(None).await;
    assert_eq!(issuer.asked("openid-configuration"), 1, "documents are kept");
    let none = TestApp::start().await;
    assert_eq!(none.get("/v1/sign-in", None).await.body, json!({"items": [], "next_cursor": null}));
    none.begin_sign_in(None).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn two_first_sign_ins_at_the_same_moment_make_one_player() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let mut backs = vec![];
    for _ in 0..6 {
        backs.push(app.back_from(&issuer, "person", None).await.body());
    }
    let answers = futures_util::future::join_all(backs.iter().map(|body| app.complete(body))).await;
    let created = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(created, 1, "{answers:?}");
    assert!(answers.iter().all(|answer| answer.body["player"] == answers[0].body["player"]), "{answers:?}");
    assert_eq!(
        (count_rows(&app, "player where kind = 'guest'").await, count_rows(&app, "player_identity").await),
        (1, 1)
    );
}

#[actix_web::test]
async fn sign_ins_by_issuers_count_as_those_by_passwords_do() {
    let issuer = StubIssuer::start();
    let issuers = issuer.issuers(Reach::Anywhere);
    let app = TestApp::start_with(|service| {
        service.issuers = issuers;
        service.rate_limits = RateLimits::NeverRefilled;
    })
    .await;
    let ana = app.guest("Ana").await;
    let wrong = json!({"session": "a", "state": "b", "code": "c"});
    let answers = [
        app.begin_sign_in(None).await,
        app.begin_sign_in(Some(&ana)).await,
        app.complete(&wrong).await,
        app.put("/v1/me/identities/stub", Some(&ana), &wrong).await,
    ];
    for (answer, left) in answers.iter().zip([299, 298, 297, 296]) {
        assert_eq!(answer.headers["ratelimit-policy"], "\"tokens\";q=300;w=600", "{answer:?}");
        let state = answer.headers["ratelimit"].to_str().expect("text").to_owned();
        assert!(state.starts_with(&format!("\"tokens\";r={left};")), "{state}");
    }
}

#[actix_web::test]
async fn a_guest_with_an_identity_is_not_purged() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let (ana, _) = (player_of(&app.sign_in_by(&issuer, "person").await), app.guest("Bo").await);
    let settings = purge::Settings { guest_retention: Some(Duration::days(90)) };
    let long_after = now() + Duration::days(400);
    purge::run(&app.db, settings, &mut Guests::default(), long_after).await.expect("rows go");
    assert_eq!(count_rows(&app, "player where kind = 'guest'").await, 1);
    assert_eq!(player_of(&app.sign_in_by(&issuer, "person").await).id, ana.id);
}
