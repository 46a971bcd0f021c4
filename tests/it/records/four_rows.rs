//! Records of games with four rows: written, read back, and refused where they are of another game.

use mancala_server::rules::notation::{Record, Termination};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use super::{
    archive::{archive_all, execute},
    import::import,
};
use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    games::some_move,
};

#[actix_web::test]
async fn games_of_four_rows_go_out_and_come_in_as_text_and_as_json() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    for (variant, preset) in [("bao", "standard"), ("bao", "bga"), ("omweso", "standard"), ("omweso", "tournament")] {
        let body = json!({"variant": variant, "preset": preset, "opponent": {"type": "self"}});
        let mut game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id").to_owned();
        for ply in 1..300 {
            if game["status"] == "finished" {
                break;
            }
            game = app.played(&id, &ana, ply, some_move(&game)).await;
        }
        assert_eq!(game["status"], "finished", "{game}");
        let verified = app.get(&format!("/v1/games/{id}/verify"), Some(&ana)).await;
        assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
        comes_back(&app, &ana, &game).await;
    }
}

#[actix_web::test]
async fn a_game_that_was_resigned_inside_a_turn_comes_back_with_its_score() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    // H downward captures, and leaves a choice with two seeds in the hand.
    let position = "0,0,0,0,1,0,0,3,0,0,0,0,20,0,0,0/2,0,1,1,0,0,0,0,0,0,33,0,1,2,0,0 0-0 S - 0 1S";
    let body = json!({"variant": "omweso", "opponent": {"type": "self"}, "start": {"position": position}});
    let game = app.created(&ana, &body).await;
    let id = game["id"].as_str().expect("an id");
    app.played(id, &ana, 1, "HV").await;
    let game = app.resign_game(id, &ana).await.body;
    assert_eq!(game["result"]["score"], json!({"south": 26, "north": 38}), "{game}");
    comes_back(&app, &ana, &game).await;
}

/// A finished game is exported in both formats, and imported as the same game.
async fn comes_back(app: &TestApp, ana: &Guest, game: &Value) {
    let id = game["id"].as_str().expect("an id");
    for (format, kind) in [("text", "text/plain"), ("json", "application/x-ndjson")] {
        let path = format!("/v1/games/{id}/export?format={format}");
        let exported = send(signed(app.request(Method::GET, &path), Some(ana))).await;
        assert_eq!(exported.status, 200, "{exported:?}");
        if format == "text" {
            let record: Record = exported.text.parse().expect("a record");
            assert_eq!(record.last().to_string(), game["position"].as_str().expect("a position"));
            assert_eq!(
                record.termination().map(|why: Termination| json!(why.to_string())),
                Some(game["result"]["reason"].clone())
            );
        }
        let text = exported.text.replace('\n', if format == "json" { "" } else { "\n" });
        let imported = import(app, ana, "", kind, text).await;
        assert_eq!((&imported.body["imported"], &imported.body["refused"]), (&json!(1), &json!(0)), "{imported:?}");
        let copy = imported.body["items"][0]["game_id"].as_str().expect("an id");
        let copy = app.get_game(copy, Some(ana)).await.body;
        let same = |field: &str| assert_eq!(copy[field], game[field], "{format} {field}");
        ["variant", "preset", "options", "ply", "position", "status"].into_iter().for_each(same);
        assert_eq!(copy["result"]["reason"], game["result"]["reason"]);
        assert_eq!(copy["result"]["score"], game["result"]["score"]);
    }
}

/// A sowing of 45 circuits that ends.
const LONG: &str = "0,0,0,0,0,0,0,0,0,0,3,1,1,0,0,0/3,0,1,9,4,1,2,1,0,6,0,16,3,10,1,2 0-0 N - 29 1S";

#[actix_web::test]
async fn a_changed_default_reaches_no_game_that_there_is() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let body = json!({"variant": "omweso", "opponent": {"type": "self"}, "start": {"position": LONG}});
    // A new game has the new default, and the sowing ends.
    let new = app.created(&ana, &body).await;
    let game = app.played(new["id"].as_str().expect("an id"), &ana, 1, "n").await;
    assert_eq!((&game["options"]["circuits"], &game["status"]), (&json!(100), &json!("active")));
    // A game by the former default is stored as before: without a word of it.
    let old = app.created(&ana, &with_circuits(body, 40)).await;
    let id = old["id"].as_str().expect("an id");
    let stored = format!(
        "select options || '|' || (detail ->> 'options') from game join event on game_id = id and seq = 1 where id = '{id}'"
    );
    let stored: String = sqlx::query_scalar(AssertSqlSafe(stored)).fetch_one(&app.db).await.expect("a row");
    assert_eq!(stored, "|");
    let game = app.played(id, &ana, 1, "n").await;
    assert_eq!((&game["options"]["circuits"], &game["result"]["reason"]), (&json!(40), &json!("endless_move")));
    let is_same = async |id: &str, how: &str| {
        let copy = app.get_game(id, Some(&ana)).await.body;
        for field in ["preset", "options", "position", "status", "result"] {
            assert_eq!(copy[field], game[field], "{how}: {field}");
        }
        let verified = app.get(&format!("/v1/games/{id}/verify"), Some(&ana)).await;
        assert_eq!(verified.body["flaws"], json!([]), "{how}: {verified:?}");
    };
    is_same(id, "stored").await;
    assert_eq!(archive_all(&app).await.games, 1);
    is_same(id, "archived").await;
    comes_back(&app, &ana, &game).await;
    let path = format!("/v1/games/{id}/export?format=text");
    let exported = send(signed(app.request(Method::GET, &path), Some(&ana))).await.text;
    assert!(!exported.contains("[Options"), "{exported}");
    let imported = import(&app, &ana, "", "text/plain", exported).await;
    is_same(imported.body["items"][0]["game_id"].as_str().expect("an id"), "exported").await;
}

#[actix_web::test]
async fn what_a_stored_game_cannot_keep_is_refused_and_still_read() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let longer = json!({"variant": "omweso", "opponent": {"type": "self"}, "options": {"max_plies": 2001}});
    let refused = app.post("/v1/games", Some(&ana), &longer).await;
    refused.is_problem(422, "validation_failed");
    let error = &refused.body["errors"][0];
    assert_eq!((&error["pointer"], &error["code"]), (&json!("/options/max_plies"), &json!("out_of_range")));
    assert!(error["detail"].as_str().is_some_and(|detail| detail.ends_with("from 100 to 2000")), "{error}");
    let variant = app.get("/v1/variants/omweso", None).await.body;
    let option = variant["options"].as_array().expect("options").iter().find(|option| option["name"] == "max_plies");
    assert_eq!(option.map(|option| &option["max"]), Some(&json!(2000)));
    // A game that was created with more, as it is stored.
    let body = json!({"variant": "omweso", "opponent": {"type": "self"}});
    let game = app.created(&ana, &body).await;
    let id = game["id"].as_str().expect("an id");
    execute(
        &app,
        format!(
            "update game set options = 'max_plies=10000' where id = '{id}'; \
             update event set detail = jsonb_set(detail::jsonb, '{{options}}', '\"max_plies=10000\"') where game_id = '{id}'"
        ),
    )
    .await;
    let (second, _) = app.second_server();
    let get = async |path: &str| {
        let request = reqwest::Client::new().get(format!("http://{second}/v1/games/{id}{path}"));
        send(signed(request, Some(&ana))).await
    };
    assert_eq!(get("").await.body["options"]["max_plies"], 10_000);
    let line = json!({"options": {"max_plies": 10_000}, "moves": ["I"]});
    assert_eq!(app.post("/v1/variants/omweso/play", None, &line).await.status, 200);
    app.resign_game(id, &ana).await;
    assert_eq!(archive_all(&app).await.games, 1);
    assert_eq!(get("/verify").await.body["flaws"], json!([]));
    let exported = get("/export?format=text").await.text;
    assert!(exported.contains("[Options \"max_plies=10000\"]"), "{exported}");
    let imported = import(&app, &ana, "", "text/plain", exported).await;
    assert_eq!(imported.body["imported"], 1, "{imported:?}");
}

fn with_circuits(mut body: Value, circuits: u32) -> Value {
    body["options"] = json!({"circuits": circuits});
    body
}

#[actix_web::test]
async fn a_record_of_another_game_is_refused_with_its_place() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    for (text, column, why) in [
        ("[Variant \"omweso\"]\n\n1. FV fu *\n", 4, "empty"),
        ("[Variant \"kalah\"]\n\n1. FV fu *\n", 5, "no move"),
        ("[Variant \"bao\"]\n\n1. C F *\n", 4, "form"),
        ("[Variant \"bao\"]\n\n1. FV f100 *\n", 7, "number from 0 to 99"),
    ] {
        let answer = import(&app, &ana, "", "text/plain", text).await;
        assert_eq!((&answer.body["imported"], &answer.body["refused"]), (&json!(0), &json!(1)), "{answer:?}");
        let error: &Value = &answer.body["items"][0]["error"];
        assert_eq!((&error["line"], &error["column"]), (&json!(3), &json!(column)), "{error}");
        assert!(error["detail"].as_str().is_some_and(|detail| detail.contains(why)), "{error}");
    }
}
