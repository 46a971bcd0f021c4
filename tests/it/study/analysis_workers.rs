//! Workers of analyses: one that dies leaves its work to the next, and each analysis is announced once.

use mancala_server::{
    db::study::analyses,
    domain::{ANALYSIS_EDITION, Analysis, GameId, PlayerId},
};
use serde_json::json;
use time::Duration as TimeDuration;
use uuid::Uuid;

use super::analyses::{alone, analysed, analyst, ask, events_of, present, read};
use crate::support::{
    app::TestApp,
    binary::Running,
    clock::{now, until_async},
};

#[actix_web::test]
async fn a_dead_workers_analysis_is_retried_by_another_a_few_times() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = alone(&app, &ana, json!({}), "A").await;
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let game = GameId(Uuid::parse_str(&id).expect("an id"));
    let past = now() - TimeDuration::seconds(1);
    let take = async || analyses::take(&app.db, now(), past).await.expect("a database");
    for _ in 0..3 {
        assert_eq!(take().await, Some(game));
    }
    assert_eq!(take().await, None);
    assert_eq!(read(&app, &id, None).await.body["status"], json!("failed"));
    assert!(analyses::advance(&app.db, game, 1, past).await.expect("a database"));
    // The analysis is requested again.
    let asked = ask(&app, &id, &ana).await;
    assert_eq!(
        (asked.status.as_u16(), &asked.body["status"], &asked.body["plies_done"]),
        (202, &json!("queued"), &json!(0))
    );
    // A worker that stops in order leaves the request as it was.
    for _ in 0..5 {
        assert_eq!(take().await, Some(game));
        analyses::release(&app.db, game).await.expect("a database");
    }
    assert_eq!(take().await, Some(game));
    let analyst = analyst(&app);
    assert_eq!(analysed(&app, &id, &ana).await["ply"], json!(1));
    analyst.end().await;
    assert!(!analyses::advance(&app.db, game, 1, past).await.expect("a database"), "no request is left");
}

#[actix_web::test]
async fn an_analysis_stored_without_its_event_gets_it_once() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = alone(&app, &ana, json!({}), "A").await;
    let game = GameId(Uuid::parse_str(&id).expect("an id"));
    let player = PlayerId(Uuid::parse_str(&ana.id).expect("an id"));
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    // A worker that dies after storing the analysis leaves this.
    let at = now() - TimeDuration::hours(1);
    let stored = Analysis { ply: 1, edition: ANALYSIS_EDITION, at, plies: vec![] };
    analyses::store(&app.db, game, &stored).await.expect("a database");
    assert_eq!(read(&app, &id, None).await.body["status"], json!("done"));
    for _ in 0..2 {
        let until = now() - TimeDuration::seconds(1);
        assert_eq!(analyses::take(&app.db, now(), until).await.expect("a database"), Some(game));
        let analyst = analyst(&app);
        let is_done = async || analyses::find(&app.db, game).await.expect("a database").request.is_none();
        until_async("the request is done", is_done).await;
        analyst.end().await;
        let known = analyses::find(&app.db, game).await.expect("a database");
        assert_eq!((known.request, known.analysis.expect("it is there").plies), (None, vec![]));
        assert_eq!(events_of(&app, &id, &ana).await, ["created", "moved", "analysed"]);
        // A worker that dies after the event leaves this.
        analyses::request(&app.db, &present(&app, game).await, player, now()).await.expect("a database");
    }
}

#[actix_web::test]
async fn a_server_that_is_killed_leaves_its_analyses_to_the_next() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    // Long enough to be at it when it is killed.
    let id = alone(&app, &ana, json!({"variant": "congkak"}), "A").await;
    let server = Running::start(&app);
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    drop(server);
    let server = Running::start(&app);
    assert_eq!(analysed(&app, &id, &ana).await["ply"], json!(1));
    let is_told = async || app.get_game(&id, None).await.body["analysed_at"] != json!(null);
    until_async("the game says so", is_told).await;
    drop(server);
    let told = events_of(&app, &id, &ana).await;
    assert_eq!(told.iter().filter(|kind| *kind == "analysed").count(), 1);
}

#[actix_web::test]
async fn a_second_request_during_an_analysis_gets_the_whole_game() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = alone(&app, &ana, json!({}), "A").await;
    let game = GameId(Uuid::parse_str(&id).expect("an id"));
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let until = now() + TimeDuration::minutes(1);
    assert_eq!(analyses::take(&app.db, now(), until).await.expect("a database"), Some(game));
    assert_eq!(app.play_move(&id, &ana, 2, "b").await.status, 201);
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    // The worker that took it ends with the plies that there were then.
    let stored = Analysis { ply: 1, edition: ANALYSIS_EDITION, at: now(), plies: vec![] };
    analyses::store(&app.db, game, &stored).await.expect("a database");
    analyses::end(&app.db, game, 1).await.expect("a database");
    let analyst = analyst(&app);
    let analysis = analysed(&app, &id, &ana).await;
    analyst.end().await;
    assert_eq!((&analysis["ply"], analysis["plies"].as_array().expect("plies").len()), (&json!(2), 2));
}

#[actix_web::test]
async fn an_unreadable_analysis_does_not_delay_others() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (broken, other) = (alone(&app, &ana, json!({}), "A").await, alone(&app, &bo, json!({}), "B").await);
    let game = GameId(Uuid::parse_str(&broken).expect("an id"));
    assert_eq!(ask(&app, &broken, &ana).await.status, 202);
    assert_eq!(ask(&app, &other, &bo).await.status, 202);
    let stored = Analysis { ply: 1, edition: ANALYSIS_EDITION, at: now(), plies: vec![] };
    analyses::store(&app.db, game, &stored).await.expect("a database");
    let damage = "update analysis set plies = '[{}]'";
    sqlx::query(damage).execute(&app.db).await.expect("it is done");
    let analyst = analyst(&app);
    assert_eq!(analysed(&app, &other, &bo).await["ply"], json!(1));
    read(&app, &broken, None).await.is_problem(500, "internal");
    // An analysis of another edition counts as none.
    let damage = "update analysis set edition = edition + 1, plies = '[{}]' where ply = 1 and plies = '[{}]'";
    sqlx::query(damage).execute(&app.db).await.expect("it is done");
    let status = read(&app, &broken, None).await;
    assert_eq!((status.status.as_u16(), &status.body["analysis"]), (200, &json!(null)));
    analyst.end().await;
}
