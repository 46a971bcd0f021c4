//! Erasure of a player: what is deleted, and what stays for the opponents.

use mancala_server::{
    db::{Writers, players},
    domain::PlayerId,
    jobs::erasure,
};
use serde_json::json;
use uuid::Uuid;

use crate::support::{app::TestApp, calls::send, clock::now};

const PASSWORD: &str = "correct horse";

#[actix_web::test]
async fn when_one_of_two_players_is_erased_the_other_keeps_the_game() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.account("Bo", PASSWORD).await);
    let refresh = app.sign_in("Ana", PASSWORD).await.string("/refresh_token");
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let finished = game["id"].as_str().expect("an id").to_owned();
    app.join_game(&finished, &bo).await;
    app.play_move(&finished, &ana, 1, "A").await;
    app.play_move(&finished, &bo, 2, "a").await;
    app.resign_game(&finished, &bo).await;
    let history = app.list_moves(&finished, "", None).await.body;
    let result = app.get_game(&finished, None).await.body["result"].clone();

    let active = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let active = active["id"].as_str().expect("an id");
    app.join_game(active, &bo).await;
    app.play_move(active, &ana, 1, "C").await;
    let open = app.created(&ana, &json!({"variant": "kalah"})).await;
    let open = open["id"].as_str().expect("an id");

    let invitation = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    let request = app.request(reqwest::Method::POST, "/v1/games").bearer_auth(&bo.token);
    let keyed = async || {
        send(request.try_clone().expect("it can be sent again").header("idempotency-key", "k").json(&invitation)).await
    };
    let invited = keyed().await.body;

    assert_eq!(app.delete_me(&ana).await.status, 204);

    assert_eq!(app.get_game(invited["id"].as_str().expect("an id"), None).await.body["status"], "aborted");
    // The name is also gone from answers stored for idempotency keys of others.
    assert!(!keyed().await.text.contains("Ana"));
    let after = app.get_game(&finished, Some(&bo)).await.body;
    assert_eq!(after["result"], result);
    assert_eq!(after["seats"]["south"], json!({"id": ana.id, "name": "Deleted player", "kind": "deleted"}));
    assert_eq!(app.list_moves(&finished, "", None).await.body, history);
    let won = app.get_game(active, None).await.body;
    assert_eq!((&won["status"], &won["result"]["winner_player_id"]), (&json!("finished"), &json!(bo.id)));
    assert_eq!(won["result"]["reason"], "resignation");
    assert_eq!(app.get_game(open, None).await.body["status"], "aborted");

    // Nothing of the account is left, and its name is free.
    app.refresh(&refresh).await.is_problem(401, "invalid_token");
    app.sign_in("Ana", PASSWORD).await.is_problem(401, "invalid_credentials");
    app.account("Ana", PASSWORD).await;
    let profile = app.get(&format!("/v1/players/{}", ana.id), None).await.body;
    assert_eq!((&profile["kind"], &profile["name"]), (&json!("deleted"), &json!("Deleted player")));
    let rows = "select (select count(*) from refresh_family where player_id = $1) \
                + (select count(*) from account where player_id = $1) \
                + (select count(*) from idempotency_key where player_id = $1)";
    let id = Uuid::try_parse(&ana.id).expect("an id");
    assert_eq!(sqlx::query_scalar::<_, i64>(rows).bind(id).fetch_one(&app.db).await.expect("a count"), 0);
}

#[actix_web::test]
async fn the_access_token_of_an_erased_player_changes_nothing() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let others = app.created(&bo, &json!({"variant": "kalah"})).await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    // The answer may have been lost.
    assert_eq!(app.delete_me(&ana).await.status, 204);
    app.get("/v1/me", Some(&ana)).await.is_problem(401, "invalid_token");
    app.patch("/v1/me", Some(&ana), &json!({"name": "Ana"})).await.is_problem(401, "invalid_token");
    app.create_game(&ana, &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    let id = others["id"].as_str().expect("an id");
    app.join_game(id, &ana).await.is_problem(401, "invalid_token");
    app.delete_me(&app.stranger()).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn an_erasure_that_was_interrupted_is_ended_by_the_job() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let open = app.created(&south, &json!({"variant": "kalah"})).await;
    // The server stops between the erasure and the ending of the games.
    let player = PlayerId(Uuid::try_parse(&south.id).expect("an id"));
    players::erase(&app.db, player, now()).await.expect("a row changes");
    assert_eq!(app.get_game(&id, None).await.body["status"], "active");
    let (writers, _) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    for _ in 0..2 {
        erasure::end_games(&app.db, &writers, now()).await.expect("games end");
        let game = app.get_game(&id, None).await.body;
        assert_eq!((&game["status"], &game["result"]["winner_player_id"]), (&json!("finished"), &json!(north.id)));
        assert_eq!(app.get_game(open["id"].as_str().expect("an id"), None).await.body["status"], "aborted");
    }
}
