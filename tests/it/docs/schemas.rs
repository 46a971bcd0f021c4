//! Answers and messages, read by an independent validator with the schemas of the OpenAPI document.

use jsonschema::Validator;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    endpoint::Endpoint,
    webhooks::{create, created, deliver},
};

const COMMITTED: &str = include_str!("../../../openapi/openapi.json");

/// A validator of a schema of the document. If it is closed, a field that the document does not name is a fault.
fn validator(name: &str, is_closed: bool) -> Validator {
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let mut schemas = document["components"]["schemas"].clone();
    for schema in schemas.as_object_mut().expect("schemas").values_mut() {
        if is_closed && schema.get("properties").is_some() {
            schema["additionalProperties"] = json!(false);
        }
    }
    let schema = json!({"$ref": format!("#/components/schemas/{name}"), "components": {"schemas": schemas}});
    jsonschema::draft202012::new(&schema).expect("a schema")
}

fn check(name: &str, value: &Value) {
    let faults: Vec<_> =
        validator(name, true).iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(faults.is_empty(), "{name}: {faults:?} in {value}");
}

async fn export(app: &TestApp, id: &str, player: &Guest) -> Value {
    let answer = app.get(&format!("/v1/games/{id}/export?format=json"), Some(player)).await;
    assert_eq!(answer.status, 200);
    answer.body
}

#[actix_web::test]
async fn answers_are_as_their_schemas_say() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for opponent in [
        json!({"type": "open"}),
        json!({"type": "link"}),
        json!({"type": "player", "player_id": bo.id}),
        json!({"type": "self"}),
        json!({"type": "computer", "level": 1}),
    ] {
        let game = app.created(&ana, &json!({"variant": "kalah", "opponent": opponent})).await;
        check("Game", &game);
        let read = app.get(&format!("/v1/games/{}", game["id"].as_str().expect("an id")), Some(&ana)).await.body;
        check("Game", &read);
    }
    for clock in [json!({"type": "unlimited"}), json!({"type": "bank", "bank_s": 600, "increment_s": 5, "max_s": 900})]
    {
        let (id, south, north) = app.started(&json!({"clock": clock})).await;
        check("PlayedMove", &app.play_move(&id, &south, 1, "C").await.body);
        app.offer(&id, &north, "draw").await;
        app.answer_offer(&id, &south, "draw", "decline").await;
        app.resign_game(&id, &north).await;
        check("EventPage", &app.get(&format!("/v1/games/{id}/events"), None).await.body);
        check("MovePage", &app.get(&format!("/v1/games/{id}/moves"), None).await.body);
        check("ExportedGame", &export(&app, &id, &south).await);
        check("Problem", &app.play_move(&id, &south, 2, "A").await.body);
    }
    check("Variant", &app.get("/v1/variants/congkak", None).await.body);
    check("Export", &app.get("/v1/me/export", Some(&ana)).await.body);
}

#[actix_web::test]
async fn messages_are_as_the_webhooks_of_the_document_say() {
    let app = TestApp::start().await;
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    let (webhook, _) = created(&app, &bo, &endpoint).await;
    let challenged = create(&app, &ana, &json!({"url": endpoint.url()})).await;
    assert_eq!(challenged.status, 201);
    let invitation = json!({"variant": "kalah", "side": "south", "opponent": {"type": "player", "player_id": bo.id}});
    let id = app.created(&ana, &invitation).await["id"].as_str().expect("an id").to_owned();
    deliver(&app).await;
    app.join_game(&id, &bo).await;
    app.played(&id, &ana, 1, "A").await;
    app.offer(&id, &ana, "draw").await;
    app.resign_game(&id, &ana).await;
    deliver(&app).await;
    let ping = app.request(Method::POST, &format!("{webhook}/ping"));
    assert!(send(signed(ping, Some(&bo))).await.status.is_success());
    deliver(&app).await;
    let (mut kinds, messages) = (vec![], [endpoint.challenges(), endpoint.received()].concat());
    for message in messages {
        let operation = &document["webhooks"][message.kind()]["post"];
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let schema = schema.as_str().and_then(|path| path.rsplit('/').next()).expect("a schema");
        check(schema, &message.body);
        for parameter in operation["parameters"].as_array().expect("headers") {
            let name = parameter["name"].as_str().expect("a name");
            assert!(message.headers.contains_key(name), "{name} is missing");
        }
        kinds.push(message.kind().to_owned());
    }
    for kind in ["webhook.challenge", "webhook.ping", "game.invited", "game.your_turn", "game.move", "game.finished"] {
        assert!(kinds.iter().any(|seen| seen == kind), "{kind} is not among {kinds:?}");
    }
    validator("ChallengeAnswer", false).validate(&json!({"challenge": "x"})).expect("an answer");
}

#[actix_web::test]
async fn an_exported_game_is_one_that_can_be_imported() {
    let app = TestApp::start().await;
    let validator = validator("ImportGame", false);
    let (id, south, north) = app.started(&json!({})).await;
    app.played(&id, &south, 1, "A").await;
    app.offer(&id, &south, "takeback").await;
    app.answer_offer(&id, &north, "takeback", "accept").await;
    app.resign_game(&id, &north).await;
    let game = export(&app, &id, &south).await;
    assert!(validator.is_valid(&game), "{game}");
    let imported = app.post("/v1/games/import", Some(&south), &json!([game])).await;
    assert_eq!(imported.body["imported"], 1, "{:?}", imported.body);
    check("ImportReport", &imported.body);
    for wrong in [json!({}), json!({"game": {"variant": "kalah"}}), json!({"game": {}, "moves": []}), json!("kalah")] {
        assert!(!validator.is_valid(&wrong), "{wrong}");
        let refused = app.post("/v1/games/import", Some(&south), &json!([wrong])).await;
        assert!(refused.status == 422 || refused.body["refused"] == 1, "{wrong}: {refused:?}");
    }
}
