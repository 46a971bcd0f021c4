//! Clients that send slowly, endlessly or too much are cut off, and the others are answered.

use std::{
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use mancala_server::http::KEEP_ALIVE;
use serde_json::{Value, json};

use crate::support::{app::TestApp, games::long_line};

/// The longest time that a connection of these tests may stay open. A busy machine takes many times the server's own limit.
const PATIENCE: Duration = Duration::from_mins(1);

/// Between two pieces that a slow client sends.
const PAUSE: Duration = Duration::from_millis(500);

/// Between two pieces of a client that sends on and on. Without a pause its thread would take a core from all other tests.
const BREATH: Duration = Duration::from_millis(1);

/// What a client sends piece by piece until the server closes; what it was answered, and when.
fn send(address: SocketAddr, first: &str, pieces: &[u8], pause: Duration) -> (String, Duration) {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_write_timeout(Some(PATIENCE)).expect("a time-out is set");
    let mut reader = stream.try_clone().expect("a socket has two ends");
    let reading = thread::spawn(move || {
        reader.set_read_timeout(Some(PATIENCE)).expect("a time-out is set");
        let (mut answer, mut chunk) = (vec![], [0; 4096]);
        loop {
            match reader.read(&mut chunk) {
                Ok(0) => return answer,
                Ok(read) => answer.extend_from_slice(&chunk[..read]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return answer,
                Err(error) => panic!("the server has not closed: {error}"),
            }
        }
    });
    let mut sent = stream.write_all(first.as_bytes());
    while sent.is_ok() && !reading.is_finished() && begun.elapsed() < PATIENCE {
        sent = stream.write_all(pieces);
        thread::sleep(pause);
    }
    let answer = reading.join().expect("the server closes");
    (String::from_utf8_lossy(&answer).into_owned(), begun.elapsed())
}

/// The same on a thread, so that the runtime goes on.
async fn send_beside(address: SocketAddr, first: &'static str, pieces: String, pause: Duration) -> (String, Duration) {
    let client = move || send(address, first, pieces.as_bytes(), pause);
    actix_web::web::block(client).await.expect("the client ends well")
}

/// A server that closes idle connections soon.
async fn impatient() -> TestApp {
    TestApp::start_with(|service| service.keep_alive = Duration::from_secs(1)).await
}

/// Asserts of each client that it gets this answer and is cut off, while all others are answered.
async fn are_cut_off(cases: Vec<(&'static str, String, Duration, &str)>) {
    let app = impatient().await;
    let (id, south, _) = app.started(&json!({})).await;
    let attacks = cases.into_iter().map(|(first, pieces, pause, expected)| {
        let attack = send_beside(app.address, first, pieces, pause);
        async move {
            let (answer, took) = attack.await;
            assert!(answer.starts_with(expected), "{first}: {answer}");
            assert!(took < PATIENCE, "{first}: {took:?}");
        }
    });
    let others = async {
        for _ in 0..10 {
            let begun = Instant::now();
            assert_eq!(app.get_game(&id, Some(&south)).await.status, 200);
            assert!(begun.elapsed() < PATIENCE / 3, "{:?}", begun.elapsed());
        }
        assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    };
    futures_util::future::join(futures_util::future::join_all(attacks), others).await;
    assert_eq!(app.get_game(&id, None).await.body["ply"], 1);
}

#[actix_web::test]
async fn every_slow_head_is_cut_off_the_first_of_a_connection_or_a_later_one() {
    let one = |text: &str| text.to_owned();
    are_cut_off(vec![
        ("GET /livez HTTP/1.1\r\nhost: x\r\nx: ", one("a"), PAUSE, "HTTP/1.1 408"),
        (
            "GET /livez HTTP/1.1\r\nhost: x\r\n\r\nGET /livez HTTP/1.1\r\nhost: x\r\nx: ",
            one("a"),
            PAUSE,
            "HTTP/1.1 200",
        ),
        ("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n", String::new(), PAUSE, "HTTP/1.1 200"),
        ("", String::new(), PAUSE, "HTTP/1.1 408"),
    ])
    .await;
}

#[actix_web::test]
async fn a_slow_later_head_is_cut_off_long_before_the_connection_would_be_idle() {
    let app = TestApp::start().await;
    assert!(KEEP_ALIVE > PATIENCE);
    for first in [
        "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET /livez HTTP/1.1\r\nhost: x\r\n\r\nGET /livez HTTP/1.1\r\nhost: x\r\nx: ",
    ] {
        let (answer, took) = send_beside(app.address, first, "G".to_owned(), PAUSE).await;
        assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
        assert!(answer.starts_with("HTTP/1.1 200") && took < PATIENCE, "{took:?} {answer}");
    }
}

#[actix_web::test]
async fn a_slow_body_is_cut_off_in_every_extractor() {
    let (byte, chunk) = (" ".to_owned(), "1\r\n \r\n".to_owned());
    are_cut_off(vec![
        (
            "POST /v1/players HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n",
            byte.clone(),
            PAUSE,
            "HTTP/1.1 400",
        ),
        (
            "POST /v1/players HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
            chunk.clone(),
            PAUSE,
            "HTTP/1.1 400",
        ),
        ("POST /nothing HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n", byte, PAUSE, "HTTP/1.1 404"),
        ("POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", chunk, PAUSE, "HTTP/1.1 404"),
    ])
    .await;
}

#[actix_web::test]
async fn an_endless_request_is_ended() {
    let chunk = format!("1000\r\n{}\r\n", " ".repeat(4096));
    are_cut_off(vec![
        (
            "POST /v1/players HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
            chunk.clone(),
            BREATH,
            "HTTP/1.1 413",
        ),
        ("POST /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n", chunk, BREATH, "HTTP/1.1 404"),
        (
            "POST /v1/players HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10485760\r\n\r\n",
            " ".repeat(65_536),
            BREATH,
            "HTTP/1.1 413",
        ),
        ("GET /", "a".repeat(4096), BREATH, "HTTP/1.1 431"),
        ("GET /livez HTTP/1.1\r\nhost: x\r\n", "x-header: value\r\n".to_owned(), BREATH, "HTTP/1.1 431"),
    ])
    .await;
}

#[actix_web::test]
async fn a_large_body_is_refused_in_the_one_envelope_and_the_connection_closed() {
    let app = TestApp::start().await;
    let head =
        "POST /v1/players HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10485760\r\n\r\n";
    let (answer, _) = send_beside(app.address, head, " ".repeat(65_536), BREATH).await;
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    assert!(head.contains("application/problem+json") && head.contains("connection: close"), "{head}");
    let body: Value = serde_json::from_str(body).expect("one answer, and nothing after it");
    assert_eq!(body["code"], "payload_too_large");
}

#[actix_web::test]
async fn a_client_that_does_not_take_a_streamed_answer_is_cut_off() {
    let app = impatient().await;
    let body = long_line(2000).to_string();
    let head =
        "POST /v1/variants/congkak/play HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ";
    // Many times what the system keeps for a client that does not read.
    let requests = format!("{head}{}\r\n\r\n{body}", body.len()).repeat(16);
    let address = app.address;
    let client = move || {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(address).expect("the server listens");
        stream.write_all(requests.as_bytes()).expect("the requests are taken");
        while begun.elapsed() < PATIENCE && stream.write_all(b" ").is_ok() {
            thread::sleep(PAUSE);
        }
        begun.elapsed()
    };
    let took = actix_web::web::block(client).await.expect("the client ends well");
    assert!(took < PATIENCE, "{took:?}");
    assert_eq!(app.get("/livez", None).await.status, 200);
}
