//! How long a body may be, and the room for those that are long.

use std::{
    io::Write,
    net::{SocketAddr, TcpStream},
};

use reqwest::Method;
use serde_json::Value;

use crate::{
    operators::operator,
    support::{
        answer::Answer,
        app::{TestApp, behind_proxy, limited},
        calls::{send, signed},
        clock::until_async,
    },
};

/// The bounds in KiB by operation, as the documentation has them; and that of all others.
fn bounds() -> (Vec<(String, usize)>, usize) {
    let api = include_str!("../../../docs/api.md");
    let section = api.split("## How much to send").nth(1).expect("a section").split("\n## ").next().expect("its text");
    let (mut bounds, mut others) = (vec![], 0);
    for row in section.lines().filter(|row| row.starts_with("| ") && row.ends_with(" KiB |")) {
        let (operations, bound) = row.trim_end_matches(" KiB |").rsplit_once("| ").expect("two columns");
        let bound = bound.parse().expect("a number");
        if operations.contains('`') {
            bounds.extend(operations.split('`').skip(1).step_by(2).map(|operation| (operation.to_owned(), bound)));
        } else {
            others = bound;
        }
    }
    (bounds, others)
}

#[actix_web::test]
async fn each_operation_has_the_bound_that_the_documentation_tells() {
    let app = TestApp::start().await;
    let (ana, key, service) =
        (app.account("Ana", "correct horse").await, operator(&app, "op").await, app.new_app("svc").await);
    let document: Value = serde_json::from_str(include_str!("../../../openapi/openapi.json")).expect("the document");
    let (mut bounds, others) = bounds();
    assert!(bounds.len() > 5 && others > 0);
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let id = operation["operationId"].as_str().unwrap_or_default();
            if operation["requestBody"].is_null() || id == "import_games" {
                continue;
            }
            let own = bounds.iter().position(|(named, _)| named == id).map(|at| bounds.remove(at).1);
            let bytes_max = own.unwrap_or(others) * 1024;
            let path = path
                .replace("{variant}", "kalah")
                .replace("{ply}", "1")
                .replace("{type}", "draw")
                .replace("{issuer}", "google");
            let path = path.split('{').map(|part| part.split_once('}').map_or(part, |(_, rest)| rest));
            let path = path.collect::<Vec<_>>().join("00000000-0000-4000-8000-000000000000");
            let caller = match operation["tags"][0].as_str() {
                Some("operators") => Some(&key),
                Some("apps") => Some(&service).filter(|_| id != "exchange_token"),
                _ => Some(&ana),
            };
            let call = async |bytes: usize| {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).expect("a method");
                let request = signed(app.request(method, &path), caller).header("content-type", "application/json");
                send(request.body(" ".repeat(bytes))).await
            };
            let refused = call(bytes_max + 1).await;
            assert_eq!(refused.status, 413, "{id}: {refused:?}");
            let detail = format!("a body of this call has at most {} KiB", bytes_max / 1024);
            assert_eq!(refused.body["detail"], detail, "{id}");
            assert_ne!(call(bytes_max).await.status, 413, "{id}");
        }
    }
    assert_eq!(bounds, [], "no such operation has a body");
}

/// How many of the longest bodies an address may send at once.
const SHARE: usize = 32;

/// A body of 64 KiB that is announced, and never comes.
fn stalled(server: SocketAddr, address: &str, length: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server).expect("the server listens");
    let head = format!(
        "POST /v1/variants/kalah/play HTTP/1.1\r\nhost: x\r\nx-forwarded-for: {address}\r\n\
         content-type: application/json\r\n{length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).expect("the head is sent");
    stream
}

async fn play_line(app: &TestApp, address: &str, bytes: usize) -> Answer {
    let body = format!("{{\"moves\":[\"C\"]}}{}", " ".repeat(bytes - 15));
    let request = app.request(Method::POST, "/v1/variants/kalah/play").header("x-forwarded-for", address);
    send(request.header("content-type", "application/json").body(body)).await
}

#[actix_web::test]
async fn bodies_that_never_end_take_the_room_of_their_own_address_only() {
    let app = TestApp::start_with(behind_proxy).await;
    for (length, begin) in [("content-length: 65536", ""), ("transfer-encoding: chunked", "1001\r\n")] {
        let mut open: Vec<_> = (0..SHARE).map(|_| stalled(app.address, "192.0.2.1", length)).collect();
        for stream in open.iter_mut().filter(|_| !begin.is_empty()) {
            stream.write_all(format!("{begin}{}", " ".repeat(4097)).as_bytes()).expect("a chunk is sent");
        }
        // The server reads the heads one after the other, and cuts off a body after ten seconds.
        let mut refused = play_line(&app, "192.0.2.1", 5000).await;
        while refused.status != 429 {
            open.push(stalled(app.address, "192.0.2.1", "content-length: 65536"));
            refused = play_line(&app, "192.0.2.1", 5000).await;
        }
        refused.is_problem(429, "rate_limited");
        assert_eq!(refused.headers["retry-after"], "5");
        assert_eq!(play_line(&app, "192.0.2.1", 4096).await.status, 200, "a short body needs no room");
        assert_eq!(play_line(&app, "192.0.2.2", 5000).await.status, 200, "another address is not affected");
        drop(open);
        let is_taken = async || play_line(&app, "192.0.2.1", 5000).await.status == 200;
        until_async("there is room again", is_taken).await;
    }
}

#[actix_web::test]
async fn a_body_has_room_again_when_its_request_is_answered() {
    let app = TestApp::start_with(limited).await;
    for n in 0..2 * SHARE {
        assert_eq!(play_line(&app, "", 65_536).await.status, 200, "{n}");
    }
}
