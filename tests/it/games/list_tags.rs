//! A page of games that is still the same is 304.

use reqwest::Method;
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
};

/// Asks for a page that the client has already.
async fn ask_again(app: &TestApp, path: &str, viewer: Option<&Guest>, known: &Answer) -> Answer {
    let request = signed(app.request(Method::GET, path), viewer);
    send(request.header("if-none-match", known.headers["etag"].clone())).await
}

#[actix_web::test]
async fn a_page_of_games_is_304_until_a_game_of_it_changes() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    for path in ["/v1/games", "/v1/games?player=me&status=active", &format!("/v1/games?ids={id}")] {
        let viewer = Some(&south);
        let first = app.get(path, viewer).await;
        let same = ask_again(&app, path, viewer, &first).await;
        assert_eq!((same.status.as_u16(), same.text.as_str()), (304, ""), "{path}");
        assert_eq!(same.headers["etag"], first.headers["etag"], "{path}");
        let others = ask_again(&app, path, Some(&north), &first).await;
        assert_eq!(others.status, 200, "{path}: the page of another viewer is another one");
        let ply = first.body["items"][0]["ply"].as_u64().expect("a ply");
        let (mover, mv) = [(&south, "A"), (&north, "a"), (&south, "B")][usize::try_from(ply).expect("few plies")];
        app.play_move(&id, mover, u32::try_from(ply).expect("few plies") + 1, mv).await;
        let news = ask_again(&app, path, viewer, &first).await;
        assert_eq!((news.status.as_u16(), &news.body["items"][0]["ply"]), (200, &json!(ply + 1)), "{path}");
    }
}

#[actix_web::test]
async fn the_tag_of_a_page_counts_whether_more_follow() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    app.created(&ana, &json!({"variant": "oware"})).await;
    let path = "/v1/games?limit=1&status=open";
    let first = app.get(path, None).await;
    // The cursor of every answer is another text.
    assert_eq!(ask_again(&app, path, None, &first).await.status, 304);
    app.created(&ana, &json!({"variant": "oware"})).await;
    let news = ask_again(&app, path, None, &first).await;
    assert_eq!(news.status, 200);
    let same = ask_again(&app, path, None, &news).await;
    assert_eq!(same.status, 304);
    assert!(same.headers.contains_key("link"), "it says where the next page is");
    // A cursor is for one caller, so the page of another one is another one even if its games are the same.
    let (bo, cy) = (app.guest("Bo").await, app.guest("Cy").await);
    let of_bo = app.get(path, Some(&bo)).await;
    assert_eq!(ask_again(&app, path, Some(&bo), &of_bo).await.status, 304);
    assert_eq!(ask_again(&app, path, Some(&cy), &of_bo).await.status, 200);
}

#[actix_web::test]
async fn a_page_of_invitations_is_304_until_another_one_comes() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let path = "/v1/me/invitations";
    let none = app.get(path, Some(&ana)).await;
    assert_eq!(ask_again(&app, path, Some(&ana), &none).await.status, 304);
    app.created(&bo, &json!({"variant": "bao", "opponent": {"type": "player", "player_id": ana.id}})).await;
    let news = ask_again(&app, path, Some(&ana), &none).await;
    assert_eq!((news.status.as_u16(), &news.body["items"][0]["status"]), (200, &json!("open")));
}
