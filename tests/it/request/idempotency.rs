//! Idempotency keys: a repeated creation has one effect and one answer.

use futures_util::future::join_all;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send},
};

fn create(app: &TestApp, guest: &Guest, key: &str, body: &Value) -> RequestBuilder {
    app.request(Method::POST, "/v1/games").bearer_auth(&guest.token).header("idempotency-key", key).json(body)
}

async fn games(app: &TestApp) -> i64 {
    sqlx::query_scalar("select count(*) from game").fetch_one(&app.db).await.expect("a count")
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.get("idempotent-replayed").is_some_and(|value| value == "true")
}

#[actix_web::test]
async fn thirty_two_requests_with_one_key_create_one_game_and_get_one_answer() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = json!({"variant": "kalah"});
    let answers = join_all((0..32).map(|_| send(create(&app, &ana, "one", &body)))).await;
    assert_eq!(games(&app).await, 1);
    let first = &answers[0];
    for answer in &answers {
        assert_eq!(answer.status, 201, "{answer:?}");
        assert_eq!(answer.text, first.text);
        for header in ["location", "etag", "content-type"] {
            assert_eq!(answer.headers[header], first.headers[header]);
        }
    }
    assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
}

#[actix_web::test]
async fn the_stored_answer_is_given_again_after_the_game_has_gone_on() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "opponent": {"type": "link"}, "side": "south"});
    let first = send(create(&app, &ana, "k", &body)).await;
    assert!(!is_replayed(&first));
    let id = first.string("/id");
    app.post(&format!("/v1/games/{id}/join"), Some(&bo), &json!({"join_code": first.string("/join_code")})).await;
    // The same request, in other words.
    let same = json!({"side": "south", "opponent": {"type": "link"}, "variant": "kalah"});
    let again = send(create(&app, &ana, "k", &same)).await;
    assert!(is_replayed(&again));
    assert_eq!((again.status, &again.text), (first.status, &first.text));
}

#[actix_web::test]
async fn a_key_with_another_body_is_refused_and_a_key_is_its_players_own() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah"});
    let first = send(create(&app, &ana, "k", &body)).await;
    let other = json!({"variant": "kalah", "visibility": "unlisted"});
    send(create(&app, &ana, "k", &other)).await.is_problem(422, "idempotency_key_reused");
    assert_eq!(games(&app).await, 1);
    let of_bo = send(create(&app, &bo, "k", &body)).await;
    assert_ne!(of_bo.string("/id"), first.string("/id"));
    let other_key = send(create(&app, &ana, "K", &other)).await;
    assert_eq!(other_key.status, 201);
    assert_eq!(games(&app).await, 3);
}

#[actix_web::test]
async fn two_bodies_racing_under_one_key_are_one_game_and_one_refusal() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let bodies = [json!({"variant": "kalah"}), json!({"variant": "kalah", "visibility": "private"})];
    for round in 0..20 {
        let key = format!("round {round}");
        let answers = join_all(bodies.iter().map(|body| send(create(&app, &ana, &key, body)))).await;
        let mut statuses: Vec<_> = answers.iter().map(|answer| answer.status.as_u16()).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 422], "{answers:?}");
    }
    assert_eq!(games(&app).await, 20);
}

#[actix_web::test]
async fn a_failure_uses_no_key_up() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    send(create(&app, &ana, "k", &json!({"variant": "chess"}))).await.is_problem(422, "validation_failed");
    assert_eq!(send(create(&app, &ana, "k", &json!({"variant": "kalah"}))).await.status, 201);
}

#[actix_web::test]
async fn a_key_is_good_for_a_day_and_then_purged() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = json!({"variant": "kalah"});
    let first = send(create(&app, &ana, "k", &body)).await;
    let age = "update idempotency_key set created_at = created_at - interval '24 hours'";
    sqlx::raw_sql(age).execute(&app.db).await.expect("time passes");
    let next_day = send(create(&app, &ana, "k", &body)).await;
    assert!(!is_replayed(&next_day));
    assert_ne!(first.string("/id"), next_day.string("/id"));
    let purge = async || {
        mancala_server::db::idempotency::purge(&app.db, crate::support::clock::now(), 100).await.expect("keys go")
    };
    assert_eq!(purge().await, 0);
    sqlx::raw_sql(age).execute(&app.db).await.expect("time passes");
    assert_eq!(purge().await, 1);
}

#[actix_web::test]
async fn a_key_that_is_none_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for key in ["", " ", &"k".repeat(256)] {
        let answer = send(create(&app, &ana, key, &json!({"variant": "kalah"}))).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "Idempotency-Key");
    }
    let twice = create(&app, &ana, "a", &json!({"variant": "kalah"})).header("idempotency-key", "b");
    send(twice).await.is_problem(422, "validation_failed");
    assert_eq!(games(&app).await, 0);
    assert_eq!(send(create(&app, &ana, &"k".repeat(255), &json!({"variant": "kalah"}))).await.status, 201);
}
