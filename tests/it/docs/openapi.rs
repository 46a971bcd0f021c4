//! The OpenAPI document: it is the generated one, and the service answers as it says.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{send, signed},
};

const COMMITTED: &str = include_str!("../../../openapi/openapi.json");

fn operations(document: &Value) -> Vec<(String, Method, Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let methods = |(path, item): (&String, &Value)| {
        let path = path.clone();
        let item = item.as_object().expect("operations").clone();
        item.into_iter().map(move |(method, operation)| {
            let method = method.to_uppercase().parse().expect("a method");
            (path.clone(), method, operation)
        })
    };
    paths.iter().flat_map(methods).collect()
}

#[test]
fn the_committed_document_is_the_generated_one() {
    let generated = mancala_server::http::document().to_pretty_json().expect("the document is JSON");
    assert_eq!(COMMITTED.trim_end(), generated, "make it anew: cargo run -- openapi > openapi/openapi.json");
}

#[actix_web::test]
async fn the_served_document_is_the_committed_one_and_has_a_page() {
    let app = TestApp::start().await;
    let served = app.get("/openapi.json", None).await;
    assert_eq!(served.status, 200);
    assert_eq!(served.body, serde_json::from_str::<Value>(COMMITTED).expect("JSON"));
    assert!(served.body["openapi"].as_str().expect("a version").starts_with("3.1"));
    let page = app.get("/docs/", None).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("swagger-ui"));
    // Nothing on the page comes from elsewhere.
    for line in page.text.lines().filter(|line| line.contains("src=") || line.contains("href=")) {
        assert!(!line.contains("://"), "{line}");
    }
    assert_eq!(app.get("/docs/swagger-ui-bundle.js", None).await.status, 200);
}

#[test]
fn every_operation_is_named_described_and_complete() {
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let mut ids = vec![];
    for (path, method, operation) in operations(&document) {
        let id = operation["operationId"].as_str().expect("an id").to_owned();
        assert!(
            id.split_once('_').is_some_and(|(verb, _)| {
                [
                    "analyse",
                    "create",
                    "get",
                    "list",
                    "join",
                    "decline",
                    "play",
                    "resign",
                    "abort",
                    "revoke",
                    "update",
                    "delete",
                    "export",
                    "import",
                    "make",
                    "accept",
                    "withdraw",
                    "renew",
                    "rotate",
                    "ping",
                    "redeliver",
                    "verify",
                    "write",
                    "seek",
                    "merge",
                ]
                .contains(&verb)
            }),
            "{id}"
        );
        assert!(operation["summary"].as_str().is_some_and(|summary| !summary.is_empty()), "{id}");
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{id}");
        assert!(operation["security"].is_array(), "{id}");
        let responses = operation["responses"].as_object().expect("responses");
        for (status, response) in responses {
            assert!(response["description"].as_str().is_some_and(|text| !text.is_empty()), "{id} {status}");
            if status.starts_with(['4', '5']) {
                assert_eq!(
                    response["content"]["application/problem+json"]["schema"]["$ref"],
                    "#/components/schemas/Problem"
                );
            }
        }
        for expected in ["401", "422", "500"] {
            assert!(responses.contains_key(expected), "{id} {expected}");
        }
        let placeholders = path.matches('{').count();
        let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
        assert_eq!(
            parameters.iter().filter(|parameter| parameter["in"] == "path").count(),
            placeholders,
            "{method} {path}"
        );
        ids.push(id);
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

/// Adds the names of the schemas that a part of the document refers to, directly or by others.
fn add_references(document: &Value, part: &Value, names: &mut BTreeSet<String>) {
    match part {
        Value::Object(fields) => {
            if let Some(name) = part["$ref"].as_str().and_then(|path| path.strip_prefix("#/components/schemas/"))
                && names.insert(name.to_owned())
            {
                add_references(document, &document["components"]["schemas"][name], names);
            }
            fields.values().for_each(|value| add_references(document, value, names));
        }
        Value::Array(items) => items.iter().for_each(|value| add_references(document, value, names)),
        _ => {}
    }
}

#[test]
fn what_is_sent_is_closed_and_what_is_answered_is_open() {
    // Answers have these words and no others, for ever; or a client has sent them itself.
    const CLOSED: [&str; 3] = ["Ending", "Side", "Visibility"];
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for (_, _, operation) in operations(&document) {
        add_references(&document, &operation["requestBody"], &mut sent);
        add_references(&document, &operation["responses"], &mut answered);
    }
    assert!(sent.len() > 5 && answered.len() > 20);
    let schemas = &document["components"]["schemas"];
    for name in &sent {
        let closed = schemas[name].get("properties").is_none() || schemas[name]["additionalProperties"] == false;
        assert!(closed, "{name} does not say that unknown fields are refused");
    }
    for name in &answered {
        let schema = &schemas[name];
        assert_ne!(schema["additionalProperties"], false, "{name} could never have another field");
        assert!(
            schema.get("enum").is_none() || CLOSED.contains(&name.as_str()),
            "{name} could never have another word"
        );
        // What stands in line gets a name that the client's generator makes up.
        for alternative in schema["oneOf"].as_array().into_iter().flatten() {
            assert!(alternative.get("properties").is_none(), "an alternative of {name} has no name");
        }
    }
}

#[actix_web::test]
async fn no_operation_takes_a_parameter_that_the_document_does_not_name() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    for (path, method, operation) in operations(&document) {
        let path = path.replace("{id}", "0199aaaa-0000-7000-8000-000000000000").replace("{ply}", "1");
        let path = path.replace("{variant}", "kalah").replace("{code}", "internal").replace("{type}", "draw");
        let path = ["{player_id}", "{webhook_id}", "{delivery_id}", "{sign_in_id}"]
            .into_iter()
            .fold(path, |path, name| path.replace(name, "0199aaaa-0000-7000-8000-000000000000"));
        let request = app.request(method.clone(), &format!("{path}?no_such_parameter=1"));
        let answer = send(signed(request, Some(&ana))).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "?no_such_parameter", "{method} {path} {operation}");
    }
}

#[actix_web::test]
async fn the_examples_of_requests_are_accepted() {
    let app = TestApp::start().await;
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let mut tried = 0;
    for (path, method, operation) in operations(&document) {
        let content = &operation["requestBody"]["content"]["application/json"];
        let named = content["examples"].as_object().into_iter().flatten().map(|(_, example)| example["value"].clone());
        for example in named.chain(content.get("example").cloned()) {
            let ana = app.guest("Ana").await;
            let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
            let path = path.replace("{id}", game["id"].as_str().expect("an id")).replace("{variant}", "kalah");
            let path = path.replace("{ply}", "0");
            let webhook = app.post("/v1/webhooks", Some(&ana), &json!({"url": "https://push.example/"})).await;
            let path = path.replace("{webhook_id}", &webhook.string("/id"));
            let answer = send(signed(app.request(method.clone(), &path), Some(&ana)).json(&example)).await;
            // A refresh token in an example is well-formed and unknown, so it is refused.
            // A name may be taken by another example's account.
            let taken = answer.body["code"] == "name_taken";
            // A guest takes no other guest along.
            let is_guest = path == "/v1/me/merge" && answer.status == 403;
            let refused = path == "/v1/tokens" && answer.status == 401 || is_guest;
            let expected = answer.status.is_success() || refused || taken;
            assert!(expected, "{path} {example}: {answer:?}");
            tried += 1;
        }
    }
    assert!(tried >= 5, "{tried}");
}

#[actix_web::test]
async fn answers_have_the_fields_that_the_document_requires_and_no_others() {
    let app = TestApp::start().await;
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let (id, south, _) = app.started(&json!({})).await;
    let played = app.play_move(&id, &south, 1, "C").await.body;
    let place = app.get("/v1/me/events", Some(&south)).await.string("/last_event_id");
    let finished = app.resign_game(&id, &south).await.body;
    let problem = app.play_move(&id, &south, 2, "C").await.body;
    let note = app.put(&format!("/v1/games/{id}/notes/1"), Some(&south), &json!({"text": "good"})).await.body;
    let notes = app.get(&format!("/v1/games/{id}/notes"), Some(&south)).await.body;
    let stats = app.get(&format!("/v1/players/{}/stats", south.id), None).await.body;
    let position = app.get(&format!("/v1/games/{id}/positions/1"), None).await.body;
    let variant = app.get("/v1/variants/kalah", None).await.body;
    let variants = app.get("/v1/variants", None).await.body;
    let line = json!({"position": "0,0,0,0,0,1/0,0,0,0,0,1 23-23 S - 9 1S", "moves": ["F"]});
    let line = app.post("/v1/variants/kalah/play", None, &line).await.body;
    let events = app.get(&format!("/v1/games/{id}/events"), None).await.body;
    let own_events = app.get(&format!("/v1/me/events?after={place}"), Some(&south)).await.body;
    let illegal = app.post("/v1/variants/kalah/play", None, &json!({"moves": ["a"]})).await.body;
    for (schema, value) in [
        ("Game", &played["game"]),
        ("Game", &finished),
        ("Move", &played["move"]),
        ("Problem", &problem),
        ("Note", &note),
        ("NotePage", &notes),
        ("PlayerStats", &stats),
        ("VariantStats", &stats["variants"][0]),
        ("Streak", &stats["variants"][0]["current_streak"]),
        ("Position", &position),
        ("Variant", &variant),
        ("VariantSummary", &variants["items"][0]),
        ("Preset", &variant["presets"][0]),
        ("PlayedLine", &line),
        ("LineMove", &line["moves"][0]),
        ("Outcome", &line["moves"][0]["result"]),
        ("Problem", &illegal),
        ("EventPage", &events),
        ("EventCreated", &events["items"][0]),
        ("EventJoined", &events["items"][1]),
        ("EventMoved", &events["items"][2]),
        ("EventResigned", &events["items"][3]),
        ("EventFinished", &events["items"][4]),
        ("PlayerEventPage", &own_events),
        ("PlayerEventResigned", &own_events["items"][0]),
    ] {
        let (known, required) = fields(&document, &document["components"]["schemas"][schema]);
        let shown = value.as_object().expect("an object");
        for name in shown.keys() {
            assert!(known.contains(name), "{schema}.{name} is not documented");
        }
        for name in required {
            assert!(shown.contains_key(&name), "{schema}.{name} is missing");
        }
    }
}

/// The fields of an object, and those of them that are always there; of a schema that is made of several, of all.
fn fields(document: &Value, schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let mut known: BTreeSet<String> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let required = schema["required"].as_array().into_iter().flatten();
    let mut required: BTreeSet<String> = required.map(|name| name.as_str().expect("a name").to_owned()).collect();
    for part in schema["allOf"].as_array().into_iter().flatten() {
        let name = part["$ref"].as_str().and_then(|path| path.strip_prefix("#/components/schemas/"));
        let part = name.map_or(part, |name| &document["components"]["schemas"][name]);
        let (more_known, more_required) = fields(document, part);
        known.extend(more_known);
        required.extend(more_required);
    }
    assert!(!known.is_empty(), "{schema}");
    (known, required)
}
