//! The life of a game: creating, reading, resigning and aborting.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{send, signed},
    games::without_me,
};

#[actix_web::test]
async fn a_new_game_is_open_and_says_everything_about_itself() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let answer = app.create_game(&ana, &json!({"variant": "kalah", "side": "north", "options": {"seeds": 3}})).await;
    assert_eq!(answer.status, 201);
    assert_eq!(answer.headers["location"], format!("/v1/games/{}", answer.string("/id")));
    insta::assert_json_snapshot!(answer.body, {
        ".id" => "[id]", ".seats.north.id" => "[player]", ".created_at" => "[time]", ".updated_at" => "[time]",
        ".expires_at" => "[time]",
    });
}

#[actix_web::test]
async fn a_game_that_was_created_is_there() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let read = app.get_game(game["id"].as_str().expect("an id"), None).await;
    assert_eq!((read.status.as_u16(), read.body), (200, without_me(game)));
}

#[actix_web::test]
async fn the_side_is_random_unless_the_creator_chose() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut south = 0;
    for _ in 0..40 {
        let game = app.created(&ana, &json!({"variant": "kalah"})).await;
        south += u32::from(game["seats"]["south"] != Value::Null);
        assert!(game["seats"]["south"].is_null() != game["seats"]["north"].is_null());
    }
    // 40 fair coin tosses all fall on one side once in 5 * 10^11 runs.
    assert!((1..40).contains(&south), "{south} of 40");
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    assert_eq!(game["seats"]["south"]["name"], "Ana");
}

#[actix_web::test]
async fn a_game_against_oneself_begins_at_once_and_seats_one_player_twice() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    assert_eq!(game["status"], "active");
    assert_eq!(game["seats"]["south"], game["seats"]["north"]);
    assert_eq!(game["legal_moves"], json!(["A", "B", "C", "D", "E", "F"]));
    assert!(game["started_at"].is_string());
}

#[actix_web::test]
async fn unknown_options_are_refused_by_name_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let cases = [
        (json!({}), "/variant"),
        (json!({"variant": "chess"}), "/variant"),
        (json!({"variant": 5}), "/variant"),
        (json!({"variant": "kalah", "preset": "none"}), "/preset"),
        (json!({"variant": "kalah", "colour": "red"}), "/colour"),
        (json!({"variant": "kalah", "options": {"seeds": 0}}), "/options/seeds"),
        (json!({"variant": "kalah", "options": {"seeds": 13}}), "/options/seeds"),
        (json!({"variant": "kalah", "options": {"seeds": "four"}}), "/options/seeds"),
        (json!({"variant": "kalah", "options": {"seeds": 4.5}}), "/options/seeds"),
        (json!({"variant": "kalah", "options": {"seeds": null}}), "/options/seeds"),
        (json!({"variant": "kalah", "options": {"pie": 1}}), "/options/pie"),
        (json!({"variant": "kalah", "options": {"end": "never"}}), "/options/end"),
        (json!({"variant": "kalah", "options": {"dice": 2}}), "/options/dice"),
        (json!({"variant": "kalah", "options": []}), "/options"),
        (json!({"variant": "kalah", "preset": "bga", "options": {"seeds": 7}}), "/options/seeds"),
        (
            json!({"variant": "kalah", "options": {"remaining": "discard", "majority_remaining": "sweep"}}),
            "/options/majority_remaining",
        ),
        (json!({"variant": "kalah", "options": {"a/b~c": 1}}), "/options/a~1b~0c"),
        (json!({"variant": "oware", "preset": "wari", "options": {"pits": 1, "seeds": 1}}), "/options"),
        (json!({"variant": "kalah", "side": "west"}), "/side"),
        (json!({"variant": "kalah", "side": 5}), "/side"),
        (json!({"variant": "kalah", "side": null}), "/side"),
        (json!({"variant": "kalah", "side": ["south"]}), "/side"),
        (json!({"variant": "kalah", "side": {"south": null}}), "/side"),
        (json!({"variant": "kalah", "visibility": true}), "/visibility"),
        (json!({"variant": "kalah", "opponent": {"type": 5}}), "/opponent/type"),
        (json!({"variant": "kalah", "opponent": null}), "/opponent"),
        (json!({"variant": "kalah", "clock": "unlimited"}), "/clock"),
        (json!({"variant": "kalah", "visibility": "secret"}), "/visibility"),
        (json!({"variant": "kalah", "opponent": {"type": "computer", "level": 9}}), "/opponent/level"),
        (json!({"variant": "kalah", "opponent": {"type": "open", "level": 3}}), "/opponent/level"),
        (json!({"variant": "kalah", "opponent": ["open"]}), "/opponent"),
        (json!({"variant": "kalah", "opponent": {"type": "open"}, "visibility": "private"}), "/opponent/type"),
        (json!({"variant": "kalah", "clock": {"type": "sundial", "move_s": 60}}), "/clock/type"),
        (json!({"variant": "kalah", "clock": {"type": "bank"}}), "/clock/bank_s"),
    ];
    for (body, pointer) in cases {
        let answer = app.create_game(&ana, &body).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{body} {answer:?}");
    }
    let later = app.create_game(&ana, &json!({"variant": "kalah", "opponent": {"type": "nobody"}})).await;
    assert!(later.string("/detail").contains("nobody"), "{later:?}");
    assert_eq!(app.get("/v1/games", None).await.body["items"], json!([]));
}

#[actix_web::test]
async fn every_preset_can_be_played_with_every_option_shown() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let variant = app.get("/v1/variants/kalah", None).await.body;
    for preset in variant["presets"].as_array().expect("presets") {
        let game = app.created(&ana, &json!({"variant": "kalah", "preset": preset["name"]})).await;
        for option in variant["options"].as_array().expect("options") {
            let name = option["name"].as_str().expect("a name");
            assert!(!game["options"][name].is_null(), "{name} of {preset}");
        }
    }
}

#[actix_web::test]
async fn an_unchanged_game_is_304_and_a_changed_one_is_not() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id");
    let first = app.get_game(id, None).await;
    let etag = first.headers["etag"].to_str().expect("text").to_owned();
    assert!(etag.starts_with("W/\"1-"), "{etag}");
    assert_eq!(first.headers["cache-control"], "private, no-cache");
    let again = || app.request(Method::GET, &format!("/v1/games/{id}")).header(header::IF_NONE_MATCH, &etag);
    let unchanged = send(again()).await;
    assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str()), (304, ""));
    assert_eq!(unchanged.headers["etag"], etag);
    app.play_move(id, &ana, 1, "C").await;
    assert_eq!(send(again()).await.status, 200);
}

#[actix_web::test]
async fn who_may_read_a_game_is_its_visibility() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    for (visibility, to_others) in [("public", 200), ("unlisted", 200), ("private", 404)] {
        let body = json!({"variant": "kalah", "visibility": visibility, "opponent": {"type": "self"}});
        let game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id");
        app.play_move(id, &ana, 1, "A").await;
        for path in [String::new(), "/moves".into(), "/positions/0".into(), "/positions/1".into()] {
            let path = format!("/v1/games/{id}{path}");
            assert_eq!(app.get(&path, Some(&ana)).await.status, 200, "{visibility} {path}");
            for reader in [Some(&eve), None] {
                let answer = app.get(&path, reader).await;
                assert_eq!(answer.status, to_others, "{visibility} {path}");
                if to_others == 404 {
                    answer.is_problem(404, "not_found");
                }
            }
        }
        // A stranger cannot tell a hidden game from one that does not exist.
        for verb in ["resign", "abort", "join"] {
            let answer = app.post(&format!("/v1/games/{id}/{verb}"), Some(&eve), &json!({})).await;
            let expected = match (visibility, verb) {
                ("private", _) => (404, "not_found"),
                (_, "join") => (409, "seat_taken"),
                _ => (403, "not_seated"),
            };
            answer.is_problem(expected.0, expected.1);
        }
        assert_eq!(app.get_game(id, Some(&ana)).await.body["version"], 2);
    }
}

#[actix_web::test]
async fn resigning_gives_the_game_to_the_opponent_and_can_be_repeated() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.play_move(&id, &south, 1, "C").await;
    let resigned = app.resign_game(&id, &south).await;
    assert_eq!(resigned.status, 200);
    assert_eq!(resigned.body["status"], "finished");
    assert_eq!(
        resigned.body["result"],
        json!({"winner": "north", "winner_player_id": north.id, "reason": "resignation", "score": {"south": 1, "north": 0}})
    );
    assert_eq!((&resigned.body["turn"], &resigned.body["legal_moves"]), (&Value::Null, &json!([])));
    let again = app.resign_game(&id, &south).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &resigned.body));
    let late = app.resign_game(&id, &north).await;
    late.is_problem(409, "game_over");
    assert_eq!(without_me(late.body["game"].clone()), without_me(resigned.body));
    app.abort_game(&id, &south).await.is_problem(409, "game_over");
    app.play_move(&id, &south, 2, "A").await.is_problem(409, "game_over");
}

#[actix_web::test]
async fn in_a_game_against_oneself_the_side_to_move_resigns() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id");
    app.play_move(id, &ana, 1, "A").await;
    let resigned = app.resign_game(id, &ana).await;
    assert_eq!(resigned.body["result"]["winner"], "south");
    assert_eq!(app.resign_game(id, &ana).await.body, resigned.body);
}

#[actix_web::test]
async fn an_open_game_can_be_aborted_and_not_resigned() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let id = game["id"].as_str().expect("an id");
    app.resign_game(id, &ana).await.is_problem(409, "game_not_started");
    let aborted = app.abort_game(id, &ana).await;
    assert_eq!((aborted.status.as_u16(), &aborted.body["status"]), (200, &json!("aborted")));
    assert_eq!(aborted.body["result"], Value::Null);
    assert!(aborted.body["finished_at"].is_string());
    assert_eq!(app.abort_game(id, &ana).await.body, aborted.body);
}

#[actix_web::test]
async fn an_active_game_can_be_aborted_by_a_player_before_their_first_move() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.play_move(&id, &south, 1, "A").await;
    app.abort_game(&id, &south).await.is_problem(403, "forbidden");
    let aborted = app.abort_game(&id, &north).await;
    assert_eq!((aborted.status.as_u16(), &aborted.body["status"]), (200, &json!("aborted")));
    app.play_move(&id, &north, 2, "a").await.is_problem(409, "game_over");
}

#[actix_web::test]
async fn a_change_under_another_version_is_refused() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    for (verb, guest) in [("abort", &north), ("resign", &south)] {
        for tag in ["W/\"1-0\"", "\"1\"", "\"99\"", "\"\"", "\"two\"", "nonsense"] {
            let request = app.request(Method::POST, &format!("/v1/games/{id}/{verb}")).header(header::IF_MATCH, tag);
            send(signed(request, Some(guest))).await.is_problem(412, "precondition_failed");
        }
    }
    for tag in ["W/\"2-0123456789abcdef\"", "\"2\"", "\"1\", \"2\"", "*"] {
        let (id, south, _) = app.started(&json!({})).await;
        let request = app.request(Method::POST, &format!("/v1/games/{id}/resign")).header(header::IF_MATCH, tag);
        assert_eq!(send(signed(request, Some(&south))).await.status, 200, "{tag}");
    }
}

#[actix_web::test]
async fn an_unknown_game_is_not_found_whatever_is_asked_of_it() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for id in ["0199aaaa-0000-7000-8000-000000000000", "17", "not-a-uuid", "%F0%9F%98%80", "%FF"] {
        for path in ["", "/moves", "/positions/0"] {
            app.get(&format!("/v1/games/{id}{path}"), None).await.is_problem(404, "not_found");
        }
        for verb in ["join", "resign", "abort"] {
            app.post(&format!("/v1/games/{id}/{verb}"), Some(&ana), &json!({})).await.is_problem(404, "not_found");
        }
        app.play_move(id, &ana, 1, "A").await.is_problem(404, "not_found");
    }
}
