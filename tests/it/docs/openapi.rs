//! The OpenAPI document: it is the generated one, and the service answers as it says.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::operators;
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
    let older = app.get("/openapi-3.0.json", None).await;
    assert_eq!(older.status, 200);
    assert_eq!(older.body["openapi"], "3.0.3");
    assert_eq!(older.body, mancala_server::http::document_3_0());
    assert_eq!(older.headers["cache-control"], served.headers["cache-control"]);
    app.post("/openapi-3.0.json", None, &json!({})).await.is_problem(405, "method_not_allowed");
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
                    "exchange",
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
                    "close",
                    "inspect",
                    "act",
                    "verify",
                    "write",
                    "seek",
                    "merge",
                    "begin",
                    "complete",
                    "link",
                    "reset",
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
            let response = resolved(&document, response);
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

/// A response, or the shared one to which it refers.
fn resolved<'a>(document: &'a Value, response: &'a Value) -> &'a Value {
    let shared = response["$ref"].as_str().and_then(|path| path.strip_prefix("#/components/responses/"));
    shared.map_or(response, |name| &document["components"]["responses"][name])
}

/// Adds the names of the schemas that a part of the document refers to, directly or by others.
fn add_references(document: &Value, part: &Value, names: &mut BTreeSet<String>) {
    match resolved(document, part) {
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
    // A game to import may be one that was exported, by a newer server.
    const OPEN_PREFIX: &str = "Import";
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let (mut sent, mut answered) = (BTreeSet::new(), BTreeSet::new());
    for (_, _, operation) in operations(&document) {
        add_references(&document, &operation["requestBody"], &mut sent);
        add_references(&document, &operation["responses"], &mut answered);
    }
    add_references(&document, &document["webhooks"], &mut answered);
    assert!(sent.len() > 5 && answered.len() > 20);
    let schemas = &document["components"]["schemas"];
    for name in sent.iter().filter(|name| !name.starts_with(OPEN_PREFIX)) {
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
    }
}

#[test]
fn each_set_of_failures_is_described_once_and_named_by_its_codes() {
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let shared = document["components"]["responses"].as_object().expect("responses");
    let mut used = BTreeSet::new();
    for (_, _, operation) in operations(&document) {
        for (status, response) in operation["responses"].as_object().expect("responses") {
            let reference = response["$ref"].as_str();
            assert_eq!(reference.is_some(), status.starts_with(['4', '5']), "{} {status}", operation["operationId"]);
            used.extend(
                reference.and_then(|path| path.rsplit('/').next()).map(|name| (name.to_owned(), status.clone())),
            );
        }
    }
    // Each has one status, and none is left over.
    assert_eq!(used.len(), shared.len());
    let titled = |word: &str| word.split('_').map(|part| part[..1].to_uppercase() + &part[1..]).collect::<String>();
    for (name, status) in &used {
        let examples = shared[name]["content"]["application/problem+json"]["examples"].as_object().expect("examples");
        let named: BTreeSet<_> = name.split("Or").map(str::to_owned).collect();
        assert_eq!(named, examples.keys().map(|code| titled(code)).collect(), "{name}");
        for code in examples.keys() {
            let example = &document["components"]["examples"][code]["value"];
            assert_eq!(example["status"].to_string(), *status, "{name} {code}");
        }
    }
}

/// Calls a function with every object in a part of the document, and where it stands.
fn visit(part: &Value, at: &str, seen: &mut dyn FnMut(&str, &serde_json::Map<String, Value>)) {
    match part {
        Value::Object(fields) => {
            seen(at, fields);
            fields.iter().for_each(|(name, value)| visit(value, &format!("{at}/{name}"), seen));
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(n, item)| visit(item, &format!("{at}/{n}"), seen)),
        _ => {}
    }
}

#[test]
fn no_schema_is_a_union_but_with_null() {
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let (mut nullable, mut words) = (0, 0);
    visit(&document, "", &mut |at, schema| {
        assert!(!schema.contains_key("anyOf") && !schema.contains_key("allOf"), "{at} has alternatives or parts");
        if let Some(choice) = schema.get("oneOf") {
            assert!(choice[0].get("$ref").is_some(), "{at} has a choice without a name");
            assert!(choice[1] == json!({"type": "null"}) && choice.get(2).is_none(), "{at} is a union");
            nullable += 1;
        }
        if let Some(known) = schema.get("x-extensible-enum") {
            assert!(schema.get("enum").is_none(), "{at} is closed");
            let description = schema["description"].as_str().expect("a description");
            for word in known.as_array().expect("words") {
                let word = format!("`{}`", word.as_str().expect("a word"));
                assert!(description.contains(&word), "{at} does not tell {word}");
            }
            assert!(description.contains("do not know"), "{at} does not say that there may be others");
            words += 1;
        }
    });
    assert!(nullable > 10 && words > 20, "{nullable} {words}");
}

#[test]
fn the_older_document_has_nothing_of_the_newer_version() {
    let document: Value = mancala_server::http::document_3_0();
    assert!(document.get("webhooks").is_none() && document["info"]["license"].get("identifier").is_none());
    visit(&document, "", &mut |at, schema| {
        for newer in ["oneOf", "propertyNames", "const", "contentEncoding", "contentMediaType"] {
            assert!(!schema.contains_key(newer), "{at} has {newer}");
        }
        assert!(!schema.get("type").is_some_and(Value::is_array), "{at} has several types");
        assert!(!schema.get("examples").is_some_and(Value::is_array), "{at} has a list of examples");
        for bound in ["exclusiveMinimum", "exclusiveMaximum"] {
            assert!(!schema.get(bound).is_some_and(Value::is_number), "{at} has {bound}");
        }
        assert!(!schema.contains_key("$ref") || schema.len() == 1, "{at} has more than a reference");
    });
}

#[test]
fn both_documents_have_the_same_operations_and_fields() {
    let newer: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let older: Value = mancala_server::http::document_3_0();
    let ids = |document: &Value| -> Vec<_> {
        let ids = operations(document).into_iter().map(|(path, _, operation)| (path, operation["operationId"].clone()));
        ids.collect()
    };
    assert_eq!(ids(&newer), ids(&older));
    let schemas = |document: &Value| document["components"]["schemas"].as_object().expect("schemas").clone();
    let (newer, older) = (schemas(&newer), schemas(&older));
    assert!(newer.keys().eq(older.keys()));
    for (name, schema) in newer.iter().filter(|(_, schema)| schema.get("properties").is_some()) {
        let names =
            |schema: &Value| schema["properties"].as_object().expect("fields").keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(schema), names(&older[name]), "{name}");
        assert_eq!(schema["required"], older[name]["required"], "{name}");
    }
}

/// Whether an operation answers with a picture or a page. Their addresses are shared as links, and services add parameters to links.
fn is_for_people(operation: &Value) -> bool {
    let forms = operation["responses"]["200"]["content"].as_object();
    forms.is_some_and(|forms| forms.keys().all(|form| form.starts_with("image/") || form.starts_with("text/html")))
}

#[actix_web::test]
async fn only_pictures_and_pages_ignore_parameters_that_are_unknown() {
    let app = TestApp::start().await;
    let (ana, kim) = (app.guest("Ana").await, operators::operator(&app, "kim").await);
    let acme = app.new_app("acme").await;
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let mut ignoring = 0;
    for (path, method, operation) in operations(&document) {
        let path = path.replace("{id}", "0199aaaa-0000-7000-8000-000000000000").replace("{ply}", "1");
        let path = path.replace("{variant}", "kalah").replace("{code}", "internal").replace("{type}", "draw");
        let path = path.replace("{external_id}", "user-1");
        let path = ["{player_id}", "{webhook_id}", "{delivery_id}", "{sign_in_id}", "{device_id}", "{report_id}"]
            .into_iter()
            .fold(path, |path, name| path.replace(name, "0199aaaa-0000-7000-8000-000000000000"));
        let request = app.request(method.clone(), &format!("{path}?no_such_parameter=1"));
        let caller = match path.as_str() {
            path if path.starts_with("/v1/operator/") => &kim,
            path if path.starts_with("/v1/apps/me") => &acme,
            _ => &ana,
        };
        let answer = send(signed(request, Some(caller))).await;
        if is_for_people(&operation) {
            assert!(
                operation["description"].as_str().expect("words").contains("Unknown parameters are ignored."),
                "{path}"
            );
            assert!([200, 404].contains(&answer.status.as_u16()), "{path}: {answer:?}");
            ignoring += 1;
            continue;
        }
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "?no_such_parameter", "{method} {path} {operation}");
    }
    assert_eq!(ignoring, 8, "six pictures, the page of a game and that of a failure");
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
        ("Event", &events["items"][0]),
        ("Event", &events["items"][1]),
        ("Event", &events["items"][2]),
        ("Event", &events["items"][3]),
        ("Event", &events["items"][4]),
        ("PlayerEventPage", &own_events),
        ("PlayerEvent", &own_events["items"][0]),
    ] {
        let (known, required) = fields(&document["components"]["schemas"][schema]);
        let shown = value.as_object().expect("an object");
        for name in shown.keys() {
            assert!(known.contains(name), "{schema}.{name} is not documented");
        }
        for name in required {
            assert!(shown.contains_key(&name), "{schema}.{name} is missing");
        }
    }
}

#[actix_web::test]
async fn the_table_of_a_union_has_the_fields_of_each_type() {
    let app = TestApp::start().await;
    let document: Value = serde_json::from_str(COMMITTED).expect("JSON");
    let (id, south, _) = app.started(&json!({})).await;
    let moved = app.play_move(&id, &south, 1, "C").await.body;
    app.resign_game(&id, &south).await;
    let events = app.get(&format!("/v1/games/{id}/events"), None).await.body;
    let game = &moved["game"];
    let effects = moved["move"]["effects"].as_array().expect("effects").iter().map(|effect| ("Effect", effect));
    let events = events["items"].as_array().expect("events").iter().map(|event| ("Event", event));
    let mut seen = BTreeSet::new();
    for (name, value) in effects.chain(events).chain([("Opponent", &game["opponent"])]) {
        let schema = &document["components"]["schemas"][name];
        let kind = value["type"].as_str().expect("a type");
        let table: Vec<_> = schema["description"].as_str().expect("a description").lines().filter_map(row).collect();
        let (_, told) = table.iter().find(|(of, _)| of == kind).expect("a row");
        // A field that no row names may be in any type.
        let rows: BTreeSet<_> = table.iter().flat_map(|(_, fields)| fields.iter().map(|(field, _)| field)).collect();
        let shown = value.as_object().expect("an object").keys();
        let own: BTreeSet<_> = shown.filter(|field| rows.contains(field)).collect();
        // Fields that are "maybe" there may be missing, and all others are there.
        let expected = told.iter().filter(|(field, is_certain)| *is_certain || own.contains(field));
        assert_eq!(own, expected.map(|(field, _)| field).collect(), "{name} {kind}");
        seen.insert(format!("{name} {kind}"));
    }
    assert!(seen.len() >= 7, "{seen:?}");
}

/// A row of the table of a union: the type and its fields, each with whether it is always there.
fn row(line: &str) -> Option<(String, Vec<(String, bool)>)> {
    let (kind, fields) = line.strip_prefix("| `")?.split_once("` |")?;
    let field = |field: &str| {
        let name = field.trim();
        let certain = name.strip_prefix("maybe ");
        (certain.unwrap_or(name).trim_matches('`').to_owned(), certain.is_none())
    };
    let fields = fields.split('|').next()?.split(',').map(field);
    Some((kind.to_owned(), fields.filter(|(field, _)| !field.is_empty()).collect()))
}

/// The fields of an object, and those of them that are always there.
fn fields(schema: &Value) -> (BTreeSet<String>, BTreeSet<String>) {
    let known: BTreeSet<String> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    let required = schema["required"].as_array().into_iter().flatten();
    let required: BTreeSet<String> = required.map(|name| name.as_str().expect("a name").to_owned()).collect();
    assert!(!known.is_empty(), "{schema}");
    (known, required)
}
