//! A database that answers and cannot do its work: what clients and load balancers see, and how the server recovers.

use serde_json::json;
use sqlx::{AssertSqlSafe, PgConnection};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::Guest,
    clock::until_async,
    database::{set_away, set_back},
};

async fn execute(connection: &mut PgConnection, sql: String) {
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.expect("the statement is right");
}

/// Sends a move until it is stored, as a client does.
async fn played_in_the_end(app: &TestApp, id: &str, guest: &Guest, ply: u32, mv: &str) {
    until_answered("the move is stored", async || app.play_move(id, guest, ply, mv).await).await;
}

/// Makes a call until it succeeds. Every other answer is a 503 with `Retry-After`.
async fn until_answered(what: &str, call: impl AsyncFn() -> Answer) {
    until_async(what, async || {
        let answer = call().await;
        let is_success = answer.status.is_success();
        if !is_success {
            is_unavailable(&answer);
        }
        is_success
    })
    .await;
}

fn is_unavailable(answer: &Answer) {
    answer.is_problem(503, "unavailable");
    let seconds = answer.headers["retry-after"].to_str().expect("text");
    assert!(seconds.parse::<u32>().is_ok_and(|seconds| seconds > 0), "{seconds}");
}

#[actix_web::test]
async fn a_read_only_database_is_503_and_moves_go_on_when_it_is_writable() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let database = app.options.get_database().expect("a name").to_owned();
    let mut superuser = app.superuser().await;
    let setting = format!("alter database {database} set default_transaction_read_only");
    execute(&mut superuser, format!("{setting} = on")).await;
    // New connections only have the setting, as after a failover.
    set_away(&app, &mut superuser).await;
    set_back(&app, &mut superuser).await;
    app.until_unready("read_only").await;
    is_unavailable(&app.play_move(&id, &south, 1, "A").await);
    is_unavailable(&app.create_game(&south, &json!({"variant": "kalah"})).await);
    is_unavailable(&app.post("/v1/players", None, &json!({})).await);
    assert_eq!(app.get_game(&id, None).await.status, 200, "reading needs no right to write");

    // Ends no connection: those that are open stay read-only, and the server must open new ones by itself.
    execute(&mut superuser, format!("{setting} = off")).await;
    played_in_the_end(&app, &id, &south, 1, "A").await;
    played_in_the_end(&app, &id, &north, 2, "a").await;
    app.until_ready().await;
    assert_eq!(app.post("/v1/players", None, &json!({})).await.status, 201);
}

#[actix_web::test]
async fn a_missing_right_is_503_and_named_until_it_is_granted() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let user = app.options.get_username().to_owned();
    let mut connection = app.db.acquire().await.expect("a connection");
    execute(&mut connection, format!("revoke insert on event from {user}")).await;
    is_unavailable(&app.play_move(&id, &south, 1, "A").await);
    app.until_unready("rights").await;
    execute(&mut connection, format!("grant insert on event to {user}")).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    app.until_ready().await;
}

#[actix_web::test]
async fn a_lost_database_is_named_and_found_again() {
    let app = TestApp::start().await;
    app.until_ready().await;
    let mut superuser = app.superuser().await;
    set_away(&app, &mut superuser).await;
    app.until_unready("connection").await;
    assert_eq!(app.get("/livez", None).await.status, 200);
    set_back(&app, &mut superuser).await;
    app.until_ready().await;
}

#[actix_web::test]
async fn a_database_without_a_free_connection_is_named() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let database = app.options.get_database().expect("a name").to_owned();
    let mut superuser = app.superuser().await;
    execute(&mut superuser, format!("alter database {database} connection limit 0")).await;
    set_away(&app, &mut superuser).await;
    set_back(&app, &mut superuser).await;
    app.until_unready("connections").await;
    is_unavailable(&app.play_move(&id, &south, 1, "A").await);
    execute(&mut superuser, format!("alter database {database} connection limit -1")).await;
    played_in_the_end(&app, &id, &south, 1, "A").await;
    app.until_ready().await;
}

#[actix_web::test]
async fn a_column_of_another_type_makes_the_server_prepare_its_statements_anew() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    // The connections of look-ups prepare their statement.
    for _ in 0..20 {
        assert_eq!(app.get_game(&id, None).await.status, 200);
    }
    let change = "alter table player alter column name type varchar(200)";
    sqlx::raw_sql(change).execute(&app.db).await.expect("the type changes");
    until_answered("the statement is prepared anew", async || app.get_game(&id, None).await).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
}
