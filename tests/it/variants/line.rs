//! Lines of moves that are played without a game.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

use actix_web::web;
use flate2::read::GzDecoder;
use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::{
    answer::{Answer, send_raw},
    app::{TestApp, limited},
    calls::send,
    games::long_line,
};

const KALAH: &str = "/v1/variants/kalah/play";
const OWARE: &str = "/v1/variants/oware/play";
const CONGKAK: &str = "/v1/variants/congkak/play";

async fn play(app: &TestApp, path: &str, body: &Value) -> Answer {
    app.post(path, None, body).await
}

#[actix_web::test]
async fn a_line_is_answered_from_its_start_move_by_move() {
    let app = TestApp::start().await;
    let line = play(&app, KALAH, &json!({"options": {"pie": true}, "moves": ["F", "swap"]})).await;
    assert_eq!(line.status, 200, "{line:?}");
    assert_eq!(
        (&line.headers["content-type"], &line.headers["cache-control"]),
        (&"application/json".parse().expect("a header"), &"no-store".parse().expect("a header"))
    );
    insta::assert_json_snapshot!(line.body);
}

#[actix_web::test]
async fn a_line_is_told_as_the_history_of_a_game_tells_it() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let words = ["C", "pass", "swap", "c", "f", "A"];
    let body = json!({"variant": "kalah", "preset": "manual", "options": {"pie": true}, "opponent": {"type": "self"}});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    for (ply, word) in (1..).zip(words) {
        assert_eq!(app.play_move(&id, &ana, ply, word).await.status, 201, "{word}");
    }
    let history = app.list_moves(&id, "", None).await.body;
    let line = play(&app, KALAH, &json!({"preset": "manual", "options": {"pie": true}, "moves": words})).await.body;
    for (told, played) in
        history["items"].as_array().expect("items").iter().zip(line["moves"].as_array().expect("moves"))
    {
        for field in ["move", "side", "effects", "position"] {
            assert_eq!(told[field], played[field], "{told}");
        }
        let after = app.get(&format!("/v1/games/{id}/positions/{}", told["ply"]), None).await.body;
        for field in ["position", "board", "turn", "legal_moves", "result"] {
            assert_eq!(after[field], played[field], "{told}");
        }
    }
    let start = app.get(&format!("/v1/games/{id}/positions/0"), None).await.body;
    for field in ["position", "board", "turn", "legal_moves", "result"] {
        assert_eq!(start[field], line[field]);
    }
}

#[actix_web::test]
async fn a_line_may_start_at_any_position_also_at_one_that_is_over() {
    let app = TestApp::start().await;
    let from = |position: &str, moves: &[&str]| json!({"position": position, "moves": moves});
    let captured = play(&app, KALAH, &from("0,0,13,0,0,1/1,1,1,1,1,1 15-13 S - 0 1S", &["C"])).await.body;
    assert_eq!(
        captured["moves"][0]["effects"][14],
        json!({"type": "capture", "from": ["C", "d"], "seeds": 3, "to": "south_store"})
    );

    // A position that the rules end is ended; one that was marked as finished keeps its reason.
    let ended = play(&app, KALAH, &from("0,0,0,0,0,0/0,2,0,0,3,0 21-22 N - 40 1S", &[])).await.body;
    assert_eq!(ended["position"], "0,0,0,0,0,0/0,0,0,0,0,0 21-27 N o 40 1S");
    assert_eq!((&ended["turn"], &ended["legal_moves"], &ended["moves"]), (&json!(null), &json!([]), &json!([])));
    let result = json!({"winner": "north", "reason": "side_empty", "score": {"south": 21, "north": 27}});
    assert_eq!(ended["result"], result);
    let flagged = play(&app, KALAH, &from("0,0,0,0,0,0/0,0,0,0,0,0 24-24 N o 40 1S", &[])).await.body;
    assert_eq!(flagged["result"], json!({"winner": null, "reason": null, "score": {"south": 24, "north": 24}}));

    // Without an opponent to ask, an agreed end is a move.
    let agreed = play(&app, OWARE, &json!({"moves": ["A", "agree"]})).await.body;
    assert_eq!(agreed["moves"][1]["side"], "north");
    assert_eq!(agreed["moves"][1]["result"]["reason"], "agreement");
    assert_eq!(agreed["moves"][1]["effects"].as_array().map(Vec::len), Some(3), "two sweeps and the end");
}

#[actix_web::test]
async fn repetition_counts_from_the_start_of_the_line() {
    let app = TestApp::start().await;
    let position = "1,0,0,0,0,0/1,0,0,0,0,0 23-23 S - 40 1S";
    // Each seed goes half round the board, to where the other was.
    let round = ["A", "a", "B", "b", "C", "c", "D", "d", "E", "e", "F", "f"];
    let line = play(&app, OWARE, &json!({"position": position, "moves": round})).await.body;
    assert_eq!(line["moves"][10]["result"], json!(null));
    assert_eq!(line["moves"][11]["result"]["reason"], "repetition", "the second time, the start being the first");
    // From a later start on, nothing is known of what came before.
    let last = json!({"position": line["moves"][10]["position"], "moves": ["f", "A"]});
    let last = play(&app, OWARE, &last).await.body;
    assert_eq!((&last["moves"][0]["result"], &last["moves"][1]["result"]), (&json!(null), &json!(null)), "{last}");
}

#[actix_web::test]
async fn an_illegal_move_is_named_with_its_place_and_the_legal_moves() {
    let app = TestApp::start().await;
    let cases = [
        (KALAH, json!({"moves": ["A", "B"]}), 1, "not_your_pit"),
        (KALAH, json!({"moves": ["a"]}), 0, "not_your_pit"),
        (KALAH, json!({"moves": ["C", "C"]}), 1, "empty_pit"),
        (KALAH, json!({"moves": ["C", "L"]}), 1, "no_such_pit"),
        (KALAH, json!({"moves": ["C", "pass"]}), 1, "no_pass"),
        (KALAH, json!({"moves": ["swap"]}), 0, "no_swap"),
        (KALAH, json!({"moves": ["C", "agree"]}), 1, "no_agree"),
        (KALAH, json!({"moves": ["C", ""]}), 1, "not_a_move"),
        (KALAH, json!({"moves": ["C", "F", "Æ"]}), 2, "not_a_move"),
        (KALAH, json!({"moves": ["CF"]}), 0, "not_a_move"),
        (KALAH, json!({"moves": ["Pass"]}), 0, "not_a_move"),
        (KALAH, json!({"moves": [" C"]}), 0, "not_a_move"),
        (KALAH, json!({"moves": ["C".repeat(60_000)]}), 0, "not_a_move"),
        (KALAH, json!({"options": {"pits": 1, "seeds": 1}, "moves": ["A", "a"]}), 1, "game_over"),
        (OWARE, json!({"options": {"agree_end": false}, "moves": ["agree"]}), 0, "no_agree"),
        (OWARE, json!({"moves": ["agree", "agree"]}), 1, "game_over"),
        (OWARE, json!({"position": "2,0,0,0,0,1/0,0,0,0,0,0 23-22 S - 9 1S", "moves": ["A"]}), 0, "must_feed"),
        (
            OWARE,
            json!({"preset": "wari", "position": "1,0,0,0,0,1/1,0,0,0,0,0 23-22 S - 9 1S", "moves": ["F"]}),
            0,
            "grand_slam",
        ),
        (
            CONGKAK,
            json!({"preset": "match", "position": "x,4,6,7,7,4,1/11,3,4,1,0,14,0 14-22 S - 53 3S", "moves": ["A"]}),
            0,
            "burnt_pit",
        ),
    ];
    for (path, body, index, reason) in cases {
        let answer = play(&app, path, &body).await;
        answer.is_problem(422, "illegal_move");
        assert_eq!((&answer.body["index"], &answer.body["reason"]), (&json!(index), &json!(reason)), "{answer:?}");
        assert!(answer.string("/detail").starts_with(&format!("/moves/{index}: ")) && answer.text.len() < 1000);
        // The answer has the position before the illegal move.
        let mut before = body.clone();
        before["moves"].as_array_mut().expect("moves").truncate(index);
        let before = play(&app, path, &before).await.body;
        let last = before["moves"].as_array().expect("moves").last().unwrap_or(&before);
        assert_eq!((&answer.body["position"], &answer.body["legal_moves"]), (&last["position"], &last["legal_moves"]));
    }
}

#[actix_web::test]
async fn what_is_wrong_with_a_request_is_named() {
    let app = TestApp::start().await;
    let kalah = |field: &str, value: Value| (KALAH, json!({field: value, "moves": ["A"]}));
    let position = |text: &str| kalah("position", json!(text));
    let long = "4,".repeat(20_000);
    let cases = [
        ((KALAH, json!({})), "/moves"),
        ((KALAH, json!([])), ""),
        ((KALAH, json!(["A"])), ""),
        ((KALAH, json!({"moves": null})), "/moves"),
        ((KALAH, json!({"moves": "ABC"})), "/moves"),
        ((KALAH, json!({"moves": {"0": "A"}})), "/moves"),
        ((KALAH, json!({"moves": ["A", 1]})), "/moves/1"),
        ((KALAH, json!({"moves": ["A", null]})), "/moves/1"),
        ((KALAH, json!({"moves": [["A"]]})), "/moves/0"),
        ((KALAH, json!({"moves": vec!["A"; 2001]})), "/moves"),
        ((KALAH, json!({"moves": vec![""; 20_000]})), "/moves"),
        (kalah("move", json!("A")), "/move"),
        (kalah("ply", json!(1)), "/ply"),
        (kalah("preset", json!("none")), "/preset"),
        (kalah("preset", json!("")), "/preset"),
        (kalah("preset", json!(null)), "/preset"),
        ((OWARE, json!({"preset": "bga", "moves": []})), "/preset"),
        (kalah("options", json!([])), "/options"),
        (kalah("options", json!(null)), "/options"),
        (kalah("options", json!({"seeds": "4"})), "/options/seeds"),
        (kalah("options", json!({"seeds": 4.5})), "/options/seeds"),
        (kalah("options", json!({"seeds": 0})), "/options/seeds"),
        (kalah("options", json!({"grand_slam": "capture"})), "/options/grand_slam"),
        ((CONGKAK, json!({"options": {"max_rounds": 10}, "moves": []})), "/options/max_rounds"),
        ((CONGKAK, json!({"options": {"take_own_seed": false}, "moves": []})), "/options/take_own_seed"),
        (kalah("position", json!(5)), "/position"),
        (position(""), "/position"),
        (position(&long), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S "), "/position"),
        (position("4,4,4,4,4/4,4,4,4,4,8 0-0 S - 0 1S"), "/position"),
        (position("4,4,4,4,4,4,0/4,4,4,4,4,4,0 0-0 S - 0 1S"), "/position"),
        (position("-4,4,4,4,4,12/4,4,4,4,4,4 0-0 S - 0 1S"), "/position"),
        (position("1000000000,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 1-0 S - 0 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 W - 0 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S p 0 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S eo 0 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S oe 0 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 2147483648 1S"), "/position"),
        (position("4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 2S"), "/position"),
        (position("x,4,4,4,4,8/4,4,4,4,4,4 0-0 S - 0 1S"), "/position"),
        ((OWARE, json!({"position": "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S e 0 1S", "moves": []})), "/position"),
        (
            (CONGKAK, json!({"preset": "match", "position": "x,7,7,7,7,7,7/7,7,7,7,7,7,7 7-0 S - 0 11S", "moves": []})),
            "/position",
        ),
    ];
    for ((path, body), pointer) in cases {
        let answer = play(&app, path, &body).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{answer:?}");
        assert!(answer.text.len() < 1000, "what was sent is not sent back");
    }
    let long = "x".repeat(60_000);
    for body in [json!({"preset": long, "moves": []}), json!({"options": {long.clone(): 1}, "moves": []})] {
        let answer = play(&app, KALAH, &body).await;
        answer.is_problem(422, "validation_failed");
        assert!(answer.text.len() < 1000, "{} bytes", answer.text.len());
    }
}

#[actix_web::test]
async fn a_line_needs_no_token_and_a_bad_one_is_refused_all_the_same() {
    let app = TestApp::start().await;
    let (ana, body) = (app.guest("Ana").await, json!({"moves": ["A"]}));
    for guest in [Some(&ana), Some(&app.stranger()), None] {
        assert_eq!(app.post(KALAH, guest, &body).await.status, 200);
    }
    send(app.request(Method::POST, KALAH).bearer_auth("none").json(&body)).await.is_problem(401, "invalid_token");
    for name in ["chess", "KALAH", "%20", "kalah%00"] {
        play(&app, &format!("/v1/variants/{name}/play"), &json!([])).await.is_problem(404, "not_found");
    }
    let read = app.get(KALAH, None).await;
    read.is_problem(405, "method_not_allowed");
    assert_eq!(read.headers["allow"], "POST");
    // A key of a retry means nothing here, and neither does a version.
    let request = app.request(Method::POST, KALAH).header("idempotency-key", "k").header(header::IF_MATCH, "\"7\"");
    assert_eq!(send(request.json(&body)).await.status, 200);
    assert_eq!(app.get("/v1/games", None).await.body["items"], json!([]), "nothing is stored");
}

#[actix_web::test]
async fn a_line_of_two_thousand_moves_is_whole_compressed_or_not() {
    let app = TestApp::start().await;
    let body = long_line(2000);
    let plain = play(&app, CONGKAK, &body).await;
    assert_eq!((plain.status.as_u16(), plain.body["moves"].as_array().map(Vec::len)), (200, Some(2000)));
    assert!((1_000_000..6_000_000).contains(&plain.text.len()), "{} bytes", plain.text.len());
    let request = app.request(Method::POST, CONGKAK).header(header::ACCEPT_ENCODING, "gzip").json(&body);
    let (response, compressed) = send_raw(request).await;
    assert_eq!(response.headers()["content-encoding"], "gzip");
    let mut text = String::new();
    GzDecoder::new(compressed.as_slice()).read_to_string(&mut text).expect("it is gzip, and whole");
    assert!(text == plain.text && compressed.len() * 5 < text.len());
    // Where the last move is illegal, nothing of the line is answered.
    let mut wrong = body.clone();
    wrong["moves"][1999] = json!("pass");
    let refused = play(&app, CONGKAK, &wrong).await;
    refused.is_problem(422, "illegal_move");
    assert_eq!((&refused.body["index"], &refused.body["reason"]), (&json!(1999), &json!("no_pass")));
}

#[actix_web::test]
async fn a_client_of_http_1_0_gets_the_text_and_the_end_of_the_connection() {
    let app = TestApp::start().await;
    let body = long_line(50).to_string();
    let head = "POST /v1/variants/congkak/play HTTP/1.0\r\nContent-Type: application/json";
    let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let address = app.address;
    let answer = web::block(move || {
        let mut stream = TcpStream::connect(address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it is taken");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer, and the end");
        answer
    });
    let answer = answer.await.expect("the client ends well");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    assert!(head.contains(" 200 OK") && !head.contains("transfer-encoding"), "{head}");
    let line: Value = serde_json::from_str(body).expect("nothing but the text");
    assert_eq!(line["moves"].as_array().map(Vec::len), Some(50));
}

#[actix_web::test]
async fn a_long_line_counts_as_many_calls() {
    let app = TestApp::start_with(limited).await;
    let ana = app.guest("Ana").await;
    let left = |answer: &Answer| {
        let text = answer.headers["ratelimit"].to_str().expect("text").to_owned();
        let left = text.split(";r=").nth(1).and_then(|rest| rest.split(';').next());
        left.expect("what is left").parse::<u32>().expect("a number")
    };
    let short = app.post(CONGKAK, Some(&ana), &long_line(100)).await;
    assert_eq!(
        (short.status.as_u16(), &short.headers["ratelimit-policy"]),
        (200, &"\"player\";q=300;w=30".parse().expect("a header"))
    );
    let before = left(&short);
    let long = app.post(CONGKAK, Some(&ana), &long_line(2000)).await;
    // The budget may have got some calls back meanwhile.
    let cost = before - left(&long);
    assert!((10..=20).contains(&cost), "{cost}");
    // Moves are counted before they are read.
    let nonsense = json!({"moves": vec!["none"; 2000]});
    let mut answer = app.post(CONGKAK, Some(&ana), &nonsense).await;
    for _ in 0..100 {
        if answer.status == 422 {
            answer = app.post(CONGKAK, Some(&ana), &nonsense).await;
        }
    }
    answer.is_problem(429, "rate_limited");
    // Shorter ones may still come.
    assert!(left(&answer) < 20, "{answer:?}");
    assert!(answer.headers["retry-after"].to_str().expect("text").parse::<u32>().is_ok_and(|seconds| seconds >= 1));
    assert_eq!(app.post(CONGKAK, None, &long_line(1)).await.status, 200, "others are not concerned");
}
