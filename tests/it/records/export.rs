//! Exported games: a record says exactly what was played.

use mancala_server::rules::notation::{Record, RecordResult, Termination, ogn::Ogn};
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
};

async fn export(app: &TestApp, id: &str, query: &str, accept: &str, guest: Option<&Guest>) -> Answer {
    let request = app.request(reqwest::Method::GET, &format!("/v1/games/{id}/export{query}"));
    send(signed(request.header("accept", accept), guest)).await
}

async fn text(app: &TestApp, id: &str, guest: Option<&Guest>) -> Record {
    let answer = export(app, id, "?format=text", "*/*", guest).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.text.parse().expect("a record")
}

#[actix_web::test]
async fn a_game_is_exported_in_the_form_that_is_asked_for() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({"options": {"seeds": 3}})).await;
    for (ply, guest, word) in [(1, &ana, "D"), (2, &ana, "A"), (3, &bo, "f")] {
        assert_eq!(app.play_move(&id, guest, ply, word).await.status, 201);
    }
    let expected = "[Variant \"kalah\"]\n[Preset \"standard\"]\n[Options \"seeds=3\"]\n[South \"Ana\"]\n[North \"Bo\"]\n\
        [Result \"*\"]\n\n1. DA+4 f *\n";
    for (query, accept, kind) in [
        ("", "*/*", "application/json"),
        ("", "application/json", "application/json"),
        ("", "text/plain", "text/plain; charset=utf-8"),
        ("", "text/plain, application/json;q=0.9", "text/plain; charset=utf-8"),
        ("?format=text", "application/json", "text/plain; charset=utf-8"),
        ("?format=json", "text/plain", "application/json"),
    ] {
        let answer = export(&app, &id, query, accept, None).await;
        assert_eq!(
            (answer.status.as_u16(), &answer.headers["content-type"]),
            (200, &kind.parse().expect("a value")),
            "{query} {accept}"
        );
        assert!(answer.headers["vary"].to_str().is_ok_and(|vary| vary.starts_with("Accept, Authorization")));
        let extension = if kind == "application/json" { "json" } else { "txt" };
        let file = format!("attachment; filename=\"{id}.{extension}\"");
        assert_eq!(answer.headers["content-disposition"], file);
        if kind == "application/json" {
            let whole = app.get(&format!("/v1/games/{id}/moves"), None).await.body;
            assert_eq!((&answer.body["moves"], &answer.body["game"]["id"]), (&whole["items"], &json!(id)));
        } else {
            assert_eq!(answer.text, expected);
        }
    }
    export(&app, &id, "", "text/html", None).await.is_problem(406, "not_acceptable");
    export(&app, &id, "?format=pgn", "*/*", None).await.is_problem(422, "validation_failed");
    export(&app, &id, "?format=ogn", "*/*", None).await.is_problem(409, "no_record");
}

#[actix_web::test]
async fn a_record_says_how_a_game_ended_and_who_sat_where_at_its_start() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({"options": {"pie": true}})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&id, &bo, 2, "swap").await.status, 201);
    assert_eq!(app.resign_game(&id, &bo).await.status, 200);
    let record = text(&app, &id, None).await;
    assert_eq!((record.name(mancala_server::rules::Side::South), record.moves().len()), (Some("Ana"), 2));
    // Bo sits South now, and has given up.
    assert_eq!((record.result(), record.termination()), (RecordResult::North, Some(Termination::Resignation)));
    let drawn = app.started_between(&ana, &bo, &json!({})).await;
    app.offer(&drawn, &ana, "draw").await;
    assert_eq!(app.answer_offer(&drawn, &bo, "draw", "accept").await.status, 200);
    assert_eq!(text(&app, &drawn, None).await.result(), RecordResult::Draw);
}

#[actix_web::test]
async fn what_was_taken_back_is_in_the_json_and_not_in_the_record() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    app.offer(&id, &ana, "takeback").await;
    assert_eq!(app.answer_offer(&id, &bo, "takeback", "accept").await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 3, "B").await.status, 201);
    let record = text(&app, &id, None).await;
    assert_eq!(record.moves().iter().map(ToString::to_string).collect::<Vec<_>>(), ["B"]);
    let json = export(&app, &id, "", "application/json", None).await.body;
    let moves: Vec<_> = json["moves"].as_array().expect("moves").iter().map(|ply| &ply["move"]).collect();
    assert_eq!(moves, ["A", "takeback", "B"]);
}

#[actix_web::test]
async fn oware_is_exported_as_auale_writes_it() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({"variant": "oware"})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    let answer = export(&app, &id, "?format=ogn", "*/*", None).await;
    assert!(answer.headers["content-disposition"].to_str().is_ok_and(|file| file.ends_with(".ogn\"")));
    let file = Ogn::parse(answer.text.as_bytes()).expect("an OGN");
    assert_eq!(file.record.moves().len(), 1);
}

#[actix_web::test]
async fn a_private_game_is_exported_to_its_players_only() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app
        .started_between(
            &ana,
            &bo,
            &json!({"visibility": "private", "opponent": {"type": "player", "player_id": bo.id}}),
        )
        .await;
    export(&app, &id, "", "*/*", None).await.is_problem(404, "not_found");
    assert_eq!(export(&app, &id, "", "*/*", Some(&bo)).await.status, 200);
}

#[actix_web::test]
async fn a_long_game_is_exported_whole_though_it_is_read_in_pages() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    for plies in [199, 200, 201, 400, 777] {
        let id = app.imported_long_game(&ana, plies).await;
        let exported = app.get(&format!("/v1/games/{id}/export"), None).await;
        assert_eq!(exported.status, 200);
        let mut moves = vec![];
        while moves.len() < plies {
            let page = app.list_moves(&id, &format!("limit=100&after={}", moves.len()), None).await;
            moves.extend(page.body["items"].as_array().expect("items").iter().cloned());
        }
        assert_eq!(exported.body["moves"].as_array().map(Vec::len), Some(plies));
        assert_eq!(exported.body["moves"], Value::from(moves));
        assert_eq!(exported.body["game"], app.get_game(&id, None).await.body);
        // The head says neither a length nor an end before the last page.
        assert_eq!(exported.headers.contains_key("content-length"), plies <= 200);
    }
}
