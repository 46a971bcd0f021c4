//! Cursors of lists: what they hold for, and that they tell nothing.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use serde_json::json;
use uuid::Uuid;

use crate::support::{app::TestApp, calls::send};

#[actix_web::test]
async fn a_cursor_of_other_filters_or_a_made_up_one_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for _ in 0..2 {
        app.created(&ana, &json!({"variant": "kalah"})).await;
    }
    let page = app.get("/v1/games?limit=1&status=open", None).await;
    let cursor = page.string("/next_cursor");
    assert_eq!(app.get(&format!("/v1/games?limit=1&status=open&cursor={cursor}"), None).await.status, 200);
    let edited = format!("{}A", &cursor[..cursor.len() - 1]);
    for query in [
        format!("cursor={cursor}"),
        format!("status=active&cursor={cursor}"),
        format!("status=open&player={}&cursor={cursor}", ana.id),
        "cursor=".to_owned(),
        "cursor=%FF".to_owned(),
        format!("status=open&cursor={edited}x"),
        "limit=0".to_owned(),
        "limit=101".to_owned(),
        "limit=-1".to_owned(),
        "limit=many".to_owned(),
        "status=won".to_owned(),
        "variant=chess".to_owned(),
        "player=ana".to_owned(),
        "colour=red".to_owned(),
    ] {
        app.get(&format!("/v1/games?{query}"), None).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn a_cursor_does_not_reveal_a_private_game_at_the_end_of_a_page() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    // A range is searched no further than a thousand games.
    let hidden = json!({"variant": "kalah", "visibility": "unlisted", "opponent": {"type": "self"}});
    for _ in 0..10 {
        join_all((0..100).map(async |_| {
            let game = app.created(&ana, &hidden).await;
            app.abort_game(game["id"].as_str().expect("an id"), &ana).await;
        }))
        .await;
    }
    let page = app.list_games(&format!("player={}", ana.id), None).await;
    let cursor = page.string("/next_cursor");
    let ids: Vec<Uuid> = sqlx::query_scalar("select id from game").fetch_all(&app.db).await.expect("ids");
    let decoded = BASE64_URL_SAFE_NO_PAD.decode(&cursor).expect("a cursor is base64");
    let told = String::from_utf8_lossy(&decoded).into_owned();
    for id in ids {
        assert!(!told.contains(&id.to_string()) && !decoded.windows(16).any(|bytes| bytes == id.as_bytes()));
    }
    // The cursor leads on all the same.
    assert_eq!(app.list_games(&format!("player={}&cursor={cursor}", ana.id), None).await.status, 200);
}

#[actix_web::test]
async fn a_cursor_holds_at_another_server_of_the_same_database() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let games =
        [app.created(&ana, &json!({"variant": "kalah"})).await, app.created(&ana, &json!({"variant": "kalah"})).await];
    let cursor = app.list_games("limit=1", None).await.string("/next_cursor");
    let (address, _) = app.second_server();
    let there = reqwest::Client::new().get(format!("http://{address}/v1/games?limit=1&cursor={cursor}"));
    assert_eq!(send(there).await.ids(), [games[0]["id"].as_str().expect("an id")]);
}

#[actix_web::test]
async fn a_cursor_holds_for_one_list_of_one_viewer_and_not_when_edited() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for _ in 0..2 {
        app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    }
    let query = format!("player={}&status=active&limit=1", ana.id);
    let cursor = app.list_games(&query, Some(&ana)).await.string("/next_cursor");
    let with = |query: &str, cursor: &str| format!("{query}&cursor={cursor}");
    let same = [query.clone(), query.replace("limit=1", "limit=7"), query.replace(&ana.id, "me")];
    for query in [&same[0], &same[1], &same[2], &query.replace(&ana.id, &ana.id.to_uppercase())] {
        assert_eq!(app.list_games(&with(query, &cursor), Some(&ana)).await.ids().len(), 1, "{query}");
    }
    for viewer in [None, Some(&bo)] {
        app.list_games(&with(&query, &cursor), viewer).await.is_problem(422, "validation_failed");
    }
    for more in ["variant=kalah", "sort=updated_at", "sort=deadline", "turn=me", "visibility=public", "opponent=me"] {
        let query = with(&format!("{query}&{more}"), &cursor);
        app.list_games(&query, Some(&ana)).await.is_problem(422, "validation_failed");
    }
    // Every character by another, in turn.
    for n in 0..cursor.len() {
        let other = if cursor.as_bytes()[n] == b'A' { "B" } else { "A" };
        let edited = format!("{}{other}{}", &cursor[..n], &cursor[n + 1..]);
        let answer = app.list_games(&with(&query, &edited), Some(&ana)).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "?cursor");
    }
    for edited in ["", "A", &cursor[..cursor.len() - 1], &format!("{cursor}A"), &format!("{cursor}="), &cursor[..10]] {
        app.list_games(&with(&query, edited), Some(&ana)).await.is_problem(422, "validation_failed");
    }
    let moves = app.list_games("player=me", Some(&ana)).await.ids();
    app.play_move(&moves[0], &ana, 1, "A").await;
    app.list_moves(&moves[0], &format!("cursor={cursor}"), Some(&ana)).await.is_problem(422, "validation_failed");
}
