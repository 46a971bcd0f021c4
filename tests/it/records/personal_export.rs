//! The export of all data that is stored about a player.

use serde_json::{Value, json};

use crate::support::app::TestApp;

#[actix_web::test]
async fn an_export_has_every_game_of_the_caller_and_nothing_of_others() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let bo = app.guest("Bo").await;
    app.sign_in("Ana", "correct horse").await;
    let mut ids = vec![];
    for n in 0..45 {
        let visibility = if n % 2 == 0 { "private" } else { "public" };
        let body = json!({"variant": "kalah", "opponent": {"type": "self"}, "visibility": visibility});
        let game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id").to_owned();
        for (ply, mv) in [(1, "A"), (2, "a")].into_iter().take(n % 3) {
            assert_eq!(app.play_move(&id, &ana, ply, mv).await.status, 201);
        }
        ids.insert(0, id);
    }
    let invitation = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    let invitation = app.created(&bo, &invitation).await;
    let others = app.created(&bo, &json!({"variant": "kalah"})).await;

    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(
        (export.status.as_u16(), &export.headers["cache-control"]),
        (200, &"no-store".parse().expect("a header"))
    );
    // What operators have done stands beside the player.
    let mut player = export.body["player"].clone();
    for field in ["suspension", "warnings"] {
        player[field] = export.body[field].clone();
    }
    assert_eq!(player, app.get("/v1/me", Some(&ana)).await.body);
    assert_eq!(export.body["sign_ins"].as_array().map(Vec::len), Some(2));
    let games = export.body["games"].as_array().expect("games");
    let exported: Vec<_> = games.iter().map(|item| item["game"]["id"].as_str().expect("an id").to_owned()).collect();
    assert_eq!(exported, ids);
    for item in games {
        let id = item["game"]["id"].as_str().expect("an id");
        assert_eq!(item["game"], app.get_game(id, Some(&ana)).await.body);
        assert_eq!(item["moves"], app.list_moves(id, "", Some(&ana)).await.body["items"]);
    }
    assert_eq!(export.body["invitations"][0]["id"], invitation["id"]);
    assert!(!export.text.contains(others["id"].as_str().expect("an id")));
    for secret in ["argon2", "password", "hash"] {
        assert!(!export.text.contains(secret), "{secret}");
    }
}

#[actix_web::test]
async fn the_export_of_a_player_without_games_is_whole() {
    let app = TestApp::start().await;
    let guest = app.guest("Ana").await;
    let export = app.get("/v1/me/export", Some(&guest)).await;
    assert_eq!(export.body["games"], json!([]));
    app.get("/v1/me/export", None).await.is_problem(401, "unauthenticated");
    app.delete_me(&guest).await;
    let erased = app.get("/v1/me/export", Some(&guest)).await;
    assert_eq!(erased.body["games"], Value::Null);
    erased.is_problem(401, "invalid_token");
}
