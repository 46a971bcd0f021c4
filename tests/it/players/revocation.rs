//! Revoked credentials: after a new password, a sign-out everywhere or an erasure, older tokens are refused by every server.

use mancala_server::jobs::purge::{self, Guests};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::{now, until_async},
    database::{count_rows, set_away, set_back},
    endpoint::Endpoint,
    listener::{Listener, asking},
    webhooks::created,
};

const PASSWORD: &str = "correct horse";

async fn sign_out(app: &TestApp, guest: &Guest, query: &str) -> Answer {
    send(signed(app.request(Method::DELETE, &format!("/v1/me/sign-ins{query}")), Some(guest))).await
}

/// Revokes a player's credentials in one of three ways; returns the status.
async fn revoke(app: &TestApp, way: &str, guest: &Guest) -> StatusCode {
    match way {
        "password" => app.patch("/v1/me", Some(guest), &json!({"password": "battery staple"})).await.status,
        "sign-out" => sign_out(app, guest, "").await.status,
        _ => app.delete_me(guest).await.status,
    }
}

/// Every kind of call, with a token, on games of its player.
async fn answers(app: &TestApp, guest: &Guest, active: &str, open: &str) -> Vec<Answer> {
    let nothing = json!({});
    let webhook = app.request(Method::POST, "/v1/webhooks").header("idempotency-key", "k");
    vec![
        app.play_move(active, guest, 1, "A").await,
        app.resign_game(active, guest).await,
        app.offer(active, guest, "draw").await,
        app.post(&format!("/v1/games/{active}/analysis"), Some(guest), &nothing).await,
        app.abort_game(open, guest).await,
        app.post(&format!("/v1/games/{open}/join-code"), Some(guest), &nothing).await,
        send(signed(webhook, Some(guest)).json(&json!({"url": "https://example.com/a"}))).await,
        app.get_game(open, Some(guest)).await,
        app.get("/v1/variants", Some(guest)).await,
        app.get("/v1/me/export", Some(guest)).await,
        app.post("/v1/me/stream-tickets", Some(guest), &nothing).await,
    ]
}

#[actix_web::test]
async fn an_old_token_is_refused_on_every_server_for_every_call() {
    let mut app = TestApp::start().await;
    let here = app.address;
    let (elsewhere, _) = app.second_server();
    let bo = app.guest("Bo").await;
    for way in ["password", "sign-out", "erasure"] {
        let ana = app.account("Ana", PASSWORD).await;
        let active = app.started_between(&ana, &bo, &json!({})).await;
        let open = json!({"variant": "kalah", "opponent": {"type": "link"}, "visibility": "private"});
        let open = app.created(&ana, &open).await["id"].as_str().expect("an id").to_owned();
        let webhook = app.request(Method::POST, "/v1/webhooks").header("idempotency-key", "k");
        let webhook = send(signed(webhook, Some(&ana)).json(&json!({"url": "https://example.com/a"}))).await;
        assert_eq!(webhook.status, 201, "{webhook:?}");
        let ticket = app.post("/v1/me/stream-tickets", Some(&ana), &json!({})).await.string("/ticket");
        // Both servers have the token in their caches.
        for address in [elsewhere, here] {
            app.address = address;
            assert_eq!(app.get_game(&open, Some(&ana)).await.status, 200, "{way}");
        }
        assert!(revoke(&app, way, &ana).await.is_success(), "{way}");
        for answer in answers(&app, &ana, &active, &open).await {
            answer.is_problem(401, "invalid_token");
        }
        app.address = elsewhere;
        let what = format!("the other server refuses the token: {way}");
        until_async(&what, async || app.get_game(&open, Some(&ana)).await.status == 401).await;
        for answer in answers(&app, &ana, &active, &open).await {
            answer.is_problem(401, "invalid_token");
        }
        app.get(&format!("/v1/me/events?ticket={ticket}"), None).await.is_problem(401, "invalid_token");
        app.address = here;
        let game = app.get_game(&active, Some(&bo)).await.body;
        assert_eq!((&game["ply"], game["status"] == "active"), (&json!(0), way != "erasure"), "{way}");
        if way != "erasure" {
            let signed_in = app.sign_in("Ana", if way == "password" { "battery staple" } else { PASSWORD }).await;
            let ana = Guest { token: signed_in.string("/access_token"), ..ana };
            assert_eq!(app.play_move(&active, &ana, 1, "A").await.status, 201, "{way}");
            assert_eq!(app.delete_me(&ana).await.status, 204);
        }
    }
}

#[actix_web::test]
async fn a_server_that_has_just_started_accepts_no_old_token() {
    let mut app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let id = app.created(&ana, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(sign_out(&app, &ana, "").await.status, 204);
    for _ in 0..5 {
        (app.address, _) = app.second_server();
        app.abort_game(&id, &ana).await.is_problem(401, "invalid_token");
    }
}

#[actix_web::test]
async fn without_the_database_no_token_is_accepted_and_public_pages_are_shown() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut superuser = app.superuser().await;
    set_away(&app, &mut superuser).await;
    // For a second the last reading is good enough.
    until_async("the last reading is too old", async || {
        let answer = app.get("/v1/games?player=me", Some(&ana)).await;
        answer.is_problem(503, "unavailable");
        answer.string("/detail").contains("revoked")
    })
    .await;
    assert_eq!(app.get("/v1/variants", Some(&ana)).await.status, 200);
    set_back(&app, &mut superuser).await;
    let is_accepted = async || app.get("/v1/games?player=me", Some(&ana)).await.status == 200;
    until_async("the token is accepted again", is_accepted).await;
}

#[actix_web::test]
async fn a_replay_shows_no_secret_to_an_old_token() {
    let mut app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let ana = app.account("Ana", PASSWORD).await;
    let create = async |app: &TestApp| {
        let request = app.request(Method::POST, "/v1/webhooks").header("idempotency-key", "k");
        send(signed(request, Some(&ana)).json(&json!({"url": "https://example.com/a"}))).await
    };
    assert_eq!(create(&app).await.status, 201);
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await.status, 200);
    // At once, before this server has read of the new password.
    app.address = elsewhere;
    let replayed = create(&app).await;
    replayed.is_problem(401, "invalid_token");
    assert!(!replayed.text.contains("whsec_"));
}

#[actix_web::test]
async fn signing_out_everywhere_ends_all_sign_ins_and_streams() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let devices = [app.sign_in("Ana", PASSWORD).await, app.sign_in("Ana", PASSWORD).await];
    let id = app.created(&ana, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    let mut stream = Listener::open(asking(&app.base(), &id, "after=1", Some(&ana))).await;
    assert_eq!(sign_out(&app, &ana, "").await.status, 204);
    assert_eq!(stream.next().await, None);
    for device in &devices {
        app.refresh(&device.string("/refresh_token")).await.is_problem(401, "invalid_token");
    }
    // The answer may have been lost: the call has had its effect.
    sign_out(&app, &ana, "").await.is_problem(401, "invalid_token");
    let again = app.sign_in("Ana", PASSWORD).await;
    assert_eq!(app.refresh(&again.string("/refresh_token")).await.status, 200);
    let settings = purge::Settings { guest_retention: None };
    purge::run(&app.db, settings, &mut Guests::default(), now()).await.expect("it is purged");
    assert_eq!(count_rows(&app, "refresh_family").await, 1);
    assert_eq!(count_rows(&app, "revoked_credentials").await, 1);
    let old = "update revoked_credentials set revoked_at = now() - interval '61 minutes'";
    sqlx::raw_sql(old).execute(&app.db).await.expect("time can be moved");
    purge::run(&app.db, settings, &mut Guests::default(), now()).await.expect("it is purged");
    assert_eq!(count_rows(&app, "revoked_credentials").await, 0);
}

#[actix_web::test]
async fn a_guest_cannot_sign_out_everywhere() {
    let app = TestApp::start().await;
    let guest = app.guest("Ana").await;
    sign_out(&app, &guest, "").await.is_problem(403, "forbidden");
    assert_eq!(app.get("/v1/me", Some(&guest)).await.status, 200);
    sign_out(&app, &guest, "?webhooks=none").await.is_problem(422, "validation_failed");
    send(app.request(Method::DELETE, "/v1/me/sign-ins")).await.is_problem(401, "unauthenticated");
}

#[actix_web::test]
async fn a_new_password_or_a_sign_out_deletes_webhooks_on_request() {
    let app = TestApp::start().await;
    let mut ana = app.account("Ana", PASSWORD).await;
    let endpoint = Endpoint::start().await;
    let alone = app.patch("/v1/me", Some(&ana), &json!({"delete_webhooks": true})).await;
    alone.is_problem(422, "validation_failed");
    assert_eq!(alone.body["errors"][0]["pointer"], "/delete_webhooks");
    for (way, body, left) in [
        ("password", json!({"password": PASSWORD}), 1),
        ("password", json!({"password": PASSWORD, "delete_webhooks": false}), 1),
        ("password", json!({"password": PASSWORD, "delete_webhooks": true}), 0),
        ("sign-out", Value::Null, 1),
        ("sign-out", json!("?webhooks=delete"), 0),
    ] {
        if app.get("/v1/webhooks", Some(&ana)).await.ids().is_empty() {
            created(&app, &ana, &endpoint).await;
        }
        ana.token = if way == "password" {
            app.patch("/v1/me", Some(&ana), &body).await.string("/tokens/access_token")
        } else {
            assert_eq!(sign_out(&app, &ana, body.as_str().unwrap_or_default()).await.status, 204);
            app.sign_in("Ana", PASSWORD).await.string("/access_token")
        };
        assert_eq!(app.get("/v1/webhooks", Some(&ana)).await.ids().len(), left, "{way} {body}");
    }
    assert_eq!(count_rows(&app, "webhook where url <> '' or secret <> ''").await, 0);
}
