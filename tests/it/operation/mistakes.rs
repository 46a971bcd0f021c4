//! Mistakes of an operator at the start: each ends in one line with exit status 2, or is warned of. None is taken for another database,
//! or started again and again.

use std::net::TcpListener;

use mancala_server::{build_info, http::new_key};
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::support::{
    app::TestApp,
    binary::{File, Running, ended, ended_with, server, url},
    calls::send,
    cluster::superuser_of,
};

/// A folder for an embedded PostgreSQL that must not start. The address is taken, so that nothing is started in any case.
fn arguments<'a>(address: &'a str, folder: &'a str) -> [&'a str; 4] {
    ["--listen", address, "--data-dir", folder]
}

fn taken() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("an address").to_string();
    (listener, address)
}

#[test]
fn a_misspelt_variable_starts_no_empty_database() {
    let (_taken, address) = taken();
    for (given, meant) in [("DATABSE_URL", "DATABASE_URL"), ("database_url", "DATABASE_URL"), ("DATA_DRI", "DATA_DIR")]
    {
        for arguments in [&arguments(&address, "/nowhere")[..2], &arguments(&address, "/nowhere"), &["verify"]] {
            let (status, line) = ended_with(arguments, &[(given, "postgres://ana:secret@db.example/mancala")]);
            // With --data-dir the option that names the folder is set, and the variable may be misspelt all the same.
            assert_eq!(status, Some(2), "{arguments:?} {line}");
            assert!(line.contains(given) && line.contains(meant) && !line.contains("secret"), "{line}");
            assert_eq!(line.trim_end().lines().count(), 1, "{line}");
        }
    }
    // Names of others end in the taken port, as without them.
    for other in ["PGHOST", "HTTP_URL", "REDIS_URL"] {
        let (_, line) = ended_with(&arguments(&address, "/nowhere"), &[(other, "x")]);
        assert!(line.contains("cannot listen on"), "{line}");
    }
}

#[test]
fn a_key_without_a_database_starts_no_embedded_one() {
    let (_taken, address) = taken();
    let key = File::new(&new_key());
    let variables = [("JWT_PRIVATE_KEY_FILE", key.name()), ("DATA_DIR", "/nowhere")];
    for arguments in [&["--listen", &address][..], &["export", "/nowhere/games"]] {
        let (status, line) = ended_with(arguments, &variables);
        assert_eq!(status, Some(2), "{line}");
        assert!(line.contains("DATABASE_URL") && line.contains("--data-dir"), "{line}");
    }
    let (_, line) = ended_with(&arguments(&address, "/nowhere"), &variables[..1]);
    assert!(line.contains("cannot listen on"), "the flag says that the embedded database is meant: {line}");
}

#[actix_web::test]
async fn beside_a_database_a_misspelt_variable_is_warned_of() {
    let app = TestApp::start().await;
    let variables = [("JWT_PUBLIC_KEY_FILE", "/x"), ("PGSERVICE", "x")];
    let mut running = Running::start_with(&url(&app), &new_key(), &[], &variables);
    running.signal(Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0), "{log}");
    let warned: Vec<&str> = log.lines().filter(|line| line.contains("is the variable of no option")).collect();
    assert!(matches!(warned[..], [line] if line.contains("JWT_PUBLIC_KEY_FILES may be meant")), "{log}");
}

#[actix_web::test]
async fn the_first_line_of_the_log_names_the_database() {
    let app = TestApp::start().await;
    let mut running = Running::start_with(&url(&app).replacen('@', ":hunter2@", 1), &new_key(), &[], &[]);
    running.signal(Signal::SIGTERM);
    let (_, log) = running.ended();
    let first: Value = serde_json::from_str(log.lines().next().expect("a line")).expect("JSON");
    let (name, host) = (app.options.get_database().expect("a name"), app.options.get_host());
    assert_eq!(first["database"], format!("{name} at {host}:{}", app.options.get_port()));
    assert!(first["message"].as_str().is_some_and(|text| text.contains(build_info::COMMIT)), "{first}");
    assert!(!log.contains("hunter2"), "{log}");
}

#[actix_web::test]
async fn a_database_in_another_encoding_is_refused() {
    let app = TestApp::start().await;
    let name = format!("{}_ascii", app.options.get_database().expect("a name"));
    let mut superuser = superuser_of(&app.options).connect().await.expect("PostgreSQL runs");
    let owner = app.options.get_username();
    let create = format!("create database {name} owner {owner} encoding 'SQL_ASCII' locale 'C' template template0");
    sqlx::raw_sql(AssertSqlSafe(create)).execute(&mut superuser).await.expect("a superuser may");
    let key = File::new(&new_key());
    let ascii =
        url(&app).replacen(&format!("/{}?", app.options.get_database().expect("a name")), &format!("/{name}?"), 1);
    for command in [&["--listen", "127.0.0.1:0", "--jwt-private-key-file", key.name()][..], &["migrate"]] {
        let (status, log) = ended(&[command, &["--database-url", &ascii]].concat());
        assert_eq!(status, Some(2), "{log}");
        let line = log.lines().last().expect("a line");
        assert!(line.contains("SQL_ASCII") && line.contains("encoding 'UTF8' template template0"), "{line}");
    }
    let mut owner = app.options.clone().database(&name).connect().await.expect("the database is there");
    let tables = sqlx::query_scalar::<_, i64>("select count(*) from pg_tables where schemaname = 'public'");
    assert_eq!(tables.fetch_one(&mut owner).await.expect("a count"), 0, "it was refused before the migrations");
    drop(owner);
    let gone = format!("drop database {name} with (force)");
    sqlx::raw_sql(AssertSqlSafe(gone)).execute(&mut superuser).await.expect("it goes");
}

#[actix_web::test]
async fn a_name_of_the_machine_is_listened_on() {
    let app = TestApp::start().await;
    let arguments = ["--listen", "localhost:0", "--metrics-listen", "localhost:0"];
    let running = Running::start_with(&url(&app), &new_key(), &arguments, &[]);
    assert_eq!(send(running.get("/livez")).await.status, 200);
    for (listen, said) in [("name.invalid:0", "cannot listen on name.invalid:0"), ("local host:0", "must look like")] {
        let (status, line) = ended(&["--listen", listen, "--data-dir", "/nowhere"]);
        assert!(status != Some(0) && line.contains(said), "{line}");
    }
}

#[actix_web::test]
async fn an_export_names_the_file_that_is_full() {
    let app = TestApp::start().await;
    app.started(&json!({})).await;
    let (status, line) = ended(&["export", "/dev/full", "--database-url", &url(&app)]);
    assert_eq!(status, Some(1), "{line}");
    assert!(line.lines().last().is_some_and(|line| line.contains("/dev/full: No space left")), "{line}");
}

#[test]
fn the_version_names_the_build() {
    let output = server(&["--version"]).output().expect("the binary runs");
    let said = format!("mancala-server {} ({})\n", env!("CARGO_PKG_VERSION"), build_info::COMMIT);
    assert_eq!(String::from_utf8_lossy(&output.stdout), said);
    if cfg!(debug_assertions) && option_env!("MANCALA_COMMIT").is_none() {
        assert_eq!(build_info::COMMIT, "debug");
    }
}
