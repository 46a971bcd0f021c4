//! How a server stops: what it reports, what it still answers, and how long it drains.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    process::Stdio,
    time::{Duration, Instant},
};

use mancala_server::http::new_key;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;
use sqlx::ConnectOptions;

use crate::support::{
    app::TestApp,
    binary::{File, Running, server, until_connections_refused, url},
    calls::{Guest, send},
    clock::until_async,
    database::{count_rows, until_lock_wait, until_no_lock_wait},
};

/// A drain that no test waits for.
const LONG_S: &str = "600";

/// Waits until the server says that it is not ready.
async fn is_not_ready(running: &Running) {
    loop {
        let answer = send(running.get("/readyz")).await;
        if answer.status != 200 {
            answer.is_problem(503, "unavailable");
            assert_eq!(answer.string("/detail"), "the server is stopping");
            return;
        }
    }
}

/// The body of a game's first move.
const FIRST_MOVE: &[u8] = br#"{"ply":1,"move":"A"}"#;

/// A move in flight for as long as its client likes: the server has its head and waits for its body.
fn half_a_move(running: &Running, id: &str, player: &Guest) -> TcpStream {
    let head = format!(
        "POST /v1/games/{id}/moves HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        running.token(player),
        FIRST_MOVE.len()
    );
    let mut client = TcpStream::connect(running.address()).expect("the server listens");
    client.set_read_timeout(Some(Duration::from_mins(1))).expect("a time-out is set");
    client.write_all(head.as_bytes()).expect("the server reads");
    let mut told = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
    client.read_exact(&mut told).expect("the server says so");
    client
}

/// Whether a client was left without an answer.
fn is_cut_off(client: &mut TcpStream) -> bool {
    let mut answer = Vec::new();
    // The connection ended or was reset; a timeout does not count.
    match client.read_to_end(&mut answer) {
        Ok(_) => answer.is_empty(),
        Err(error) => error.kind() == ErrorKind::ConnectionReset && answer.is_empty(),
    }
}

#[actix_web::test]
async fn a_stopping_server_answers_what_it_has_accepted() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let app = TestApp::start().await;
        let (id, south, _) = app.started(&json!({})).await;
        let mut running = Running::start(&app);
        let mut client = half_a_move(&running, &id, &south);
        running.signal(signal);
        until_connections_refused(&running).await;
        client.write_all(FIRST_MOVE).expect("the server reads on");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
        assert_eq!(running.ended().0, Some(0));
        assert_eq!(app.get_game(&id, None).await.body["ply"], 1);
    }
}

#[actix_web::test]
async fn a_server_that_drains_says_so_and_still_serves() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let mut running = Running::start_with(&url(&app), &new_key(), &["--drain-s", LONG_S], &[]);
    running.signal(Signal::SIGTERM);
    is_not_ready(&running).await;
    assert_eq!(send(running.get("/livez")).await.status, 200);
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
    // The wait is cut short, but not what follows it: the end is a clean one.
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0), "{log}");
    // Not being ready is expected here, and is no failure.
    assert!(!log.contains("ERROR") && log.contains("draining"), "{log}");
}

#[actix_web::test]
async fn a_drain_ends_by_itself_and_an_idle_connection_does_not_hold_it_up() {
    let app = TestApp::start().await;
    let mut running = Running::start_with(&url(&app), &new_key(), &["--drain-s", "1"], &[]);
    let client = reqwest::Client::new();
    let kept = client.get(format!("{}/livez", running.base)).send().await.expect("an answer");
    assert_eq!(kept.status(), 200);
    let begun = Instant::now();
    running.signal(Signal::SIGINT);
    is_not_ready(&running).await;
    assert_eq!(running.ended().0, Some(0));
    let took_s = begun.elapsed().as_secs();
    assert!((1..15).contains(&took_s), "{took_s}");
}

#[actix_web::test]
async fn a_second_signal_ends_the_drain_at_once() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let mut running = Running::start_with(&url(&app), &new_key(), &["--shutdown-timeout-s", LONG_S], &[]);
    let mut client = half_a_move(&running, &id, &south);
    running.signal(Signal::SIGTERM);
    until_connections_refused(&running).await;
    running.signal(Signal::SIGTERM);
    assert!(is_cut_off(&mut client));
    let (status, log) = running.ended();
    assert_eq!(status, Some(1));
    assert!(log.contains("by a further signal"), "{log}");
}

#[actix_web::test]
async fn what_takes_longer_than_the_time_out_is_cut_off() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let mut running = Running::start_with(&url(&app), &new_key(), &["--shutdown-timeout-s", "1"], &[]);
    let mut client = half_a_move(&running, &id, &south);
    running.signal(Signal::SIGTERM);
    assert!(is_cut_off(&mut client));
    assert_eq!(running.ended().0, Some(0));
    assert_eq!(app.get_game(&id, None).await.body["ply"], 0);
}

#[actix_web::test]
async fn a_waiting_client_is_answered_when_its_server_drains() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/readyz", None).await.status, 200);
    app.draining.cancel();
    app.get("/readyz", None).await.is_problem(503, "unavailable");
    assert_eq!(app.get("/livez", None).await.status, 200);
    assert_eq!(app.get("/v1/games", None).await.status, 200);
}

#[actix_web::test]
async fn a_stopping_server_releases_waiting_clients() {
    let app = TestApp::start().await;
    let (id, _, _) = app.started(&json!({})).await;
    let etag = app.get_game(&id, None).await.headers["etag"].clone();
    let mut running = Running::start(&app);
    let waiting = futures_util::future::join_all((0..5).map(|_| {
        let request = running.get(&format!("/v1/games/{id}"));
        send(request.header("if-none-match", etag.clone()).header("prefer", "wait=50"))
    }));
    let stopping = async {
        // Only a server with a waiting client runs this query.
        let asks = "pg_stat_activity where datname = current_database() and query like 'select id, version from game%'";
        until_async("a client waits", async || count_rows(&app, asks).await > 0).await;
        running.signal(Signal::SIGTERM);
    };
    let begun = Instant::now();
    let (answers, ()) = futures_util::future::join(waiting, stopping).await;
    for answer in answers {
        assert_eq!((answer.status.as_u16(), answer.headers.get("preference-applied")), (304, None));
    }
    assert_eq!(running.ended().0, Some(0));
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[actix_web::test]
async fn a_server_stopped_during_its_start_stops_cleanly() {
    let app = TestApp::start().await;
    let (key, url) = (File::new(&new_key()), url(&app));
    let serve = ["--listen", "127.0.0.1:0", "--database-url", &url, "--jwt-private-key-file", key.name()];
    // Stopped is started for the one, and not done for the other.
    let (served, migrated) = ("stopped before the database was up to date", "stopped before it was done");
    for (arguments, status, said) in [(&serve[..], 0, served), (&["migrate", "--database-url", &url], 4, migrated)] {
        let mut holder = app.options.connect().await.expect("PostgreSQL runs");
        let lock = "begin; lock table _sqlx_migrations in access exclusive mode";
        sqlx::raw_sql(lock).execute(&mut holder).await.expect("it is held");
        let starting = server(arguments).stderr(Stdio::piped()).spawn().expect("the binary runs");
        until_lock_wait(&app).await;
        kill(Pid::from_raw(starting.id().try_into().expect("a process id")), Signal::SIGTERM).expect("it runs");
        let output = starting.wait_with_output().expect("it is a child of ours");
        let log = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{log}");
        assert!(log.contains(said), "{log}");
        sqlx::raw_sql("rollback").execute(&mut holder).await.expect("it is free");
        // Now the next statement waits for a lock, and not the previous one.
        until_no_lock_wait(&app).await;
    }
}
