//! Where a game begins, and who finds it.

use serde_json::json;

use crate::support::app::TestApp;

/// A position of Kalah with six pits and four seeds, after two moves.
const POSITION: &str = "4,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S";

#[actix_web::test]
async fn a_game_begins_with_a_position_of_its_options() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "start": {"position": POSITION}, "side": "south"});
    let game = app.created(&ana, &body).await;
    assert_eq!((&game["start"]["position"], &game["position"]), (&json!(POSITION), &json!(POSITION)));
    assert_eq!((&game["ply"], &game["board"]["south"]["store"]), (&json!(0), &json!(1)));
    let id = game["id"].as_str().expect("an id");
    assert_eq!(app.join_game(id, &bo).await.body["turn"], "south");
    app.play_move(id, &ana, 1, "C").await.is_problem(422, "illegal_move");
    assert_eq!(app.play_move(id, &ana, 1, "A").await.status, 201);
    let start = app.get(&format!("/v1/games/{id}/positions/0"), None).await;
    assert_eq!(start.body["position"], POSITION);
    // A rematch begins in the same way.
    let more = json!({"variant": "kalah", "options": {"seeds": 1, "pits": 2}, "start": {"position": "1,1/1,1 0-0 N - 0 1S"},
        "opponent": {"type": "self"}});
    assert_eq!(app.created(&ana, &more).await["turn"], "north");
}

#[actix_web::test]
async fn a_start_that_is_no_position_of_the_options_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for position in [
        "",
        "nonsense",
        "5,4,0,5,5,5/4,4,4,4,4,4 1-0 S e 1 1S",
        "4,4,0,5,5/4,4,4,4,4,4 1-0 S e 1 1S",
        "0,0,0,0,0,0/4,4,4,4,4,4 24-0 S - 9 1S",
    ] {
        let refused = app.create_game(&ana, &json!({"variant": "kalah", "start": {"position": position}})).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/start/position", "{position}");
    }
    for (body, pointer) in [
        (json!({"variant": "kalah", "start": {}}), "/start/position"),
        (json!({"variant": "kalah", "start": null}), "/start"),
        (json!({"variant": "kalah", "start": {"position": POSITION, "ply": 1}}), "/start/ply"),
        (json!({"variant": "kalah", "options": {"seeds": 5}, "start": {"position": POSITION}}), "/start/position"),
        (json!({"from": {"game_id": ana.id, "ply": 0}, "start": {"position": POSITION}}), "/start"),
    ] {
        let refused = app.create_game(&ana, &body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{body}");
    }
    let games: i64 = sqlx::query_scalar("select count(*) from game").fetch_one(&app.db).await.expect("a count");
    assert_eq!(games, 0);
}

#[actix_web::test]
async fn games_by_link_and_against_the_computer_are_not_listed_unless_wanted() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for (opponent, by_default) in [
        (json!({"type": "link"}), "unlisted"),
        (json!({"type": "computer", "level": 1}), "unlisted"),
        (json!({"type": "open"}), "public"),
        (json!({"type": "self"}), "public"),
    ] {
        let game = app.created(&ana, &json!({"variant": "kalah", "opponent": opponent})).await;
        assert_eq!(game["visibility"], by_default, "{opponent}");
        let id = game["id"].as_str().expect("an id").to_owned();
        assert_eq!(app.get_game(&id, Some(&bo)).await.status, 200);
        let is_listed = app.list_games("limit=100", Some(&bo)).await.ids().contains(&id);
        assert_eq!(is_listed, by_default == "public");
        let public = json!({"variant": "kalah", "opponent": opponent, "visibility": "public"});
        let id = app.created(&ana, &public).await["id"].as_str().expect("an id").to_owned();
        assert!(app.list_games("limit=100", Some(&bo)).await.ids().contains(&id));
    }
}
