//! Hints during practice: what they say, who gets them and when, and what they cost.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    games::practice::practice,
    support::{
        answer::Answer,
        app::{TestApp, limited},
        calls::{Guest, send, signed},
        clock::until,
        scrape::count,
    },
};

async fn hint(app: &TestApp, id: &str, guest: Option<&Guest>) -> Answer {
    app.get(&format!("/v1/games/{id}/hint"), guest).await
}

/// Practice on a board that is solved at once, with South to move.
async fn small(app: &TestApp, guest: &Guest) -> String {
    let mut body = practice(1, "south");
    body["options"] = json!({"pits": 4, "seeds": 2});
    app.created(guest, &body).await["id"].as_str().expect("an id").to_owned()
}

fn ended(app: &TestApp, outcome: &str) -> usize {
    count(&app.metrics.text(), &format!("mancala_hints_total{{outcome=\"{outcome}\"}}"))
}

#[actix_web::test]
async fn a_hint_for_four_rows_ranks_every_move() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for variant in ["bao", "omweso"] {
        let mut body = practice(1, "south");
        body["variant"] = json!(variant);
        let game = app.created(&ana, &body).await;
        let answer = hint(&app, game["id"].as_str().expect("an id"), Some(&ana)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let mut words: Vec<_> =
            answer.body["moves"].as_array().expect("moves").iter().map(|hint| hint["move"].to_string()).collect();
        let mut legal: Vec<_> = game["legal_moves"].as_array().expect("moves").iter().map(Value::to_string).collect();
        words.sort();
        legal.sort();
        assert_eq!(words, legal);
    }
}

#[actix_web::test]
async fn a_hint_has_the_value_of_every_move() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = small(&app, &ana).await;
    let first = hint(&app, &id, Some(&ana)).await;
    assert_eq!(first.status, 200, "{first:?}");
    let said = &first.body;
    assert_eq!((&said["ply"], &said["version"], &said["side"]), (&json!(0), &json!(1), &json!("south")));
    // The command `solve` says the same: D is worth 6 seeds and A -12.
    let moves = said["moves"].as_array().expect("moves");
    assert_eq!((moves.len(), &moves[0]["move"], &moves[0]["loss"]), (4, &json!("D"), &json!(0.0)));
    assert_eq!(moves[0]["value"], json!({"seeds": 6.0, "is_exact": true}));
    assert_eq!(moves[0]["line"][0], "D");
    let a = moves.iter().find(|hinted| hinted["move"] == "A").expect("it is legal");
    assert_eq!((&a["value"]["seeds"], &a["loss"]), (&json!(-12.0), &json!(18.0)));
    let values: Vec<_> = moves.iter().map(|hinted| hinted["value"]["seeds"].as_f64().expect("seeds")).collect();
    assert!(values.is_sorted_by(|better, worse| better >= worse), "{values:?}");
    assert!(first.headers["cache-control"].to_str().expect("text").contains("no-cache"), "{first:?}");
    // The same question has the same answer, and the hint changes nothing.
    let again = hint(&app, &id, Some(&ana)).await;
    assert_eq!((&again.body, ended(&app, "done")), (said, 2));
    assert_eq!(app.get_game(&id, None).await.body["version"], 1);
    // A takeback asks about the same position again.
    app.played(&id, &ana, 1, "A").await;
    assert_eq!(app.offer(&id, &ana, "takeback").await.status, 201);
    let back = hint(&app, &id, Some(&ana)).await.body;
    assert_eq!((&back["moves"], &back["ply"]), (&said["moves"], &json!(2)));
}

#[actix_web::test]
async fn hints_are_for_the_player_of_practice_who_is_to_move() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = small(&app, &ana).await;
    hint(&app, &id, None).await.is_problem(401, "unauthenticated");
    hint(&app, &id, Some(&bo)).await.is_problem(403, "not_seated");
    let opponents = [json!({"type": "computer", "level": 1}), json!({"type": "self"})];
    for opponent in opponents {
        let body = json!({"variant": "kalah", "side": "south", "opponent": opponent});
        let other = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
        hint(&app, &other, Some(&ana)).await.is_problem(403, "forbidden");
        assert_eq!(app.resign_game(&other, &ana).await.status, 200);
        hint(&app, &other, Some(&ana)).await.is_problem(403, "forbidden");
    }
    let (contested, south, _) = app.started(&json!({})).await;
    hint(&app, &contested, Some(&south)).await.is_problem(403, "forbidden");
    let private = {
        let mut body = practice(1, "south");
        body["visibility"] = json!("private");
        app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned()
    };
    hint(&app, &private, Some(&bo)).await.is_problem(404, "not_found");
    app.played(&id, &ana, 1, "A").await;
    let waits = hint(&app, &id, Some(&ana)).await;
    waits.is_problem(409, "not_your_turn");
    assert_eq!(waits.body["game"]["ply"], 1);
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    hint(&app, &id, Some(&ana)).await.is_problem(409, "game_over");
    assert_eq!((ended(&app, "done"), ended(&app, "failed")), (0, 0));
}

#[actix_web::test]
async fn a_hint_whose_client_hangs_up_frees_its_place() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    // The largest board takes longest.
    let body = json!({"variant": "congkak", "options": {"pits": 12, "seeds": 12}, "side": "south", "practice": true,
        "opponent": {"type": "computer", "level": 1}});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    let running = || count(&app.metrics.text(), "mancala_resource_in_use{resource=\"heavy_work\"}");
    let request = signed(app.request(Method::GET, &format!("/v1/games/{id}/hint")), Some(&ana));
    let asking = tokio::spawn(send(request));
    until("it runs", || running() == 1).await;
    asking.abort();
    until("its place is free", || running() == 0).await;
    assert_eq!((ended(&app, "cancelled"), ended(&app, "done")), (1, 0));
}

#[actix_web::test]
async fn hints_are_charged_and_guests_of_an_address_share() {
    let app = TestApp::start_with(limited).await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let dee = app.established_account("Dee").await;
    let mut games: Vec<(String, &Guest)> = vec![];
    for player in [&ana, &bo, &dee] {
        games.push((small(&app, player).await, player));
    }
    // More at once than the budget has: the hints of one player run one after the other, and are charged before that.
    let answers = join_all((0..60).map(|_| hint(&app, &games[0].0, Some(&ana)))).await;
    let mut refused = answers.iter().filter(|answer| answer.status == 429).peekable();
    assert!(refused.peek().is_some(), "hints are not limited");
    refused.for_each(|answer| answer.is_problem(429, "rate_limited"));
    // A slow machine lets some of them wait for too long.
    assert!(answers.iter().all(|answer| [200, 429, 503].contains(&answer.status.as_u16())), "{answers:?}");
    let (id, player) = &games[2];
    assert_eq!(hint(&app, id, Some(player)).await.status, 200, "an account has its own budget");
    let ply: Value = app.get_game(&games[0].0, None).await.body["ply"].clone();
    assert_eq!(ply, 0);
}
