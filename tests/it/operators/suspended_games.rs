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
        suspended_games::settle(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, before);
    }
    suspend(&app, &kim, &ana, "suspend").await;
    let end = |until| sqlx::query(until).execute(&app.db);
    end("update player_suspension set until = now()").await.expect("it is over");
    suspended_games::settle(&app.db, &writers, now()).await.expect("a database");
    assert_eq!(statuses(&app, &games).await, before);
    suspend(&app, &kim, &ana, "suspend").await;
    for _ in 0..2 {
        suspended_games::settle(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, ["active", "active", "aborted", "aborted"]);
    }
    suspend(&app, &kim, &ana, "ban").await;
    for _ in 0..2 {
        suspended_games::settle(&app.db, &writers, now()).await.expect("a database");
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
        let body = json!({"type": kind, "reason": "x", "ends_games": true});
        act(&app, &kim, &ana.id, &body).await.is_problem(422, "validation_failed");
    }
    let body = |ends_games: bool| json!({"type": "suspend", "reason": "x", "until": "2030-01-01T00:00:00Z", "ends_games": ends_games});
    let told = act(&app, &kim, &ana.id, &body(true)).await;
    assert_eq!((told.status.as_u16(), &told.body["after"]["ends_games"]), (201, &json!(true)));
    // The later one counts.
    assert_eq!(act(&app, &kim, &ana.id, &body(false)).await.body["before"]["ends_games"], true);
    suspended_games::settle(&app.db, &writers, now()).await.expect("a database");
    assert_eq!(statuses(&app, &games).await, ["active", "active", "aborted", "aborted"]);
    act(&app, &kim, &ana.id, &body(true)).await;
    for _ in 0..2 {
        suspended_games::settle(&app.db, &writers, now()).await.expect("a database");
        assert_eq!(statuses(&app, &games).await, ["finished", "aborted", "aborted", "aborted"]);
    }
    every_log_replays_to_its_row(&app.db).await;
    // The command says the same.
    let ended =
        server(&["players", "suspend", &bo.id, "7", "x", "--end-games"]).env("DATABASE_URL", url(&app)).output();
    assert!(ended.expect("the binary runs").status.success());
    assert_eq!(count_rows(&app, "player_suspension where ends_games").await, 2);
}
