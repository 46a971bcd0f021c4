//! The explorer's endpoint: what was played in a position, and the games that came to it.

use std::{cell::Cell, time::Duration};

use futures_util::future::{join, join_all};
use mancala_server::{
    db::study::explorer_index::Explored,
    jobs::{
        explorer,
        lasting::{Pace, Patience},
    },
};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    app::TestApp,
    calls::{Guest, send},
    games::{some_move, walk},
};

/// A failure fails the test at once.
pub fn impatient() -> Patience {
    Patience::new(Duration::ZERO, |_| {})
}

pub async fn explore(app: &TestApp) {
    let tell = |explored: Explored| assert!(explored.unreadable.is_empty(), "{explored:?}");
    explorer::explore_all(&app.db, &impatient(), Pace::new(None), tell).await.expect("a database");
}

pub async fn waiting(app: &TestApp) -> i64 {
    sqlx::query_scalar("select count(*) from unexplored_game").fetch_one(&app.db).await.expect("a count")
}

pub async fn explored(app: &TestApp, query: &str) -> Value {
    let answer = app.get(&format!("/v1/explorer?{query}"), None).await;
    assert_eq!(answer.status, 200, "{query}: {answer:?}");
    answer.body
}

pub fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// What is known of a move: games, won by South, drawn, won by North.
pub fn counts(explored: &Value, mv: &str) -> [u64; 4] {
    let found = explored["moves"].as_array().expect("moves").iter().find(|played| played["move"] == mv);
    let found = found.unwrap_or_else(|| panic!("{mv} is not listed: {explored}"));
    ["games", "south", "draws", "north"].map(|name| found[name].as_u64().expect("a count"))
}

fn id(game: &Value) -> String {
    game["id"].as_str().expect("an id").to_owned()
}

/// Plays moves one after the other from a ply on, each by its own player.
pub async fn play(app: &TestApp, id: &str, from: u32, moves: &[(&Guest, &str)]) {
    for (ply, (guest, mv)) in (from..).zip(moves) {
        let played = app.play_move(id, guest, ply, mv).await;
        assert_eq!(played.status, 201, "{ply} {mv}: {played:?}");
    }
}

/// Plays some move after the other, until the game has so many plies.
pub async fn play_on(app: &TestApp, id: &str, plies: u64, south: &Guest, north: &Guest) {
    let mut game = app.get_game(id, Some(south)).await.body;
    while game["ply"].as_u64().expect("a number") < plies {
        let (guest, ply) =
            (if game["turn"] == "south" { south } else { north }, game["ply"].as_u64().expect("a number") + 1);
        game = app.played(id, guest, u32::try_from(ply).expect("a short game"), some_move(&game)).await;
    }
}

/// A game between two new guests that counts: it begins with this move, has twenty plies, and South resigns.
pub async fn resigned(app: &TestApp, first: &str) -> String {
    let (id, south, north) = app.started(&json!({})).await;
    play(app, &id, 1, &[(&south, first)]).await;
    play_on(app, &id, 20, &south, &north).await;
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    id
}

#[actix_web::test]
async fn the_line_that_led_to_the_result_counts_by_the_sides_of_the_board() {
    let app = TestApp::start().await;
    let (id, ana, bo) = app.started(&json!({"options": {"pie": true}})).await;
    // Bo takes Ana's place, and Ana his; then a turn is taken back.
    play(&app, &id, 1, &[(&ana, "A"), (&bo, "swap"), (&ana, "b"), (&bo, "B")]).await;
    app.offer(&id, &bo, "takeback").await;
    assert_eq!(app.answer_offer(&id, &ana, "takeback", "accept").await.status, 200);
    play(&app, &id, 6, &[(&bo, "C")]).await;
    play_on(&app, &id, 20, &bo, &ana).await;
    // A game that goes on from ply 3 of that one.
    let from = json!({"from": {"game_id": id, "ply": 3}, "side": "south"});
    let elsewhere = app.created(&bo, &from).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&elsewhere, &ana).await.status, 200);
    play(&app, &elsewhere, 1, &[(&bo, "C")]).await;
    play_on(&app, &elsewhere, 20, &bo, &ana).await;
    assert_eq!(waiting(&app).await, 0, "nothing has ended");
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    assert_eq!(app.resign_game(&elsewhere, &ana).await.status, 200);
    assert_eq!(waiting(&app).await, 2);
    explore(&app).await;
    let result = app.get_game(&id, None).await.body["result"].clone();
    assert_eq!((&result["winner"], &result["reason"]), (&json!("south"), &json!("resignation")));
    let rules = "variant=kalah&options=pie%3Dtrue";
    let opening = explored(&app, rules).await;
    assert_eq!((&opening["games"], &opening["ended"], counts(&opening, "A")), (&json!(1), &json!(0), [1, 1, 0, 0]));
    let first = opening["moves"][0].clone();
    assert_eq!(
        (&first["move"], &first["average_margin"], &first["sample_game_ids"]),
        (&json!("A"), &json!(null), &json!([id]))
    );
    let moves = app.list_moves(&id, "", None).await.body["items"].clone();
    assert_eq!((&first["last_played_at"], &first["position"]), (&moves[0]["at"], &moves[0]["position"]));
    let at = async |ply: usize| {
        explored(&app, &format!("{rules}&position={}", encoded(moves[ply - 1]["position"].as_str().expect("a text"))))
            .await
    };
    assert_eq!(counts(&at(1).await, "swap"), [1, 1, 0, 0]);
    // There both games were, and what was taken back was not played.
    let third = at(3).await;
    assert_eq!((&third["games"], counts(&third, "C")), (&json!(2), [2, 2, 0, 0]));
    assert_eq!(counts(&third, "B"), [0; 4]);
    assert_eq!(
        (&third["moves"][0]["move"], &third["moves"][0]["sample_game_ids"]),
        (&json!("C"), &json!([elsewhere, id]))
    );
    assert_eq!(at(4).await["games"], 0);
    assert_eq!((&at(6).await["games"], &at(6).await["ended"]), (&json!(2), &json!(0)));
    let last = at(20).await;
    assert_eq!((&last["games"], &last["ended"]), (&json!(1), &json!(1)));
    // Legal moves that no game played are listed as well.
    let legal = app.get_game(&id, None).await.body["position"].clone();
    assert_eq!(legal, moves[19]["position"]);
    let listed = last["moves"].as_array().expect("moves");
    assert!(!listed.is_empty() && listed.iter().all(|listed| listed["last_played_at"].is_null()), "{listed:?}");
}

#[actix_web::test]
async fn public_games_of_two_with_a_result_count_agreed_and_drawn_ones_too() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let (unlisted, south, north) = app.started(&json!({"visibility": "unlisted"})).await;
    play_on(&app, &unlisted, 20, &south, &north).await;
    assert_eq!(app.resign_game(&unlisted, &south).await.status, 200);
    // Games against oneself and games of a few plies do not count.
    let alone = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    play_on(&app, &id(&alone), 20, &ana, &ana).await;
    assert_eq!(app.resign_game(&id(&alone), &ana).await.status, 200);
    let (short, south, north) = app.started(&json!({})).await;
    play_on(&app, &short, 19, &south, &north).await;
    assert_eq!(app.resign_game(&short, &south).await.status, 200);
    let aborted = app.created(&ana, &json!({"variant": "kalah"})).await;
    assert_eq!(app.abort_game(&id(&aborted), &ana).await.status, 200);
    assert_eq!(waiting(&app).await, 0);
    // A draw leaves the stores as they are, which says nothing; an agreed end of Oware plays the game out.
    let (drawn, south, north) = app.started(&json!({"variant": "oware"})).await;
    play(&app, &drawn, 1, &[(&south, "F")]).await;
    play_on(&app, &drawn, 20, &south, &north).await;
    app.offer(&drawn, &south, "draw").await;
    assert_eq!(app.answer_offer(&drawn, &north, "draw", "accept").await.status, 200);
    let (agreed, south, north) = app.started(&json!({"variant": "oware"})).await;
    play(&app, &agreed, 1, &[(&south, "F")]).await;
    play_on(&app, &agreed, 20, &south, &north).await;
    app.offer(&agreed, &south, "end").await;
    assert_eq!(app.answer_offer(&agreed, &north, "end", "accept").await.status, 200);
    // What happens afterwards is not counted again.
    app.offer(&agreed, &south, "rematch").await;
    assert_eq!(app.answer_offer(&agreed, &north, "rematch", "accept").await.status, 200);
    assert_eq!(waiting(&app).await, 2);
    explore(&app).await;
    let opening = explored(&app, "variant=oware").await;
    let result = app.get_game(&agreed, None).await.body["result"].clone();
    let by = |side: &str| u64::from(result["winner"] == side);
    let won = [by("south"), 2 - by("south") - by("north"), by("north")];
    assert_eq!((&opening["games"], counts(&opening, "F")), (&json!(2), [2, won[0], won[1], won[2]]));
    let [south, north] = ["south", "north"].map(|side| result["score"][side].as_f64().expect("a number"));
    assert_eq!(opening["moves"][0]["average_margin"], south - north);
    let moves = app.list_moves(&drawn, "", None).await.body["items"].clone();
    let last = moves[19]["position"].as_str().expect("a text");
    let after = explored(&app, &format!("variant=oware&position={}", encoded(last))).await;
    assert_eq!((&after["games"], &after["ended"]), (&json!(2), &json!(1)));
    assert_eq!(counts(&after, "agree"), [1, by("south"), 1 - by("south") - by("north"), by("north")]);
    assert_eq!(explored(&app, "variant=kalah").await["games"], 0);
}

#[actix_web::test]
async fn what_cannot_be_asked_is_refused_and_named() {
    let app = TestApp::start().await;
    let (six, three) = (encoded("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S"), encoded("4,4,4/4,4,4 0-0 S - 0 1S"));
    for (query, pointer, said) in [
        (String::new(), "?variant", "missing"),
        ("variant=chess".to_owned(), "?variant", "no such variant"),
        ("variant=kalah&preset=none".to_owned(), "?preset", "no preset"),
        ("variant=kalah&options=pits".to_owned(), "?options", "name=value"),
        ("variant=kalah&options=pits%3D0".to_owned(), "?options", "from 1 to 12"),
        (format!("variant=kalah&position={three}"), "?position", "6 pits"),
        (format!("variant=kalah&options=pits%3D3&position={six}"), "?position", "3 pits"),
        (format!("variant=kalah&options=seeds%3D3&position={six}"), "?position", "36"),
        ("variant=kalah&position=".to_owned(), "?position", "six fields"),
        ("variant=kalah&ply=3".to_owned(), "?ply", "unknown field"),
        ("variant=kalah&variant=oware".to_owned(), "?variant", "duplicate"),
        ("variant=kalah&imported=both".to_owned(), "?imported", "true"),
    ] {
        let answer = app.get(&format!("/v1/explorer?{query}"), None).await;
        answer.is_problem(422, "validation_failed");
        let error = &answer.body["errors"][0];
        assert_eq!(error["pointer"], pointer, "{query}: {answer:?}");
        assert!(error["detail"].as_str().is_some_and(|detail| detail.contains(said)), "{query}: {answer:?}");
    }
    for (query, pointer) in [
        (format!("position={six}"), "?variant"),
        (format!("variant=kalah&position={three}"), "?position"),
        (format!("variant=kalah&position={six}&options=pits%3D3"), "?position"),
        (format!("variant=kalah&position={six}&preset=none"), "?preset"),
        ("variant=kalah&options=seeds%3D3".to_owned(), "?options"),
        (format!("variant=kalah&position={six}&status=open"), "?position"),
        (format!("variant=kalah&position={six}&player={}", Uuid::nil()), "?player"),
        (format!("variant=kalah&position={six}&importer={}", Uuid::nil()), "?importer"),
        (format!("variant=kalah&position={six}&sort=finished_at"), "?sort"),
        (format!("variant=kalah&position={six}&result=won"), "?result"),
        (format!("variant=kalah&position={six}&visibility=private"), "?visibility"),
    ] {
        for path in ["/v1/games", "/v1/games/export"] {
            let answer = app.get(&format!("{path}?{query}"), None).await;
            answer.is_problem(422, "validation_failed");
            assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{query}: {answer:?}");
        }
    }
}

#[actix_web::test]
async fn games_that_came_to_a_position_are_filtered_paged_and_exported() {
    let app = TestApp::start().await;
    let mut ids = vec![];
    for n in 0..5 {
        let preset = if n == 4 {
            json!({"preset": "bga", "options": {"end": "side_empty", "majority_end": false}})
        } else {
            json!({})
        };
        let (id, south, north) = app.started(&preset).await;
        play(&app, &id, 1, &[(&south, if n == 0 { "A" } else { "B" })]).await;
        play_on(&app, &id, 20, &south, &north).await;
        assert_eq!(app.resign_game(&id, if n % 2 == 0 { &south } else { &north }).await.status, 200);
        ids.insert(0, id);
    }
    explore(&app).await;
    let after_b = explored(&app, "variant=kalah").await["moves"][0]["position"].as_str().expect("a text").to_owned();
    let query = format!("variant=kalah&position={}", encoded(&after_b));
    assert_eq!(walk(&app, &format!("{query}&limit=1"), None).await, ids[..4]);
    for (filter, expected) in [
        ("result=south", vec![&ids[1], &ids[3]]),
        ("result=north&status=finished&visibility=public", vec![&ids[0], &ids[2]]),
        ("result=draw", vec![]),
        ("reason=resignation", ids[..4].iter().collect()),
        ("reason=side_empty", vec![]),
        ("opponent_type=open&clock=unlimited&min_plies=1", ids[..4].iter().collect()),
        ("imported=true", vec![]),
        ("max_plies=0", vec![]),
    ] {
        let found = app.list_games(&format!("{query}&{filter}"), None).await;
        assert_eq!(found.ids().iter().collect::<Vec<_>>(), expected, "{filter}");
    }
    let page = app.list_games(&format!("{query}&limit=1"), None).await;
    let cursor = page.string("/next_cursor");
    assert!(page.headers["link"].to_str().expect("text").contains("position="), "{page:?}");
    app.list_games(&format!("limit=1&cursor={cursor}"), None).await.is_problem(422, "validation_failed");
    let other = format!("variant=kalah&position={}", encoded("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S"));
    app.list_games(&format!("{other}&cursor={cursor}"), None).await.is_problem(422, "validation_failed");
    let exported = app.get(&format!("/v1/games/export?format=ndjson&{query}"), None).await;
    let exported: Vec<_> = exported
        .text
        .lines()
        .map(|line| id(&serde_json::from_str::<Value>(line).expect("a line is JSON")["game"]))
        .collect();
    assert_eq!(exported, ids[..4]);
}

#[actix_web::test]
async fn what_was_counted_is_shown_at_once_however_many_ask() {
    let app = TestApp::start().await;
    let games = async |query: &str| explored(&app, query).await["games"].as_u64().expect("a number");
    // The first position is in every game, the second in none.
    let opening = "variant=kalah";
    let nowhere = format!("{opening}&position={}", encoded("0,0,0,0,0,1/0,0,0,0,0,1 20-26 S - 40 1S"));
    let is_over = Cell::new(false);
    let asking = join_all((0..8).map(async |_| {
        while !is_over.get() {
            games(opening).await;
            assert_eq!(games(&nowhere).await, 0);
        }
    }));
    // The first ones are read from their logs, the last ones from rows.
    let counting = async {
        for count in 1..=8 {
            resigned(&app, "A").await;
            explore(&app).await;
            let seen = join_all((0..8).map(|_| games(opening))).await;
            assert_eq!(seen, [count; 8]);
        }
        is_over.set(true);
    };
    join(asking, counting).await;
}

#[actix_web::test]
async fn an_answer_may_be_kept_for_a_minute_and_asked_for_by_its_tag() {
    let app = TestApp::start().await;
    let answer = app.get("/v1/explorer?variant=congkak&preset=six", None).await;
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["cache-control"]),
        (200, &"public, max-age=60".parse().expect("a header"))
    );
    let again = app.request(Method::GET, "/v1/explorer?variant=congkak&preset=six");
    let again = send(again.header("if-none-match", &answer.headers["etag"])).await;
    assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""));
    // Before anything was played all legal moves are there, in their order.
    let moves: Vec<_> = answer.body["moves"].as_array().expect("moves").iter().map(|mv| mv["move"].clone()).collect();
    assert_eq!(json!(moves), json!(["A", "B", "C", "D", "E", "F"]));
    insta::assert_json_snapshot!(answer.body["moves"][0]);
    let over = format!("variant=kalah&position={}", encoded("0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 40 1S"));
    let over = explored(&app, &over).await;
    assert_eq!((&over["moves"], &over["position"]), (&json!([]), &json!("0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 40 1S")));
}
