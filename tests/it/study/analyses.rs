//! Analyses of games: what they say, who gets them and when.

use std::sync::Arc;

use mancala_server::{
    db::{games, study::analyses},
    domain::{Game, GameId},
    jobs::analyses as job,
    metrics::Metrics,
};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration as TimeDuration;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::{now, until_seen},
    job::Job,
};

/// Analyses what is asked for on the database of a test, until it is told to stop.
pub fn analyst(app: &TestApp) -> Job {
    let (pool, writers) = (mancala_server::db::pool(app.options.clone(), 1), app.writers.clone());
    Job::start(|stopping| job::run(pool, writers, Arc::new(Metrics::new(0)), stopping))
}

pub async fn ask(app: &TestApp, id: &str, guest: &Guest) -> Answer {
    send(signed(app.request(Method::POST, &format!("/v1/games/{id}/analysis")), Some(guest))).await
}

pub async fn read(app: &TestApp, id: &str, guest: Option<&Guest>) -> Answer {
    app.get(&format!("/v1/games/{id}/analysis"), guest).await
}

/// The analysis once it is there.
pub async fn analysed(app: &TestApp, id: &str, guest: &Guest) -> Value {
    let look = async || {
        let answer = read(app, id, Some(guest)).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.body
    };
    until_seen("the analysis is done", look, |body: &Value| body["status"] == "done").await["analysis"].take()
}

/// A game that one guest played alone, and ended unless the rules did.
pub async fn alone(app: &TestApp, guest: &Guest, terms: Value, moves: &str) -> String {
    let mut body = json!({"variant": "kalah", "opponent": {"type": "self"}, "side": "south"});
    for (name, value) in terms.as_object().expect("an object") {
        body[name] = value.clone();
    }
    let id = app.created(guest, &body).await["id"].as_str().expect("an id").to_owned();
    for (ply, word) in (1..).zip(moves.split_whitespace()) {
        let played = app.play_move(&id, guest, ply, word).await;
        assert_eq!(played.status, 201, "{played:?}");
    }
    id
}

/// The game as it is stored.
pub(super) async fn present(app: &TestApp, game: GameId) -> Game {
    games::find(&app.db, game).await.expect("a database").expect("a game").game
}

pub(super) async fn events_of(app: &TestApp, id: &str, guest: &Guest) -> Vec<String> {
    let answer = app.get(&format!("/v1/games/{id}/events?limit=100"), Some(guest)).await;
    let items = answer.body["items"].as_array().expect("events").clone();
    items.iter().map(|event| event["type"].as_str().expect("a type").to_owned()).collect()
}

#[actix_web::test]
async fn a_game_is_analysed_once_and_its_log_says_so() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "side": "south", "options": {"pits": 4, "seeds": 2}});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    read(&app, &id, None).await.is_problem(404, "not_found");
    ask(&app, &id, &bo).await.is_problem(409, "game_not_over");
    // By exact values D is worth 6 seeds and A -6.
    for (ply, guest, word) in [(1, &ana, "A"), (2, &bo, "b"), (3, &ana, "B")] {
        let played = app.play_move(&id, guest, ply, word).await;
        assert_eq!(played.status, 201, "{played:?}");
    }
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    read(&app, &id, None).await.is_problem(404, "not_found");
    assert_eq!(app.get_game(&id, None).await.body["analysed_at"], json!(null));

    let asked = ask(&app, &id, &bo).await;
    assert_eq!((asked.status.as_u16(), &asked.body["status"]), (202, &json!("queued")));
    assert_eq!(asked.headers["location"], format!("/v1/games/{id}/analysis"));
    assert_eq!(
        (&asked.body["plies"], &asked.body["plies_done"], &asked.body["ahead"]),
        (&json!(3), &json!(0), &json!(0))
    );
    assert_eq!(asked.body["analysis"], json!(null));
    let waits = read(&app, &id, None).await;
    assert_eq!((&waits.body, &waits.headers["retry-after"]), (&asked.body, &"2".parse().expect("a value")));
    // Again, and by another player: it is the same.
    assert_eq!(ask(&app, &id, &ana).await.status, 202);

    let analysts = [analyst(&app), analyst(&app)];
    let analysis = analysed(&app, &id, &bo).await;
    let first = &analysis["plies"][0];
    assert_eq!(
        (&first["ply"], &first["side"], &first["move"], &first["class"]),
        (&json!(1), &json!("south"), &json!("A"), &json!("blunder"))
    );
    assert_eq!(first["best_value"], json!({"seeds": 6.0, "is_exact": true}));
    assert_eq!((&first["best_line"][0], &first["loss"]), (&json!("D"), &json!(18.0)));
    assert_eq!(first["value"], json!({"seeds": -12.0, "is_exact": true}));
    let plies = analysis["plies"].as_array().expect("plies");
    assert_eq!((plies.len(), &analysis["ply"], &analysis["edition"]), (3, &json!(3), &json!(4)));
    for pair in plies.windows(2) {
        assert_eq!(pair[0]["value"], pair[1]["best_value"]);
    }
    let (south, north) = (&analysis["sides"]["south"], &analysis["sides"]["north"]);
    assert_eq!((&south["player_id"], &north["player_id"]), (&json!(ana.id), &json!(bo.id)));
    assert_eq!((&south["classes"]["blunder"], &south["accuracy"]), (&json!(1), &json!(18.95)));
    assert_eq!((&north["classes"]["blunder"], &north["accuracy"]), (&json!(1), &json!(13.53)));

    for analyst in analysts {
        analyst.end().await;
    }
    let last = &events_of(&app, &id, &bo).await;
    assert_eq!(last[last.len() - 3..], ["resigned", "finished", "analysed"]);
    let game = app.get_game(&id, None).await.body;
    assert_eq!((&game["version"], &game["analysed_at"]), (&json!(last.len()), &analysis["analysed_at"]));
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
    // What is there is not made again, and is kept.
    let again = ask(&app, &id, &ana).await;
    assert_eq!((again.status.as_u16(), &again.body["analysis"]), (200, &analysis));
    let shown = read(&app, &id, None).await;
    assert_eq!(shown.headers["cache-control"], "public, max-age=300");
    assert!(!shown.headers.contains_key("retry-after"));
    let known =
        app.request(Method::GET, &format!("/v1/games/{id}/analysis")).header("if-none-match", &shown.headers["etag"]);
    assert_eq!(send(known).await.status, 304);
    assert_eq!(app.list_games("analysed=true", None).await.ids(), std::slice::from_ref(&id));
    assert_eq!(app.list_games("analysed=false", None).await.ids(), Vec::<String>::new());
    assert_eq!(app.list_games("analysed=true&player=me", Some(&ana)).await.ids(), std::slice::from_ref(&id));
    app.list_games("analysed=perhaps", None).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn an_analysis_that_is_damaged_or_gone_is_found() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = alone(&app, &ana, json!({"options": {"pits": 3, "seeds": 2}}), "A c").await;
    let analyst = analyst(&app);
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    analysed(&app, &id, &ana).await;
    analyst.end().await;
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
    for (damage, said) in [
        ("update analysis set plies = plies - 0", "the analysis of the game is of other plies than those of its log"),
        ("delete from analysis", "the analysis of the game is not there, and its log says that it is"),
    ] {
        sqlx::query(damage).execute(&app.db).await.expect("it is done");
        let flaws = app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"].clone();
        assert_eq!(flaws, json!([{"seq": null, "detail": said}]));
    }
}

#[actix_web::test]
async fn no_player_is_helped_during_a_game() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    ask(&app, &id, &south).await.is_problem(409, "game_not_over");
    ask(&app, &id, &north).await.is_problem(409, "game_not_over");
    // A copy that goes on from the game is refused as well, and so is a copy of a copy, over or not.
    let from = json!({"from": {"game_id": id, "ply": 1}, "opponent": {"type": "self"}});
    let copy = app.created(&north, &from).await["id"].as_str().expect("an id").to_owned();
    ask(&app, &copy, &north).await.is_problem(409, "game_not_over");
    let from = json!({"from": {"game_id": copy, "ply": 0}, "opponent": {"type": "self"}});
    let copy_of_copy = app.created(&north, &from).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.resign_game(&copy_of_copy, &north).await.status, 200);
    ask(&app, &copy_of_copy, &north).await.is_problem(409, "game_not_over");
    let open = app.created(&south, &json!({"variant": "oware"})).await["id"].as_str().expect("an id").to_owned();
    ask(&app, &open, &south).await.is_problem(409, "game_not_over");
    let against_computer = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
    let against_computer = app.created(&south, &against_computer).await["id"].as_str().expect("an id").to_owned();
    ask(&app, &against_computer, &south).await.is_problem(409, "game_not_over");
    // Once it is over, all of them may.
    assert_eq!(app.resign_game(&id, &north).await.status, 200);
    for id in [&id, &copy, &copy_of_copy] {
        assert_eq!(ask(&app, id, &north).await.status, 202);
    }
    // Others who may see a game played alone cannot have it analysed.
    let own = alone(&app, &south, json!({}), "A").await;
    ask(&app, &own, &north).await.is_problem(409, "game_not_over");
    // A player who may not see a game gets no analysis of it, and a request needs a token.
    let own = json!({"visibility": "private"});
    let own = alone(&app, &south, own, "A").await;
    ask(&app, &own, &north).await.is_problem(404, "not_found");
    read(&app, &own, Some(&north)).await.is_problem(404, "not_found");
    send(app.request(Method::POST, &format!("/v1/games/{id}/analysis"))).await.is_problem(401, "unauthenticated");
    app.post(&format!("/v1/games/{id}/analysis"), Some(&north), &json!({"depth": 9}))
        .await
        .is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_game_that_goes_on_is_analysed_anew() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = alone(&app, &ana, json!({"visibility": "private", "options": {"pits": 3, "seeds": 2}}), "A c").await;
    let analyst = analyst(&app);
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let analysis = analysed(&app, &id, &ana).await;
    assert_eq!((&analysis["ply"], analysis["plies"].as_array().expect("plies").len()), (&json!(2), 2));
    let shown = read(&app, &id, Some(&ana)).await;
    assert_eq!(shown.headers["cache-control"], "private, no-cache");
    // The plies count on, and so does the log.
    assert_eq!(ask(&app, &id, &ana).await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 3, "B").await.status, 201);
    analyst.end().await;
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let waits = read(&app, &id, Some(&ana)).await.body;
    assert_eq!((&waits["status"], &waits["analysis"]["ply"]), (&json!("queued"), &json!(2)));
    let analyst = self::analyst(&app);
    let again = analysed(&app, &id, &ana).await;
    analyst.end().await;
    assert_eq!((&again["ply"], again["plies"].as_array().expect("plies").len()), (&json!(3), 3));
    let told = events_of(&app, &id, &ana).await;
    assert_eq!(told, ["created", "moved", "moved", "analysed", "moved", "analysed"]);
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), Some(&ana)).await.body["flaws"], json!([]));
}

#[actix_web::test]
async fn what_was_taken_back_is_judged_and_a_swap_changes_the_sign() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "side": "south", "options": {"pits": 4, "seeds": 2, "pie": true}});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 1, "B").await.status, 201);
    assert_eq!(app.offer(&id, &ana, "takeback").await.status, 201);
    assert_eq!(app.answer_offer(&id, &bo, "takeback", "accept").await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 3, "A").await.status, 201);
    // Without the pie rule A is worth -12 for South, so a swap gains 12.
    assert_eq!(app.play_move(&id, &bo, 4, "swap").await.status, 201);
    assert_eq!(app.resign_game(&id, &bo).await.status, 200);
    let analyst = analyst(&app);
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let analysis = analysed(&app, &id, &ana).await;
    analyst.end().await;
    let plies = analysis["plies"].as_array().expect("plies");
    let numbers: Vec<_> = plies.iter().map(|ply| ply["ply"].as_u64().expect("a number")).collect();
    assert_eq!(numbers, [1, 3, 4]);
    let swap = &plies[2];
    assert_eq!((&swap["best_value"]["seeds"], &swap["value"]["seeds"]), (&json!(-12.0), &json!(-12.0)));
    assert_eq!((&swap["loss"], &swap["class"], &swap["side"]), (&json!(24.0), &json!("blunder"), &json!("north")));
    // Bo sits at South's side in the end, and that blunder is his.
    let south = &analysis["sides"]["south"];
    assert_eq!((&south["player_id"], &south["classes"]["blunder"]), (&json!(bo.id), &json!(1)));
    let graph = app.get(&format!("/v1/games/{id}/graph.svg"), None).await.text;
    assert!(graph.contains("Bo (guest) made a blunder: ply 4."), "{graph}");
    assert!(graph.contains("class=\"over blunder\" d=\"M"), "{graph}");
    assert!(graph.contains("Marks of Bo (guest) are circles, those of Ana (guest) diamonds"), "{graph}");
    // The graph is Bo's, who sat North before the swap and let 24 seeds go: from 12 ahead to 12 behind.
    assert!(graph.contains("Bo (guest) stood better by 12 at most, after ply 3."), "{graph}");
    assert!(graph.contains("Kalah: Bo (guest) against Ana (guest), value by ply"), "{graph}");
    let line = graph.split("class=\"line\" d=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
    assert_eq!(line.matches(['M', 'L']).count(), 5, "the opening, and four plies with the takeback: {line}");
}

#[actix_web::test]
async fn players_are_served_in_turn_and_wait_for_a_few_at_most() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.account("Bo", "correct horse").await);
    let mut games: Vec<String> = vec![];
    for n in 0..=analyses::WAITING_MAX {
        let id = alone(&app, &ana, json!({}), "A").await;
        let asked = ask(&app, &id, &ana).await;
        if n == analyses::WAITING_MAX {
            asked.is_problem(409, "too_many_analyses");
            // An analysis that is requested already does not count again.
            assert_eq!(ask(&app, &games[0], &ana).await.status, 202);
        } else {
            assert_eq!((asked.status.as_u16(), &asked.body["ahead"]), (202, &json!(n)));
            games.push(id);
        }
    }
    let own = [alone(&app, &bo, json!({}), "B").await, alone(&app, &bo, json!({}), "C").await];
    for id in &own {
        assert_eq!(ask(&app, id, &bo).await.status, 202);
    }
    assert_eq!(read(&app, &own[0], None).await.body["ahead"], json!(1));
    assert_eq!(read(&app, &own[1], None).await.body["ahead"], json!(3));
    let next = async || {
        let until = now() + TimeDuration::minutes(1);
        analyses::take(&app.db, now(), until).await.expect("a database").expect("a game").0.to_string()
    };
    let mut served = vec![];
    for _ in 0..5 {
        served.push(next().await);
    }
    assert_eq!(served, [&games[0], &own[0], &games[1], &own[1], &games[2]].map(Clone::clone));
    let running = read(&app, &games[0], None).await.body;
    assert_eq!((&running["status"], &running["ahead"]), (&json!("running"), &json!(0)));
    // A new player is in the round that is served now, and not behind all of them.
    let late = alone(&app, &bo, json!({}), "D").await;
    assert_eq!(ask(&app, &late, &bo).await.body["ahead"], json!(5));
}

#[actix_web::test]
async fn a_proof_about_a_position_also_judges_the_ply_before_it() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    // All moves are proven from some ply on: the best one early, another one late.
    for (variant, pits, seeds, seed) in [("kalah", 5, 3, 3), ("congkak", 4, 3, 5), ("oware", 4, 2, 7)] {
        let created = json!({"variant": variant, "opponent": {"type": "self"}, "side": "south",
            "options": {"pits": pits, "seeds": seeds}});
        let mut game = app.created(&ana, &created).await;
        let id = game["id"].as_str().expect("an id").to_owned();
        for ply in 1..=60_u32 {
            let moves = game["legal_moves"].as_array().expect("moves").clone();
            if moves.is_empty() {
                break;
            }
            let chosen = moves[(ply as usize * seed + seed) % moves.len()].as_str().expect("a move");
            game = app.play_move(&id, &ana, ply, chosen).await.body["game"].clone();
        }
        let analyst = analyst(&app);
        assert_eq!(ask(&app, &id, &ana).await.status, 202);
        let analysis = analysed(&app, &id, &ana).await;
        analyst.end().await;
        let plies = analysis["plies"].as_array().expect("plies");
        for pair in plies.windows(2) {
            let (value, next) = (&pair[0]["value"], &pair[1]["best_value"]);
            assert!(next["is_exact"] == json!(false) || value == next, "{variant}: {pair:?}");
            let sign = if pair[0]["side"] == "south" { 1.0 } else { -1.0 };
            let seeds = |value: &Value| sign * value["seeds"].as_f64().expect("a number");
            let loss = (seeds(&pair[0]["best_value"]) - seeds(value)).max(0.0);
            let told = pair[0]["loss"].as_f64().expect("a number");
            assert!(pair[0]["class"] == "forced" || told <= loss + 0.001, "{variant}: {pair:?}");
        }
    }
}

#[actix_web::test]
async fn other_players_requests_do_not_delay_and_a_timeout_is_stored_first() {
    let mut app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.guest("Bo").await);
    for _ in 0..5 {
        let id = alone(&app, &ana, json!({}), "A").await;
        assert_eq!(ask(&app, &id, &ana).await.status, 202);
    }
    let terms = json!({"clock": {"type": "per_move", "move_s": 60}});
    let wanted = alone(&app, &bo, terms, "B c").await;
    assert_eq!(app.resign_game(&wanted, &bo).await.status, 200);
    assert_eq!(ask(&app, &wanted, &ana).await.body["ahead"], json!(5));
    assert_eq!(ask(&app, &wanted, &bo).await.body["ahead"], json!(1));
    // The request is exported with its player, and forgotten with them.
    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(export.body["analysis_requests"].as_array().expect("requests").len(), 6);
    assert_eq!(app.delete_me(&ana).await.status, 204);
    let left: i64 =
        sqlx::query_scalar("select count(*) from analysis_request").fetch_one(&app.db).await.expect("a count");
    assert_eq!(left, 0);
    // No move comes in time, and no request reads the game.
    let terms = json!({"clock": {"type": "per_move", "move_s": 60}});
    let late = alone(&app, &bo, terms, "B c").await;
    assert_eq!(ask(&app, &late, &bo).await.status, 202);
    app.let_pass(&late, 61).await;
    let analyst = analyst(&app);
    analysed(&app, &late, &bo).await;
    analyst.end().await;
    let told = events_of(&app, &late, &bo).await;
    assert_eq!(told[told.len() - 3..], ["timed_out", "finished", "analysed"]);
}

#[actix_web::test]
async fn a_move_is_searched_in_full_where_the_best_one_is_proven_at_once() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    // The best move is proven two plies ahead, and what D is worth takes some thousand positions.
    let position = "2,1,4,2,0,2/0,0,0,5,0,0 11-21 S - 31 1S";
    let game = json!({"game": {"variant": "kalah", "start": {"position": position}}, "moves": [{"move": "D"}]});
    let imported = app.post("/v1/games/import", Some(&ana), &game).await;
    let id = imported.string("/items/0/game_id");
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let analyst = analyst(&app);
    let analysis = analysed(&app, &id, &ana).await;
    analyst.end().await;
    let ply = &analysis["plies"][0];
    assert_eq!(
        (&ply["value"], &ply["loss"], &ply["class"]),
        (&json!({"seeds": 0.0, "is_exact": true}), &json!(6.0), &json!("mistake"))
    );
}
