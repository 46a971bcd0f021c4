//! The process: health, migrations, exit statuses; and that no secret is printed or logged.

use std::time::Instant;

use mancala_server::{
    build_info,
    db::{Writers, migrations},
    http::{Tokens, new_key},
};
use nix::sys::signal::Signal;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::support::{
    app::{AUDIENCE, ISSUER, TestApp, service},
    binary::{File, Running, ended, ended_with, server, url},
    calls::send,
    clock::until_async,
    database::{set_away, set_back},
};

#[actix_web::test]
async fn a_server_lives_and_is_ready() {
    let app = TestApp::start().await;
    let lives = app.get("/livez", None).await;
    assert_eq!((lives.status.as_u16(), lives.body), (200, json!({"status": "ok"})));
    let ready = app.get("/readyz", None).await;
    let build =
        json!({"status": "ok", "degraded": false, "version": env!("CARGO_PKG_VERSION"), "commit": build_info::COMMIT});
    assert_eq!((ready.status.as_u16(), ready.body), (200, build));
}

#[actix_web::test]
async fn every_answer_has_a_request_id_of_its_own() {
    let app = TestApp::start().await;
    let mut ids = vec![];
    for path in ["/livez", "/livez", "/v1/games", "/nothing", "/docs/", "/openapi.json"] {
        let answer = app.get(path, None).await;
        ids.push(answer.headers["x-request-id"].to_str().expect("text").to_owned());
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 6);
}

#[actix_web::test]
async fn a_database_without_the_newest_migration_is_not_ready() {
    let app = TestApp::start().await;
    let newest = "delete from _sqlx_migrations where version = (select max(version) from _sqlx_migrations)";
    sqlx::raw_sql(newest).execute(&app.db).await.expect("a row goes");
    app.until_unready("migrations").await;
    assert!(app.get("/readyz", None).await.string("/detail").contains("mancala-server migrate"));
}

/// How many transactions a test's database has committed, and how many temporary files it has written. PostgreSQL counts both for certain
/// when the connections end, so they are ended.
async fn counts_of_database(app: &TestApp) -> (i64, i64) {
    let mut superuser = app.superuser().await;
    set_away(app, &mut superuser).await;
    let counted = "select xact_commit, temp_files from pg_stat_database where datname = $1";
    let connected = "select count(*) from pg_stat_activity where datname = $1";
    let name = app.options.get_database();
    until_async("the connections end", async || {
        sqlx::query_scalar::<_, i64>(connected).bind(name).fetch_one(&mut superuser).await.expect("a count") == 0
    })
    .await;
    let counts = sqlx::query_as(counted).bind(name).fetch_one(&mut superuser).await.expect("counts");
    set_back(app, &mut superuser).await;
    counts
}

#[actix_web::test]
async fn readiness_is_checked_at_most_once_a_second_and_writes_no_file() {
    let app = TestApp::start().await;
    let begun = Instant::now();
    for _ in 0..8 {
        let answers = futures_util::future::join_all((0..50).map(|_| app.get("/readyz", None))).await;
        assert!(answers.iter().all(|answer| answer.status == 200));
    }
    let seconds = i64::try_from(begun.elapsed().as_secs()).expect("the test is short");
    // A check is three transactions or more. The server's other reads are some ten a second.
    let (commits, files) = counts_of_database(&app).await;
    assert!(commits < 300 + 40 * seconds, "{commits} transactions for 400 probes in {seconds} s");
    assert_eq!(files, 0);
}

#[actix_web::test]
async fn after_a_failure_for_lack_of_room_readiness_writes_a_file() {
    let app = TestApp::start().await;
    let running = Running::start(&app);
    let (id, south, _) = app.started(&json!({})).await;
    let full = "create function is_full() returns trigger language plpgsql as \
                $$ begin raise exception 'no space left on device' using errcode = '53100'; end $$; \
                create trigger full_disk before insert on event for each row execute function is_full()";
    sqlx::raw_sql(full).execute(&app.db).await.expect("a trigger");
    running.play(&id, &south, 1, "A").await.is_problem(503, "unavailable");
    assert_eq!(send(running.get("/readyz")).await.status, 200, "a file has room");
    let (_, files) = counts_of_database(&app).await;
    assert_eq!(files, 1);
}

#[actix_web::test]
async fn migrating_again_changes_nothing_and_any_number_may_try_at_once() {
    let app = TestApp::start().await;
    let all = (0..8).map(|_| migrations::run(app.options.clone()));
    for outcome in futures_util::future::join_all(all).await {
        outcome.expect("there is nothing to do");
    }
}

#[actix_web::test]
async fn a_migrated_database_is_served_without_the_right_to_alter_tables() {
    let app = TestApp::start().await;
    let name = app.options.get_database().expect("a name").to_owned();
    let role = format!("role_of_{name}");
    let grants = format!(
        "drop role if exists {role}; create role {role} login; revoke create on schema public from public; \
         grant select, insert, update on all tables in schema public to {role}"
    );
    let mut superuser = app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs");
    sqlx::raw_sql(AssertSqlSafe(grants)).execute(&mut superuser).await.expect("rights are given");
    migrations::run(app.options.clone().username(&role)).await.expect("there is nothing to do");
    let gone = format!("drop owned by {role}; drop role {role}");
    sqlx::raw_sql(AssertSqlSafe(gone)).execute(&mut superuser).await.expect("the role goes");
}

#[actix_web::test]
async fn a_fresh_database_is_migrated_by_the_command_which_needs_no_key() {
    let app = TestApp::start().await;
    sqlx::raw_sql("drop schema public cascade; create schema public").execute(&app.db).await.expect("all goes");
    let (status, line) = ended(&["migrate", "--database-url", &url(&app)]);
    assert_eq!((status, line.as_str()), (Some(0), ""));
    assert_eq!(app.get("/readyz", None).await.status, 200);
}

#[actix_web::test]
async fn the_served_document_names_the_public_url() {
    let app = TestApp::start().await;
    let arguments = ["--public-url", "https://api.example/mancala/"];
    let running = Running::start_with(&url(&app), &new_key(), &arguments, &[]);
    let document = send(running.get("/openapi.json")).await;
    assert_eq!(document.body["servers"], json!([{"url": "https://api.example/mancala"}]));
}

#[test]
fn a_failure_to_start_ends_with_one_clear_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("an address").to_string();
    // Another start would find the port taken too, so a service manager makes none.
    for arguments in [&["--listen", &address][..], &["--listen", "127.0.0.1:0", "--metrics-listen", &address]] {
        let (status, line) = ended(arguments);
        assert_eq!(status, Some(2), "{line}");
        assert!(line.contains("cannot listen on"), "{line}");
    }

    let key = File::new(&new_key());
    let url = "postgres://ana:secret@127.0.0.1:1/none";
    let (status, line) = ended(&[
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        url,
        "--database-wait-s",
        "0",
        "--jwt-private-key-file",
        key.name(),
    ]);
    assert_eq!(status, Some(1));
    assert!(line.contains("the database cannot be reached") && !line.contains("secret"), "{line}");
}

#[test]
fn the_document_is_printed_without_a_database_or_a_key() {
    let older = format!("{:#}\n", mancala_server::http::document_3_0());
    for (arguments, document) in
        [(&["openapi"][..], include_str!("../../../openapi/openapi.json")), (&["openapi", "3.0"], &older)]
    {
        let output = server(arguments).output().expect("the binary runs");
        assert!(output.status.success());
        assert_eq!(String::from_utf8_lossy(&output.stdout), document);
    }
    assert!(!server(&["openapi", "2.0"]).output().expect("the binary runs").status.success());
}

/// Everything is logged, and nothing that is logged is a secret.
#[actix_web::test]
async fn no_secret_is_in_the_log_whatever_is_logged() {
    let password = "hunter2hunter2";
    let key = new_key();
    let trace = [("RUST_LOG", "trace")];
    let app = TestApp::start().await;
    let url = url(&app).replacen('@', &format!(":{password}@"), 1);
    let mut running = Running::start_with(&url, &key, &[], &trace);
    let guest = send(running.post("/v1/players").json(&json!({"name": "Anastasia"}))).await;
    let (token, refresh_token) = (guest.string("/access_token"), guest.string("/refresh_token"));
    let signed = |request: reqwest::RequestBuilder| request.bearer_auth(&token);
    let game = json!({"variant": "kalah", "opponent": {"type": "link"}, "visibility": "private"});
    let game = send(signed(running.post("/v1/games")).json(&game)).await;
    let join_code = game.string("/join_code");
    let join = running.post(&format!("/v1/games/{}/join", game.string("/id"))).bearer_auth(&token);
    send(join.json(&json!({"join_code": join_code}))).await;
    let refreshed = json!({"grant_type": "refresh_token", "refresh_token": refresh_token});
    let refreshed = send(running.post("/v1/tokens").json(&refreshed)).await;
    let (next, next_refresh) = (refreshed.string("/access_token"), refreshed.string("/refresh_token"));
    let ticket = json!({"game_id": game.string("/id")});
    let ticket = send(signed(running.post("/v1/me/stream-tickets")).json(&ticket)).await.string("/ticket");
    let path = format!("/v1/games/{}/events?ticket={ticket}", game.string("/id"));
    assert_eq!(send(running.get(&path)).await.body["items"][0]["type"], "created");
    send(running.post("/v1/tokens/revoke").json(&json!({"token": next_refresh}))).await;
    let forged = format!("{token}x");
    send(running.get("/v1/games").bearer_auth(&forged)).await.is_problem(401, "invalid_token");
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0));
    // The server did log at the level that was set.
    assert!(log.contains("TRACE") && log.contains("update refresh_family"), "{log}");
    let secret_of_key = key.lines().nth(1).expect("a key has a line");
    let secrets = [password, &token, &refresh_token, &join_code, &next, &next_refresh, &ticket, secret_of_key];
    for secret in secrets.into_iter().chain(["Anastasia", "Bearer ey"]) {
        let line = log.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret}");
    }

    let file = File::new(&key);
    let url = format!("postgres://ana:{password}@127.0.0.1:1/none");
    let arguments = [
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        &url,
        "--database-wait-s",
        "0",
        "--jwt-private-key-file",
        file.name(),
    ];
    let (status, log) = ended_with(&arguments, &trace);
    assert_eq!(status, Some(1));
    assert!(log.contains("the database cannot be reached") && !log.contains(password), "{log}");
}

#[actix_web::test]
async fn what_is_printed_for_debugging_holds_no_password() {
    let app = TestApp::start().await;
    let database = app.options.clone().password("hunter2");
    let tokens = Tokens::from_pem(&new_key(), ISSUER, AUDIENCE).expect("a new key is a key");
    let service = service(database.clone(), tokens);
    assert!(!format!("{service:?}").contains("hunter2"));
    let (writers, _) = Writers::start(&database, 1, Writers::QUEUE_MAX);
    assert!(!format!("{writers:?}").contains("hunter2"));
}
