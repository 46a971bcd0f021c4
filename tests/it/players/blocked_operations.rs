//! Offers between players with a block between them, and a walk over all operations: what a block changes, and what it does not.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
};

async fn block(app: &TestApp, blocker: &Guest, player: &Guest) {
    let made = send(signed(app.request(Method::PUT, &format!("/v1/me/blocks/{}", player.id)), Some(blocker))).await;
    assert_eq!(made.status, 204, "{made:?}");
}

/// An active game with a clock in which both have moved.
async fn played(app: &TestApp, south: &Guest, north: &Guest) -> String {
    let id = app.started_between(south, north, &json!({"clock": {"type": "per_move", "move_s": 86_400}})).await;
    app.played(&id, south, 1, "A").await;
    app.played(&id, north, 2, "a").await;
    id
}

/// What a refused offer tells; the game that comes with it is as it was.
fn assert_not_taken(answer: &Answer) {
    answer.is_problem(409, "offer_not_possible");
    assert_eq!(answer.body["detail"], "the opponent takes no such offer");
    assert_eq!(answer.body["game"]["offers"], json!([]));
}

#[actix_web::test]
async fn neither_makes_the_other_an_offer_and_the_game_goes_on() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (id, finished) = (played(&app, &ana, &bo).await, played(&app, &ana, &bo).await);
    assert_eq!(app.resign_game(&finished, &bo).await.status, 200);
    block(&app, &ana, &bo).await;
    for guest in [&ana, &bo] {
        for kind in ["draw", "takeback", "pause"] {
            assert_not_taken(&app.offer(&id, guest, kind).await);
        }
        assert_not_taken(&app.offer(&finished, guest, "rematch").await);
        // What is refused for another reason says so.
        app.offer(&id, guest, "rematch").await.is_problem(409, "offer_not_possible");
        app.offer(&finished, guest, "draw").await.is_problem(409, "game_over");
    }
    app.played(&id, &ana, 3, "C").await;
    app.played(&id, &bo, 4, "c").await;
    let path = format!("/v1/me/blocks/{}", bo.id);
    assert_eq!(send(signed(app.request(Method::DELETE, &path), Some(&ana))).await.status, 204);
    assert_eq!(app.offer(&id, &bo, "draw").await.status, 201);
    assert_eq!(app.offer(&finished, &ana, "rematch").await.status, 201);
}

#[actix_web::test]
async fn what_was_offered_before_is_answered_but_begins_no_game() {
    let app = TestApp::start().await;
    for is_blocker in [true, false] {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        let [drawn, paused, taken_back, finished] = [
            played(&app, &ana, &bo).await,
            played(&app, &ana, &bo).await,
            played(&app, &ana, &bo).await,
            played(&app, &ana, &bo).await,
        ];
        app.resign_game(&finished, &bo).await;
        for (id, kind) in [(&drawn, "draw"), (&paused, "pause"), (&taken_back, "takeback"), (&finished, "rematch")] {
            assert_eq!(app.offer(id, &ana, kind).await.status, 201);
        }
        if is_blocker {
            block(&app, &ana, &bo).await;
        } else {
            block(&app, &bo, &ana).await;
        }
        // A repetition of what is offered already changes nothing.
        assert_eq!(app.offer(&finished, &ana, "rematch").await.status, 200);
        assert_eq!(app.offer(&paused, &ana, "pause").await.status, 200);
        assert_eq!(app.answer_offer(&drawn, &bo, "draw", "accept").await.body["status"], "finished");
        assert_eq!(app.answer_offer(&paused, &bo, "pause", "accept").await.status, 200);
        assert_eq!(app.answer_offer(&paused, &bo, "pause", "withdraw").await.status, 200);
        assert_eq!(app.answer_offer(&taken_back, &ana, "takeback", "withdraw").await.status, 200);
        for refused in [
            app.answer_offer(&finished, &bo, "rematch", "accept").await,
            // The same offer by the other player accepts it.
            app.offer(&finished, &bo, "rematch").await,
        ] {
            refused.is_problem(409, "offer_not_possible");
            assert_eq!(refused.body["game"]["rematch_game_id"], Value::Null);
        }
        assert_eq!(app.answer_offer(&finished, &bo, "rematch", "decline").await.status, 200);
        assert_not_taken(&app.offer(&finished, &bo, "rematch").await);
    }
}

/// The operations whose path has this part: their ids, methods, paths, and a body.
fn operations_on(part: &str, document: &Value) -> Vec<(String, Method, String, Value)> {
    let mut found = vec![];
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an id").to_owned();
            let body = match id.as_str() {
                "play_move" => json!({"ply": 1, "move": "A"}),
                "make_offer" => json!({"type": "draw"}),
                "write_note" => json!({"text": "good"}),
                _ => json!({}),
            };
            if path.contains(part) {
                let path = path.replace("{ply}", "0").replace("{type}", "draw");
                found.push((id, method.to_uppercase().parse().expect("a method"), path, body));
            }
        }
    }
    found
}

fn operations_on_games(document: &Value) -> Vec<(String, Method, String, Value)> {
    let found = operations_on("{id}", document);
    assert!(found.len() > 25, "{found:?}");
    found
}

async fn call(app: &TestApp, method: &Method, path: &str, guest: &Guest, body: &Value) -> u16 {
    let request = signed(app.request(method.clone(), path), Some(guest));
    let request = if *method == Method::GET { request } else { request.json(body) };
    send(request).await.status.as_u16()
}

#[actix_web::test]
async fn on_an_open_game_a_block_changes_the_answer_to_a_join_alone() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    block(&app, &ana, &bo).await;
    let document = app.get("/openapi.json", None).await.body;
    for (operation, method, path, body) in operations_on_games(&document) {
        let mut statuses = vec![];
        for guest in [&eve, &bo] {
            let game = app.created(&ana, &json!({"variant": "kalah"})).await;
            let path = path.replace("{id}", game["id"].as_str().expect("an id"));
            statuses.push(call(&app, &method, &path, guest, &body).await);
        }
        if operation == "join_game" {
            assert_eq!(statuses, [200, 404]);
        } else {
            assert_eq!(statuses[0], statuses[1], "{operation}");
        }
    }
}

#[actix_web::test]
async fn in_an_active_game_a_block_changes_the_answer_to_an_offer_alone() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let document = app.get("/openapi.json", None).await.body;
    let operations = operations_on_games(&document);
    let mut games = vec![];
    for _ in &operations {
        games
            .push([app.started_between(&cy, &ana, &json!({})).await, app.started_between(&bo, &ana, &json!({})).await]);
    }
    block(&app, &ana, &bo).await;
    for ((operation, method, path, body), games) in operations.iter().zip(&games) {
        let mut statuses = vec![];
        for (guest, game) in [&cy, &bo].into_iter().zip(games) {
            statuses.push(call(&app, method, &path.replace("{id}", game), guest, body).await);
        }
        match operation.as_str() {
            "make_offer" => assert_eq!(statuses, [201, 409]),
            "play_move" => assert_eq!(statuses, [201, 201]),
            _ => assert_eq!(statuses[0], statuses[1], "{operation}"),
        }
    }
}

#[actix_web::test]
async fn every_operation_that_needs_a_token_is_refused_without_one() {
    let app = TestApp::start().await;
    let document = app.get("/openapi.json", None).await.body;
    let id = "0199aaaa-0000-7000-8000-000000000000";
    let mut refused = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{ply}", "0").replace("{type}", "draw").replace("{variant}", "kalah");
        let path = path.replace("{external_id}", "user-1");
        let path = ["{id}", "{player_id}", "{webhook_id}", "{delivery_id}", "{sign_in_id}", "{device_id}"]
            .into_iter()
            .fold(path, |path, name| path.replace(name, id));
        for (method, operation) in item.as_object().expect("operations") {
            let schemes = operation["security"].as_array().expect("schemes");
            if schemes.is_empty() || schemes.contains(&json!({})) {
                continue;
            }
            let method: Method = method.to_uppercase().parse().expect("a method");
            let answer = send(app.request(method.clone(), &path)).await;
            assert_eq!(answer.body["code"], "unauthenticated", "{method} {path}: {answer:?}");
            refused += 1;
        }
    }
    assert!(refused > 40, "{refused}");
}

#[actix_web::test]
async fn no_operation_on_a_player_tells_of_a_block_or_a_mute() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let document = app.get("/openapi.json", None).await.body;
    let operations = operations_on("{player_id}", &document);
    assert!(operations.len() >= 8, "{operations:?}");
    for (operation, method, path, body) in operations {
        // New ones each time: what one operation has changed would count for the next.
        let [stranger, blocked, muted] =
            [app.guest("Stranger").await, app.guest("Blocked").await, app.guest("Muted").await];
        block(&app, &ana, &blocked).await;
        let mute = app.request(Method::PUT, &format!("/v1/me/mutes/{}", muted.id));
        assert_eq!(send(signed(mute, Some(&ana))).await.status, 204);
        let path = path.replace("{player_id}", &ana.id);
        let mut statuses = vec![];
        for guest in [&stranger, &blocked, &muted] {
            statuses.push(call(&app, &method, &path, guest, &body).await);
        }
        assert_eq!(statuses, [statuses[0]; 3], "{operation}");
    }
}
