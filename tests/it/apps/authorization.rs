//! Each operation of the document by each kind of caller: a credential opens what the document says, and nothing else.

use mancala_server::{db::apps, webhook::Reach};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    apps::{app_name, new_key, until_refused},
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
    issuer::{BACK, StubIssuer},
};

const DOCUMENT: &str = include_str!("../../../openapi/openapi.json");

/// What would outlast the access that the app gives. A password and a merge need a body: see below.
const REFUSED_TO_PLAYERS_OF_APPS: [&str; 4] =
    ["create_webhook", "renew_recovery_code", "begin_sign_in", "link_identity"];

/// An operation, and which schemes open it.
struct Operation {
    id: String,
    method: Method,
    path: String,
    schemes: Vec<String>,
}

fn operations() -> Vec<Operation> {
    let document: Value = serde_json::from_str(DOCUMENT).expect("JSON");
    let mut operations = vec![];
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let schemes = operation["security"].as_array().expect("security");
            let schemes = schemes.iter().flat_map(|scheme| scheme.as_object().expect("a scheme").keys().cloned());
            operations.push(Operation {
                id: operation["operationId"].as_str().expect("an id").to_owned(),
                method: method.to_uppercase().parse().expect("a method"),
                path: filled(path),
                schemes: schemes.collect(),
            });
        }
    }
    operations
}

/// A path with a value for each parameter.
fn filled(path: &str) -> String {
    let words = [
        ("{variant}", "kalah"),
        ("{ply}", "1"),
        ("{code}", "internal"),
        ("{type}", "draw"),
        ("{external_id}", "x"),
        ("{issuer}", "x"),
    ];
    let path = words.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    let ids = ["{id}", "{player_id}", "{webhook_id}", "{delivery_id}", "{sign_in_id}", "{device_id}"];
    ids.iter().fold(path, |path, name| path.replace(name, "0199aaaa-0000-7000-8000-000000000000"))
}

async fn call(app: &TestApp, operation: &Operation, caller: Option<&Guest>) -> Answer {
    let request = signed(app.request(operation.method.clone(), &operation.path), caller);
    let body = match operation.id.as_str() {
        "write_app_player" => json!({"name": "Ana"}),
        "create_webhook" => json!({"url": "https://push.example/a"}),
        "begin_sign_in" => json!({"redirect_uri": BACK}),
        "link_identity" => json!({"session": "a", "state": "b", "code": "c"}),
        "write_my_email" => json!({"email": "ana@mail.example", "current_password": "correct horse"}),
        "create_password_reset" => json!({"email": "ana@mail.example"}),
        "verify_email" => json!({"token": "a"}),
        "reset_password" => json!({"token": "a", "password": "battery staple"}),
        _ => json!({}),
    };
    send(if operation.method == Method::GET { request } else { request.json(&body) }).await
}

#[actix_web::test]
async fn each_operation_opens_to_the_callers_of_the_document_only() {
    let issuers = StubIssuer::start().issuers_as("x", Reach::Anywhere);
    let app = TestApp::start_with(|service| service.issuers = issuers).await;
    let acme = app.new_app("acme").await;
    let disabled = app.new_app("disabled").await;
    apps::disable(&app.db, &app_name("disabled"), now()).await.expect("it is disabled");
    let rotated = app.new_app("rotated").await;
    apps::change_key(&app.db, &app_name("rotated"), &new_key().1, now()).await.expect("it has another key");
    let gone = app.new_app("gone").await;
    let barred = app.app_player(&gone, "7", "Bo").await;
    apps::disable(&app.db, &app_name("gone"), now()).await.expect("it is disabled");
    until_refused(&app, &barred).await;
    let unknown = Guest { id: String::new(), token: new_key().0 };
    let (mut of_players, mut of_apps, mut of_both, mut open) = (0, 0, 0, 0);
    for operation in operations() {
        let by_player = operation.schemes.iter().any(|scheme| scheme == "bearer");
        let by_app = operation.schemes.iter().any(|scheme| scheme == "app_key");
        let what = &operation.id;
        let anonymous = call(&app, &operation, None).await;
        if operation.schemes.is_empty() || what == "get_player" {
            open += 1;
        }
        let needs_none = anonymous.status != 401;
        if by_app {
            anonymous.is_problem(401, "unauthenticated");
        }
        // A new player each time: some operations erase the caller, or void the token.
        let player = call(&app, &operation, Some(&app.guest("Ana").await)).await;
        let own = call(&app, &operation, Some(&acme)).await;
        match (by_player, by_app) {
            (_, false) => own.is_problem(401, "invalid_token"),
            (_, true) => assert!(![401, 403].contains(&own.status.as_u16()), "{what}: {own:?}"),
        }
        match (by_player || operation.schemes.is_empty(), by_app) {
            (false, true) => player.is_problem(403, "forbidden"),
            (..) if what == "create_token" || what == "delete_sign_ins" || what == "merge_guest" => {}
            // A guest has no address, and a player of an app neither.
            (..) if what == "write_my_email" => player.is_problem(403, "forbidden"),
            (..) => assert!(
                player.body["code"] != "forbidden" && player.body["code"] != "unauthenticated",
                "{what}: {player:?}"
            ),
        }
        let of_app = call(&app, &operation, Some(&app.app_player(&acme, what, "Ana").await)).await;
        if by_app && !by_player || REFUSED_TO_PLAYERS_OF_APPS.contains(&what.as_str()) {
            of_app.is_problem(403, "forbidden");
        } else {
            assert_eq!(of_app.status, player.status, "{what}: {of_app:?}");
        }
        call(&app, &operation, Some(&barred)).await.is_problem(401, "invalid_token");
        for key in [&unknown, &rotated] {
            call(&app, &operation, Some(key)).await.is_problem(401, "invalid_token");
        }
        let refused = call(&app, &operation, Some(&disabled)).await;
        if by_app {
            refused.is_problem(403, "forbidden");
        } else {
            refused.is_problem(401, "invalid_token");
        }
        match (by_player, by_app) {
            (true, true) => of_both += 1,
            (false, true) => of_apps += 1,
            (true, false) if !needs_none => of_players += 1,
            _ => {}
        }
    }
    assert_eq!((of_apps, of_both), (6, 10));
    assert!(of_players > 25 && open > 5, "{of_players} {open}");
}

#[actix_web::test]
async fn a_player_of_an_app_gets_no_access_without_the_app() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, guest) = (app.app_player(&acme, "7", "Ana").await, app.guest("Bo").await);
    let account = app.account("Cleo", "correct horse").await;
    let webhook = json!({"url": "https://push.example/a"});
    for (path, body) in [("/v1/webhooks", &webhook), ("/v1/me/recovery-code", &json!({}))] {
        app.post(path, Some(&ana), body).await.is_problem(403, "forbidden");
    }
    for body in [json!({"password": "correct horse"}), json!({"name": "Anna", "password": "correct horse"})] {
        app.patch("/v1/me", Some(&ana), &body).await.is_problem(403, "forbidden");
    }
    // Neither into an account, nor another guest into it.
    let merge = async |into: &Guest, from: &Guest| {
        app.post("/v1/me/merge", Some(into), &json!({"guest_token": from.token})).await
    };
    merge(&account, &ana).await.is_problem(422, "validation_failed");
    assert!([403, 422].contains(&merge(&ana, &guest).await.status.as_u16()));
    for table in ["account where player_id in (select player_id from app_player)", "merged_guest", "webhook"] {
        assert_eq!(count_rows(&app, table).await, 0, "{table}");
    }
}

#[actix_web::test]
async fn an_app_reaches_nothing_of_another_app_or_of_its_players() {
    let app = TestApp::start().await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    let ana = app.app_player(&acme, "7", "Ana").await;
    let path = "/v1/apps/me/players/7";
    app.get(path, Some(&other)).await.is_problem(404, "not_found");
    app.app_player_token(&other, "7").await.is_problem(404, "not_found");
    assert_eq!(app.delete_app_player(&other, "7").await.status, 204);
    assert_eq!(TestApp::external_ids(&app.get("/v1/apps/me/players", Some(&other)).await), [] as [&str; 0]);
    assert_eq!(app.get(path, Some(&acme)).await.string("/player/id"), ana.id);
    assert_eq!(app.get("/v1/me", Some(&ana)).await.status, 200);
    // The same id is another player of another app.
    let theirs = app.app_player(&other, "7", "Ana").await;
    assert_ne!(theirs.id, ana.id);
    let webhook = json!({"url": "https://push.example/a"});
    let made = app.post("/v1/webhooks", Some(&acme), &webhook).await;
    assert_eq!(made.status, 201, "{made:?}");
    let path = format!("/v1/webhooks/{}", made.string("/id"));
    for caller in [&other, &ana, &theirs] {
        app.get(&path, Some(caller)).await.is_problem(404, "not_found");
        assert_eq!(app.get("/v1/webhooks", Some(caller)).await.body["items"], json!([]));
    }
    assert_eq!(app.get(&path, Some(&acme)).await.status, 200);
}
