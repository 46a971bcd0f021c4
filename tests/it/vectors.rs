//! The worked games of the rules, played over HTTP.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::app::TestApp;

#[actix_web::test]
async fn every_worked_game_of_kalah_is_played_step_by_step_to_its_end() {
    play_all("kalah", include_str!("../rules/kalah.jsonl"), 30).await;
}

#[actix_web::test]
async fn every_worked_game_of_oware_is_played_step_by_step_to_its_end() {
    play_all("oware", include_str!("../rules/oware.jsonl"), 14).await;
}

#[actix_web::test]
async fn every_worked_game_of_congkak_is_played_step_by_step_to_its_end() {
    play_all("congkak", include_str!("../rules/congkak.jsonl"), 10).await;
}

/// Plays those that begin with the opening, of which there are so many at least.
async fn play_all(variant: &str, vectors: &str, count_min: usize) {
    let app = TestApp::start().await;
    let vectors: Vec<Value> = vectors.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let whole: Vec<_> =
        vectors.iter().filter(|vector| vector["given_start"].is_null() && vector["final"]["over"] == true).collect();
    assert!(whole.len() >= count_min, "{} whole games", whole.len());
    join_all(whole.into_iter().map(|vector| play(&app, variant, vector))).await;
}

/// Two people play it, so that a swap shows.
async fn play(app: &TestApp, variant: &str, vector: &Value) {
    let id = &vector["id"];
    let body = json!({"variant": variant, "preset": vector["preset"], "options": vector["options"]});
    let (game, first, second) = app.started(&body).await;
    let opened = app.get_game(&game, None).await.body;
    assert_eq!((&opened["position"], &opened["legal_moves"]), (&vector["start"], &vector["legal"]), "{id}");
    let mut at_side = [&first, &second];
    let mut turn = "south".to_owned();
    for (ply, step) in (1..).zip(vector["steps"].as_array().expect("steps")) {
        let mv = step["move"].as_str().expect("a move");
        let player = at_side[usize::from(turn == "north")];
        let played = app.play_move(&game, player, ply, mv).await;
        assert_eq!(played.status, 201, "{id} ply {ply}: {played:?}");
        if mv == "swap" {
            at_side.swap(0, 1);
        }
        let after = &played.body["game"];
        assert_eq!(after["position"], step["position"], "{id} ply {ply}");
        assert_eq!(after["legal_moves"], step["legal_after"], "{id} ply {ply}");
        assert_eq!(played.body["move"]["position"], step["position"]);
        let position = app.get(&format!("/v1/games/{game}/positions/{ply}"), None).await.body;
        assert_eq!((&position["position"], &position["legal_moves"]), (&step["position"], &step["legal_after"]));
        turn = after["turn"].as_str().unwrap_or_default().to_owned();
    }
    let end = app.get_game(&game, None).await.body;
    let expected = &vector["final"];
    let result = &end["result"];
    assert_eq!(end["status"], "finished", "{id}");
    assert_eq!(result["reason"], expected["reason"], "{id}");
    assert_eq!(json!([result["score"]["south"], result["score"]["north"]]), expected["stores"], "{id}");
    assert_eq!(side(&result["winner"]), expected["winner_side"], "{id}");
    let winner = match expected["winner_seat"].as_u64() {
        Some(0) => json!(first.id),
        Some(_) => json!(second.id),
        None => Value::Null,
    };
    assert_eq!(result["winner_player_id"], winner, "{id}");
}

/// A side as the vectors write it.
fn side(winner: &Value) -> Value {
    match winner.as_str() {
        Some("south") => json!("S"),
        Some("north") => json!("N"),
        _ => Value::Null,
    }
}
