//! Analyses during practice: the player gets them at any time, and what was taken back is not in them.

use serde_json::{Value, json};

use super::analyses::{analysed, analyst, ask, read};
use crate::{
    games::practice::practice,
    support::{app::TestApp, clock::until_seen},
};

fn plies(analysis: &Value) -> Vec<u64> {
    let plies = analysis["plies"].as_array().expect("plies");
    plies.iter().map(|ply| ply["ply"].as_u64().expect("a number")).collect()
}

#[actix_web::test]
async fn practice_is_analysed_while_it_runs_and_without_what_was_taken_back() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut body = practice(1, "south");
    body["options"] = json!({"pits": 4, "seeds": 2});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    // Two moves of one turn: C ends in the store.
    app.played(&id, &ana, 1, "C").await;
    app.played(&id, &ana, 2, "A").await;
    ask(&app, &id, &bo).await.is_problem(409, "game_not_over");
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let working = analyst(&app);
    let first = analysed(&app, &id, &ana).await;
    assert_eq!((&first["ply"], plies(&first)), (&json!(2), vec![1, 2]));
    assert_eq!(ask(&app, &id, &ana).await.status, 200, "it is there already");
    // A takeback makes it stale, and hides what it undid at once.
    assert_eq!(app.offer(&id, &ana, "takeback").await.status, 201);
    let stale = read(&app, &id, Some(&ana)).await.body["analysis"].clone();
    assert_eq!((&stale["ply"], plies(&stale)), (&json!(2), vec![]));
    assert_eq!(stale["sides"]["south"]["accuracy"], json!(null));
    app.played(&id, &ana, 4, "C").await;
    assert_eq!(ask(&app, &id, &ana).await.status, 202);
    let again = analysed_to(&app, &id, 4).await;
    assert_eq!(plies(&again), [4]);
    // When it is over, all of it is judged.
    app.played(&id, &ana, 5, "D").await;
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    assert_eq!(ask(&app, &id, &bo).await.status, 202);
    let whole = analysed_to(&app, &id, 5).await;
    assert_eq!(plies(&whole), [4, 5]);
    working.end().await;
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
    let graph = app.get(&format!("/v1/games/{id}/graph.svg"), None).await;
    assert_eq!(graph.status, 200, "{graph:?}");
}

/// The analysis once it goes as far as this ply.
async fn analysed_to(app: &TestApp, id: &str, ply: u64) -> Value {
    let look = async || read(app, id, None).await.body;
    until_seen("the analysis is extended", look, |body: &Value| body["analysis"]["ply"] == ply).await["analysis"].take()
}

#[actix_web::test]
async fn without_practice_a_game_with_the_computer_is_analysed_after_it() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut body = practice(1, "south");
    body["practice"] = json!(false);
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    app.played(&id, &ana, 1, "A").await;
    ask(&app, &id, &ana).await.is_problem(409, "game_not_over");
}
