//! The metrics count what happened, on a listener of their own.

use std::net::{SocketAddr, TcpListener};

use mancala_server::{
    build_info,
    http::{self, new_key},
};
use nix::sys::signal::Signal;
use reqwest::{Client, Method};
use serde_json::json;
use sqlx::ConnectOptions;

use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{Running, url},
    calls::{Guest, send},
    clock::until_async,
    scrape::sample,
};

/// The metrics of a server on a listener.
fn listening(app: &TestApp) -> (SocketAddr, actix_web::dev::ServerHandle) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("a listener has an address");
    let server = http::serve_metrics(listener, app.metrics.clone()).expect("it starts");
    let handle = server.handle();
    actix_web::rt::spawn(server);
    (address, handle)
}

async fn scrape(address: SocketAddr) -> Answer {
    send(Client::new().get(format!("http://{address}/metrics"))).await
}

#[actix_web::test]
async fn what_happened_is_counted_once() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    for (guest, ply, mv, status) in
        [(&south, 1, "A", 201), (&south, 1, "A", 200), (&south, 2, "B", 409), (&north, 2, "b", 201)]
    {
        assert_eq!(app.play_move(&id, guest, ply, mv).await.status, status);
    }
    let eve = Guest { id: south.id.clone(), token: "x.y.z".to_owned() };
    app.get_game(&id, Some(&eve)).await.is_problem(401, "invalid_token");
    let refused = json!({"grant_type": "refresh_token", "refresh_token": "nobody's"});
    app.post("/v1/tokens", None, &refused).await.is_problem(401, "invalid_token");
    let text = app.metrics.text();
    let moves = r#"{method="POST",route="/v1/games/{id}/moves""#;
    for (name, value) in [
        (format!(r#"mancala_http_requests_total{moves},status="201"}}"#), 2.0),
        (format!(r#"mancala_http_requests_total{moves},status="200"}}"#), 1.0),
        (format!(r#"mancala_http_requests_total{moves},status="409"}}"#), 1.0),
        (format!("mancala_http_request_duration_seconds_count{moves}}}"), 4.0),
        (r#"mancala_http_refusals_total{code="not_your_turn"}"#.to_owned(), 1.0),
        (r#"mancala_http_refusals_total{code="invalid_token"}"#.to_owned(), 2.0),
        (r#"mancala_moves_total{variant="kalah"}"#.to_owned(), 2.0),
        // Two moves and the opponent's joining.
        (r#"mancala_appends_total{outcome="stored"}"#.to_owned(), 3.0),
        (r#"mancala_appends_total{outcome="failed"}"#.to_owned(), 0.0),
        ("mancala_append_duration_seconds_count".to_owned(), 3.0),
        (r#"mancala_tokens_issued_total{grant="guest"}"#.to_owned(), 2.0),
        (r#"mancala_tokens_issued_total{grant="password"}"#.to_owned(), 0.0),
        (r#"mancala_tokens_refused_total{token="access"}"#.to_owned(), 1.0),
        (r#"mancala_tokens_refused_total{token="refresh"}"#.to_owned(), 1.0),
        ("mancala_waiters".to_owned(), 0.0),
        (format!("mancala_build_info{{version=\"{}\",commit=\"{}\"}}", build_info::VERSION, build_info::COMMIT), 1.0),
    ] {
        assert!(text.contains(&format!("{name} ")), "{name} is missing in\n{text}");
        assert!((sample(&text, &name) - value).abs() < 1e-9, "{name} is not {value} in\n{text}");
    }
    assert!(sample(&text, "mancala_db_pool_connections") >= 1.0, "{text}");
    assert!(sample(&text, "process_start_time_seconds") > 1e9, "{text}");
}

#[actix_web::test]
async fn the_time_of_a_waiting_request_is_not_counted_as_slowness() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let path = format!("/v1/games/{id}");
    let etag = app.get_game(&id, None).await.headers["etag"].clone();
    let ask = || app.request(Method::GET, &path).header("if-none-match", etag.clone()).header("prefer", "wait=1");
    assert_eq!(send(ask()).await.status, 304);
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    // The game has changed already, so this request does not wait.
    assert_eq!(send(ask()).await.status, 200);
    let text = app.metrics.text();
    let route = r#"{method="GET",route="/v1/games/{id}"}"#;
    for (name, value) in [
        (format!("mancala_http_request_duration_seconds_count{route}"), 2.0),
        (format!("mancala_http_requests_total{}", r#"{method="GET",route="/v1/games/{id}",status="304"}"#), 1.0),
        ("mancala_http_wait_duration_seconds_count".to_owned(), 1.0),
    ] {
        assert!((sample(&text, &name) - value).abs() < 1e-9, "{name} is not {value} in\n{text}");
    }
    assert!(sample(&text, "mancala_http_wait_duration_seconds_sum") >= 1.0, "{text}");
}

#[actix_web::test]
async fn a_client_cannot_create_labels() {
    let app = TestApp::start().await;
    for n in 0..20 {
        app.get(&format!("/no/such/path/{n}"), None).await.is_problem(404, "not_found");
        app.get(&format!("/v1/games/{n}?x={n}"), None).await;
        let method: Method = format!("METHOD{n}").parse().expect("a method may be any word");
        send(app.request(method, "/v1/games")).await.is_problem(405, "method_not_allowed");
    }
    let text = app.metrics.text();
    let requests: Vec<&str> = text.lines().filter(|line| line.starts_with("mancala_http_requests_total{")).collect();
    assert_eq!(requests.len(), 3, "{requests:#?}");
    assert!(text.contains(r#"mancala_http_requests_total{method="GET",route="unmatched",status="404"} 20"#), "{text}");
    assert!(text.contains(r#"method="_OTHER""#) && !text.contains("METHOD7") && !text.contains("no/such"), "{text}");
}

#[actix_web::test]
async fn the_listener_serves_the_metrics_and_nothing_else() {
    let app = TestApp::start().await;
    let (address, handle) = listening(&app);
    let answer = scrape(address).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    assert!(answer.text.contains("# TYPE mancala_appends_total counter"), "{}", answer.text);
    let request = |method: Method, path: &str| Client::new().request(method, format!("http://{address}{path}"));
    for path in ["/", "/v1/games", "/metrics/", "/livez", "/docs/", "/openapi.json"] {
        send(request(Method::GET, path)).await.is_problem(404, "not_found");
    }
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let answer = send(request(method, "/metrics")).await;
        answer.is_problem(405, "method_not_allowed");
        assert_eq!(answer.headers["allow"], "GET, HEAD");
    }
    let head = send(request(Method::HEAD, "/metrics")).await;
    assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""));
    // The API itself does not show them.
    app.get("/metrics", None).await.is_problem(404, "not_found");
    handle.stop(false).await;
}

#[actix_web::test]
async fn the_metrics_are_there_while_every_connection_of_the_api_is_busy() {
    let app = TestApp::start().await;
    let (address, handle) = listening(&app);
    let mut locker = app.options.connect().await.expect("PostgreSQL runs");
    sqlx::raw_sql("begin; lock table game in access exclusive mode").execute(&mut locker).await.expect("it is held");
    let asking = futures_util::future::join_all((0..100).map(|_| app.get("/v1/games", None)));
    let watching = async {
        loop {
            let answer = scrape(address).await;
            assert_eq!(answer.status, 200);
            if sample(&answer.text, "mancala_db_pool_connections_in_use") >= 2.0 {
                break;
            }
        }
        sqlx::raw_sql("rollback").execute(&mut locker).await.expect("it is free");
    };
    futures_util::future::join(asking, watching).await;
    handle.stop(false).await;
}

#[actix_web::test]
async fn the_binary_serves_metrics_where_it_is_told_to_until_it_ends() {
    let app = TestApp::start().await;
    let arguments = ["--metrics-listen", "127.0.0.1:0", "--drain-s", "600"];
    let mut running = Running::start_with(&url(&app), &new_key(), &arguments, &[]);
    let metrics = running.metrics.clone().expect("the log says where");
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
    running.signal(Signal::SIGTERM);
    let answer = send(Client::new().get(&metrics)).await;
    assert!(answer.text.contains(r#"mancala_moves_total{variant="kalah"} 1"#), "{}", answer.text);
    // Two signals that arrive together count as one, and the drain would last.
    until_async("the server drains", async || send(running.get("/readyz")).await.status != 200).await;
    running.signal(Signal::SIGTERM);
    assert_eq!(running.ended().0, Some(0));
    assert!(Client::new().get(&metrics).send().await.is_err());
}

#[actix_web::test]
async fn a_game_that_is_played_or_watched_is_loaded_once() {
    let app = TestApp::start().await;
    for variant in ["kalah", "oware", "congkak"] {
        let ana = app.guest("Ana").await;
        let body = serde_json::json!({"variant": variant, "opponent": {"type": "self"}});
        let game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id");
        let count = |name: &str| {
            let text = app.metrics.text();
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')).expect("it is counted");
            line.parse::<u32>().expect("a count")
        };
        let before = (count("mancala_game_cache_hits_total"), count("mancala_game_cache_misses_total"));
        let mut legal = game["legal_moves"].clone();
        for ply in 1..=6 {
            let played = app.play_move(id, &ana, ply, legal[0].as_str().expect("a move")).await;
            assert_eq!(played.status, 201, "{played:?}");
            assert_eq!(app.get_game(id, None).await.body["version"], played.body["game"]["version"]);
            legal = played.body["game"]["legal_moves"].clone();
        }
        let after = (count("mancala_game_cache_hits_total"), count("mancala_game_cache_misses_total"));
        assert_eq!((after.0 - before.0, after.1 - before.1), (11, 1), "{variant}");
    }
    let bytes =
        app.metrics.text().lines().find_map(|line| line.strip_prefix("mancala_cached_games_bytes ")?.parse().ok());
    assert!((1..32 * 1024 * 1024).contains(&bytes.unwrap_or(0_u32)));
}
