//! The access log: what it says about each request, and what it never says.

use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    calls::send,
    scrape::until_line,
};

const SECRET: &str = "5ecret-of-a-client";

/// A binary with an access log of this level, behind a proxy on this machine.
fn running(app: &TestApp, level: &str) -> Running {
    let arguments = ["--access-log", level, "--trusted-proxies", "127.0.0.0/8", "--rate-limits", "off"];
    let arguments = [&arguments[..], &["--metrics-listen", "127.0.0.1:0"]].concat();
    Running::start_with(&url(app), &new_key(), &arguments, &[])
}

/// Waits until the metrics have this line.
async fn until(running: &Running, line: &str) {
    until_line(running.metrics.as_ref().expect("the log says where"), line).await;
}

fn lines(output: &str) -> Vec<Value> {
    output.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect()
}

#[actix_web::test]
async fn a_line_says_who_called_what_and_how_it_ended() {
    let app = TestApp::start().await;
    let mut running = running(&app, "all");
    let (id, south, _) = app.started(&json!({})).await;
    let move_ = running.playing(&id, &south, 1, "A");
    let moved = send(move_.header("x-forwarded-for", "203.0.113.7").header("user-agent", "a-game/1.0")).await;
    assert_eq!(moved.status, 201);
    let listed = send(running.get(&format!("/v1/games?name={SECRET}"))).await;
    assert_eq!(listed.status, 422);
    for picture in ["board.svg", "board.png", "graph.png"] {
        let refused = send(running.get(&format!("/v1/games/{id}/{picture}?ticket={SECRET}"))).await;
        assert_eq!(refused.status, 401);
    }
    let unknown = send(running.get(&format!("/{SECRET}"))).await;
    let bad = send(running.get("/v1/me").bearer_auth(SECRET)).await;
    let head = send(Client::new().request(Method::HEAD, format!("{}/livez", running.base))).await;
    let stale = running.play(&id, &south, 9, "A").await;
    assert_eq!(stale.status, 409);
    let options = json!({"variant": "kalah", "opponent": {"type": "open"}});
    let made = send(running.post("/v1/games").bearer_auth(running.token(&south)).json(&options)).await;
    assert_eq!(made.status, 201);
    let output = running.stopped_output();
    assert!(!output.contains(SECRET) && !output.contains(&running.token(&south)), "{output}");
    let lines = lines(&output);
    let answers = [&moved, &listed, &unknown, &bad, &head, &stale, &made];
    for answer in answers {
        let request_id = answer.headers["x-request-id"].to_str().expect("a text");
        let own: Vec<_> = lines.iter().filter(|line| line["request_id"] == request_id).collect();
        let [line] = own[..] else { panic!("one line for {request_id} in {output}") };
        assert_eq!((&line["status"], &line["bytes"]), (&json!(answer.status.as_u16()), &json!(answer.text.len())));
        assert!(line["ms"].as_f64().is_some_and(|ms| ms > 0.0 && ms < 60_000.0), "{line}");
    }
    let line = |answer: usize| {
        let request_id = answers[answer].headers["x-request-id"].to_str().expect("a text");
        lines.iter().find(|line| line["request_id"] == request_id).expect("a line")
    };
    let line_of_move = line(0);
    assert_eq!(line_of_move["client"], "203.0.113.7");
    assert_eq!(line_of_move["player"], south.id);
    assert_eq!(line_of_move["method"], "POST");
    assert_eq!(line_of_move["route"], "/v1/games/{id}/moves");
    assert_eq!(line_of_move["user_agent"], "a-game/1.0");
    assert_eq!((&line(1)["route"], &line(1)["client"]), (&json!("/v1/games"), &json!("127.0.0.1")));
    assert_eq!((&line(2)["route"], &line(3)["player"]), (&json!("unmatched"), &Value::Null));
    assert_eq!(line(4)["method"], "HEAD");
    assert_eq!((&line(0)["game"], &line(0)["code"]), (&json!(id), &Value::Null));
    assert_eq!((&line(5)["game"], &line(5)["code"]), (&json!(id), &json!("stale_ply")));
    assert_eq!((&line(6)["game"], &line(6)["route"]), (&made.body["id"], &json!("/v1/games")));
    assert_eq!((&line(1)["game"], &line(1)["code"]), (&Value::Null, &json!("validation_failed")));
    assert_eq!(line(2)["code"], "not_found");
    assert!(lines.iter().all(|line| line["timestamp"].as_str().is_some_and(|time| time.len() == 24)), "{output}");
}

#[actix_web::test]
async fn at_errors_only_failures_and_clients_that_hang_up_are_noted() {
    let app = TestApp::start().await;
    let mut running = running(&app, "errors");
    let (id, _, _) = app.started(&json!({})).await;
    let game = send(running.get(&format!("/v1/games/{id}"))).await;
    assert_eq!(game.status, 200);
    assert_eq!(send(running.get("/v1/games/none")).await.status, 404);
    let waiting = running.get(&format!("/v1/games/{id}")).header("prefer", "wait=50");
    let waiting = actix_web::rt::spawn(waiting.header("if-none-match", game.headers["etag"].clone()).send());
    until(&running, "mancala_waiters 1").await;
    waiting.abort();
    until(&running, "mancala_waiters 0").await;
    let lines = lines(&running.stopped_output());
    let statuses: Vec<_> = lines.iter().map(|line| line["status"].as_u64().expect("a status")).collect();
    assert_eq!(statuses, [404, 499], "{lines:#?}");
}

#[actix_web::test]
async fn a_reader_of_the_log_that_is_gone_stops_no_request() {
    let app = TestApp::start().await;
    let mut running = running(&app, "all");
    running.close_output();
    for _ in 0..20 {
        assert_eq!(send(running.get("/livez")).await.status, 200);
    }
    until(&running, "mancala_access_log_lines_dropped_total 20").await;
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0));
    assert_eq!(log.matches("lines of the access log are lost").count(), 1, "{log}");
}
