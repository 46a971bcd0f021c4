//! What a suspended player may still do, on every server, until the suspension ends.

use mancala_server::{db::players::revocations::Reader, http::Mailing};
use reqwest::Method;
use serde_json::{Value, json};

use super::{act, operator, suspend};
use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    clock::until_seen,
    database::count_rows,
    games::some_move,
};

const PASSWORD: &str = "correct horse";

/// The operations that are no reads and that a suspended player may still call.
const PERMITTED: &[&str] = &[
    "create_player",
    "create_token",
    "revoke_token",
    "exchange_token",
    "update_me",
    "delete_me",
    "delete_sign_ins",
    "delete_sign_in",
    "renew_recovery_code",
    "begin_sign_in",
    "complete_sign_in",
    "link_identity",
    "write_my_email",
    "verify_email",
    "create_password_reset",
    "reset_password",
    "create_stream_ticket",
    "create_block",
    "delete_block",
    "create_mute",
    "delete_mute",
    "delete_device",
    "delete_friend",
    "delete_imports",
    "delete_game",
    "write_note",
    "write_push_settings",
    "delete_note",
    "analyse_game",
    "resign_game",
    "abort_game",
    "decline_invitation",
    "renew_join_code",
    "decline_offer",
    "withdraw_offer",
    "play_line",
    "update_webhook",
    "delete_webhook",
];

/// The ids, methods and paths of the operations with a player's token, or without one, that are no reads.
fn operations(document: &Value) -> Vec<(String, Method, String)> {
    let id = "0199aaaa-0000-7000-8000-000000000000";
    let mut found = vec![];
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{ply}", "0").replace("{type}", "draw").replace("{variant}", "kalah");
        let path = ["{id}", "{player_id}", "{webhook_id}", "{delivery_id}", "{sign_in_id}", "{device_id}", "{code}"]
            .into_iter()
            .fold(path, |path, name| path.replace(name, id));
        for (method, operation) in item.as_object().expect("operations") {
            if method != "get" && !path.starts_with("/v1/operator/") {
                let method = method.to_uppercase().parse().expect("a method");
                found.push((operation["operationId"].as_str().expect("an id").to_owned(), method, path.clone()));
            }
        }
    }
    found
}

#[actix_web::test]
async fn a_suspended_player_ends_what_has_begun_and_reaches_no_others() {
    let app = TestApp::start().await;
    let kim = operator(&app, "kim").await;
    let document = app.get("/openapi.json", None).await.body;
    for kind in ["suspend", "ban"] {
        let (mut refused, mut permitted) = (0, vec![]);
        for (operation, method, path) in operations(&document) {
            let guest = app.guest("Guest").await;
            suspend(&app, &kim, &guest, kind).await;
            let answer = send(signed(app.request(method, &path), Some(&guest)).json(&json!({}))).await;
            if answer.body["code"] == "player_suspended" {
                answer.is_problem(403, "player_suspended");
                assert_eq!(answer.body["suspension"]["reason"], "spam");
                assert_eq!(answer.body["suspension"]["until"].is_null(), kind == "ban");
                refused += 1;
            } else {
                permitted.push(operation);
            }
        }
        let mut expected: Vec<_> = PERMITTED.to_vec();
        if kind == "suspend" {
            expected.extend(["play_move", "accept_offer"]);
        }
        expected.sort_unstable();
        permitted.sort_unstable();
        assert_eq!(permitted, expected);
        assert!(refused >= 12, "{refused}");
    }
}

#[actix_web::test]
async fn what_has_begun_is_played_on_unless_the_player_is_banned() {
    let app = TestApp::start().await;
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    suspend(&app, &kim, &ana, "suspend").await;
    let game = app.get_game(&id, Some(&ana)).await.body;
    assert_eq!(app.play_move(&id, &ana, 1, some_move(&game)).await.status, 201);
    app.create_game(&ana, &json!({"variant": "kalah"})).await.is_problem(403, "player_suspended");
    app.offer(&id, &ana, "draw").await.is_problem(403, "player_suspended");
    app.answer_offer(&id, &ana, "rematch", "accept").await.is_problem(403, "player_suspended");
    app.answer_offer(&id, &ana, "draw", "accept").await.is_problem(409, "no_such_offer");
    app.patch("/v1/me", Some(&ana), &json!({"name": "Anna"})).await.is_problem(403, "player_suspended");
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["suspension"]["reason"], "spam");
    suspend(&app, &kim, &ana, "ban").await;
    app.play_move(&id, &ana, 2, "A").await.is_problem(403, "player_suspended");
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    // The opponent, and a reader without a token, notice nothing.
    assert_eq!(app.create_game(&bo, &json!({"variant": "kalah"})).await.status, 201);
    assert_eq!(app.get("/v1/me", Some(&bo)).await.body["suspension"], Value::Null);
    assert_eq!(act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await.status, 201);
    assert_eq!(app.create_game(&ana, &json!({"variant": "kalah"})).await.status, 201);
}

#[actix_web::test]
async fn a_suspended_account_signs_in_and_stays_suspended() {
    let app = TestApp::start().await;
    let (kim, ana) = (operator(&app, "kim").await, app.account("Ana", PASSWORD).await);
    suspend(&app, &kim, &ana, "ban").await;
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    let token = app.sign_in("Ana", "battery staple").await.string("/access_token");
    let ana = Guest { token, ..ana };
    assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200);
    app.create_game(&ana, &json!({"variant": "kalah"})).await.is_problem(403, "player_suspended");
    // An account cannot take a suspended guest along.
    let (bo, guest) = (app.account("Bo", PASSWORD).await, app.guest("Guest").await);
    suspend(&app, &kim, &guest, "suspend").await;
    let merge = app.post("/v1/me/merge", Some(&bo), &json!({"guest_token": guest.token})).await;
    merge.is_problem(403, "player_suspended");
}

#[actix_web::test]
async fn every_server_knows_of_a_suspension_and_of_its_end() {
    let mut app = TestApp::start().await;
    let (kim, ana, bo) = (operator(&app, "kim").await, app.guest("Ana").await, app.guest("Bo").await);
    let here = app.address;
    let (second, _hub) = app.second_server();
    let seek = json!({"variant": "kalah"});
    let until = async |app: &TestApp, status: u16| {
        let answer = async || app.create_game(&ana, &seek).await.status.as_u16();
        until_seen("the server knows", answer, |seen: &u16| *seen == status).await;
    };
    for _ in 0..2 {
        app.address = second;
        until(&app, 201).await;
        app.address = here;
        suspend(&app, &kim, &ana, "suspend").await;
        app.create_game(&ana, &seek).await.is_problem(403, "player_suspended");
        app.address = second;
        until(&app, 403).await;
        assert_eq!(app.create_game(&bo, &seek).await.status, 201);
        app.address = here;
        act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await;
        assert_eq!(app.create_game(&ana, &seek).await.status, 201);
    }
    suspend(&app, &kim, &ana, "ban").await;
    // A server that starts later reads all suspensions in force first; and time ends one.
    sqlx::query("update player_suspension set changed_at = changed_at - interval '2 days'")
        .execute(&app.db)
        .await
        .expect("it ages");
    let (third, _hub) = app.second_server();
    app.address = third;
    app.create_game(&ana, &seek).await.is_problem(403, "player_suspended");
    sqlx::query("update player_suspension set until = now(), changed_at = clock_timestamp()")
        .execute(&app.db)
        .await
        .expect("it ends");
    until(&app, 201).await;
}

#[actix_web::test]
async fn a_server_first_reads_the_suspensions_in_force_alone() {
    let app = TestApp::start().await;
    let kim = operator(&app, "kim").await;
    let mut guests = vec![];
    for (name, kind) in [("Banned", "ban"), ("Lifted", "ban"), ("Over", "suspend"), ("Suspended", "suspend")] {
        let guest = app.guest(name).await;
        suspend(&app, &kim, &guest, kind).await;
        guests.push(guest);
    }
    act(&app, &kim, &guests[1].id, &json!({"type": "lift", "reason": "x"})).await;
    let over = "update player_suspension set until = now() where player_id = $1::uuid";
    sqlx::query(over).bind(&guests[2].id).execute(&app.db).await.expect("it is over");
    let mut reader = Reader::new((&app.options).into());
    let read = reader.read_suspensions(None).await.expect("a database");
    let mut read: Vec<_> =
        read.into_iter().map(|(player, term)| (player.0.to_string(), term.until.is_none())).collect();
    read.sort_unstable();
    let mut expected = vec![(guests[0].id.clone(), true), (guests[3].id.clone(), false)];
    expected.sort_unstable();
    assert_eq!(read, expected);
    let changed = reader.read_suspensions(Some(time::Duration::hours(1))).await.expect("a database");
    assert_eq!((changed.len(), changed.iter().filter(|(_, term)| term.is_lifted).count()), (4, 1));
}

#[actix_web::test]
async fn a_suspended_account_removes_its_address_and_sets_no_other() {
    let app = TestApp::start_with(|service| service.settings.mailing = Mailing::On).await;
    let kim = operator(&app, "kim").await;
    for (name, kind) in [("Ana", "suspend"), ("Bo", "ban")] {
        let account = app.account(name, PASSWORD).await;
        let set = async |email: Value| {
            app.put("/v1/me/email", Some(&account), &json!({"email": email, "current_password": PASSWORD})).await
        };
        assert_eq!(set(json!(format!("{name}@mail.example"))).await.status, 200);
        suspend(&app, &kim, &account, kind).await;
        set(json!("other@mail.example")).await.is_problem(403, "player_suspended");
        let removed = set(Value::Null).await;
        assert_eq!((removed.status.as_u16(), &removed.body["pending"]), (200, &Value::Null));
        assert_eq!(count_rows(&app, "mail").await, 0);
    }
}
