//! Whole turns in one request: all of their moves, or none.

use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::Guest,
    games::{event_pages, game_of_one},
};

async fn play_turn(app: &TestApp, id: &str, guest: &Guest, ply: u32, moves: &[&str]) -> Answer {
    app.post(&format!("/v1/games/{id}/moves"), Some(guest), &json!({"ply": ply, "moves": moves})).await
}

fn words(moves: &Value) -> Vec<&str> {
    moves.as_array().expect("moves").iter().map(|mv| mv["move"].as_str().expect("a move")).collect()
}

#[actix_web::test]
async fn a_whole_turn_is_played_in_one_request() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"clock": {"type": "bank", "bank_s": 600}})).await;
    let played = play_turn(&app, &id, &south, 1, &["C", "F"]).await;
    assert_eq!(played.status, 201, "{played:?}");
    assert_eq!(words(&played.body["earlier_moves"]), ["C"]);
    assert_eq!((&played.body["move"]["move"], &played.body["move"]["ply"]), (&json!("F"), &json!(2)));
    assert_eq!((&played.body["game"]["ply"], &played.body["game"]["turn"]), (&json!(2), &json!("north")));

    // The history and the events are those of moves that are sent one by one.
    let moves = app.list_moves(&id, "", None).await.body["items"].clone();
    assert_eq!(json!([played.body["earlier_moves"][0], played.body["move"]]), moves);
    let events = event_pages(&app, &id, 100, None).await;
    let seqs: Vec<_> = events.iter().map(|event| event["seq"].as_u64().expect("a number")).collect();
    assert_eq!(seqs, (1..=4).collect::<Vec<_>>());
    assert_eq!(
        events[2..].iter().map(|event| event["move"].clone()).collect::<Vec<_>>(),
        *moves.as_array().expect("moves")
    );

    // Another turn goes on from there, and the game can be read back from its log.
    assert_eq!(app.play_move(&id, &north, 3, "d").await.status, 201);
    let verified = app.get(&format!("/v1/games/{id}/verify"), None).await;
    assert_eq!((verified.status.as_u16(), &verified.body["flaws"]), (200, &json!([])), "{verified:?}");
}

#[actix_web::test]
async fn a_turn_sent_again_is_played_once() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let first = play_turn(&app, &id, &south, 1, &["C", "A"]).await;
    let again = play_turn(&app, &id, &south, 1, &["C", "A"]).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &first.body));
    app.play_move(&id, &north, 3, "a").await;
    let late = play_turn(&app, &id, &south, 1, &["C", "A"]).await;
    assert_eq!((late.status.as_u16(), &late.body["move"]), (200, &first.body["move"]));
    assert_eq!(late.body["game"]["last_move"]["move"], "a");

    // Its beginning or another end is another request, and so is another player's.
    for (guest, moves) in [(&south, &["C", "B"][..]), (&south, &["C", "A", "B"]), (&north, &["C", "A"])] {
        play_turn(&app, &id, guest, 1, moves).await.is_problem(409, "stale_ply");
    }
    let single = app.play_move(&id, &south, 2, "A").await;
    assert_eq!((single.status.as_u16(), &single.body["move"]), (200, &first.body["move"]));
    assert_eq!(app.get_game(&id, None).await.body["ply"], 3);
}

#[actix_web::test]
async fn an_empty_list_of_moves_beside_a_move_counts_as_absent() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let path = format!("/v1/games/{id}/moves");
    let body = json!({"ply": 1, "move": "C", "moves": []});
    for status in [201, 200] {
        let played = app.post(&path, Some(&south), &body).await;
        assert_eq!((played.status.as_u16(), &played.body["move"]["move"]), (status, &json!("C")), "{played:?}");
    }
    app.post(&path, Some(&south), &json!({"ply": 2, "moves": []})).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_turn_with_an_illegal_move_is_not_played_at_all() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let before = app.get_game(&id, Some(&south)).await.body;
    for (moves, index, reason) in [
        (&["C", "F", "C"][..], 2, "game"),
        (&["C", "C"], 1, "empty_pit"),
        (&["C", "x!"], 1, "not_a_move"),
        (&["C", "a"], 1, "not_your_pit"),
    ] {
        let refused = play_turn(&app, &id, &south, 1, moves).await;
        if reason == "game" {
            refused.is_problem(409, "not_your_turn");
            assert_eq!(refused.body["game"], before);
        } else {
            refused.is_problem(422, "illegal_move");
            assert_eq!(refused.body["reason"], reason);
            assert_eq!(refused.body["legal_moves"], json!(["A", "B", "D", "E", "F"]));
        }
        assert_eq!(refused.body["index"], index);
        assert!(refused.body["position"].is_string());
    }
    assert_eq!(app.get_game(&id, Some(&south)).await.body, before);
    assert_eq!(event_pages(&app, &id, 100, None).await.len(), 2);
}

#[actix_web::test]
async fn a_turn_ends_where_the_side_changes_even_for_one_player() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let refused = play_turn(&app, &id, &ana, 1, &["C", "F", "a"]).await;
    refused.is_problem(409, "not_your_turn");
    assert_eq!(refused.body["index"], 2);
    assert_eq!(play_turn(&app, &id, &ana, 1, &["C", "F"]).await.status, 201);
    assert_eq!(play_turn(&app, &id, &ana, 3, &["a"]).await.status, 201);
}

#[actix_web::test]
async fn the_moves_of_a_turn_are_bounded() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let moves = format!("/v1/games/{id}/moves");
    for (body, pointer) in [
        (json!({"ply": 1, "moves": []}), "/moves"),
        (json!({"ply": 1, "moves": vec!["A"; 101]}), "/moves"),
        (json!({"ply": 1, "moves": null}), "/moves"),
        (json!({"ply": 1, "moves": "C"}), "/moves"),
        (json!({"ply": 1, "moves": ["C", 3]}), "/moves/1"),
        (json!({"ply": 1, "move": "C", "moves": ["C"]}), "/moves"),
        (json!({"ply": 1}), "/move"),
    ] {
        let refused = app.post(&moves, Some(&south), &body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{body}");
    }
    assert_eq!(app.get_game(&id, None).await.body["ply"], 0);
}

#[actix_web::test]
async fn a_turn_drops_the_offers_that_its_moves_would_drop() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.offer(&id, &north, "draw").await;
    let played = play_turn(&app, &id, &south, 1, &["C", "A"]).await;
    assert_eq!((played.status.as_u16(), &played.body["game"]["offers"]), (201, &json!([])));
    let types: Vec<_> = event_pages(&app, &id, 100, None).await.iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types, ["created", "joined", "offered", "moved", "offer_declined", "moved"]);
    // A move of the game that was cached after the turn.
    assert_eq!(app.play_move(&id, &north, 3, "a").await.status, 201);
}
