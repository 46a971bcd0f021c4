//! Joining: taking the free seat, with or without a code.

use serde_json::json;

use crate::support::{app::TestApp, games::without_me};

#[actix_web::test]
async fn joining_takes_the_free_seat_and_begins_the_game() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "north"})).await;
    let joined = app.join_game(game["id"].as_str().expect("an id"), &bo).await;
    assert_eq!(joined.status, 200);
    assert_eq!(joined.body["seats"]["south"], json!({"id": bo.id, "name": "Bo", "kind": "guest"}));
    assert_eq!((&joined.body["status"], &joined.body["turn"]), (&json!("active"), &json!("south")));
    assert_eq!(joined.body["version"], 2);
    assert!(joined.body["started_at"].is_string());
}

#[actix_web::test]
async fn joining_where_one_already_sits_changes_nothing() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let id = game["id"].as_str().expect("an id");
    let own = app.join_game(id, &ana).await;
    assert_eq!((own.status.as_u16(), &own.body), (200, &game));
    let joined = app.join_game(id, &bo).await;
    for guest in [&ana, &bo] {
        let again = app.join_game(id, guest).await;
        assert_eq!((again.status.as_u16(), without_me(again.body)), (200, without_me(joined.body.clone())));
    }
}

#[actix_web::test]
async fn a_taken_seat_and_an_aborted_game_cannot_be_joined() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let eve = app.guest("Eve").await;
    let late = app.join_game(&id, &eve).await;
    late.is_problem(409, "seat_taken");
    assert_eq!(late.body["game"]["id"], id);
    app.abort_game(&id, &south).await;
    app.join_game(&id, &eve).await.is_problem(409, "game_over");
}

#[actix_web::test]
async fn a_game_by_link_is_joined_with_the_code_that_only_its_creator_sees() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "link"}})).await;
    let (id, code) = (game["id"].as_str().expect("an id"), game["join_code"].as_str().expect("a code"));
    // 24 characters of 6 bits each.
    assert!(code.len() == 24 && code.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
    assert_eq!(app.get_game(id, Some(&ana)).await.body["join_code"], code);
    for reader in [Some(&bo), None] {
        assert!(!app.get_game(id, reader).await.text.contains(code));
    }
    assert!(!app.get("/v1/games", Some(&bo)).await.text.contains(code));

    let join = format!("/v1/games/{id}/join");
    app.join_game(id, &bo).await.is_problem(403, "forbidden");
    for wrong in ["", "x", &code[1..], &code.to_lowercase().to_uppercase()] {
        app.post(&join, Some(&bo), &json!({"join_code": wrong})).await.is_problem(403, "forbidden");
    }
    app.post(&join, Some(&bo), &json!({"join_code": 5})).await.is_problem(422, "validation_failed");
    app.post(&join, Some(&bo), &json!({"code": code})).await.is_problem(422, "validation_failed");
    let joined = app.post(&join, Some(&bo), &json!({"join_code": code})).await;
    assert_eq!((joined.status.as_u16(), &joined.body["status"]), (200, &json!("active")));
    assert!(!joined.text.contains(code));
}

#[actix_web::test]
async fn a_private_game_is_unknown_to_a_stranger_with_any_code() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    // Unless it is said otherwise, a private game is joined by link.
    let game = app.created(&ana, &json!({"variant": "kalah", "visibility": "private"})).await;
    let (id, code) = (game["id"].as_str().expect("an id"), game["join_code"].as_str().expect("a code"));
    let join = format!("/v1/games/{id}/join");
    for body in [json!({}), json!({"join_code": "guess"})] {
        app.post(&join, Some(&eve), &body).await.is_problem(404, "not_found");
    }
    assert_eq!(app.post(&join, Some(&bo), &json!({"join_code": code})).await.status, 200);
    app.post(&join, Some(&eve), &json!({"join_code": code})).await.is_problem(404, "not_found");
    assert_eq!(app.get_game(id, Some(&bo)).await.status, 200);
}
