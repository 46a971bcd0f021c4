//! The worked games of the rules, played over HTTP.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{answer::Answer, app::TestApp};

#[actix_web::test]
async fn every_worked_game_of_kalah_is_played_step_by_step_to_its_end() {
    play_all("kalah", include_str!("../../../crates/rules/tests/rules/kalah.jsonl"), 30).await;
}

#[actix_web::test]
async fn every_worked_game_with_declined_captures_is_played_to_its_end() {
    play_all("kalah", include_str!("../../../crates/rules/tests/rules/kalah_optional_capture.jsonl"), 12).await;
}

#[actix_web::test]
async fn every_worked_game_of_oware_is_played_step_by_step_to_its_end() {
    play_all("oware", include_str!("../../../crates/rules/tests/rules/oware.jsonl"), 14).await;
}

#[actix_web::test]
async fn every_worked_game_of_congkak_is_played_step_by_step_to_its_end() {
    play_all("congkak", include_str!("../../../crates/rules/tests/rules/congkak.jsonl"), 10).await;
}

#[actix_web::test]
async fn every_worked_game_with_points_or_in_lockstep_is_played_to_its_end() {
    play_all("congkak", include_str!("../../../crates/rules/tests/rules/congkak_match_and_lockstep.jsonl"), 10).await;
}

#[actix_web::test]
async fn every_worked_game_of_toguz_kumalak_is_played_to_its_end() {
    let vectors = include_str!("../../../crates/rules/tests/rules/toguz_kumalak.jsonl");
    play_all("toguz_kumalak", vectors, 25).await;
}

#[actix_web::test]
async fn every_worked_game_of_bestemshe_is_played_step_by_step_to_its_end() {
    play_all("bestemshe", include_str!("../../../crates/rules/tests/rules/bestemshe.jsonl"), 23).await;
}

#[actix_web::test]
async fn every_worked_game_of_bao_is_played_step_by_step_to_its_end() {
    play_all("bao", include_str!("../../../crates/rules/tests/rules/four_row/bao.jsonl"), 6).await;
}

#[actix_web::test]
async fn every_worked_game_of_omweso_is_played_step_by_step_to_its_end() {
    play_all("omweso", include_str!("../../../crates/rules/tests/rules/four_row/omweso.jsonl"), 5).await;
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

/// Two players play it, so that a swap shows.
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

#[actix_web::test]
async fn every_worked_line_is_answered_frame_by_frame_without_a_game() {
    let app = TestApp::start().await;
    let files = [
        include_str!("../../../crates/rules/tests/rules/kalah.jsonl"),
        include_str!("../../../crates/rules/tests/rules/kalah_optional_capture.jsonl"),
        include_str!("../../../crates/rules/tests/rules/oware.jsonl"),
        include_str!("../../../crates/rules/tests/rules/congkak.jsonl"),
        include_str!("../../../crates/rules/tests/rules/congkak_match_and_lockstep.jsonl"),
        include_str!("../../../crates/rules/tests/rules/four_row/bao.jsonl"),
        include_str!("../../../crates/rules/tests/rules/four_row/omweso.jsonl"),
    ];
    let (mut played, mut refused) = (0, 0);
    for line in files.into_iter().flat_map(str::lines) {
        let vector: Value = serde_json::from_str(line).expect("a line is JSON");
        let answer = play_line(&app, &vector, &vector["moves"]).await;
        if answer.status == 200 {
            told_as_worked_out(&vector, &answer.body);
            refuses_what_is_illegal(&app, &vector).await;
            played += 1;
        } else {
            answer.is_problem(422, "validation_failed");
            assert_eq!(answer.body["errors"][0]["pointer"], "/position", "{}", vector["id"]);
            assert!(answer.string("/detail").contains("must be 48 in all"), "{answer:?}");
            refused += 1;
        }
    }
    assert_eq!((played, refused), (410, 2), "two hold more or fewer seeds than a game");
}

async fn play_line(app: &TestApp, vector: &Value, moves: &Value) -> Answer {
    let path = format!("/v1/variants/{}/play", vector["variant"].as_str().expect("a variant"));
    let mut body = json!({"preset": vector["preset"], "options": vector["options"], "moves": moves});
    if vector["given_start"].is_string() {
        body["position"] = vector["given_start"].clone();
    }
    app.post(&path, None, &body).await
}

fn told_as_worked_out(vector: &Value, line: &Value) {
    let id = &vector["id"];
    assert_eq!((&line["position"], &line["legal_moves"]), (&vector["start"], &vector["legal"]), "{id}");
    let (moves, steps) = (line["moves"].as_array().expect("moves"), vector["steps"].as_array().expect("steps"));
    assert_eq!(moves.len(), steps.len(), "{id}");
    let mut before = line;
    for (played, step) in moves.iter().zip(steps) {
        assert_eq!((&played["move"], &played["position"]), (&step["move"], &step["position"]), "{id}");
        assert_eq!(played["legal_moves"], step["legal_after"], "{id}");
        assert_eq!(played["side"], before["turn"], "{id}");
        assert_eq!(board_after(&before["board"], &played["effects"]), seeds(&played["board"]), "{id} {played}");
        before = played;
    }
    let expected = &vector["final"];
    assert_eq!(before["result"].is_object(), expected["over"] == true, "{id}");
    assert_eq!(before["turn"].is_null(), expected["over"] == true, "{id}");
    if let Some(result) = before["result"].as_object() {
        assert_eq!(result["reason"].as_str().unwrap_or_default(), expected["reason"], "{id}");
        assert_eq!(side(&result["winner"]), expected["winner_side"], "{id}");
        assert_eq!(json!([result["score"]["south"], result["score"]["north"]]), expected["stores"], "{id}");
    }
}

async fn refuses_what_is_illegal(app: &TestApp, vector: &Value) {
    let count = vector["moves"].as_array().expect("moves").len();
    let last = vector["steps"].as_array().expect("steps").last();
    let (position, legal) =
        last.map_or((&vector["start"], &vector["legal"]), |step| (&step["position"], &step["legal_after"]));
    for illegal in vector["illegal"].as_array().expect("moves") {
        let mut moves = vector["moves"].clone();
        moves.as_array_mut().expect("moves").push(illegal.clone());
        let answer = play_line(app, vector, &moves).await;
        answer.is_problem(422, "illegal_move");
        assert_eq!((&answer.body["index"], &answer.body["position"]), (&json!(count), position), "{answer:?}");
        assert_eq!(&answer.body["legal_moves"], legal, "{answer:?}");
        assert!(answer.string("/reason") == "game_over" || vector["final"]["over"] == false, "{answer:?}");
        if let Some(reason) = vector["refused"].get(illegal.as_str().expect("a word")) {
            assert_eq!(&answer.body["reason"], reason, "{illegal}: {answer:?}");
        }
    }
}

/// The seeds of a board by place: pits by their letters, stores and reserves by their names. What is marked on the board has a
/// name too, such as `south_house` and `blocked_c`.
fn seeds(board: &Value) -> BTreeMap<String, i64> {
    let mut seeds = BTreeMap::new();
    for (side, first) in [("south", b'A'), ("north", b'a')] {
        for (letter, count) in (first..).zip(board[side]["pits"].as_array().expect("pits")) {
            seeds.insert(char::from(letter).to_string(), count.as_i64().expect("a count"));
        }
        seeds.insert(format!("{side}_store"), board[side]["store"].as_i64().expect("a count"));
        if let Some(reserve) = board[side]["reserve"].as_i64() {
            seeds.insert(format!("{side}_reserve"), reserve);
        }
        if let Some(is_owned) = board[side]["house"].as_bool() {
            seeds.insert(format!("{side}_house"), is_owned.into());
        }
        if let Some(pit) = board[side]["blocked"].as_str() {
            seeds.insert(format!("blocked_{pit}"), 1);
        }
    }
    seeds
}

/// The board after a move, by its effects alone: what a client shows that knows no rule.
fn board_after(before: &Value, effects: &Value) -> BTreeMap<String, i64> {
    let mut seeds = seeds(before);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let is_pit =
        |place: &str, side: &str| place.len() == 1 && place.starts_with(char::is_uppercase) == (side == "south");
    for effect in effects.as_array().expect("effects") {
        let count = effect["seeds"].as_i64().unwrap_or_default();
        let mut add = |place: &str, seeds_added: i64| *seeds.get_mut(place).expect("a place") += seeds_added;
        match effect["type"].as_str().expect("a type") {
            "lift" | "relay" | "tax" => add(&text(&effect["pit"]), -count),
            "place" => {
                let pit = text(&effect["pit"]);
                add(&format!("{}_reserve", if is_pit(&pit, "south") { "south" } else { "north" }), -count);
                add(&pit, count);
            }
            "take" => effect["from"].as_array().expect("pits").iter().for_each(|pit| {
                seeds.insert(text(pit), 0);
            }),
            "reserve" => add(&format!("{}_reserve", text(&effect["side"])), count),
            "house_lost" => add(&format!("{}_house", text(&effect["side"])), -1),
            "block" => assert_eq!(seeds.insert(format!("blocked_{}", text(&effect["pit"])), 1), None),
            "unblock" => assert!(seeds.remove(&format!("blocked_{}", text(&effect["pit"]))).is_some()),
            "game_over" => seeds.retain(|place, _| !place.starts_with("blocked_")),
            "sow" => add(&text(&effect["to"]), 1),
            "capture" => {
                add(&text(&effect["to"]), count);
                for pit in effect["from"].as_array().expect("pits") {
                    seeds.insert(text(pit), 0);
                }
            }
            "sweep" => {
                add(&text(&effect["to"]), count);
                let side = text(&effect["side"]);
                seeds.iter_mut().filter(|(place, _)| is_pit(place, &side)).for_each(|(_, count)| *count = 0);
            }
            "split" => {
                add("south_store", count);
                add("north_store", count);
                seeds.iter_mut().filter(|(place, _)| place.len() == 1).for_each(|(_, count)| *count = 0);
                if let Some(pit) = effect["odd"].as_str() {
                    seeds.insert(pit.to_owned(), 1);
                }
            }
            "refill" => {
                let store = format!("{}_store", text(&effect["side"]));
                for pit in effect["pits"].as_array().expect("pits") {
                    add(&store, -count);
                    add(&text(pit), count);
                }
            }
            _ => {}
        }
    }
    seeds
}

/// A side as the vectors write it.
fn side(winner: &Value) -> Value {
    match winner.as_str() {
        Some("south") => json!("S"),
        Some("north") => json!("N"),
        _ => Value::Null,
    }
}
