//! Presence: when a friend was last seen, told in three words and to friends only.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    database::count_rows,
};

const PASSWORD: &str = "correct horse";

async fn ask(app: &TestApp, guest: &Guest, other: &Guest) {
    let request = app.request(Method::PUT, &format!("/v1/me/friends/{}", other.id));
    assert_eq!(send(signed(request, Some(guest))).await.status, 200);
}

/// What a caller sees of a player.
async fn seen(app: &TestApp, player: &Guest, by: Option<&Guest>) -> Value {
    let answer = app.get(&format!("/v1/players/{}", player.id), by).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body.get("last_seen").unwrap_or_else(|| panic!("no field: {answer:?}")).clone()
}

/// Lets the sign-ins of a player be older.
async fn age(app: &TestApp, player: &Guest, hours: i32) {
    let sql = "update refresh_token set expires_at = expires_at - make_interval(hours => $2)
        from refresh_family family where family.id = family_id and family.player_id = $1::uuid";
    sqlx::query(sql).bind(&player.id).bind(hours).execute(&app.db).await.expect("tokens are older");
}

#[actix_web::test]
async fn a_friend_is_last_seen_today_this_week_or_earlier() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.guest("Bo").await);
    ask(&app, &ana, &bo).await;
    ask(&app, &bo, &ana).await;
    for (hours, word) in
        [(0, "today"), (23, "today"), (2, "this_week"), (6 * 24 - 2, "this_week"), (2, "earlier"), (1000, "earlier")]
    {
        age(&app, &ana, hours).await;
        assert_eq!(seen(&app, &ana, Some(&bo)).await, word, "{hours}");
    }
    // The last use of any device counts.
    assert_eq!(app.sign_in("Ana", PASSWORD).await.status, 200);
    assert_eq!(seen(&app, &ana, Some(&bo)).await, "today");
    assert_eq!(seen(&app, &bo, Some(&ana)).await, "today");
}

#[actix_web::test]
async fn only_friends_see_when_a_player_was_last_seen() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let unseen = async || {
        for by in [None, Some(&bo), Some(&eve), Some(&ana)] {
            assert_eq!(seen(&app, &ana, by).await, Value::Null);
        }
    };
    unseen().await;
    // A request, in either direction, is not enough.
    ask(&app, &ana, &bo).await;
    ask(&app, &eve, &ana).await;
    unseen().await;
    ask(&app, &bo, &ana).await;
    assert_eq!(seen(&app, &ana, Some(&bo)).await, "today");
    let path = format!("/v1/me/blocks/{}", bo.id);
    assert_eq!(send(signed(app.request(Method::PUT, &path), Some(&ana))).await.status, 204);
    unseen().await;
}

#[actix_web::test]
async fn a_player_can_hide_when_it_was_last_seen() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    ask(&app, &ana, &bo).await;
    ask(&app, &bo, &ana).await;
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["shows_last_seen"], true);
    for (shows, word) in [(false, Value::Null), (false, Value::Null), (true, json!("today"))] {
        let set = app.patch("/v1/me", Some(&ana), &json!({"shows_last_seen": shows})).await;
        assert_eq!((set.status.as_u16(), &set.body["shows_last_seen"]), (200, &json!(shows)), "{set:?}");
        // A change of something else leaves it.
        app.patch("/v1/me", Some(&ana), &json!({"name": format!("Ana {shows}")})).await;
        assert_eq!(app.get("/v1/me/export", Some(&ana)).await.body["player"]["shows_last_seen"], shows);
        assert_eq!(seen(&app, &ana, Some(&bo)).await, word);
        assert_eq!(seen(&app, &bo, Some(&ana)).await, "today");
    }
    app.patch("/v1/me", Some(&ana), &json!({"shows_last_seen": false})).await;
    let account = app.account("Bea", PASSWORD).await;
    let merged = app.post("/v1/me/merge", Some(&account), &json!({"guest_token": ana.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!(app.get("/v1/me", Some(&account)).await.body["shows_last_seen"], false);
    assert_eq!(seen(&app, &account, Some(&bo)).await, Value::Null);
    let ana = account;
    assert_eq!(count_rows(&app, "hidden_last_seen").await, 1);
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(count_rows(&app, "hidden_last_seen").await, 0);
    assert_eq!(seen(&app, &ana, Some(&bo)).await, Value::Null);
}
