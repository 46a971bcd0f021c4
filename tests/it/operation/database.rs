//! The database as it misbehaves in operation: it comes late, is locked, is set back to an earlier state, or has another clock.

use std::{
    thread,
    time::{Duration, Instant},
};

use mancala_server::{db::migrations, http::new_key};
use reqwest::{Client, Method, header};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, migrate::Migrator};

use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{File, Running, ended, url},
    calls::{Guest, send, signed},
    clock::until_seen,
    cluster::blocking,
    database::{set_away, set_back},
    listener::Listener,
    scrape::sample,
};

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect("the statement is right");
}

/// Copies the database as it is; the connections to it end.
async fn save(app: &TestApp, superuser: &mut PgConnection) {
    let name = app.options.get_database().expect("a name");
    set_away(app, superuser).await;
    execute(superuser, format!("drop database if exists {name}_saved")).await;
    execute(superuser, format!("create database {name}_saved template {name} owner {}", app.options.get_username()))
        .await;
    set_back(app, superuser).await;
}

/// Puts the copy in the place of the database.
async fn restore(app: &TestApp, superuser: &mut PgConnection) {
    let name = app.options.get_database().expect("a name");
    execute(superuser, format!("drop database {name} with (force)")).await;
    execute(superuser, format!("alter database {name}_saved rename to {name}")).await;
}

/// The answer to a call, which is tried again while the database is away.
async fn served(call: impl AsyncFn() -> Answer) -> Answer {
    until_seen("the database is back", call, |answer: &Answer| answer.status != 503).await
}

/// Calls a server, with a body for a move.
async fn called(base: &str, method: Method, path: &str, guest: &Guest, body: Option<Value>) -> Answer {
    served(async || {
        let request = signed(Client::new().request(method.clone(), format!("{base}/v1/games/{path}")), Some(guest));
        send(match &body {
            Some(body) => request.json(body),
            None => request,
        })
        .await
    })
    .await
}

async fn played_at(base: &str, id: &str, guest: &Guest, ply: u32, mv: &str) -> Answer {
    let body = json!({"ply": ply, "move": mv});
    called(base, Method::POST, &format!("{id}/moves"), guest, Some(body)).await
}

#[actix_web::test]
async fn what_was_read_of_a_database_that_was_set_back_is_forgotten() {
    let app = TestApp::start().await;
    let elsewhere = format!("http://{}", app.second_server().0);
    let (id, south, north) = app.started(&json!({"visibility": "public"})).await;
    let (over, loser, winner) = app.started(&json!({"visibility": "public"})).await;
    let mut superuser = app.superuser().await;
    save(&app, &mut superuser).await;

    // What the first server knows, and the restored database does not.
    let here = app.base();
    assert_eq!(played_at(&here, &id, &south, 1, "A").await.status, 201);
    assert_eq!(played_at(&here, &over, &loser, 1, "A").await.status, 201);
    assert_eq!(called(&here, Method::POST, &format!("{over}/resign"), &winner, None).await.status, 200);
    let moves = served(async || app.list_moves(&over, "", None).await).await;
    assert_eq!(moves.body["items"][0]["move"], "A");
    let known = called(&here, Method::GET, &id, &north, None).await;
    // The connections of heavy work are found dead one by one.
    let graph = async || loop {
        let graph = Client::new().get(format!("{here}/v1/games/{over}/graph.svg")).send().await.expect("an answer");
        if graph.status() != 503 {
            return graph;
        }
    };
    let drawn = graph().await.headers()[header::ETAG].clone();
    let mut stream = Listener::at(&app, &id, 3, Some(&north)).await;
    let asked = app.request(Method::GET, &format!("/v1/games/{id}"));
    let asked = signed(asked, Some(&north)).header(header::IF_NONE_MATCH, known.headers[header::ETAG].clone());
    let (begun, waiting) = (Instant::now(), actix_web::rt::spawn(send(asked.header("prefer", "wait=50"))));
    restore(&app, &mut superuser).await;

    // Other events get the same versions, by another server.
    assert_eq!(played_at(&elsewhere, &id, &south, 1, "B").await.status, 201);
    assert_eq!(played_at(&elsewhere, &over, &loser, 1, "B").await.status, 201);
    assert_eq!(called(&elsewhere, Method::POST, &format!("{over}/resign"), &winner, None).await.status, 200);

    // A decision on the lost state would store a move that the position does not lead to: the log is replayed at the end.
    let answer = played_at(&here, &id, &north, 2, "a").await;
    assert_eq!(answer.status, 201, "{answer:?}");
    let shown = called(&here, Method::GET, &id, &north, None).await;
    let there = called(&elsewhere, Method::GET, &id, &north, None).await;
    assert_eq!(shown.body, there.body);
    assert_ne!(shown.headers[header::ETAG], known.headers[header::ETAG]);
    let moves = served(async || app.list_moves(&over, "", None).await).await;
    assert_eq!(moves.body["items"][0]["move"], "B");
    assert_ne!(graph().await.headers()[header::ETAG], drawn, "it is drawn of other moves");
    assert!(stream.next().await.is_none_or(|heard| heard.kind != "moved"), "it ends, and its client reconnects");
    let waited = waiting.await.expect("it ends");
    assert!([200, 304, 503].contains(&waited.status.as_u16()), "it is released long before 50 s: {waited:?}");
    assert!(begun.elapsed() < Duration::from_secs(40));
}

#[actix_web::test]
async fn an_hour_between_the_clocks_ends_no_game() {
    let mut app = TestApp::start().await;
    let (id, ..) = app.started(&json!({"visibility": "public", "clock": {"type": "per_move", "move_s": 600}})).await;
    // By this machine's clock the time of the game is over; by the database's, which is an hour behind, it is not.
    app.let_pass(&id, 900).await;
    let name = app.options.get_database().expect("a name").to_owned();
    let role = format!("late_{name}");
    let behind = ["now", "clock_timestamp", "statement_timestamp", "transaction_timestamp"].map(|clock| {
        format!(
            "create function late.{clock}() returns timestamptz language sql volatile \
             as 'select pg_catalog.{clock}() - interval ''1 hour''';"
        )
    });
    let mut superuser = app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs");
    execute(
        &mut superuser,
        format!(
            "drop role if exists {role}; create role {role} login; grant {} to {role}; create schema late; {} \
             grant usage on schema late to public; alter role {role} set search_path = late, pg_catalog, public",
            app.options.get_username(),
            behind.concat()
        ),
    )
    .await;
    let mut url = url(&app);
    url = url.replacen(app.options.get_username(), &role, 1);
    let mut running = Running::start_with(&url, &new_key(), &["--metrics-listen", "127.0.0.1:0"], &[]);
    let shown = send(running.get(&format!("/v1/games/{id}"))).await;
    assert_eq!(shown.body["status"], "active", "{shown:?}");
    let metrics = running.metrics.clone().expect("they are served");
    let look = async || sample(&send(Client::new().get(&metrics)).await.text, "mancala_clock_offset_seconds");
    let offset_s = until_seen("the clocks are compared", look, |offset_s: &f64| *offset_s != 0.0).await;
    assert!((3590.0..3610.0).contains(&offset_s), "{offset_s}");
    running.signal(nix::sys::signal::Signal::SIGTERM);
    let (status, log) = running.ended();
    assert_eq!(status, Some(0));
    assert_eq!(log.matches("this machine's clock differs from the database's").count(), 1, "{log}");
    execute(&mut superuser, format!("drop owned by {role}; drop role {role}")).await;
}

/// A database without the last migration, which changes the table of players.
async fn without_the_last_migration(app: &TestApp) {
    sqlx::raw_sql("drop schema public cascade; create schema public").execute(&app.db).await.expect("all goes");
    let migrations = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations"));
    let migrator = Migrator::new(migrations).await.expect("the migrations are there");
    let mut connection = app.options.connect().await.expect("PostgreSQL runs");
    migrator.run_direct(Some(22), &mut connection, false).await.expect("they apply");
}

#[actix_web::test]
async fn a_migration_waits_for_a_table_and_lets_queries_pass_meanwhile() {
    let app = TestApp::start().await;
    without_the_last_migration(&app).await;
    let mut holder = app.options.connect().await.expect("PostgreSQL runs");
    execute(&mut holder, "begin; lock table player in access share mode".to_owned()).await;
    let database = (&app.options).into();
    let migrating = actix_web::rt::spawn(async move {
        migrations::run_within(&database, Duration::from_mins(1)).await.map_err(|error| error.to_string())
    });
    // Longer than a migration may hold up a queue: each query is tried until it passes.
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    while begun.elapsed() < Duration::from_secs(5) {
        let asked = Instant::now();
        while let Err(error) = sqlx::query("select count(*) from player").execute(&app.db).await {
            assert!(error.to_string().contains("lock timeout"), "{error}");
        }
        longest = longest.max(asked.elapsed());
    }
    assert!(longest < Duration::from_secs(2), "{longest:?}");
    assert!(!migrating.is_finished());
    execute(&mut holder, "rollback".to_owned()).await;
    assert_eq!(migrating.await.expect("it ends"), Ok(()));
}

#[actix_web::test]
async fn a_migration_gives_up_when_the_lock_lasts_longer_than_it_may_wait() {
    let app = TestApp::start().await;
    without_the_last_migration(&app).await;
    let mut holder = app.options.connect().await.expect("PostgreSQL runs");
    execute(&mut holder, "begin; lock table player in access share mode".to_owned()).await;
    let (status, line) =
        ended(&["migrate", "--database-wait-s", "1", "--log-format", "text", "--database-url", &url(&app)]);
    assert_eq!(status, Some(1));
    let last = line.lines().last().unwrap_or_default();
    assert!(last.starts_with("mancala-server: a migration waited too long for a lock"), "{line}");
    execute(&mut holder, "rollback".to_owned()).await;
    migrations::run(&app.options).await.expect("nothing is left of the attempt");
}

#[actix_web::test]
async fn a_start_waits_for_the_database() {
    let app = TestApp::start().await;
    let mut superuser = app.superuser().await;
    set_away(&app, &mut superuser).await;
    let (status, line) =
        ended(&["migrate", "--database-wait-s", "1", "--log-format", "text", "--database-url", &url(&app)]);
    assert_eq!(status, Some(1));
    assert!(line.contains("waiting for the database"), "{line}");
    assert!(line.lines().last().is_some_and(|last| last.contains("the database cannot be reached")), "{line}");
    let (name, maintenance) =
        (app.options.get_database().expect("a name").to_owned(), crate::support::cluster::superuser_of(&app.options));
    let back = thread::spawn(move || {
        thread::sleep(Duration::from_secs(2));
        blocking(async move {
            let mut superuser = maintenance.connect().await.expect("PostgreSQL runs");
            execute(&mut superuser, format!("alter database {name} with allow_connections true")).await;
        });
    });
    let running = Running::start(&app);
    back.join().expect("the thread ends well");
    assert_eq!(send(running.get("/readyz")).await.status, 200);
}

#[test]
fn a_wrong_url_of_a_database_is_a_misuse_without_the_password() {
    let key = File::new(&new_key());
    for (url, said) in [
        ("postgres://ana:secret@h1,h2/x?target_session_attrs=standby", "target_session_attrs"),
        ("postgres://ana:secret@h1,h2,h3/x?port=1,2", "one port, or one for each host"),
        ("h1,h2", "must look like"),
    ] {
        let (status, line) =
            ended(&["--listen", "127.0.0.1:0", "--database-url", url, "--jwt-private-key-file", key.name()]);
        assert_eq!(status, Some(2), "{line}");
        assert!(line.contains(said) && !line.contains("secret"), "{line}");
    }
}
