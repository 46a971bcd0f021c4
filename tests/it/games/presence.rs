//! Pairing: a seek joins a player who is there, and passes the open games of those who have gone.

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send},
};

async fn seek(app: &TestApp, guest: &Guest, body: &Value) -> Answer {
    app.post("/v1/games/seek", Some(guest), body).await
}

/// The last token of a player becomes so many minutes older.
async fn age(app: &TestApp, guest: &Guest, minutes: i32) {
    for table in ["refresh_family", "app_player"] {
        let text =
            format!("update {table} set token_at = now() - make_interval(mins => $2) where player_id = $1::uuid");
        let aged = sqlx::query(AssertSqlSafe(text)).bind(&guest.id).bind(minutes);
        aged.execute(&app.db).await.expect("it is older");
    }
}

/// Whether a new guest that seeks such a game joins that of `waiting`. Nothing stays open.
async fn meets(app: &TestApp, waiting: &Guest, body: &Value) -> bool {
    let open = sqlx::query_scalar::<_, String>("select id::text from game where status = 'open'");
    let open = open.fetch_one(&app.db).await.expect("one game is open");
    let seeker = app.guest("Seeker").await;
    let found = seek(app, &seeker, body).await;
    if found.status == 201 {
        assert_eq!(app.abort_game(&found.string("/id"), &seeker).await.status, 200);
        assert_eq!(app.join_game(&open, &seeker).await.status, 200, "a game that is named can be joined");
        return false;
    }
    assert_eq!((found.status.as_u16(), found.string("/id")), (200, open));
    let seats = &found.body["seats"];
    assert!(seats["south"]["id"] == waiting.id || seats["north"]["id"] == waiting.id, "{found:?}");
    true
}

#[actix_web::test]
async fn a_seek_passes_the_games_of_players_who_have_gone() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let clock =
        |kind: &str, field: &str, seconds: u32| json!({"variant": "kalah", "clock": {"type": kind, field: seconds}});
    let slow = [json!({"variant": "kalah"}), clock("per_move", "move_s", 86_400), clock("bank", "bank_s", 86_400)];
    let fast = [clock("per_move", "move_s", 86_399), clock("bank", "bank_s", 86_399)];
    for (bodies, minutes) in [(&slow[..], 24 * 60), (&fast[..], 20)] {
        for body in bodies {
            for (age_min, is_there) in [(minutes - 1, true), (minutes + 1, false)] {
                app.created(&ana, body).await;
                age(&app, &ana, age_min).await;
                assert_eq!(meets(&app, &ana, body).await, is_there, "{body} {age_min}");
            }
        }
    }
}

#[actix_web::test]
async fn a_token_makes_a_player_present_again_and_signing_out_does_not() {
    let app = TestApp::start().await;
    let made = app.post("/v1/players", None, &json!({"name": "Ana"})).await;
    let ana = Guest { id: made.string("/player/id"), token: made.string("/access_token") };
    let body = json!({"variant": "kalah", "clock": {"type": "per_move", "move_s": 60}});
    app.created(&ana, &body).await;
    age(&app, &ana, 30).await;
    assert!(!meets(&app, &ana, &body).await);
    app.created(&ana, &body).await;
    let refreshed = app.refresh(&made.string("/refresh_token")).await;
    assert_eq!(refreshed.status, 200);
    assert!(meets(&app, &ana, &body).await);
    app.created(&ana, &body).await;
    let revoked = app.post("/v1/tokens/revoke", None, &json!({"token": refreshed.string("/refresh_token")})).await;
    assert_eq!(revoked.status, 200);
    assert!(!meets(&app, &ana, &body).await);
}

#[actix_web::test]
async fn a_player_with_a_device_for_notifications_is_present() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = json!({"variant": "kalah"});
    app.created(&ana, &body).await;
    age(&app, &ana, 60 * 24 * 7).await;
    sqlx::query(
        "insert into push_device (id, player_id, kind, address, address_hash, host, language, created_at) \
        values (gen_random_uuid(), $1::uuid, 'web', 'https://push.example', '\\x00', 'push.example', 'en', now())",
    )
    .bind(&ana.id)
    .execute(&app.db)
    .await
    .expect("a device");
    assert!(meets(&app, &ana, &body).await);
}

#[actix_web::test]
async fn a_player_of_an_app_is_present_by_its_last_token() {
    let app = TestApp::start().await;
    let service = app.new_app("Boards").await;
    let ana = app.app_player(&service, "ana", "Ana").await;
    let body = json!({"variant": "kalah", "clock": {"type": "per_move", "move_s": 60}});
    app.created(&ana, &body).await;
    age(&app, &ana, 21).await;
    assert!(!meets(&app, &ana, &body).await);
    app.created(&ana, &body).await;
    assert_eq!(app.app_player_token(&service, "ana").await.status, 200);
    assert!(meets(&app, &ana, &body).await);
}

#[actix_web::test]
async fn a_game_without_a_clock_that_nobody_moves_in_can_be_aborted() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.played(&id, &south, 1, "A").await;
    app.abort_game(&id, &south).await.is_problem(403, "forbidden");
    let actions = async || app.get_game(&id, Some(&south)).await.body["me"]["actions"].clone();
    assert!(!actions().await.as_array().expect("words").contains(&json!("abort")));
    // The log as it would be a day later.
    for text in [
        "update game set created_at = created_at - interval '1 day', started_at = started_at - interval '1 day' where id = $1::uuid",
        "update event set at = at - interval '1 day' where game_id = $1::uuid and kind <> 'moved'",
    ] {
        sqlx::query(text).bind(&id).execute(&app.db).await.expect("it is older");
    }
    let server = app.second_server().0;
    let shown = reqwest::Client::new().get(format!("http://{server}/v1/games/{id}")).bearer_auth(&south.token);
    let shown = send(shown).await;
    assert!(shown.body["me"]["actions"].as_array().expect("words").contains(&json!("abort")), "{shown:?}");
    let aborting =
        reqwest::Client::new().post(format!("http://{server}/v1/games/{id}/abort")).bearer_auth(&south.token);
    let aborted = send(aborting).await;
    assert_eq!((aborted.status.as_u16(), &aborted.body["status"]), (200, &json!("aborted")));
    assert_eq!(app.get_game(&id, Some(&north)).await.body["result"], Value::Null);
}
