//! Who gets in: a key opens the operators' interface and nothing else, and no player's token opens it.

use mancala_server::db::operators::keys;
use reqwest::Method;
use serde_json::{Value, json};

use super::operator;
use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
};

/// The methods and paths of all operations, and the schemes that open them.
fn operations(document: &Value) -> Vec<(Method, String, Value)> {
    let id = "0199aaaa-0000-7000-8000-000000000000";
    let mut found = vec![];
    for (path, item) in document["paths"].as_object().expect("paths") {
        let path = path.replace("{ply}", "0").replace("{type}", "draw").replace("{variant}", "kalah");
        let path = [
            "{id}",
            "{player_id}",
            "{webhook_id}",
            "{delivery_id}",
            "{sign_in_id}",
            "{device_id}",
            "{report_id}",
            "{code}",
        ]
        .into_iter()
        .fold(path, |path, name| path.replace(name, id));
        for (method, operation) in item.as_object().expect("operations") {
            let method: Method = method.to_uppercase().parse().expect("a method");
            found.push((method, path.clone(), operation["security"].clone()));
        }
    }
    found
}

#[actix_web::test]
async fn an_operators_key_opens_its_own_interface_and_nothing_else() {
    let app = TestApp::start().await;
    let (kim, ana) = (operator(&app, "kim").await, app.guest("Ana").await);
    let (stranger, document) = (app.stranger(), app.get("/openapi.json", None).await.body);
    let (mut of_operators, mut of_players) = (0, 0);
    for (method, path, security) in operations(&document) {
        let call = |caller| send(signed(app.request(method.clone(), &path), caller));
        if security == json!([{"operator": []}]) {
            assert!(path.starts_with("/v1/operator/"), "{path}");
            call(None).await.is_problem(401, "unauthenticated");
            let other = Guest { token: "mop_abc".to_owned(), ..kim.clone() };
            for caller in [&ana, &stranger, &other] {
                call(Some(caller)).await.is_problem(401, "invalid_token");
            }
            let opened = call(Some(&kim)).await;
            assert_ne!(opened.status, 401, "{method} {path}: {opened:?}");
            of_operators += 1;
        } else {
            assert!(!path.starts_with("/v1/operator/"), "{path}");
            if path.starts_with("/v1/") {
                let refused = call(Some(&kim)).await;
                assert_eq!(refused.body["code"], "invalid_token", "{method} {path}: {refused:?}");
                of_players += 1;
            }
        }
    }
    assert!(of_operators == 6 && of_players > 60, "{of_operators} {of_players}");
}

#[actix_web::test]
async fn a_key_that_was_disabled_or_rotated_opens_nothing_at_once() {
    let app = TestApp::start().await;
    let (kim, lee) = (operator(&app, "kim").await, operator(&app, "lee").await);
    let path = "/v1/operator/reports";
    assert_eq!(app.get(path, Some(&kim)).await.status, 200);
    assert!(keys::disable(&app.db, "kim", now()).await.expect("a database"));
    app.get(path, Some(&kim)).await.is_problem(401, "invalid_token");
    assert_eq!(app.get(path, Some(&lee)).await.status, 200);
    assert!(keys::rotate(&app.db, "lee", &[7; 32], now()).await.expect("a database"));
    app.get(path, Some(&lee)).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn wrong_keys_are_limited_and_right_ones_are_not() {
    let app = TestApp::start_with_networks().await;
    let kim = operator(&app, "kim").await;
    let call = |key: String, address: &str| {
        let request = app.request(Method::GET, "/v1/operator/reports").header("x-forwarded-for", address.to_owned());
        send(request.bearer_auth(key))
    };
    for _ in 0..30 {
        assert_eq!(call(kim.token.clone(), "192.0.2.7").await.status, 200);
    }
    for _ in 0..20 {
        call(mancala_server::http::new_operator_key(), "192.0.2.7").await.is_problem(401, "invalid_token");
    }
    call(mancala_server::http::new_operator_key(), "192.0.2.7").await.is_problem(429, "rate_limited");
    assert_eq!(call(kim.token.clone(), "198.51.100.9").await.status, 200);
}
