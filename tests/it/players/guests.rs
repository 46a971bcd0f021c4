//! Creating guests.

use serde_json::json;

use crate::support::{app::TestApp, calls::send};

#[actix_web::test]
async fn a_guest_needs_nothing_and_gets_a_name_and_a_token() {
    let app = TestApp::start().await;
    for answer in
        [send(app.request(reqwest::Method::POST, "/v1/players")).await, app.post("/v1/players", None, &json!({})).await]
    {
        assert_eq!(answer.status, 201);
        assert_eq!((&answer.body["token_type"], &answer.body["expires_in"]), (&json!("Bearer"), &json!(900)));
        assert_eq!(answer.body["player"]["kind"], "guest");
        assert!(answer.string("/player/name").starts_with("Guest-"));
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
}

#[actix_web::test]
async fn names_of_guests_are_not_unique() {
    let app = TestApp::start().await;
    let (one, two) = (app.guest("Ana").await, app.guest("Ana").await);
    assert_ne!(one.id, two.id);
}

#[actix_web::test]
async fn an_unreadable_name_is_refused() {
    let app = TestApp::start().await;
    for name in
        ["", " ", " Ana", "Ana ", "A\u{0}na", "A\nna", "A\u{200b}na", "\u{202e}anA", &"x".repeat(33), &"é".repeat(33)]
    {
        let answer = app.post("/v1/players", None, &json!({ "name": name })).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "/name");
    }
    for body in [json!({"name": 5}), json!({"nick": "Ana"}), json!({"name": ["Ana"]})] {
        app.post("/v1/players", None, &body).await.is_problem(422, "validation_failed");
    }
    for name in ["Ana", "Ана", "安娜", "O'Brien-Smith", &"é".repeat(32)] {
        let answer = app.post("/v1/players", None, &json!({ "name": name })).await;
        assert_eq!((answer.status.as_u16(), answer.string("/player/name").as_str()), (201, name));
    }
}
