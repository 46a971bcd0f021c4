//! Connections: those to the database are never more than allowed, and those of clients leave room for moves and health.

use std::{
    net::TcpListener,
    process::Stdio,
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use reqwest::{Client, Response};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::time::{sleep, timeout};

use crate::support::{
    app::TestApp,
    binary::{File, Running, ended, server, url},
    calls::send,
    clock::{until, until_async},
};

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A user of the database with the rights of its owner, so that its connections can be counted and limited; dropped with it.
struct User {
    name: String,
    superuser: PgConnection,
    url: String,
}

impl User {
    async fn new(app: &TestApp, limit: i32) -> Self {
        let (owner, database) = (app.options.get_username(), app.options.get_database().expect("a name"));
        let name = format!("user_of_{database}");
        let mut superuser = app.superuser().await;
        let create = format!(
            "drop role if exists {name}; create role {name} login connection limit {limit}; grant {owner} to {name}"
        );
        sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut superuser).await.expect("a role comes");
        let url = url(app).replacen(&format!("{owner}@"), &format!("{name}@"), 1);
        Self { name, superuser, url }
    }

    async fn connections(&mut self) -> i64 {
        let count = "select count(*) from pg_stat_activity where usename = $1";
        sqlx::query_scalar(count).bind(&self.name).fetch_one(&mut self.superuser).await.expect("a count")
    }

    async fn end(mut self) {
        until_async("the connections end", async || self.connections().await == 0).await;
        let drop = format!("drop role {}", self.name);
        sqlx::raw_sql(AssertSqlSafe(drop)).execute(&mut self.superuser).await.expect("the role goes");
    }
}

#[actix_web::test]
async fn a_process_opens_no_more_connections_than_allowed() {
    let app = TestApp::start().await;
    let mut user = User::new(&app, -1).await;
    for (arguments, max) in [
        (&["--db-connections", "8", "--rate-limits", "off"][..], 8),
        (&["--db-connections", "12", "--rate-limits", "off"], 12),
    ] {
        let mut running = Running::start_with(&user.url, &new_key(), arguments, &[]);
        let calls = join_all((0..8).map(async |_| {
            let guest = send(running.post("/v1/players").json(&json!({}))).await;
            let token = guest.string("/access_token");
            let game = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
            let game = send(running.post("/v1/games").bearer_auth(&token).json(&game)).await.string("/id");
            let begun = Instant::now();
            let mv = running.post(&format!("/v1/games/{game}/moves")).bearer_auth(&token);
            assert_eq!(send(mv.json(&json!({"ply": 1, "move": "A"}))).await.status, 201);
            // The computer answers, and heavy work, lists and waits go on at the same time.
            while send(running.get(&format!("/v1/games/{game}"))).await.body["ply"] == 1 {
                for path in ["verify", "moves", "record", "events?wait=1"] {
                    let answer = send(running.get(&format!("/v1/games/{game}/{path}")).bearer_auth(&token)).await;
                    assert!(!answer.status.is_server_error(), "{path}: {answer:?}");
                }
                assert!(begun.elapsed() < PATIENCE, "the computer does not play");
            }
        }));
        let mut most = 0;
        let counting = async {
            loop {
                most = most.max(user.connections().await);
                sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! { _ = calls => {}, () = counting => {} }
        assert!((4..=max).contains(&most), "{most} of {max}");
        assert_eq!(send(running.get("/readyz")).await.status, 200);
        running.signal(Signal::SIGTERM);
        let (status, log) = running.ended();
        assert_eq!(status, Some(0), "{log}");
        assert!(log.contains("connections to the database are planned") && !log.contains("degraded"), "{log}");
    }
    user.end().await;
}

#[test]
fn fewer_connections_than_a_move_needs_are_refused() {
    let key = File::new(&new_key());
    let database =
        ["--listen", "127.0.0.1:0", "--database-url", "postgres://127.0.0.1:1/none", "--jwt-private-key-file"];
    for (arguments, least) in [(&["--db-connections", "7"][..], 8), (&["--db-connections", "11", "--writers", "5"], 12)]
    {
        let (status, line) = ended(&[&database[..], &[key.name()], arguments].concat());
        assert_eq!(status, Some(2), "{line}");
        assert!(line.contains("DB_CONNECTIONS") && line.contains(&format!("at least {least} ")), "{line}");
    }
}

#[actix_web::test]
async fn a_database_with_few_free_connections_is_served_and_the_log_says_so() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    // Enough for all parts, and fewer than the least: one for moves, look-ups, reads and tokens each.
    for (limit, ply, guest, mv) in [(9, 1, &south, "A"), (4, 2, &north, "a")] {
        let user = User::new(&app, limit).await;
        let mut running = Running::start_with(&user.url, &app.key, &["--rate-limits", "off"], &[]);
        // Clients send a move again until it is stored.
        let is_stored = async || running.play(&id, guest, ply, mv).await.status.is_success();
        until_async("the move is stored", is_stored).await;
        assert_eq!(send(running.get("/livez")).await.status, 200);
        running.signal(Signal::SIGTERM);
        let (status, log) = running.ended();
        assert_eq!((status, log.matches("degraded").count()), (Some(0), 1), "{log}");
        user.end().await;
    }
}

#[actix_web::test]
async fn streams_leave_connections_to_moves_and_health() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let running = Running::start_with_files(&url(&app), 256, &["--rate-limits", "off"]);
    // Each on a connection of its own, which stays open unless the server ends the stream.
    let stream = async || {
        let stream = Client::new().get(format!("{}/v1/games/{id}/events", running.base));
        let opened = timeout(PATIENCE, stream.header("accept", "text/event-stream").send()).await;
        let mut stream: Response = opened.expect("a stream is answered").expect("an answer");
        loop {
            match timeout(Duration::from_millis(500), stream.chunk()).await {
                Ok(Ok(Some(_))) => {}
                Ok(_) => return None,
                Err(_) => return Some(stream),
            }
        }
    };
    let mut open: Vec<Response> = vec![];
    for _ in 0..20 {
        open.extend(join_all((0..8).map(|_| stream())).await.into_iter().flatten());
    }
    assert!((40..64).contains(&open.len()), "{}", open.len());
    for path in ["/livez", "/readyz"] {
        assert_eq!(timeout(PATIENCE, send(running.get(path))).await.expect("an answer").status, 200);
    }
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
    drop(open);
}

#[actix_web::test]
async fn an_ipv6_address_in_the_url_of_the_database_is_connected_to() {
    let listener = TcpListener::bind("[::1]:0").expect("this machine has IPv6");
    listener.set_nonblocking(true).expect("it may");
    let url = format!("postgres://mancala@[::1]:{}/mancala", listener.local_addr().expect("an address").port());
    let key = File::new(&new_key());
    let mut command = server(&["--listen", "127.0.0.1:0", "--database-url", &url]);
    command.args(["--jwt-private-key-file", key.name()]).stderr(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().expect("the binary runs");
    let connected = timeout(PATIENCE, until("a connection comes", || listener.accept().is_ok())).await;
    let _ = child.kill();
    let _ = child.wait();
    connected.expect("a connection comes");
}
