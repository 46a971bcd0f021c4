//! The catalogue: presets, options and rules, and schemas that accept exactly what a new game accepts.

use std::collections::BTreeMap;

use jsonschema::Validator;
use mancala_server::rules::{AnyOptions, OptionKind, OptionSpec, OptionValue, Variant};
use reqwest::Method;
use serde_json::{Map, Value, json};

use crate::support::{answer::Answer, app::TestApp, calls::send};

/// The schemas that a variant answers, by preset.
async fn schemas(app: &TestApp, variant: Variant) -> BTreeMap<String, Value> {
    let answer = app.get(&format!("/v1/variants/{variant}"), None).await;
    serde_json::from_value(answer.body["preset_schemas"].clone()).expect("a schema for each preset")
}

fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).expect("a schema that stands for itself")
}

/// Values of an option: every good one or the outermost, and some that are none.
fn samples(spec: &OptionSpec) -> Vec<Value> {
    let others = [json!(null), json!([]), json!({}), json!(4.5), json!(-1), json!(1_000_000_000_000_u64)];
    let own = match spec.kind {
        OptionKind::Integer { min, max } => {
            let (low, high) = (i64::from(min), i64::from(max));
            let near = [low - 1, low, low + 2, low + 3, high / 2, high, high + 1].map(Value::from);
            [&near[..], &[json!(f64::from(max)), json!("4"), json!(true), json!(u64::MAX), json!(1e300)]].concat()
        }
        OptionKind::Boolean => vec![json!(true), json!(false), json!("true"), json!(1), json!(0.0)],
        OptionKind::Choice(words) => {
            let words = words.iter().map(|word| json!(word));
            words.chain([json!(""), json!("OWN"), json!("Multi"), json!(1), json!(false)]).collect()
        }
    };
    own.into_iter().chain(others).collect()
}

/// Documents with one option each.
fn singles(variant: Variant) -> Vec<Value> {
    let specs = variant.options().iter();
    specs.flat_map(|spec| samples(spec).into_iter().map(|value| json!({spec.name: value}))).collect()
}

/// Documents with two options each, their values being of the right kind.
fn pairs(variant: Variant) -> Vec<Value> {
    let good = |spec: &OptionSpec| samples(spec).into_iter().filter(|value| option_value(value).is_some()).take(4);
    let specs = variant.options();
    let pairs = (0..specs.len()).flat_map(|n| (0..n).map(move |earlier| (&specs[n], &specs[earlier])));
    let values = pairs.flat_map(|(one, other)| {
        good(one).flat_map(move |value| good(other).map(move |second| json!({one.name: value, other.name: second})))
    });
    values.collect()
}

/// Documents with any number of options, nearly all of them good.
fn mixed(variant: Variant, count: u64) -> Vec<Value> {
    // A linear congruential generator: the same documents every time.
    let mut state = 7_u64;
    let mut draw = |sides: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % sides
    };
    let choices: Vec<_> = variant.options().iter().map(|spec| (spec.name, good_and_all(spec))).collect();
    let document = |_| {
        let mut document = Map::new();
        for (name, (good, all)) in &choices {
            match draw(40) {
                0 => document.insert((*name).to_owned(), all[draw(all.len())].clone()),
                1..20 => document.insert((*name).to_owned(), good[draw(good.len())].clone()),
                _ => None,
            };
        }
        Value::Object(document)
    };
    (0..count).map(document).collect()
}

/// Values that an option may have, and all that are tried.
fn good_and_all(spec: &OptionSpec) -> (Vec<Value>, Vec<Value>) {
    let (all, schema) = (samples(spec), validator(&bare(spec)));
    (all.iter().filter(|value| schema.is_valid(value)).cloned().collect(), all)
}

/// What an option may be, whatever the others are.
fn bare(spec: &OptionSpec) -> Value {
    match spec.kind {
        OptionKind::Integer { min, max } => json!({"type": "integer", "minimum": min, "maximum": max}),
        OptionKind::Boolean => json!({"type": "boolean"}),
        OptionKind::Choice(words) => json!({"enum": words}),
    }
}

fn option_value(value: &Value) -> Option<OptionValue> {
    match value {
        Value::Bool(value) => Some(OptionValue::Boolean(*value)),
        Value::Number(value) => value.as_i64().map(OptionValue::Integer),
        Value::String(word) => Some(OptionValue::Word(word.clone().into())),
        _ => None,
    }
}

#[actix_web::test]
async fn the_variants_are_listed_with_their_presets_and_options() {
    let app = TestApp::start().await;
    let list = app.get("/v1/variants", None).await;
    assert_eq!(list.status, 200);
    assert_eq!(list.body["next_cursor"], json!(null));
    insta::assert_json_snapshot!(list.body["items"]);
}

#[actix_web::test]
async fn a_variant_tells_all_that_a_form_for_a_new_game_needs() {
    let app = TestApp::start().await;
    let list = app.get("/v1/variants", None).await.body;
    for listed in list["items"].as_array().expect("items") {
        let answer = app.get(&format!("/v1/variants/{}", listed["name"].as_str().expect("a name")), None).await;
        assert_eq!(answer.headers["cache-control"], "public, max-age=300");
        let mut variant = answer.body;
        let fields = variant.as_object_mut().expect("an object");
        let rules = fields.remove("rules").expect("the rules");
        assert!(rules.as_str().expect("text").starts_with(&format!("# {}\n", listed["title"].as_str().expect("text"))));
        let (schema, schemas) = (fields.remove("options_schema"), fields.remove("preset_schemas").expect("schemas"));
        assert_eq!(schema.as_ref(), schemas.get("standard"));
        let mut presets: Vec<_> = listed["presets"].as_array().expect("presets").iter().collect();
        presets.sort_by_key(|preset| preset["name"].as_str());
        assert!(
            presets.iter().map(|preset| preset["name"].as_str()).eq(schemas
                .as_object()
                .expect("an object")
                .keys()
                .map(|name| Some(name.as_str())))
        );
        assert_eq!(&variant, listed, "and what the list says");
        // A form shows the options in the order of the rules.
        let first = listed["options"][0]["name"].as_str().expect("a name");
        assert!(answer.text.contains(&format!(r#""properties":{{"{first}":{{"type":""#)), "{first} comes first");
    }
    app.get("/v1/variants/chess", None).await.is_problem(404, "not_found");
    app.get("/v1/variants/Kalah", None).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn a_schema_of_options_is_whole_and_describes_every_one() {
    let app = TestApp::start().await;
    let standard = app.get("/v1/variants/congkak", None).await.body["options_schema"].clone();
    insta::assert_json_snapshot!(standard);
    for variant in Variant::ALL {
        for (preset, schema) in schemas(&app, variant).await {
            assert!(jsonschema::meta::is_valid(&schema), "{variant} {preset}");
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            assert!(!schema.to_string().contains("$ref"), "it needs nothing else");
            assert_eq!(schema["additionalProperties"], false);
            let plain = AnyOptions::new(variant, &preset, &[]).expect("a preset");
            let properties = schema["properties"].as_object().expect("properties");
            assert_eq!(properties.len(), variant.options().len());
            for (name, value) in plain.all_values() {
                let property = &properties[name];
                assert_eq!(option_value(&property["default"]), Some(value), "{variant} {preset} {name}");
                assert!(validator(property).is_valid(&property["default"]));
                assert!(property["description"].as_str().expect("a sentence").ends_with('.'));
                let bounded = property["minimum"].is_u64() && property["maximum"].is_u64();
                assert!(bounded || property["enum"].is_array() || property["type"] == "boolean", "{name}");
            }
        }
    }
}

#[actix_web::test]
async fn a_new_game_takes_what_the_schema_of_options_allows_and_nothing_else() {
    let app = TestApp::start().await;
    for variant in Variant::ALL {
        let schema = validator(&schemas(&app, variant).await["standard"]);
        let unknown = [json!({}), json!({"dice": 2}), json!({"": 1}), json!([]), json!("seeds"), json!(null)];
        let documents = singles(variant).into_iter().chain(mixed(variant, 200)).chain(unknown);
        let (ana, mut counts) = (app.guest("Ana").await, [0, 0]);
        for options in documents {
            let allowed = schema.is_valid(&options);
            let body = json!({"variant": variant.word(), "options": options, "opponent": {"type": "self"}});
            let answer = app.create_game(&ana, &body).await;
            counts[usize::from(allowed)] += 1;
            if allowed {
                assert_eq!(answer.status, 201, "{variant} {options}: {answer:?}");
            } else {
                answer.is_problem(422, "validation_failed");
                assert!(answer.string("/errors/0/pointer").starts_with("/options"), "{options}: {answer:?}");
            }
        }
        assert!(counts.iter().all(|&count| count > 50), "{variant} {counts:?}");
    }
}

#[actix_web::test]
async fn every_presets_schema_allows_what_the_preset_does_in_ones_and_twos() {
    let app = TestApp::start().await;
    for variant in Variant::ALL {
        for (preset, schema) in schemas(&app, variant).await {
            let schema = validator(&schema);
            for options in singles(variant).into_iter().chain(pairs(variant)) {
                let entries = options.as_object().expect("an object").iter();
                let overrides: Option<Vec<_>> =
                    entries.map(|(name, value)| Some((name.clone(), option_value(value)?))).collect();
                // What has no kind that an option could have, such as 4.0 and 4.5, is for the test above.
                let Some(overrides) = overrides else { continue };
                let taken = AnyOptions::new(variant, &preset, &overrides);
                assert_eq!(schema.is_valid(&options), taken.is_ok(), "{variant} {preset} {options}: {taken:?}");
            }
        }
    }
}

#[actix_web::test]
async fn a_presets_own_options_pass_its_schema_and_change_nothing() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for variant in Variant::ALL {
        let schemas = schemas(&app, variant).await;
        let shown = app.get(&format!("/v1/variants/{variant}"), None).await.body;
        for preset in shown["presets"].as_array().expect("presets") {
            let name = preset["name"].as_str().expect("a name");
            assert!(validator(&schemas[name]).is_valid(&preset["options"]), "{preset}");
            let body = json!({"variant": variant.word(), "preset": name, "options": preset["options"]});
            let game = app.created(&ana, &body).await;
            assert_eq!(game["options"], preset["options"]);
        }
    }
}

#[actix_web::test]
async fn a_client_that_has_the_variants_is_told_so() {
    let app = TestApp::start().await;
    for path in ["/v1/variants", "/v1/variants/kalah"] {
        let first = app.get(path, None).await;
        let tag = first.headers["etag"].clone();
        let again = send(app.request(Method::GET, path).header("if-none-match", tag.clone())).await;
        assert_eq!((again.status.as_u16(), again.text.as_str(), &again.headers["etag"]), (304, "", &tag));
        assert_eq!(again.headers["cache-control"], first.headers["cache-control"]);
        let other = send(app.request(Method::GET, path).header("if-none-match", "W/\"0\"")).await;
        assert_eq!((other.status.as_u16(), &other.body), (200, &first.body));
    }
}

#[actix_web::test]
async fn a_variant_is_found_by_any_of_its_names() {
    let app = TestApp::start().await;
    let names = |answer: &Answer| -> Vec<String> {
        let items = answer.body["items"].as_array().expect("items");
        items.iter().map(|variant| variant["name"].as_str().expect("a name").to_owned()).collect()
    };
    for variant in Variant::ALL {
        for name in variant.aliases().iter().copied().chain([variant.word(), variant.title()]) {
            let answer = app.get(&format!("/v1/variants?name={name}"), None).await;
            assert_eq!(answer.status, 200, "{name}");
            assert!(names(&answer).contains(&variant.to_string()), "{name}: {answer:?}");
        }
    }
    let long = format!("name={}", "a".repeat(64));
    for (query, expected) in [
        ("name=AWALE", &["kalah", "oware"][..]),
        ("name=bao-la-kiswahili", &["bao"]),
        ("name=%D0%9A%D0%90%D0%9B%D0%90%D0%A5", &["kalah"]),
        ("name=chess", &[]),
        ("name=%25", &[]),
        (&long, &[]),
    ] {
        let answer = app.get(&format!("/v1/variants?{query}"), None).await;
        assert_eq!(answer.status, 200, "{query}");
        assert_eq!(names(&answer), expected, "{query}");
        assert_eq!(answer.body["next_cursor"], json!(null));
    }
}

#[actix_web::test]
async fn a_name_of_a_variant_has_a_bounded_length() {
    let app = TestApp::start().await;
    for query in ["name=".to_owned(), format!("name={}", "a".repeat(65))] {
        let answer = app.get(&format!("/v1/variants?{query}"), None).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.string("/errors/0/pointer"), "?name");
        assert_eq!(answer.string("/errors/0/code"), "wrong_length");
    }
    app.get("/v1/variants?names=kalah", None).await.is_problem(422, "validation_failed");
}
