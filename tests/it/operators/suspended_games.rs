//! The games of banned players end; of suspended ones, those that have not begun.

use mancala_server::{db::Writers, jobs::suspended_games};
use serde_json::{Value, json};

use super::{act, operator, suspend};
use crate::support::{
    app::TestApp,
    binary::{server, url},
    calls::Guest,
    clock::now,
    database::count_rows,
    replay::every_log_replays_to_its_row,
};

/// Games of two players. In one both have moved, one has hardly begun, one is open, and one is an invitation of the
/// first player by the second.
async fn games(app: &TestApp, player: &Guest, other: &Guest) -> [String; 4] {
    let active = app.started_between(player, other, &json!({})).await;
    app.played(&active, player, 1, "A").await;
    app.played(&active, other, 2, "a").await;
    let begun = app.started_between(player, other, &json!({})).await;
    let open = app.created(player, &json!({"variant": "kalah"})).await;
    let invitation = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": player.id}});
    let invited = app.created(other, &invitation).await;
    [active, begun, open["id"].as_str().expect("an id").to_owned(), invited["id"].as_str().expect("an id").to_owned()]
}

async fn statuses(app: &TestApp, games: &[String; 4]) -> Vec<Value> {
    let mut found = vec![];
    for id in games {
        found.push(app.get_game(id, None).await.body["status"].clone());
    }
    found
}

fn suspension(games: &str) -> Value {
    json!({"type": "suspend", "reason": "x", "until": "2030-01-01T00:00:00Z", "games": games})
}

#[actix_web::test]
async fn a_ban_ends_all_games_and_a_suspension_those_that_have_not_begun() {
    let app = TestApp::start().await;
    let (writers, _tasks) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let games = games(&app, &ana, &bo).await;
    let before = statuses(&app, &games).await;
    assert_eq!(before, ["active", "active", "open", "open"]);
    // What was lifted, or is over, ends nothing.
    for kind in ["suspend", "ban"] {
        suspend(&app, &kim, &ana, kind).await;
        act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await;
        suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, before);
    }
    suspend(&app, &kim, &ana, "suspend").await;
    let end = |until| sqlx::query(until).execute(&app.db);
    end("update player_suspension set until = now()").await.expect("it is over");
    suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
    assert_eq!(statuses(&app, &games).await, before);
    suspend(&app, &kim, &ana, "suspend").await;
    for _ in 0..2 {
        suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, ["active", "active", "aborted", "aborted"]);
    }
    suspend(&app, &kim, &ana, "ban").await;
    for _ in 0..2 {
        suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, ["finished", "aborted", "aborted", "aborted"]);
    }
    let game = app.get_game(&games[0], None).await.body;
    assert_eq!((&game["result"]["winner"], &game["result"]["reason"]), (&json!("north"), &json!("resignation")));
    every_log_replays_to_its_row(&app.db).await;
}

#[actix_web::test]
async fn a_suspension_that_says_so_ends_all_games() {
    let app = TestApp::start().await;
    let (writers, _tasks) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let games = games(&app, &ana, &bo).await;
    for kind in ["ban", "warn"] {
        let body = json!({"type": kind, "reason": "x", "games": "end"});
        act(&app, &kim, &ana.id, &body).await.is_problem(422, "validation_failed");
    }
    let told = act(&app, &kim, &ana.id, &suspension("end")).await;
    assert_eq!((told.status.as_u16(), &told.body["after"]["games"]), (201, &json!("end")));
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["suspension"]["games"], "end");
    // The later one counts.
    assert_eq!(act(&app, &kim, &ana.id, &suspension("play_on")).await.body["before"]["games"], "end");
    suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
    assert_eq!(statuses(&app, &games).await, ["active", "active", "aborted", "aborted"]);
    act(&app, &kim, &ana.id, &suspension("end")).await;
    for _ in 0..2 {
        suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, ["finished", "aborted", "aborted", "aborted"]);
    }
    every_log_replays_to_its_row(&app.db).await;
    // The command says the same.
    let ended =
        server(&["players", "suspend", &bo.id, "7", "x", "--games", "end"]).env("DATABASE_URL", url(&app)).output();
    assert!(ended.expect("the binary runs").status.success());
    assert_eq!(count_rows(&app, "player_suspension where games = 'end'").await, 2);
}

#[actix_web::test]
async fn a_suspension_that_says_so_stops_clocks_until_no_suspension_does() {
    let app = TestApp::start().await;
    let (writers, _tasks) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let clock = json!({"clock": {"type": "per_move", "move_s": 3600}});
    let id = app.started_between(&ana, &bo, &clock).await;
    let agreed = app.started_between(&ana, &bo, &clock).await;
    let unlimited = app.started_between(&ana, &bo, &json!({})).await;
    app.offer(&agreed, &ana, "pause").await;
    app.answer_offer(&agreed, &bo, "pause", "accept").await;
    app.offer(&id, &bo, "pause").await;
    let settle = async || suspended_games::settle_suspended(&app.db, &writers, now()).await.expect("a database");
    let clock_of = async |id: &str| app.get_game(id, None).await.body["clock"].clone();
    let version = async |id: &str| app.get_game(id, None).await.body["version"].clone();
    let before = version(&unlimited).await;
    act(&app, &kim, &ana.id, &suspension("stop")).await;
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["suspension"]["games"], "stop");
    app.play_move(&id, &ana, 1, "A").await.is_problem(403, "player_suspended");
    app.answer_offer(&id, &ana, "pause", "accept").await.is_problem(403, "player_suspended");
    let mut held = json!(null);
    for _ in 0..2 {
        settle().await;
        let game = app.get_game(&id, Some(&bo)).await.body;
        assert_eq!((&game["clock"]["deadline"], &game["clock"]["is_held"]), (&json!(null), &json!(true)), "{game}");
        assert_eq!(
            (&game["offers"], &game["version"]),
            (&json!([]), if held.is_null() { &game["version"] } else { &held })
        );
        assert!(!game["me"]["actions"].as_array().expect("a list").contains(&json!("withdraw_pause")), "{game}");
        held = game["version"].clone();
    }
    app.answer_offer(&id, &bo, "pause", "withdraw").await.is_problem(409, "offer_not_possible");
    // The game is paused already.
    assert_eq!(app.offer(&id, &bo, "pause").await.body["version"], held);
    assert_eq!((version(&unlimited).await, clock_of(&agreed).await["is_held"].clone()), (before.clone(), json!(null)));
    // A move of the opponent is possible, and leaves the clock as it is.
    let turn = app.get_game(&id, None).await.body["turn"].clone();
    if turn == "north" {
        assert_eq!(app.play_move(&id, &bo, 1, "a").await.status, 201);
    }
    assert_eq!(clock_of(&id).await["is_held"], true);

    // The opponent is suspended as well: the clock runs when neither suspension stops it.
    act(&app, &kim, &bo.id, &suspension("stop")).await;
    settle().await;
    act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await;
    settle().await;
    assert_eq!(clock_of(&id).await["is_held"], true);
    act(&app, &kim, &bo.id, &suspension("play_on")).await;
    for _ in 0..2 {
        settle().await;
        let clock = clock_of(&id).await;
        assert!(clock["deadline"].is_string() && clock["paused_at"].is_null() && clock["is_held"].is_null(), "{clock}");
    }
    // The pause on which both agreed is theirs to end.
    assert!(clock_of(&agreed).await["paused_at"].is_string());
    assert_eq!(version(&unlimited).await, before);
    // What is noted of the game goes when no other process can be about to hold its clock.
    assert_eq!(count_rows(&app, "held_game").await, 1);
    set(&app, "held_game set since = since - interval '1 hour'").await;
    settle().await;
    assert_eq!(count_rows(&app, "held_game").await, 0);

    // A suspension that is over lets clocks run again, and one that replaces it does not stop them.
    act(&app, &kim, &ana.id, &suspension("stop")).await;
    settle().await;
    assert_eq!(clock_of(&id).await["is_held"], true);
    set(&app, "player_suspension set until = now()").await;
    settle().await;
    assert!(clock_of(&id).await["deadline"].is_string());
    every_log_replays_to_its_row(&app.db).await;
}

async fn set(app: &TestApp, what: &str) {
    sqlx::query(sqlx::AssertSqlSafe(format!("update {what}"))).execute(&app.db).await.expect("a database");
}

#[actix_web::test]
async fn no_clock_stands_for_ever_and_none_runs_against_a_player_who_is_stopped() {
    let app = TestApp::start().await;
    let (writers, _tasks) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let settle = async |at| suspended_games::settle_suspended(&app.db, &writers, at).await.expect("a database");
    let is_held = async |id: &str| app.get_game(id, None).await.body["clock"]["is_held"] == true;
    let clock = json!({"clock": {"type": "per_move", "move_s": 3600}});
    let [id, agreed] = [app.started_between(&ana, &bo, &clock).await, app.started_between(&ana, &bo, &clock).await];
    let other = app.started_between(&bo, &app.guest("Cy").await, &clock).await;
    app.offer(&agreed, &ana, "pause").await;
    app.answer_offer(&agreed, &bo, "pause", "accept").await;
    for player in [&ana, &bo] {
        act(&app, &kim, &player.id, &suspension("stop")).await;
    }
    settle(now()).await;
    assert!(is_held(&id).await && !is_held(&agreed).await);
    // Both suspensions end at one moment, and the round has begun before it.
    let begun = now();
    set(&app, "player_suspension set until = now()").await;
    settle(begun).await;
    assert!(!is_held(&id).await);

    // Neither ends the pause to which both had agreed, as long as a clock would run against a player who does not move.
    act(&app, &kim, &bo.id, &suspension("play_on")).await;
    act(&app, &kim, &ana.id, &suspension("stop")).await;
    for player in [&ana, &bo] {
        app.answer_offer(&agreed, player, "pause", "withdraw").await.is_problem(409, "offer_not_possible");
    }
    // A clock that runs all the same, after a week, is held.
    set(&app, "player_suspension set changed_at = now() - interval '8 days' where games = 'stop'").await;
    settle(now()).await;
    assert!(is_held(&id).await && !is_held(&agreed).await && !is_held(&other).await);

    // The guest becomes an account before the next round.
    act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await;
    let account = app.account("Anna", "correct horse").await;
    let merged = app.post("/v1/me/merge", Some(&account), &json!({"guest_token": ana.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    settle(now()).await;
    assert!(!is_held(&id).await);
    assert_eq!(app.answer_offer(&agreed, &bo, "pause", "withdraw").await.status, 200);
    every_log_replays_to_its_row(&app.db).await;
}

#[actix_web::test]
async fn no_game_begins_with_a_suspended_player() {
    let app = TestApp::start().await;
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.resign_game(&id, &bo).await;
    assert_eq!(app.offer(&id, &ana, "rematch").await.status, 201);
    let open = app.created(&ana, &json!({"variant": "kalah"})).await;
    suspend(&app, &kim, &ana, "suspend").await;
    for _ in 0..2 {
        app.offer(&id, &bo, "rematch").await.is_problem(409, "offer_not_possible");
        app.answer_offer(&id, &bo, "rematch", "accept").await.is_problem(409, "offer_not_possible");
    }
    let open = open["id"].as_str().expect("an id");
    assert_eq!(app.join_game(open, &bo).await.status, 404);
    let sought = app.post("/v1/games/seek", Some(&bo), &json!({"variant": "kalah"})).await;
    assert_eq!((sought.status.as_u16(), sought.body["id"] == open), (201, false));
    act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await;
    assert_eq!(app.answer_offer(&id, &bo, "rematch", "accept").await.status, 200);
    assert_eq!(app.join_game(open, &bo).await.status, 200);
}
