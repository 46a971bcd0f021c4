//! Imported games: each is stored whole or refused, and every export can be imported again.

use mancala_server::rules::{AnyOptions, AnyPosition, Move, Variant, notation::Record};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{self, File},
    calls::{Guest, send, signed},
};

pub const WHOLE: &str = "[Variant \"kalah\"]\n[South \"Ana\"]\n[North \"Bo\"]\n\n1. CF a 2. A *\n";

pub async fn import(app: &TestApp, guest: &Guest, query: &str, kind: &str, body: impl Into<reqwest::Body>) -> Answer {
    let request = app.request(Method::POST, &format!("/v1/games/import{query}"));
    send(signed(request, Some(guest)).header("content-type", kind).body(body)).await
}

async fn exported(app: &TestApp, query: &str, guest: Option<&Guest>) -> Answer {
    send(signed(app.request(Method::GET, &format!("/v1/games/export{query}")), guest)).await
}

/// Exit status and output of a command.
pub(super) fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = binary::server(arguments).output().expect("the binary runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

/// A whole game by the first legal moves, as a record.
pub fn whole_game(variant: &str, options: &str, south: &str) -> Record {
    let options = AnyOptions::parse(variant.parse().expect("a variant"), "standard", options);
    let opening = AnyPosition::opening(&options.expect("options"));
    let (mut position, mut moves): (_, Vec<Move>) = (opening.clone(), vec![]);
    while let Some(&mv) = position.legal_moves().first() {
        position.play_unchecked(mv);
        moves.push(mv);
        assert!(moves.len() < 1000, "it ends");
    }
    Record::new(&opening, moves).expect("a record").with_names(south, "Bo").expect("names")
}

#[actix_web::test]
async fn a_reason_in_words_of_another_program_is_unknown_and_warned_of() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let won = "[Variant \"kalah\"]\n[Result \"1-0\"]\n[Termination \"Normal\"]\n\n1. CF a 1-0\n";
    let long = format!("[Variant \"kalah\"]\n[Termination \"{}\"]\n\n1. CF a *\n", "Ana went home. ".repeat(20));
    let text = format!("{won}\n{long}\n{}", whole_game("kalah", "", "Ana").to_string().replace("side_empty", "Normal"));
    let answer = import(&app, &ana, "", "text/plain", text).await;
    assert_eq!((&answer.body["imported"], &answer.body["refused"]), (&json!(3), &json!(0)), "{answer:?}");
    let items = answer.body["items"].as_array().expect("items");
    let detail = "`Normal` is no known reason to end, and counts as unknown";
    assert_eq!(items[0]["warnings"], json!([{"line": 3, "column": 15, "detail": detail}]));
    assert!(items[1]["warnings"][0]["detail"].as_str().is_some_and(|detail| detail.len() < 160), "{answer:?}");
    let mut reasons = vec![];
    for item in items {
        let game = app.get_game(item["game_id"].as_str().expect("an id"), Some(&ana)).await.body;
        reasons.push((game["status"].clone(), game["result"]["reason"].clone()));
    }
    let expected = [("finished", json!("unknown")), ("aborted", Value::Null), ("finished", json!("side_empty"))];
    assert_eq!(reasons, expected.map(|(status, reason)| (json!(status), reason)));
    // The same in JSON, as a newer server may write it.
    let game = json!({"game": {"variant": "kalah", "result": {"winner": "south", "reason": "boredom"}}, "moves": [{"move": "C"}]});
    let answer = import(&app, &ana, "", "application/json", game.to_string()).await;
    let item = &answer.body["items"][0];
    assert_eq!((&answer.body["imported"], &item["warnings"][0]["line"]), (&json!(1), &json!(1)), "{answer:?}");
    let game = app.get_game(item["game_id"].as_str().expect("an id"), Some(&ana)).await.body;
    assert_eq!(game["result"]["reason"], "unknown");
}

#[actix_web::test]
async fn each_record_is_imported_whole_or_refused_with_its_place_and_reason() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let text = format!(
        "{WHOLE}\n[Variant \"kalah\"]\n1. C {{a comment\n[Variant \"no tag\"]}}\n   g *\n{}\n[Variant \"oware\"]\n1. A b 1-0\n",
        whole_game("congkak", "", "Ana")
    );
    let answer = import(&app, &ana, "?visibility=public", "text/plain", text).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!((&answer.body["imported"], &answer.body["refused"]), (&json!(3), &json!(1)));
    let refused = &answer.body["items"][1];
    assert_eq!(
        (&refused["line"], &refused["error"]["line"], &refused["error"]["column"]),
        (&json!(7), &json!(10), &json!(4))
    );
    assert!(refused["error"]["detail"].as_str().is_some_and(|detail| detail.contains('g')), "{refused}");
    let id = |n: usize| answer.body["items"][n]["game_id"].as_str().expect("an id").to_owned();
    // The first was abandoned, the third ended by the rules, and the last has no known reason.
    let game = app.get_game(&id(0), None).await.body;
    assert_eq!(
        (&game["status"], &game["ply"], &game["seats"]["south"]["name"]),
        (&json!("aborted"), &json!(4), &json!("Ana"))
    );
    assert_eq!(
        (&game["seats"]["south"]["kind"], &game["opponent"]),
        (&json!("imported"), &json!({"type": "imported", "importer_id": ana.id}))
    );
    let game = app.get_game(&id(2), None).await.body;
    assert_eq!((&game["status"], &game["legal_moves"]), (&json!("finished"), &json!([])));
    let game = app.get_game(&id(3), None).await.body;
    assert_eq!((&game["result"]["reason"], &game["result"]["winner"]), (&json!("unknown"), &json!("south")));
    for n in [0, 2, 3] {
        let verified = app.get(&format!("/v1/games/{}/verify", id(n)), None).await;
        assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
    }
}

#[actix_web::test]
async fn a_game_as_json_is_refused_with_the_place_of_the_ply_that_cannot_be() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let pretty = |third: &str| {
        format!(
            "{{\n  \"game\": {{\"variant\": \"kalah\", \"seats\": {{\"south\": {{\"name\": \"\u{e9}\"}}}}}},\n  \"moves\": [\n    \
             {{\"move\": \"A\"}},\n    {{\"move\": \"a\"}}, {third}\n  ]\n}}\n"
        )
    };
    for (third, line, column, said) in [
        (r#"{"move": "a"}"#, 5, 20, "ply 3"),
        (r#"{"move": "?"}"#, 5, 20, "ply 3"),
        (r#"{"move": "B", "at": "2999-01-01T00:00:00Z"}"#, 5, 20, "dated in the future"),
        (r#"{"move": "B", "position": "4,4/4,4 0-0 S - 0 1S"}"#, 5, 20, "ply 3 leads to"),
        (r#"{"ply": 4, "move": "B"}"#, 5, 20, "ply 3 is missing"),
        ("\n    {\n      \"mov\": \"B\"\n    }", 8, 5, "missing field `move`"),
    ] {
        let answer = import(&app, &ana, "", "application/json", pretty(third)).await;
        let refused = &answer.body["items"][0]["error"];
        assert_eq!((&refused["line"], &refused["column"]), (&json!(line), &json!(column)), "{third}: {answer:?}");
        assert!(refused["detail"].as_str().is_some_and(|detail| detail.contains(said)), "{third}: {answer:?}");
    }
    let line = r#"{"game": {"variant": "kalah"}, "moves": [{"move": "A"}, {"move": "B"}]}"#;
    let answer = import(&app, &ana, "", "application/x-ndjson", format!("\n{line}\n")).await;
    let refused = &answer.body["items"][0]["error"];
    assert_eq!((&refused["line"], &refused["column"]), (&json!(2), &json!(57)), "{answer:?}");
    let file = File::new(&format!("{line}\n"));
    let (status, said) = run(&["import", file.name(), "--database-url", &binary::url(&app)]);
    assert!(status == Some(3) && said.contains(&format!("{}:1:57: ", file.name())), "{said}");
}

#[actix_web::test]
async fn a_byte_order_mark_is_no_part_of_what_it_precedes() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = r#"{"game": {"variant": "kalah"}, "moves": [{"move": "A"}]}"#;
    for (kind, text) in [
        ("text/plain", format!("\u{feff}{WHOLE}")),
        // Two files in one body, one after the other.
        ("text/plain", format!("{WHOLE}\u{feff}{WHOLE}")),
        ("application/json", format!("\u{feff}{game}")),
        ("application/x-ndjson", format!("\u{feff}{game}\n{game}\n")),
    ] {
        let games = text.matches("kalah").count();
        let answer = import(&app, &ana, "", kind, text).await;
        assert_eq!((&answer.body["imported"], &answer.body["refused"]), (&json!(games), &json!(0)), "{answer:?}");
        for item in answer.body["items"].as_array().expect("items") {
            let game = app.get_game(item["game_id"].as_str().expect("an id"), Some(&ana)).await.body;
            assert_eq!(game["variant"], "kalah", "{game}");
        }
    }
    let file = File::new(&format!("\u{feff}{game}\n{game}\n"));
    let (status, said) = run(&["import", file.name(), "--database-url", &binary::url(&app)]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("2 games were imported"), "{said}");
}

#[actix_web::test]
async fn refused_games_create_no_players_from_their_names() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = |south: &str, moves: &str| {
        format!(
            r#"{{"game": {{"variant": "kalah", "seats": {{"south": {{"name": "{south}"}}}}}}, "moves": [{moves}]}}"#
        )
    };
    let text = [game("Cleo", r#"{"move": "A"}"#), game("Dan", r#"{"move": "A"}, {"move": "B"}"#)].join("\n");
    // Imports at several servers at once create the same players.
    let imports = (0..4).map(|_| app.second_server().0).map(|address| {
        let request = signed(Client::new().post(format!("http://{address}/v1/games/import")), Some(&ana));
        send(request.header("content-type", "application/x-ndjson").body(text.clone()))
    });
    let answers = futures_util::future::join_all(imports).await;
    for answer in answers {
        assert_eq!((&answer.body["imported"], &answer.body["refused"]), (&json!(1), &json!(1)), "{answer:?}");
    }
    let names: Vec<String> = sqlx::query_scalar("select name from player where kind = 'imported' order by name")
        .fetch_all(&app.db)
        .await
        .expect("names");
    assert_eq!(names, ["?", "Cleo"]);
    let strangers = "select count(*) from game where not exists (select from player where id = seat_0_player_id)";
    let strangers: i64 = sqlx::query_scalar(strangers).fetch_one(&app.db).await.expect("a count");
    assert_eq!(strangers, 0);
}

#[actix_web::test]
async fn what_is_exported_is_imported_again_as_it_was() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "side": "south", "options": {"pie": true}});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&id, &bo, 2, "swap").await.status, 201);
    assert_eq!(app.play_move(&id, &ana, 3, "b").await.status, 201);
    app.offer(&id, &ana, "takeback").await;
    assert_eq!(app.answer_offer(&id, &bo, "takeback", "accept").await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 5, "a").await.status, 201);
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    let json = app.get(&format!("/v1/games/{id}/export"), None).await;
    let answer = import(&app, &bo, "?visibility=unlisted", "application/json", json.text.clone()).await;
    assert_eq!(answer.body["imported"], json!(1), "{answer:?}");
    let again = answer.string("/items/0/game_id");
    let imported = app.get(&format!("/v1/games/{again}/export"), None).await.body;
    for pointer in [
        "/game/variant",
        "/game/options",
        "/game/position",
        "/game/result/winner",
        "/game/result/reason",
        "/game/result/score",
        "/game/started_at",
        "/game/finished_at",
        "/game/seats/south/name",
        "/game/seats/north/name",
    ] {
        assert_eq!(imported.pointer(pointer), json.body.pointer(pointer), "{pointer}");
    }
    let played = |export: &Value| -> Vec<Value> {
        let moves = export["moves"].as_array().expect("moves").iter();
        moves
            .map(|ply| json!([ply["ply"], ply["side"], ply["move"], ply["at"], ply["effects"], ply["position"]]))
            .collect()
    };
    assert_eq!(played(&imported), played(&json.body));
    let text = async |id: &str| app.get(&format!("/v1/games/{id}/export?format=text"), None).await.text;
    assert_eq!(text(&id).await, text(&again).await);
}

/// Names that mean something in some form of records, in JSON, or in XML.
const HOSTILE: [&str; 8] =
    ["x\"] {", "\\", "a\\\" }", "]]> --", "<&'>&amp;", "; % ( { [", "\\\\\"", "{\"name\": null}"];

#[actix_web::test]
async fn no_name_breaks_a_list_of_games_or_a_picture() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "a long pass phrase").await;
    let options = AnyOptions::parse(Variant::Kalah, "standard", "").expect("options");
    let opening = AnyPosition::opening(&options);
    let record = |name: &str| Record::new(&opening, vec![]).expect("a record").with_names(name, "Bo");
    let text: String = HOSTILE.map(|name| record(name).expect("a name").to_string()).concat();
    let names = async |importer: &str| {
        let games = app.list_games(&format!("importer={importer}&limit=50"), None).await;
        let mut names: Vec<_> = games.body["items"]
            .as_array()
            .expect("items")
            .iter()
            .map(|game| game["seats"]["south"]["name"].clone())
            .collect();
        names.sort_unstable_by_key(ToString::to_string);
        names
    };
    let mut expected = HOSTILE.map(|name| json!(name)).to_vec();
    expected.sort_unstable_by_key(ToString::to_string);
    let answer = import(&app, &ana, "?visibility=public", "text/plain", text).await;
    assert_eq!(answer.body["imported"], json!(HOSTILE.len()), "{answer:?}");
    assert_eq!(names(&ana.id).await, expected);
    for (kind, name) in [("text/plain", "Bo"), ("application/x-ndjson", "Eva")] {
        let bo = app.account(name, "a long pass phrase").await;
        let request = app.request(Method::GET, &format!("/v1/games/export?importer={}", ana.id)).header("accept", kind);
        let exported = send(request).await.text;
        let answer = import(&app, &bo, "?visibility=public", kind, exported).await;
        assert_eq!(answer.body["imported"], json!(HOSTILE.len()), "{kind} {answer:?}");
        assert_eq!(names(&bo.id).await, expected, "{kind}");
    }
    for item in answer.body["items"].as_array().expect("items") {
        let id = item["game_id"].as_str().expect("an id");
        let svg = app.get(&format!("/v1/games/{id}/board.svg"), None).await.text;
        let picture = roxmltree::Document::parse(&svg).expect("well-formed XML");
        let title = picture.descendants().find(|node| node.attribute("id") == Some("title")).expect("a title");
        let name = app.get_game(id, None).await.string("/seats/south/name");
        assert!(title.text().is_some_and(|title| title.starts_with(&format!("Kalah: {name}"))), "{title:?}");
    }
}

#[actix_web::test]
async fn imported_games_are_the_importers_unless_others_may_read_them() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.guest("Bo").await);
    let own = import(&app, &ana, "", "text/plain", WHOLE).await.string("/items/0/game_id");
    let public = import(&app, &ana, "?visibility=public", "text/plain", WHOLE).await.string("/items/0/game_id");
    app.get_game(&own, Some(&bo)).await.is_problem(404, "not_found");
    let game = app.get_game(&own, Some(&ana)).await;
    assert_eq!((game.status.as_u16(), &game.body["visibility"]), (200, &json!("private")));
    let listed = async |query: &str, guest| app.list_games(query, guest).await.ids();
    assert_eq!(listed("importer=me", Some(&ana)).await, [public.clone(), own.clone()]);
    assert_eq!(listed(&format!("importer={}", ana.id), Some(&bo)).await, std::slice::from_ref(&public));
    assert_eq!(listed("imported=true", None).await, std::slice::from_ref(&public));
    assert_eq!(listed("imported=false", None).await, Vec::<String>::new());
    // No account changes: the names are those of imported players.
    assert_eq!(listed("player=me", Some(&ana)).await, Vec::<String>::new());
    let name = game.string("/seats/south/id");
    assert_eq!(listed(&format!("player={name}"), None).await, [public]);
    let player = app.get(&format!("/v1/players/{name}"), None).await;
    assert_eq!((&player.body["kind"], &player.body["name"]), (&json!("imported"), &json!("Ana")));
    let invited = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": name}});
    app.create_game(&bo, &invited).await.is_problem(422, "validation_failed");
    let resigned = app.resign_game(&own, &ana).await;
    resigned.is_problem(403, "not_seated");
}

#[actix_web::test]
async fn games_are_listed_when_they_were_played() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let new = app.created(&ana, &json!({"variant": "oware"})).await;
    let ogn = "[Variant \"Oware Abapa\"]\n[Date \"2014.05.11\"]\n[South \"Ana\"]\n[North \"Aalina\"]\n[Result \"*\"]\n\n1. A b *\n";
    let old = import(&app, &ana, "?visibility=public", "text/plain", ogn).await.string("/items/0/game_id");
    assert_eq!(app.list_games("", None).await.ids(), [new["id"].as_str().expect("an id"), &old]);
    assert_eq!(app.get_game(&old, None).await.body["created_at"], "2014-05-11T00:00:00.000Z");
    let of_2014 = "since=2014-01-01T00:00:00Z&until=2015-01-01T00:00:00Z";
    assert_eq!(app.list_games(of_2014, None).await.ids(), [old]);
}

#[actix_web::test]
async fn an_import_sent_again_under_its_key_is_done_once() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let sent = async || {
        let request = signed(app.request(Method::POST, "/v1/games/import?visibility=public"), Some(&ana));
        send(request.header("content-type", "text/plain").header("idempotency-key", "k").body(WHOLE)).await
    };
    let (one, other) = (sent().await, sent().await);
    assert_eq!((one.status.as_u16(), &one.body), (200, &other.body));
    assert_eq!(other.headers["idempotent-replayed"], "true");
    assert_eq!(app.list_games("", None).await.ids().len(), 1);
}

#[actix_web::test]
async fn wrong_records_are_refused_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let long = "x".repeat(9 * 1024 * 1024);
    import(&app, &ana, "", "text/plain", long).await.is_problem(413, "payload_too_large");
    import(&app, &ana, "", "text/csv", WHOLE).await.is_problem(415, "unsupported_media_type");
    import(&app, &ana, "", "text/plain", "").await.is_problem(422, "validation_failed");
    import(&app, &ana, "", "text/plain", "\u{fffd}".as_bytes()[..1].to_vec())
        .await
        .is_problem(400, "malformed_request");
    import(&app, &ana, "", "text/plain", "[Variant \"kalah\"]\n1. A *\n".repeat(1001))
        .await
        .is_problem(422, "validation_failed");
    import(&app, &ana, "?visibility=secret", "text/plain", WHOLE).await.is_problem(422, "validation_failed");
    import(&app, &ana, "", "application/json", "[{").await.is_problem(400, "malformed_request");
    let stranger = app.request(Method::POST, "/v1/games/import").header("content-type", "text/plain").body(WHOLE);
    send(stranger).await.is_problem(401, "unauthenticated");
    let game = |more: Value| {
        let mut game = json!({"game": {"variant": "kalah"}, "moves": [{"move": "A"}]});
        json_patch(&mut game, &more);
        game.to_string()
    };
    let ended = |result: Value| game(json!({"game": {"variant": "kalah", "result": result}}));
    for (kind, body, expected) in [
        ("text/plain", "[Variant \"kalah\"]\n1. A A *\n".to_owned(), "cannot be A"),
        ("text/plain", "[Variant \"kalah\"]\n1. G *\n".to_owned(), "cannot be G"),
        ("text/plain", "[Variant \"chess\"]\n1. e4 *\n".to_owned(), "Oware Abapa"),
        ("text/plain", "[Variant \"kalah\"]\n[Preset \"none\"]\n1. A *\n".to_owned(), "none"),
        ("text/plain", "[Variant \"kalah\"]\n[Result \"1-0\"]\n1. A 0-1\n".to_owned(), "1-0"),
        ("text/plain", "[Variant \"kalah\"]\n[South \"A\u{0}\"]\n1. A *\n".to_owned(), "control"),
        ("text/plain", "[Variant \"kalah\"]\n1. A \u{0} *\n".to_owned(), "\\0"),
        ("text/plain", whole_game("kalah", "", "Ana").to_string().replace("0-1", "1-0").replace("1/2-1/2", "1-0"), ""),
        ("application/json", game(json!({"moves": [{"move": "A"}, {"move": "A"}]})), "ply 2: pit A is"),
        ("application/json", game(json!({"moves": [{"move": "A", "position": "no"}]})), "ply 1 leads to"),
        ("application/json", game(json!({"moves": [{"move": "A", "ply": 2}]})), "ply 1 is missing"),
        (
            "application/json",
            game(json!({"moves": [{"move": "takeback", "effects": [{"to_ply": 0}]}, {"move": "takeback"}]})),
            "ply 2: a takeback",
        ),
        (
            "application/json",
            game(json!({"moves": [{"move": "takeback", "effects": [{"to_ply": 7}]}]})),
            "ply 1: there is nothing",
        ),
        ("application/json", game(json!({"moves": [{"move": "A", "at": "yesterday"}]})), "RFC 3339"),
        ("application/json", game(json!({"moves": [{"move": "A", "at": "2999-01-01T00:00:00Z"}]})), "future"),
        ("application/json", game(json!({"game": {"variant": "kalah", "created_at": "1969-01-01T00:00:00Z"}})), "1970"),
        ("application/json", game(json!({"game": {"variant": "kalah", "options": {"seeds": 99}}})), "seeds"),
        (
            "application/json",
            game(json!({"game": {"variant": "kalah", "seats": {"south": {"name": "\u{0}"}}}})),
            "control",
        ),
        (
            "application/json",
            game(json!({"game": {"variant": "kalah", "start": {"position": "0,0/1,1 0-0 S - 0 1S"}}})),
            "position",
        ),
        (
            "application/json",
            game(json!({"game": {"variant": "kalah", "result": {"winner": "south", "reason": "majority"}}})),
            "not ended",
        ),
        ("application/x-ndjson", "{\"game\": 1}\n".to_owned(), "struct"),
        ("text/plain", "[Variant \"kalah\"]\n[South \"\u{202e}A\"]\n1. A *\n".to_owned(), "invisible"),
        ("application/json", game(json!({"moves": vec![json!({"move": "A"}); 2001]})), "2000 plies"),
        ("application/json", ended(json!({"winner": null, "reason": "timeout"})), "has a winner"),
        ("application/json", ended(json!({"winner": "south", "reason": "agreement"})), "only if the rules"),
        ("application/json", ended(json!({"winner": "south", "score": {"south": 48, "north": 0}})), "hold 0 and 0"),
        (
            "application/json",
            game(json!({"game": {"variant": "kalah", "finished_at": "2999-01-01T00:00:00Z"}})),
            "in the future",
        ),
    ] {
        let answer = import(&app, &ana, "", kind, body.clone()).await;
        let detail = answer.body.pointer("/items/0/error/detail").and_then(Value::as_str).unwrap_or_default();
        assert!(!detail.is_empty() && detail.contains(expected), "{body} {expected}: {answer:?}");
        assert_eq!((answer.status.as_u16(), &answer.body["imported"]), (200, &json!(0)));
    }
    assert_eq!(app.list_games("importer=me", Some(&ana)).await.ids(), Vec::<String>::new());
}

fn json_patch(game: &mut Value, more: &Value) {
    for (name, value) in more.as_object().expect("an object") {
        game[name] = value.clone();
    }
}

#[actix_web::test]
async fn an_export_of_a_list_goes_on_where_it_broke_off() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let records: String = (0..7).map(|n| whole_game("oware", "", &format!("South {n}")).to_string()).collect();
    assert_eq!(import(&app, &ana, "?visibility=public", "text/plain", records).await.body["imported"], 7);
    let lines = |answer: &Answer| -> Vec<Value> {
        answer.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    };
    let all = exported(&app, "?variant=oware", None).await;
    assert_eq!(all.headers["content-type"], "application/x-ndjson");
    let all = lines(&all);
    let ids = |lines: &[Value]| -> Vec<String> {
        lines.iter().map(|line| line["game"]["id"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(ids(&all), app.list_games("", None).await.ids());
    let cursor = all[2]["cursor"].as_str().expect("a cursor");
    let rest = lines(&exported(&app, &format!("?variant=oware&cursor={cursor}"), None).await);
    assert_eq!(ids(&rest), ids(&all)[3..]);
    let some = lines(&exported(&app, &format!("?variant=oware&limit=2&cursor={cursor}"), None).await);
    assert_eq!(ids(&some), ids(&all)[3..5]);
    exported(&app, &format!("?cursor={cursor}"), None).await.is_problem(422, "validation_failed");
    exported(&app, "?format=ogn", None).await.is_problem(422, "validation_failed");
    exported(&app, "?limit=0", None).await.is_problem(422, "validation_failed");
    exported(&app, "?player=me", None).await.is_problem(401, "unauthenticated");
    // As text, it can be imported again as it is.
    let text = exported(&app, "?format=text&limit=5", None).await;
    assert_eq!(text.headers["content-type"], "text/plain; charset=utf-8");
    let again = import(&app, &ana, "", "text/plain", text.text).await;
    assert_eq!((&again.body["imported"], &again.body["refused"]), (&json!(5), &json!(0)), "{again:?}");
}
