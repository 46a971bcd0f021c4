//! What an operator sees: health, migrations, exit statuses, a graceful end.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use mancala_server::{
    db::migrations::{self, MigrationError},
    http::{Tokens, new_key},
};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::app::{AUDIENCE, Answer, Guest, ISSUER, TestApp, now, send};

/// The binary with nothing of the environment that could change what it does.
fn server(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mancala-server"));
    command.env_clear().env("PATH", env::var_os("PATH").unwrap_or_default()).args(arguments);
    command
}

/// Exit status and standard error of a run that ends by itself.
fn ended(arguments: &[&str]) -> (Option<i32>, String) {
    let output = server(arguments).output().expect("the binary runs");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The binary serving on the database of a test.
struct Running {
    child: Child,
    base: String,
    key_file: PathBuf,
    tokens: Tokens,
}

impl Running {
    fn start(app: &TestApp) -> Self {
        let key = new_key();
        let name = app.options.get_database().expect("a name").to_owned();
        let key_file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pem"));
        fs::write(&key_file, &key).expect("a key is written");
        let url = url(app);
        let arguments =
            ["--listen", "127.0.0.1:0", "--log-format", "json", "--database-url", &url, "--jwt-private-key-file"];
        let mut command = server(&arguments);
        let mut child = command.arg(&key_file).stderr(Stdio::piped()).spawn().expect("the binary runs");
        let mut log = BufReader::new(child.stderr.take().expect("standard error is piped")).lines();
        let ready = log.find_map(|line| line.ok()?.split_once("API ").map(|(_, rest)| rest.to_owned()));
        let ready = ready.expect("it says where it listens");
        let base = ready.split("/v1").next().expect("an address").to_owned();
        // Whoever stops reading a pipe stops its writer.
        std::thread::spawn(move || log.for_each(drop));
        let tokens = Tokens::from_pem(&key, ISSUER, AUDIENCE).expect("a key");
        Self { child, base, key_file, tokens }
    }

    async fn play(&self, id: &str, guest: &Guest, ply: u32, mv: &str) -> Answer {
        let player = mancala_server::domain::PlayerId(guest.id.parse().expect("an id"));
        let token = self.tokens.issue(player, now());
        let request = reqwest::Client::new().post(format!("{}/v1/games/{id}/moves", self.base));
        send(request.bearer_auth(token).json(&json!({"ply": ply, "move": mv}))).await
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id().try_into().expect("a process id")), signal).expect("it runs");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.key_file);
    }
}

fn url(app: &TestApp) -> String {
    let options = &app.options;
    let host = options.get_host();
    let database = options.get_database().expect("a name");
    format!("postgres://{}@localhost:{}/{database}?host={host}", options.get_username(), options.get_port())
}

#[actix_web::test]
async fn a_server_lives_and_is_ready() {
    let app = TestApp::start().await;
    for path in ["/livez", "/readyz"] {
        let answer = app.get(path, None).await;
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({"status": "ok"})));
    }
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
    let answer = app.get("/readyz", None).await;
    answer.is_problem(503, "unavailable");
    assert!(answer.string("/detail").contains("mancala-server migrate"));
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
async fn a_database_newer_than_the_binary_is_refused() {
    let app = TestApp::start().await;
    let newer = "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
                 values (9999, 'of tomorrow', true, '', 0)";
    sqlx::raw_sql(newer).execute(&app.db).await.expect("a row comes");
    let error = migrations::run(app.options.clone()).await.expect_err("it is newer");
    assert!(matches!(error, MigrationError::Newer { version: 9999 }), "{error}");
    let (status, line) = ended(&["migrate", "--log-format", "text", "--database-url", &url(&app)]);
    assert_eq!(status, Some(1));
    assert!(line.contains("the database is newer than this binary"), "{line}");
}

#[actix_web::test]
async fn a_database_that_is_up_to_date_is_served_without_the_right_to_change_tables() {
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
    sqlx::raw_sql(
        "drop table _sqlx_migrations, idempotency_key, account, refresh_token, refresh_family, event, game, player",
    )
    .execute(&app.db)
    .await
    .expect("all goes");
    let (status, line) = ended(&["migrate", "--database-url", &url(&app)]);
    assert_eq!((status, line.as_str()), (Some(0), ""));
    assert_eq!(app.get("/readyz", None).await.status, 200);
}

#[test]
fn wrong_options_end_with_status_2_and_one_clear_line() {
    let url = "postgres://ana:secret@127.0.0.1:1/none";
    let (status, line) = ended(&["--database-url", url]);
    assert_eq!(status, Some(2));
    assert!(line.contains("openssl genpkey -algorithm ed25519"), "{line}");
    assert!(!line.contains("secret"));
    for arguments in [
        &["--listen", "nowhere"][..],
        &["--colour", "red"],
        &["--cors-origins", "play.example"],
        &["--cors-origins", "https://play.example/path"],
        &["play"],
        &["--log-format", "xml"],
        &["--database-url", "mysql://localhost/x", "--log-format", "text"],
        &["--database-url", url, "--jwt-private-key-file", "/no/such/file"],
        &["--database-url", url, "--jwt-private-key-file", "/dev/null"],
    ] {
        let (status, line) = ended(arguments);
        assert_eq!(status, Some(2), "{arguments:?} {line}");
        assert!(!line.is_empty() && !line.contains("panicked"), "{line}");
    }
}

#[test]
fn a_failure_to_start_ends_with_status_1_and_one_clear_line() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("an address").to_string();
    let (status, line) = ended(&["--listen", &address]);
    assert_eq!(status, Some(1));
    assert!(line.contains("cannot listen on"), "{line}");

    let key = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("unreachable.pem");
    fs::write(&key, new_key()).expect("a key is written");
    let key_name = key.display().to_string();
    let url = "postgres://ana:secret@127.0.0.1:1/none";
    let (status, line) =
        ended(&["--listen", "127.0.0.1:0", "--database-url", url, "--jwt-private-key-file", &key_name]);
    fs::remove_file(key).expect("it was there");
    assert_eq!(status, Some(1));
    assert!(line.contains("the database cannot be reached") && !line.contains("secret"), "{line}");
}

#[test]
fn the_document_is_printed_without_a_database_or_a_key() {
    let output = server(&["openapi"]).output().expect("the binary runs");
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), include_str!("../../openapi/openapi.json"));
}

#[actix_web::test]
async fn a_server_that_is_told_to_stop_answers_what_it_has_accepted() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let app = TestApp::start().await;
        let (id, south, _) = app.started(&json!({})).await;
        let mut running = Running::start(&app);
        // Another session holds the game's row, so that the move is under way when the signal comes.
        let mut holder = app.options.connect().await.expect("PostgreSQL runs");
        sqlx::raw_sql("begin; select id from game for update").execute(&mut holder).await.expect("the row is held");
        let playing = running.play(&id, &south, 1, "A");
        let stopping = async {
            let waits = "select count(*) > 0 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
            while !sqlx::query_scalar::<_, bool>(waits).fetch_one(&app.db).await.expect("an answer") {}
            running.signal(signal);
            // No new connection is accepted: the signal has arrived.
            while std::net::TcpStream::connect(running.base.trim_start_matches("http://")).is_ok() {
                actix_web::rt::task::yield_now().await;
            }
            sqlx::raw_sql("rollback").execute(&mut holder).await.expect("the row is free");
        };
        let (answer, ()) = futures_util::future::join(playing, stopping).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        let status = running.child.wait().expect("it ends");
        assert_eq!(status.code(), Some(0));
        assert_eq!(app.get_game(&id, None).await.body["ply"], 1);
    }
}
