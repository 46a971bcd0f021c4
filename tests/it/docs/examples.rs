//! The examples of the OpenAPI document work as they stand: a form that is sent without a change does something.

use std::collections::BTreeMap;

use mancala_server::{http::Mailing, push::Push};
use reqwest::Method;
use serde_json::{Value, json};

use crate::operators;
use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    fcm::google,
    push::web_push,
    push_service::{Browser, PushService},
};

/// What the examples of an operation need: a caller, and ids for the path.
struct Stage {
    caller: Guest,
    operator: Guest,
    ids: BTreeMap<&'static str, String>,
}

/// A stage on which an operation can do its work. It has an account with an active game against a guest, an app with a
/// player, or what else the operation needs.
async fn stage(app: &TestApp, operation: &str, n: usize) -> Stage {
    let operator = operators::operator(app, &format!("operator-{n}")).await;
    if operation.split('_').any(|word| word == "app") {
        let caller = app.new_app(&format!("app-{n}")).await;
        app.app_player(&caller, "user-4711", "Other").await;
        return Stage { caller, operator, ids: BTreeMap::new() };
    }
    let caller = app.account(&format!("Caller {n}"), "correct horse").await;
    let other = app.guest("Other").await;
    let game = game(app, operation, &caller, &other).await;
    let mut ids = BTreeMap::from([("id", game), ("player_id", other.id.clone()), ("type", "draw".to_owned())]);
    match operation {
        "accept_offer" | "decline_offer" => drop(app.offer(&ids["id"], &other, "draw").await),
        "withdraw_offer" => drop(app.offer(&ids["id"], &caller, "draw").await),
        "get_analysis" => {
            drop(app.post(&format!("/v1/games/{}/analysis", ids["id"]), Some(&caller), &json!({})).await);
        }
        "delete_sign_in" => {
            ids.insert("sign_in_id", app.get("/v1/me/sign-ins", Some(&caller)).await.string("/items/0/id"));
        }
        _ if operation.contains("webhook") && operation != "create_webhook" => {
            let webhook = app.post("/v1/webhooks", Some(&caller), &json!({"url": "https://push.example/"})).await;
            ids.insert("webhook_id", webhook.string("/id"));
            ids.insert("delivery_id", webhook.string("/id"));
        }
        "delete_device" => {
            let browser = Browser::at(&PushService::start().await, "a").registration();
            ids.insert("device_id", app.post("/v1/me/devices", Some(&caller), &browser).await.string("/id"));
        }
        "close_report" | "get_reported_game" => {
            let path = format!("/v1/players/{}/reports", other.id);
            let report = app.post(&path, Some(&caller), &json!({"reason": "name", "game_id": ids["id"]})).await;
            ids.insert("report_id", report.string("/id"));
        }
        _ => {}
    }
    Stage { caller, operator, ids }
}

/// The game that an operation works on.
async fn game(app: &TestApp, operation: &str, caller: &Guest, other: &Guest) -> String {
    let (creator, opponent) = match operation {
        "join_game" => (other, json!({"type": "open"})),
        "decline_invitation" => (other, json!({"type": "player", "player_id": caller.id})),
        "renew_join_code" => (caller, json!({"type": "link"})),
        "get_hint" => {
            let practice = json!({"variant": "kalah", "side": "south", "practice": true,
                "opponent": {"type": "computer", "level": 1}});
            return app.created(caller, &practice).await["id"].as_str().expect("an id").to_owned();
        }
        "delete_game" => return app.imported_long_game(caller, 8).await,
        _ => {
            let game = app.started_between(caller, other, &json!({})).await;
            if operation.contains("analys") {
                assert_eq!(app.resign_game(&game, other).await.status, 200);
            }
            return game;
        }
    };
    let game = app.created(creator, &json!({"variant": "kalah", "opponent": opponent})).await;
    game["id"].as_str().expect("an id").to_owned()
}

/// What a form fills in for a parameter: its example, or its default.
fn filled(parameter: &Value) -> Option<String> {
    let schema = &parameter["schema"];
    let value =
        [&parameter["example"], &schema["example"], &schema["default"]].into_iter().find(|value| !value.is_null())?;
    Some(match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    })
}

/// The bodies of an operation with their types. An operation without an example has none.
fn bodies(operation: &Value) -> Vec<Option<(String, Value)>> {
    let mut bodies = vec![];
    for (content_type, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        let named = content["examples"].as_object().into_iter().flatten().map(|(_, example)| example["value"].clone());
        for example in named.chain(content.get("example").cloned()) {
            bodies.push(Some((content_type.clone(), example)));
        }
    }
    if bodies.is_empty() { vec![None] } else { bodies }
}

/// Sends a form as it stands.
async fn send_form(
    app: &TestApp,
    (path, method): (&str, &Method),
    operation: &Value,
    body: Option<&(String, Value)>,
    stage: &Stage,
) -> Answer {
    let (mut path, mut headers) = (path.to_owned(), vec![]);
    let mut query = form_urlencoded::Serializer::new(String::new());
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = parameter["name"].as_str().expect("a name");
        let value = filled(parameter);
        match (parameter["in"].as_str(), value) {
            (Some("path"), value) => {
                let value = value.or_else(|| stage.ids.get(name).cloned()).unwrap_or_else(|| panic!("{path}: {name}"));
                path = path.replace(&format!("{{{name}}}"), &value);
            }
            (Some("query"), Some(value)) => {
                query.append_pair(name, &value);
            }
            (Some("header"), Some(value)) => headers.push((name.to_owned(), value)),
            (_, value) => assert!(value.is_none() && parameter["required"] != true, "{path}: {parameter}"),
        }
    }
    let is_open = operation["security"].as_array().is_some_and(Vec::is_empty);
    let request = app.request(method.clone(), &format!("{path}?{}", query.finish()));
    let caller = if path.starts_with("/v1/operator/") { &stage.operator } else { &stage.caller };
    let mut request = signed(request, (!is_open).then_some(caller));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    match body {
        Some((content_type, Value::String(text))) => {
            request = request.header("content-type", content_type).body(text.clone());
        }
        Some((_, json)) => request = request.json(json),
        None => {}
    }
    send(request).await
}

/// Refusals for which an example cannot be blamed. It holds a token or a code that only another answer could tell, the
/// webhook's endpoint does not exist, or the server has no issuers.
const REFUSED: [(&str, &str); 13] = [
    ("begin_sign_in", "not_found"),
    ("complete_sign_in", "not_found"),
    ("link_identity", "not_found"),
    ("delete_identity", "not_found"),
    ("create_token", "invalid_token"),
    ("create_token", "invalid_credentials"),
    ("exchange_token", "invalid_token"),
    ("merge_guest", "validation_failed"),
    ("verify_email", "invalid_link"),
    ("reset_password", "invalid_link"),
    ("ping_webhook", "webhook_not_verified"),
    ("redeliver_webhook", "webhook_not_verified"),
    ("redeliver_webhook", "not_found"),
];

#[actix_web::test]
async fn the_examples_of_all_operations_work_as_they_stand() {
    let app = TestApp::start_with(|service| {
        service.settings.mailing = Mailing::On;
        service.settings.push = Push { fcm: Some(google()), ..web_push() };
    })
    .await;
    let document = app.get("/openapi.json", None).await.body;
    let (mut tried, mut refused) = (0, vec![]);
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().expect("an id");
            let method: Method = method.to_uppercase().parse().expect("a method");
            for body in bodies(operation) {
                let stage = stage(&app, id, tried).await;
                let answer = send_form(&app, (path, &method), operation, body.as_ref(), &stage).await;
                let code = answer.body["code"].as_str().unwrap_or_default().to_owned();
                if !answer.status.is_success() {
                    assert!(REFUSED.contains(&(id, &code)), "{id} {body:?}: {answer:?}");
                    refused.push((id.to_owned(), code));
                } else if ["list_games", "list_events", "list_webhooks"].contains(&id) {
                    assert!(
                        answer.body["items"].as_array().is_some_and(|items| !items.is_empty()),
                        "{id} finds nothing"
                    );
                } else if id == "export_games" {
                    assert!(!answer.text.is_empty(), "{id} finds nothing");
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 70, "{tried}");
    // Signing in by name and password works: the example of an account has made it.
    assert_eq!(refused.iter().filter(|(id, _)| id == "create_token").count(), 2, "{refused:?}");
}

#[actix_web::test]
async fn the_server_answers_a_failure_as_its_example_says() {
    let app = TestApp::start().await;
    let document = app.get("/openapi.json", None).await.body;
    let example = |code: &str| document["components"]["examples"][code]["value"].clone();
    let (id, south, north) = app.started(&json!({})).await;
    let game = format!("/v1/games/{id}");
    let answers = [
        app.get("/v1/me?colour=red", Some(&south)).await,
        app.get("/v1/me", None).await,
        send(app.request(Method::GET, "/v1/me").bearer_auth("bad")).await,
        app.get(&format!("{game}1"), None).await,
        app.post("/v1/games/0199f0a2-7c1e-7b3a-9d54-3f6c1b2a8e70/resign", Some(&south), &json!({})).await,
        app.play_move(&id, &north, 1, "a").await,
        app.post(&format!("{game}/offers"), Some(&south), &json!({"type": "pause"})).await,
        app.answer_offer(&id, &south, "draw", "accept").await,
        app.post("/v1/players", None, &json!({"name": "x".repeat(70_000)})).await,
        send(app.request(Method::POST, "/v1/players").header("content-type", "text/plain").body("{}")).await,
        send(app.request(Method::GET, &game).header("accept", "image/png")).await,
        app.sign_in("Ana", "correct horse").await,
    ];
    for answer in &answers {
        let example = example(answer.body["code"].as_str().expect("a code"));
        let fields = |body: &Value| body.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
        let shown: Vec<_> = fields(&answer.body).into_iter().filter(|name| name != "game" && name != "moves").collect();
        assert_eq!(shown, fields(&example), "{answer:?}");
        for field in ["type", "title", "status", "code", "errors"] {
            assert_eq!(answer.body[field], example[field], "{answer:?}");
        }
        if answer.body["code"] != "not_found" {
            assert_eq!(answer.body["detail"], example["detail"], "{answer:?}");
        }
    }
}
