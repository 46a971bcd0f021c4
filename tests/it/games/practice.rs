//! Practice against the computer: takebacks and rematches at once, and that it counts nowhere.

use mancala_server::{db::games::computer_turns, domain::Level};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use super::computers::{against, game_once, is_turn_of, play_out, player};
use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
};

/// The body of practice against a level.
pub fn practice(level: u8, side: &str) -> Value {
    let mut body = against(level, side);
    body["practice"] = json!(true);
    body
}

/// A new game of practice; its id.
pub async fn begun(app: &TestApp, player: &Guest, side: &str) -> String {
    app.created(player, &practice(1, side)).await["id"].as_str().expect("an id").to_owned()
}

fn actions(game: &Value) -> Vec<&str> {
    game["me"]["actions"].as_array().expect("actions").iter().map(|action| action.as_str().expect("text")).collect()
}

/// Makes an offer under an idempotency key.
pub async fn offer_under(app: &TestApp, id: &str, guest: &Guest, kind: &str, key: &str) -> Answer {
    let request = app.request(Method::POST, &format!("/v1/games/{id}/offers"));
    send(signed(request, Some(guest)).header("idempotency-key", key).json(&json!({ "type": kind }))).await
}

#[actix_web::test]
async fn only_a_game_against_the_computer_is_practice() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &practice(3, "south")).await;
    assert_eq!((&game["practice"], &game["visibility"]), (&json!(true), &json!("unlisted")));
    let id = game["id"].as_str().expect("an id");
    assert_eq!(app.get_game(id, None).await.body["practice"], true);
    let events = app.get(&format!("/v1/games/{id}/events"), None).await.body;
    assert_eq!((&events["items"][0]["type"], &events["items"][0]["practice"]), (&json!("created"), &json!(true)));
    assert_eq!(app.created(&ana, &against(3, "south")).await["practice"], false);
    let games = count_rows(&app, "game").await;
    for opponent in [json!({"type": "self"}), json!({"type": "open"}), json!({"type": "link"}), Value::Null] {
        let mut body = json!({"variant": "kalah", "practice": true});
        if !opponent.is_null() {
            body["opponent"] = opponent;
        }
        let refused = app.create_game(&ana, &body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.string("/errors/0/pointer"), "/practice");
    }
    for wrong in [json!(1), json!("yes"), json!(null)] {
        let mut body = practice(3, "south");
        body["practice"] = wrong;
        app.create_game(&ana, &body).await.is_problem(422, "validation_failed");
    }
    app.post("/v1/games/seek", Some(&ana), &json!({"variant": "kalah", "practice": true}))
        .await
        .is_problem(422, "validation_failed");
    assert_eq!(count_rows(&app, "game").await, games);
}

#[actix_web::test]
async fn a_turn_is_taken_back_at_once_while_the_computer_is_to_move() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = begun(&app, &ana, "south").await;
    let opening = app.get_game(&id, Some(&ana)).await.body;
    assert_eq!(actions(&opening), ["move", "hint", "resign", "abort"]);
    app.offer(&id, &ana, "takeback").await.is_problem(409, "offer_not_possible");
    // An extra move belongs to the same turn.
    app.played(&id, &ana, 1, "C").await;
    let played = app.played(&id, &ana, 2, "A").await;
    assert_eq!((&played["turn"], actions(&played)), (&json!("north"), vec!["resign", "offer_takeback"]));
    // The computer thinks about the turn meanwhile.
    let until = now() + Duration::minutes(1);
    let turn = computer_turns::take(&app.db, now(), until).await.expect("a database").expect("a turn");
    let back = app.offer(&id, &ana, "takeback").await;
    assert_eq!((back.status.as_u16(), &back.body["ply"], &back.body["turn"]), (201, &json!(3), &json!("south")));
    assert_eq!((&back.body["board"], &back.body["offers"]), (&opening["board"], &json!([])));
    assert_eq!(back.body["last_move"]["effects"], json!([{"type": "takeback", "to_ply": 0}]));
    assert_eq!(actions(&back.body), ["move", "hint", "resign"]);
    app.offer(&id, &ana, "takeback").await.is_problem(409, "offer_not_possible");
    // The computer's turn is over, and nothing is played for it.
    computer_turns::release(&app.db, turn).await.expect("a database");
    let playing = player(&app);
    let again = app.played(&id, &ana, 4, "B").await;
    assert_eq!(again["turn"], "north");
    let game = game_once(&app, &id, is_turn_of("south")).await;
    playing.end().await;
    let moves = app.list_moves(&id, "limit=100", None).await.body["items"].as_array().expect("moves").clone();
    let sides: Vec<_> = moves[..5].iter().map(|ply| ply["side"].as_str().expect("a side")).collect();
    assert_eq!(sides, ["south", "south", "south", "south", "north"]);
    assert_eq!(game["ply"], json!(moves.len()));
}

#[actix_web::test]
async fn a_takeback_undoes_the_reply_and_is_not_repeated_under_its_key() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = begun(&app, &ana, "north").await;
    let playing = player(&app);
    // The computer opens, and that is no turn to take back.
    let first = game_once(&app, &id, is_turn_of("north")).await;
    app.offer(&id, &ana, "takeback").await.is_problem(409, "offer_not_possible");
    let mut game = first.clone();
    let mut turns = vec![];
    for _ in 0..2 {
        turns.push(game["board"].clone());
        while game["turn"] == "north" {
            let (ply, word) = (game["ply"].as_u64().expect("a ply") + 1, game["legal_moves"][0].clone());
            let ply = u32::try_from(ply).expect("a ply");
            game = app.played(&id, &ana, ply, word.as_str().expect("a move")).await;
        }
        game = game_once(&app, &id, is_turn_of("north")).await;
        assert_eq!(game["status"], "active");
    }
    playing.end().await;
    for _ in 0..2 {
        let back = offer_under(&app, &id, &ana, "takeback", "one").await;
        assert_eq!((back.status.as_u16(), &back.body["board"]), (201, &turns[1]));
    }
    let version = app.get_game(&id, None).await.body["version"].clone();
    let back = offer_under(&app, &id, &ana, "takeback", "two").await;
    assert_eq!((back.status.as_u16(), &back.body["board"]), (201, &turns[0]));
    // `If-Match` guards as well.
    let stale =
        app.request(Method::POST, &format!("/v1/games/{id}/offers")).header("if-match", format!("\"{version}\""));
    let stale = send(signed(stale, Some(&ana)).json(&json!({"type": "takeback"}))).await;
    stale.is_problem(412, "precondition_failed");
    app.offer(&id, &ana, "takeback").await.is_problem(409, "offer_not_possible");
}

#[actix_web::test]
async fn without_practice_the_computer_answers_no_offer() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let plain = app.created(&ana, &against(1, "south")).await["id"].as_str().expect("an id").to_owned();
    app.played(&plain, &ana, 1, "A").await;
    let id = begun(&app, &ana, "south").await;
    app.played(&id, &ana, 1, "A").await;
    app.offer(&plain, &ana, "takeback").await.is_problem(409, "offer_not_possible");
    for kind in ["draw", "end", "pause"] {
        app.offer(&id, &ana, kind).await.is_problem(409, "offer_not_possible");
    }
    for answer in ["accept", "decline", "withdraw"] {
        app.answer_offer(&id, &ana, "takeback", answer).await.is_problem(409, "no_such_offer");
    }
    app.offer(&id, &bo, "takeback").await.is_problem(403, "not_seated");
    app.offer(&id, &ana, "rematch").await.is_problem(409, "offer_not_possible");
    assert_eq!(app.get_game(&id, None).await.body["version"], 2);
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    assert_eq!(app.resign_game(&plain, &ana).await.status, 200);
    // What is over stays over.
    app.offer(&id, &ana, "takeback").await.is_problem(409, "game_over");
    app.offer(&plain, &ana, "rematch").await.is_problem(409, "offer_not_possible");
}

#[actix_web::test]
async fn a_rematch_of_practice_begins_at_once_with_the_sides_exchanged() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = begun(&app, &ana, "south").await;
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    assert_eq!(actions(&app.get_game(&id, Some(&ana)).await.body), ["offer_rematch"]);
    let offered = app.offer(&id, &ana, "rematch").await;
    assert_eq!(offered.status, 201, "{offered:?}");
    let again = offered.string("/rematch_game_id");
    let repeated = app.offer(&id, &ana, "rematch").await;
    assert_eq!((repeated.status.as_u16(), repeated.string("/rematch_game_id")), (200, again.clone()));
    assert_eq!(actions(&repeated.body), Vec::<&str>::new());
    let game = app.get_game(&again, Some(&ana)).await.body;
    assert_eq!((&game["status"], &game["practice"], &game["turn"]), (&json!("active"), &json!(true), &json!("south")));
    let level = Level::try_from(1).expect("a level");
    assert_eq!(game["opponent"], json!({"type": "computer", "level": 1}));
    assert_eq!((&game["seats"]["south"]["id"], &game["me"]["side"]), (&json!(level.player().0), &json!("north")));
    // The computer opens it, and it counts as a game against the computer.
    let playing = player(&app);
    game_once(&app, &again, is_turn_of("north")).await;
    playing.end().await;
    assert_eq!(app.get(&format!("/v1/games/{again}/verify"), None).await.body["flaws"], json!([]));
    for _ in 0..2 {
        begun(&app, &ana, "south").await;
    }
    app.create_game(&ana, &practice(1, "south")).await.is_problem(409, "too_many_games");
}

#[actix_web::test]
async fn a_rematch_of_practice_obeys_the_limit_of_games_against_the_computer() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = begun(&app, &ana, "south").await;
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    for _ in 0..3 {
        begun(&app, &ana, "south").await;
    }
    app.offer(&id, &ana, "rematch").await.is_problem(409, "too_many_games");
    assert_eq!(app.get_game(&id, None).await.body["rematch_game_id"], json!(null));
    assert_eq!(count_rows(&app, "game").await, 4);
}

#[actix_web::test]
async fn practice_counts_in_no_figure_and_in_no_explorer() {
    let app = TestApp::start().await;
    let (ana, cleo) = (app.guest("Ana").await, app.account("Cleo", "correct horse").await);
    let playing = player(&app);
    let mut played = vec![];
    for is_practice in [true, false] {
        let mut body = against(1, "south");
        body["visibility"] = json!("public");
        body["practice"] = json!(is_practice);
        let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
        assert_eq!(app.get("/v1/me", Some(&ana)).await.body["counts"]["active"], u32::from(!is_practice));
        let game = play_out(&app, &id, &ana, "south").await;
        assert!(game["ply"].as_u64() >= Some(6), "{game}");
        played.push(id);
    }
    playing.end().await;
    let counts = app.get("/v1/me", Some(&ana)).await.body["counts"].clone();
    let sum: u64 = ["won", "lost", "drawn"].iter().map(|word| counts[*word].as_u64().expect("a count")).sum();
    assert_eq!(sum, 1, "{counts}");
    let stats = app.get(&format!("/v1/players/{}/stats", ana.id), None).await.body;
    assert_eq!(stats["variants"][0]["games"], 1);
    let stats = app.get(&format!("/v1/players/{}/stats?opponent_type=computer", ana.id), None).await.body;
    assert_eq!(stats["variants"][0]["games"], 1);
    let queued: Vec<String> =
        sqlx::query_scalar("select game_id::text from unexplored_game").fetch_all(&app.db).await.expect("rows");
    assert_eq!(queued, [played[1].clone()]);
    // Lists tell both apart, and records keep it.
    let listed = async |query: &str| app.list_games(query, None).await.ids();
    assert_eq!(listed("practice=true").await, [played[0].clone()]);
    assert_eq!(listed("practice=false&sort=finished_at").await, [played[1].clone()]);
    assert_eq!(app.list_games("player=me&practice=true", Some(&ana)).await.ids(), [played[0].clone()]);
    app.list_games("practice=maybe", None).await.is_problem(422, "validation_failed");
    for form in ["text", "json"] {
        let path = |id: &str| format!("/v1/games/{id}/export?format={form}");
        let (practised, plain) =
            (app.get(&path(&played[0]), None).await.text, app.get(&path(&played[1]), None).await.text);
        let mark = if form == "text" { "[Practice \"true\"]" } else { "\"practice\":true" };
        assert!(practised.contains(mark) && !plain.contains(mark), "{practised}");
        let kind = if form == "text" { "text/plain" } else { "application/json" };
        let import = app.request(Method::POST, "/v1/games/import?visibility=public").header("content-type", kind);
        let imported = send(signed(import, Some(&cleo)).body(practised)).await;
        let id = imported.string("/items/0/game_id");
        assert_eq!(app.get_game(&id, None).await.body["practice"], true, "{imported:?}");
    }
    assert_eq!(count_rows(&app, "unexplored_game").await, 1);
}

#[actix_web::test]
async fn a_continued_game_may_be_practice() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = begun(&app, &ana, "south").await;
    app.played(&id, &ana, 1, "C").await;
    // The practice itself is continued as well: it is no contest.
    let body = json!({"from": {"game_id": id, "ply": 1}, "practice": true, "side": "south",
        "opponent": {"type": "computer", "level": 2}});
    let game = app.created(&ana, &body).await;
    assert_eq!((&game["practice"], &game["start"]["ply"]), (&json!(true), &json!(1)));
    let again = game["id"].as_str().expect("an id");
    app.played(again, &ana, 1, "A").await;
    let back = app.offer(again, &ana, "takeback").await;
    assert_eq!((back.status.as_u16(), &back.body["position"]), (201, &game["position"]));
}
