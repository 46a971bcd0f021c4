//! A refused body names all of its faults, each with a pointer, a code and a detail.

use std::collections::BTreeMap;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{send, signed},
};

/// The code of each fault by its pointer. No pointer comes twice.
fn codes(answer: &Answer) -> BTreeMap<String, String> {
    answer.is_problem(422, "validation_failed");
    let errors = answer.body["errors"].as_array().expect("errors");
    let text = |error: &Value, key: &str| error[key].as_str().unwrap_or_else(|| panic!("{key} of {error}")).to_owned();
    let codes: BTreeMap<_, _> = errors.iter().map(|error| (text(error, "pointer"), text(error, "code"))).collect();
    assert!(errors.len() == codes.len() && errors.iter().all(|error| !text(error, "detail").is_empty()), "{errors:?}");
    codes
}

fn expected(codes: &[(&str, &str)]) -> BTreeMap<String, String> {
    codes.iter().map(|(pointer, code)| ((*pointer).to_owned(), (*code).to_owned())).collect()
}

#[actix_web::test]
async fn a_refused_body_names_every_fault_at_once() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    // What serde refuses, what a handler refuses, and both.
    let refused = app
        .create_game(
            &ana,
            &json!({
                "variant": 7, "side": "east", "sead": 1, "visibility": "public",
                "clock": {"type": "per_move", "move_s": 5}, "opponent": {"type": "computer", "level": 9},
            }),
        )
        .await;
    let found = codes(&refused);
    for (pointer, code) in [
        ("/variant", "wrong_type"),
        ("/side", "not_one_of"),
        ("/sead", "unknown_field"),
        ("/clock/move_s", "out_of_range"),
        ("/opponent/level", "out_of_range"),
    ] {
        assert_eq!(found.get(pointer).map(String::as_str), Some(code), "{refused:?}");
    }
    let errors = refused.body["errors"].as_array().expect("errors");
    let side = errors.iter().find(|error| error["pointer"] == "/side").expect("a fault");
    assert_eq!(side["values"], json!(["south", "north", "random"]));

    let body = json!({"variant": "kalah", "clock": {"type": "per_move", "move_s": 5}, "opponent": {"type": "computer", "level": 9}});
    let refused = app.create_game(&ana, &body).await;
    assert_eq!(codes(&refused), expected(&[("/clock/move_s", "out_of_range"), ("/opponent/level", "out_of_range")]));
    let body = json!({"variant": "kalah", "options": {"seeds": 99, "pits": 0, "colour": "red"}});
    let refused = app.create_game(&ana, &body).await;
    let named =
        [("/options/colour", "unknown_field"), ("/options/pits", "out_of_range"), ("/options/seeds", "out_of_range")];
    assert_eq!(codes(&refused), expected(&named));
}

#[actix_web::test]
async fn the_faults_of_options_have_the_codes_of_other_fields() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for (body, pointer, code, values) in [
        (json!({"variant": "kalah", "options": {"capture": "all"}}), "/options/capture", "not_one_of", true),
        (json!({"variant": "kalah", "options": {"capture": 3}}), "/options/capture", "wrong_type", false),
        (json!({"variant": "kalah", "options": {"pie": 1}}), "/options/pie", "wrong_type", false),
        (json!({"variant": "kalah", "options": {"seeds": "four"}}), "/options/seeds", "wrong_type", false),
        (json!({"variant": "kalah", "options": {"seeds": 99}}), "/options/seeds", "out_of_range", false),
        (json!({"variant": "kalah", "options": {"colour": "red"}}), "/options/colour", "unknown_field", false),
        (json!({"variant": "congkak", "options": {"max_rounds": 3}}), "/options/max_rounds", "invalid", false),
        (json!({"variant": "kalah", "preset": "chess"}), "/preset", "not_one_of", true),
    ] {
        let refused = app.create_game(&ana, &body).await;
        assert_eq!(codes(&refused), expected(&[(pointer, code)]), "{body}");
        let error = &refused.body["errors"][0];
        let listed = error["values"].as_array().is_some_and(|values| values.len() > 1);
        assert_eq!(listed, values, "{error}");
    }
}

#[actix_web::test]
async fn a_union_is_compared_with_the_form_that_its_type_names() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for (opponent, pointer, code) in [
        (json!({"type": "robot"}), "/opponent/type", "not_one_of"),
        (json!({"level": 3}), "/opponent/type", "required"),
        (json!({"type": "computer"}), "/opponent/level", "required"),
        (json!({"type": "player", "player_id": "Bob"}), "/opponent/player_id", "wrong_format"),
        (json!("computer"), "/opponent", "wrong_type"),
    ] {
        let refused = app.create_game(&ana, &json!({"variant": "kalah", "opponent": opponent})).await;
        assert_eq!(codes(&refused).get(pointer).map(String::as_str), Some(code), "{refused:?}");
    }
    // The field that tells the forms apart has another name here.
    for (body, faults) in [
        (json!({"grant_type": "refresh_token"}), vec![("/refresh_token", "required")]),
        (
            json!({"grant_type": "password", "refresh_token": "x"}),
            vec![("/name", "required"), ("/password", "required"), ("/refresh_token", "unknown_field")],
        ),
        (json!({"grant_type": "magic"}), vec![("/grant_type", "not_one_of")]),
        (json!({"recovery_code": "7ZK3M"}), vec![("/grant_type", "required")]),
    ] {
        assert_eq!(codes(&app.post("/v1/tokens", None, &body).await), expected(&faults), "{body}");
    }
}

#[actix_web::test]
async fn moves_and_queries_say_what_is_wrong_in_stable_words() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let moves = format!("/v1/games/{id}/moves");
    for (body, faults) in [
        (json!({"ply": 0, "moves": []}), vec![("/ply", "out_of_range"), ("/moves", "wrong_length")]),
        (
            json!({"moves": ["C", 3], "x/y": 1}),
            vec![("/moves/1", "wrong_type"), ("/ply", "required"), ("/x~1y", "unknown_field")],
        ),
        (json!({"ply": 1, "move": "C", "moves": ["C"]}), vec![("/moves", "invalid")]),
        (json!({"ply": 1}), vec![("/move", "required")]),
        (json!({"ply": 0}), vec![("/ply", "out_of_range"), ("/move", "required")]),
    ] {
        assert_eq!(codes(&app.post(&moves, Some(&south), &body).await), expected(&faults), "{body}");
    }
    let ids = vec![id.as_str(); 101].join(",");
    for (query, pointer, code) in [
        (&*format!("ids={ids}"), "?ids", "wrong_length"),
        ("practice=maybe", "?practice", "wrong_type"),
        ("limit=", "?limit", "wrong_type"),
        ("colour=red", "?colour", "unknown_field"),
        ("status=over", "?status", "not_one_of"),
        ("limit=many", "?limit", "wrong_type"),
        ("limit=1000", "?limit", "out_of_range"),
        ("min_plies=1000001", "?min_plies", "out_of_range"),
        ("variant=chess", "?variant", "not_one_of"),
        ("variant=kalah&preset=none", "?preset", "not_one_of"),
        ("reason=boredom", "?reason", "not_one_of"),
        ("since=yesterday", "?since", "wrong_format"),
        ("player=Ana", "?player", "wrong_format"),
    ] {
        assert_eq!(codes(&app.list_games(query, None).await), expected(&[(pointer, code)]), "{query}");
    }
    let picture = "/v1/variants/kalah/board.png";
    for (query, pointer) in [("width=", "?width"), ("width=abc", "?width"), ("caption=maybe", "?caption")] {
        let refused = app.get(&format!("{picture}?{query}"), None).await;
        assert_eq!(codes(&refused), expected(&[(pointer, "wrong_type")]), "{query}");
    }
    let request = signed(app.request(Method::POST, &moves), Some(&south)).header("content-type", "application/json");
    let doubled = send(request.body(r#"{"ply": 1, "ply": 2, "move": "C"}"#)).await;
    assert_eq!(codes(&doubled), expected(&[("/ply", "duplicate_field")]));
    // The number of faults is bounded, however many a body has.
    let refused = app.post(&moves, Some(&south), &unknown_fields(300)).await;
    assert_eq!(codes(&refused).len(), 64, "{refused:?}");
}

/// A body of as many fields that no call has, of 12 bytes each at most.
fn unknown_fields(count: usize) -> Value {
    (0..count).map(|n| (format!("x{n}"), json!(n))).collect::<serde_json::Map<_, _>>().into()
}

#[actix_web::test]
async fn a_body_above_4_kib_names_the_fault_at_which_reading_stopped() {
    let app = TestApp::start().await;
    let play = "/v1/variants/kalah/play";
    let mut body = unknown_fields(60);
    body["moves"] = json!(["C", 3]);
    assert_eq!(codes(&app.post(play, None, &body).await).len(), 61);
    body["position"] = json!(" ".repeat(4096));
    assert_eq!(codes(&app.post(play, None, &body).await), expected(&[("/moves/1", "wrong_type")]));
}

#[actix_web::test]
async fn an_unknown_variant_is_named_beside_faults_of_form() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = json!({"variant": "nope", "side": "east", "clock": {"type": "per_move", "move_s": 5},
        "opponent": {"type": "computer", "level": 9}});
    let named = [
        ("/variant", "not_one_of"),
        ("/side", "not_one_of"),
        ("/clock/move_s", "out_of_range"),
        ("/opponent/level", "out_of_range"),
    ];
    for path in ["/v1/games", "/v1/games/seek"] {
        let refused = app.post(path, Some(&ana), &body).await;
        assert_eq!(codes(&refused), expected(&named), "{path}");
        let errors = refused.body["errors"].as_array().expect("errors");
        let variant = errors.iter().find(|error| error["pointer"] == "/variant").expect("a fault");
        assert_eq!(variant["values"].as_array().expect("words").len(), 7, "{variant}");
    }
}

#[actix_web::test]
async fn all_faults_of_options_are_named_up_to_64() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for (unknown, named) in [(30, 32), (300, 64)] {
        let mut options = unknown_fields(unknown);
        options["pits"] = json!(99);
        options["seeds"] = json!("four");
        let refused = app.create_game(&ana, &json!({"variant": "kalah", "options": options})).await;
        assert_eq!(codes(&refused).len(), named, "{refused:?}");
    }
}

#[actix_web::test]
async fn a_new_game_is_refused_with_all_faults_of_meaning() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let unknown = "00000000-0000-4000-8000-000000000000";
    let clock = json!({"type": "bank", "bank_s": 600, "max_s": 300});
    for (body, faults) in [
        (json!({"practice": true}), vec![("/variant", "required"), ("/practice", "invalid")]),
        (
            json!({"variant": "nope", "clock": clock, "visibility": "private", "opponent": {"type": "open"}}),
            vec![("/variant", "not_one_of"), ("/clock/max_s", "invalid"), ("/opponent/type", "invalid")],
        ),
        (
            json!({"variant": "kalah", "preset": "x", "options": {"seeds": 99, "zz": 1, "pie": 1, "pits": 6},
                "start": {"position": "?"}, "practice": true}),
            vec![
                ("/preset", "not_one_of"),
                ("/options/seeds", "out_of_range"),
                ("/options/zz", "unknown_field"),
                ("/options/pie", "wrong_type"),
                ("/practice", "invalid"),
            ],
        ),
        // What one preset forbids is no fault of a preset that is unknown.
        (json!({"variant": "congkak", "preset": "x", "options": {"max_rounds": 3}}), vec![("/preset", "not_one_of")]),
        (
            json!({"variant": "kalah", "options": {"seeds": 99}, "opponent": {"type": "self", "name": ""}, "practice": true}),
            vec![("/options/seeds", "out_of_range"), ("/opponent/name", "wrong_length"), ("/practice", "invalid")],
        ),
        (
            json!({"variant": "kalah", "start": {"position": "zz"}, "practice": true}),
            vec![("/start/position", "invalid"), ("/practice", "invalid")],
        ),
        (
            json!({"from": {"game_id": unknown, "ply": 0}, "variant": "kalah", "preset": "standard",
                "opponent": {"type": "player", "player_id": unknown}}),
            vec![
                ("/variant", "invalid"),
                ("/preset", "invalid"),
                ("/from/game_id", "invalid"),
                ("/opponent/player_id", "invalid"),
            ],
        ),
        // A body of the wrong form is not checked for its meaning.
        (json!({"variant": "kalah", "preset": "x", "side": "q"}), vec![("/side", "not_one_of")]),
    ] {
        assert_eq!(codes(&app.create_game(&ana, &body).await), expected(&faults), "{body}");
    }
    let refused = app.create_game(&ana, &json!({"variant": "nope"})).await;
    assert_eq!(
        refused.body["errors"][0]["values"],
        json!(["kalah", "oware", "congkak", "bao", "omweso", "toguz_kumalak", "bestemshe"])
    );
    let sought = json!({"variant": "kalah", "options": {"seeds": 99}, "opponent": {"type": "self"}, "visibility": "private",
        "from": {"game_id": unknown, "ply": 0}, "practice": true, "start": {"position": "z"}});
    let named = [
        ("/opponent/type", "invalid"),
        ("/visibility", "invalid"),
        ("/from", "invalid"),
        ("/start", "invalid"),
        ("/options/seeds", "out_of_range"),
        ("/practice", "invalid"),
    ];
    assert_eq!(codes(&app.post("/v1/games/seek", Some(&ana), &sought).await), expected(&named));
    assert_eq!(app.list_games("player=me", Some(&ana)).await.body["items"], json!([]));
}

#[actix_web::test]
async fn a_name_and_a_password_are_refused_together() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let both = [("/name", "invalid"), ("/password", "invalid")];
    let body = json!({"name": "admin", "password": "password"});
    assert_eq!(codes(&app.post("/v1/players", None, &body).await), expected(&both));
    assert_eq!(codes(&app.patch("/v1/me", Some(&ana), &body).await), expected(&both));
    let nameless = json!({"password": "password"});
    let named = [("/name", "required"), ("/password", "invalid")];
    assert_eq!(codes(&app.post("/v1/players", None, &nameless).await), expected(&named));
    let body = json!({"name": "admin", "delete_webhooks": true});
    let named = [("/name", "invalid"), ("/delete_webhooks", "invalid")];
    assert_eq!(codes(&app.patch("/v1/me", Some(&ana), &body).await), expected(&named));
}

#[actix_web::test]
async fn a_failure_repeats_200_characters_and_has_at_most_32_kib() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let field = |name: String| json!({ name: 1 });
    let nested = (0..60).map(|n| (n.to_string().repeat(25), json!("x"))).collect::<serde_json::Map<_, _>>();
    for (path, body) in [
        ("/v1/variants/kalah/play", field("~".repeat(60_000))),
        ("/v1/variants/kalah/play", field("\u{1}".repeat(10_000))),
        ("/v1/variants/kalah/play", json!({"moves": ["C", "🂡".repeat(10_000)]})),
        ("/v1/variants/kalah/play", json!({"moves": [], "preset": "~".repeat(60_000)})),
        ("/v1/variants/kalah/play", json!({"moves": [], "options": {"~".repeat(60_000): 1}})),
        ("/v1/variants/kalah/play", json!({"moves": [], "position": "\u{1}".repeat(10_000)})),
        ("/v1/games", field("\u{1}".repeat(600))),
        ("/v1/games", json!({"variant": "kalah", "options": nested})),
        ("/v1/webhooks", json!({"url": "https://x.example", "events": vec!["x"; 1000]})),
        ("/v1/webhooks", json!({"url": "https://x.example", "events": vec!["x"; 64]})),
    ] {
        let refused = app.post(path, Some(&ana), &body).await;
        assert!(refused.status.is_client_error(), "{refused:?}");
        let bytes = refused.body.to_string().len();
        assert!(bytes <= 32 * 1024, "{path}: {bytes} bytes");
        let texts = refused.body["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .flat_map(|error| [&error["pointer"], &error["detail"]]);
        for text in texts.chain([&refused.body["detail"]]) {
            assert!(text.as_str().is_some_and(|text| text.chars().count() <= 200), "{text}");
        }
    }
}
