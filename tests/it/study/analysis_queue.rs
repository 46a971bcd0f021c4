//! The queue of analyses: what a player and a network may queue, whose game comes first, and how a long one gives way.

use mancala_server::{
    db::study::analyses::{self, PartialAnalysis},
    domain::{ANALYSIS_EDITION, Class, GameId, JudgedPly, Seat, Value},
    rules::Side,
};
use serde_json::json;
use time::Duration as TimeDuration;
use uuid::Uuid;

use super::analyses::{alone, analysed, analyst, ask, read};
use crate::support::{
    app::TestApp,
    calls::Guest,
    clock::{now, until_async},
    database::count_rows,
    games::long_line,
};

fn game(id: &str) -> GameId {
    GameId(Uuid::parse_str(id).expect("an id"))
}

/// Takes the next request.
async fn take(app: &TestApp) -> GameId {
    let until = now() + TimeDuration::minutes(1);
    analyses::take(&app.db, now(), until).await.expect("a database").expect("a game")
}

/// A game of one ply that is queued.
async fn queued(app: &TestApp, player: &Guest) -> String {
    let id = alone(app, player, json!({}), "A").await;
    let asked = ask(app, &id, player).await;
    assert_eq!(asked.status, 202, "{asked:?}");
    id
}

/// A game that takes many seconds to analyse: on the largest board, for which there is no quick form.
async fn long(app: &TestApp, player: &Guest) -> String {
    let line = long_line(40);
    let moves: Vec<_> = line["moves"].as_array().expect("moves").iter().map(|mv| mv.as_str().expect("text")).collect();
    let terms = json!({"variant": "congkak", "preset": line["preset"], "options": line["options"]});
    let id = alone(app, player, terms, &moves.join(" ")).await;
    assert_eq!(ask(app, &id, player).await.status, 202);
    id
}

#[actix_web::test]
async fn a_guest_queues_few_analyses_and_its_network_some_more() {
    let app = TestApp::start_with_networks().await;
    for _ in 0..analyses::NETWORK_WAITING_MAX / analyses::GUEST_WAITING_MAX {
        let guest = app.guest_at("192.0.2.1").await;
        let mut own = vec![];
        for _ in 0..analyses::GUEST_WAITING_MAX {
            own.push(queued(&app, &guest).await);
        }
        let refused = ask(&app, &alone(&app, &guest, json!({}), "A").await, &guest).await;
        refused.is_problem(409, "too_many_analyses");
        assert!(refused.string("/detail").starts_with("the player has at most 3"), "{refused:?}");
        // What is queued is not refused.
        assert_eq!(ask(&app, &own[0], &guest).await.status, 202);
    }
    let guest = app.guest_at("192.0.2.1").await;
    let refused = ask(&app, &alone(&app, &guest, json!({}), "A").await, &guest).await;
    refused.is_problem(409, "too_many_analyses");
    assert!(refused.string("/detail").contains("of one network"), "{refused:?}");
    queued(&app, &app.guest_at("192.0.2.2").await).await;
    queued(&app, &app.established_account("Ana").await).await;
}

#[actix_web::test]
async fn guests_of_a_network_have_one_game_in_a_round_and_accounts_are_first() {
    let app = TestApp::start_with_networks().await;
    let mut games = vec![];
    games.push(queued(&app, &app.account_at("New", "192.0.2.1").await).await);
    for _ in 0..2 {
        games.push(queued(&app, &app.guest_at("192.0.2.1").await).await);
    }
    games.push(queued(&app, &app.guest_at("192.0.2.2").await).await);
    games.push(queued(&app, &app.established_account("Ana").await).await);
    let ahead = async |n: usize| read(&app, &games[n], None).await.body["ahead"].clone();
    assert_eq!([ahead(4).await, ahead(0).await, ahead(3).await, ahead(1).await], [0, 1, 2, 3].map(|n| json!(n)));
    let mut order = vec![];
    for _ in 0..5 {
        let taken = take(&app).await.0.to_string();
        order.push(games.iter().position(|id| *id == taken).expect("it is known"));
    }
    assert_eq!(order, [4, 0, 3, 1, 2]);
}

#[actix_web::test]
async fn a_request_that_gives_way_is_in_the_next_round_with_its_part() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.account("Bo", "correct horse").await);
    let [first, second] = [queued(&app, &ana).await, queued(&app, &ana).await];
    assert_eq!(take(&app).await, game(&first));
    assert!(!analyses::do_others_wait(&app.db, game(&first)).await.expect("a database"), "the own one is no other");
    let [third, fourth] = [queued(&app, &bo).await, queued(&app, &bo).await];
    assert!(analyses::do_others_wait(&app.db, game(&first)).await.expect("a database"));
    let part = PartialAnalysis { ply: 9, edition: 1, done: 4, plies: vec![] };
    analyses::keep(&app.db, game(&first), &part).await.expect("a database");
    analyses::give_way(&app.db, game(&first)).await.expect("a database");
    assert_eq!(analyses::partial(&app.db, game(&first)).await.expect("a database"), Some(part));
    let waits = read(&app, &first, Some(&ana)).await.body;
    assert_eq!((&waits["status"], &waits["plies_done"], &waits["ahead"]), (&json!("queued"), &json!(4), &json!(1)));
    let mut order = vec![];
    for _ in 0..4 {
        order.push(take(&app).await);
    }
    assert_eq!(order, [&third, &first, &fourth, &second].map(|id| game(id)));
}

#[actix_web::test]
async fn new_players_do_not_keep_a_game_of_a_later_round_waiting() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.account("Bo", "correct horse").await);
    let mut games = vec![queued(&app, &ana).await, queued(&app, &ana).await];
    let waited = "update analysis_request set order_at = order_at - interval '2 minutes'";
    sqlx::query(waited).execute(&app.db).await.expect("rows");
    games.push(queued(&app, &bo).await);
    let order = [take(&app).await, take(&app).await, take(&app).await].map(|id| id.0.to_string());
    assert_eq!(order.as_slice(), games);
}

#[actix_web::test]
async fn an_analysis_is_continued_where_it_gave_way() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = alone(&app, &ana, json!({"options": {"pits": 4, "seeds": 2}}), "A b B").await;
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let of_ply = |number: u32, points: i32| JudgedPly {
        number,
        side: Side::South,
        seat: Seat::First,
        mv: "B".parse().expect("a move"),
        best: Value { points, is_exact: true },
        line: vec!["B".parse().expect("a move")],
        value: Value { points, is_exact: true },
        loss: 0,
        class: Class::Best,
    };
    // A part of the game as it was at another ply is not used.
    for (ply, used) in [(2, false), (3, true)] {
        let part = PartialAnalysis { ply, edition: ANALYSIS_EDITION, done: 1, plies: vec![of_ply(ply, 1234)] };
        analyses::keep(&app.db, game(&id), &part).await.expect("a database");
        let job = analyst(&app);
        let analysis = analysed(&app, &id, &ana).await;
        job.end().await;
        let plies = analysis["plies"].as_array().expect("plies");
        assert_eq!(plies.len(), 3);
        // What was proven after a ply is what that ply was worth.
        for value in [&plies[2]["best_value"], &plies[1]["value"]] {
            assert_eq!(*value == json!({"seeds": 12.34, "is_exact": true}), used, "{plies:?}");
        }
        sqlx::query("delete from analysis").execute(&app.db).await.expect("it is done");
        sqlx::query("insert into analysis_request (game_id, player_id, requested_at, round, ply, plies) select $1, $2, now(), 0, 3, 3")
            .bind(game(&id).0)
            .bind(Uuid::parse_str(&ana.id).expect("an id"))
            .execute(&app.db)
            .await
            .expect("it is done");
    }
    sqlx::query("delete from analysis_request").execute(&app.db).await.expect("it is done");
}

#[actix_web::test]
async fn a_long_analysis_gives_way_and_is_stored_when_the_server_stops() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let slow = long(&app, &ana).await;
    let job = analyst(&app);
    until_async("it runs", async || read(&app, &slow, None).await.body["status"] == "running").await;
    let quick = queued(&app, &bo).await;
    analysed(&app, &quick, &bo).await;
    let waits = read(&app, &slow, None).await.body;
    assert_ne!(waits["status"], "done", "{waits}");
    assert_ne!(waits["plies_done"], json!(0));
    // A server that stops leaves what it has done to the next one.
    let before = analyses::partial(&app.db, game(&slow)).await.expect("a database").expect("a part");
    let goes_on = async || read(&app, &slow, None).await.body["plies_done"].as_u64() > Some(before.done.into());
    until_async("it goes on", goes_on).await;
    job.end().await;
    let after = analyses::partial(&app.db, game(&slow)).await.expect("a database").expect("a part");
    assert!(after.done > before.done && after.plies.len() == after.done as usize, "{after:?}");
    assert_eq!(after.plies[..before.plies.len()], before.plies);
    assert_eq!(count_rows(&app, "analysis_request where taken_until is null and attempts = 0").await, 1);
}
