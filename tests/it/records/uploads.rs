//! Bodies of imports that arrive slowly: they keep no other import waiting, and their number and memory are bounded.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use actix_web::web::block;
use futures_util::future::join_all;

use crate::{
    records::import::{WHOLE, import},
    support::{
        answer::Answer,
        app::{TestApp, behind_proxy},
        calls::{Guest, send, signed},
        clock::until,
        scrape::count,
    },
};

/// How long the server may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// More bodies at once than there were permits for, before a body was received without one.
const STALLED: usize = 40;

/// How often a test tries what a busy machine may be too slow for.
const ATTEMPTS: usize = 5;

/// An import whose body has only begun to arrive.
struct Stalled {
    stream: TcpStream,
    missing: usize,
}

impl Stalled {
    /// Sends all of the body but `missing` bytes, from an address.
    fn begin(app: &TestApp, guest: &Guest, address: &str, body: &str, missing: usize) -> Self {
        Self::send(app.address, &guest.token, address, body, missing)
    }

    /// Begins an upload with this token. It blocks its thread until the server has read most of a large body.
    fn send(server: SocketAddr, token: &str, address: &str, body: &str, missing: usize) -> Self {
        let mut stream = TcpStream::connect(server).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out is set");
        let length = body.len();
        let head = format!(
            "POST /v1/games/import HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nx-forwarded-for: {address}\r\n\
             content-type: text/plain\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("the head is sent");
        stream.write_all(&body.as_bytes()[..length - missing]).expect("the body is sent");
        Self { stream, missing }
    }

    fn is_answered(&self) -> bool {
        self.stream.set_nonblocking(true).expect("a socket has modes");
        let is_answered = self.stream.peek(&mut [0]).is_ok();
        self.stream.set_nonblocking(false).expect("a socket has modes");
        is_answered
    }

    /// Sends the rest, as blanks; the answer.
    fn end(mut self) -> String {
        self.stream.write_all(" ".repeat(self.missing).as_bytes()).expect("the rest is sent");
        self.answer()
    }

    /// The beginning of the answer.
    fn answer(&mut self) -> String {
        let mut chunk = [0; 4096];
        let read = self.stream.read(&mut chunk).expect("the server answers");
        String::from_utf8_lossy(&chunk[..read]).into_owned()
    }
}

/// A server behind a proxy, which tells the clients' addresses.
async fn behind_a_proxy() -> TestApp {
    TestApp::start_with(behind_proxy).await
}

async fn import_from(app: &TestApp, guest: &Guest, address: &str) -> Answer {
    let request = signed(app.request(reqwest::Method::POST, "/v1/games/import"), Some(guest));
    send(request.header("content-type", "text/plain").header("x-forwarded-for", address).body(WHOLE)).await
}

/// An upload of which the server knows: it refuses another one of the player.
async fn received(app: &TestApp, guest: &Guest, address: &str, body: &str, missing: usize) -> Stalled {
    let begun = Instant::now();
    let mut stalled = Stalled::begin(app, guest, address, body, missing);
    while import_from(app, guest, address).await.status != 429 {
        assert!(begun.elapsed() < PATIENCE, "the first body does not arrive");
        if stalled.is_answered() {
            // The question came first, and the upload was refused for it.
            stalled = Stalled::begin(app, guest, address, body, missing);
        }
    }
    stalled
}

#[actix_web::test]
async fn stalled_uploads_keep_no_import_waiting() {
    let app = behind_a_proxy().await;
    let ana = app.guest("Ana").await;
    let body = format!("{WHOLE}          ");
    for _ in 0..ATTEMPTS {
        let mut guests = vec![];
        for n in 0..STALLED {
            guests.push(app.guest(&format!("Guest {n}")).await);
        }
        let (app, body) = (&app, body.as_str());
        let begin = async |(n, guest)| received(app, guest, &format!("192.0.2.{n}"), body, 10).await;
        let stalled = join_all(guests.iter().enumerate().map(begin)).await;
        let answer = import_from(app, &ana, "198.51.100.1").await;
        assert_eq!(answer.status, 200, "{answer:?}");
        // The import did not wait for any of the others to be cut off, unless the machine is very busy.
        if !stalled.iter().any(Stalled::is_answered) {
            return;
        }
    }
    panic!("the import waited for another one");
}

#[actix_web::test]
async fn a_player_uploads_one_body_at_a_time() {
    let app = behind_a_proxy().await;
    let ana = app.guest("Ana").await;
    let body = format!("{WHOLE}          ");
    let first = received(&app, &ana, "192.0.2.1", &body, 10).await;
    let second = import_from(&app, &ana, "192.0.2.2").await;
    second.is_problem(429, "rate_limited");
    assert_eq!(second.headers["retry-after"], "5");
    let bo = app.guest("Bo").await;
    assert_eq!(import_from(&app, &bo, "192.0.2.1").await.status, 200, "another player is not affected");
    let answer = first.end();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(import_from(&app, &ana, "192.0.2.1").await.status, 200);
}

#[actix_web::test]
async fn an_address_has_a_few_uploads_at_once() {
    let app = behind_a_proxy().await;
    let body = format!("{WHOLE}          ");
    let (mut stalled, mut refused) = (vec![], None);
    let begun = Instant::now();
    while refused.is_none() {
        assert!(begun.elapsed() < PATIENCE, "no upload is refused");
        let guest = app.guest("Guest").await;
        stalled.push(Stalled::begin(&app, &guest, "2001:db8::1", &body, 10));
        // The same network of 64 bits.
        let other = app.guest("Other").await;
        let answer = import_from(&app, &other, "2001:db8::2").await;
        assert!(stalled.len() < STALLED, "an address has too many");
        refused = Some(answer).filter(|answer| answer.status != 200);
    }
    refused.expect("one is refused").is_problem(429, "rate_limited");
    let ana = app.guest("Ana").await;
    assert_eq!(import_from(&app, &ana, "2001:db8:1::1").await.status, 200, "another address is not affected");
}

#[actix_web::test]
async fn a_slow_upload_is_cut_off_and_its_player_may_send_again() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = format!("{WHOLE}{}", " ".repeat(100_000));
    let mut slow = Stalled::begin(&app, &ana, "192.0.2.1", &body, 100_000);
    let mut writer = slow.stream.try_clone().expect("a socket has two ends");
    // Bytes come all the time, and too few of them.
    let trickling = thread::spawn(move || {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE && writer.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(200));
        }
    });
    let answer = block(move || slow.answer()).await.expect("the client ends well");
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("did not arrive in time"), "{answer}");
    assert_eq!(import(&app, &ana, "", "text/plain", WHOLE).await.status, 200);
    trickling.join().expect("the server closes");
}

#[actix_web::test]
async fn the_memory_of_uploads_from_an_address_is_bounded() {
    let app = behind_a_proxy().await;
    let large = Arc::new(format!("{WHOLE}{}", "\n".repeat(8 * 1024 * 1024 - WHOLE.len())));
    let mut stalled = vec![];
    for n in 0..2 {
        let guest = app.guest(&format!("Guest {n}")).await;
        let (server, large) = (app.address, large.clone());
        // On another thread: the server reads on this one which tokens are revoked, and accepts none before.
        let sending = block(move || Stalled::send(server, &guest.token, "192.0.2.1", &large, 1));
        stalled.push(sending.await.expect("the client ends well"));
    }
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    // The bytes that are on their way count when they have arrived. With an import beside them, the last would be too many.
    let arrived = || count(&app.metrics.text(), "mancala_resource_in_use{resource=\"upload_bytes\"}");
    until("both have arrived", || arrived() == 2 * (large.len() - 1)).await;
    import_from(&app, &ana, "192.0.2.1").await.is_problem(429, "rate_limited");
    assert_eq!(import_from(&app, &bo, "192.0.2.2").await.status, 200, "another address is not affected");
}
