//! Two releases at one database: a binary works on a later schema as long as the database is marked compatible with it.

use mancala_server::db::migrations::{self, MigrationError};
use sqlx::AssertSqlSafe;

use crate::support::{
    app::TestApp,
    binary::{Running, ended, url},
    games,
};

/// The number of a migration that no binary has yet.
const LATER: i64 = 9999;

/// Adds a made-up migration to those that the database has.
async fn add_migration(app: &TestApp, version: i64) {
    let row = "insert into _sqlx_migrations (version, description, success, checksum, execution_time) \
               values ($1, 'of tomorrow', true, '', 0)";
    sqlx::query(row).bind(version).execute(&app.db).await.expect("a row comes");
}

async fn set_mark(app: &TestApp, least: i64) {
    let mark = "update schema_compatibility set least_migration = $1";
    sqlx::query(mark).bind(least).execute(&app.db).await.expect("the mark is set");
}

/// What a start says, and its exit status.
fn migrate(app: &TestApp) -> (Option<i32>, String) {
    ended(&["migrate", "--log-format", "text", "--database-url", &url(app)])
}

#[actix_web::test]
async fn a_later_schema_that_is_marked_compatible_is_served() {
    let app = TestApp::start().await;
    add_migration(&app, LATER).await;
    migrations::run(app.options.clone()).await.expect("the mark allows it");
    assert_eq!(migrate(&app).0, Some(0));
    let running = Running::start(&app);
    for base in [app.base(), running.base.clone()] {
        let ready = reqwest::get(format!("{base}/readyz")).await.expect("an answer");
        assert_eq!(ready.status(), 200, "{base}");
    }
    let (id, ana) = games::game_of_one(&app).await;
    assert_eq!(running.play(&id, &ana, 1, "E").await.status, 201);
}

#[actix_web::test]
async fn a_schema_whose_mark_excludes_the_binary_is_refused() {
    let app = TestApp::start().await;
    add_migration(&app, LATER).await;
    set_mark(&app, LATER).await;
    let error = migrations::run(app.options.clone()).await.expect_err("the mark excludes it");
    assert!(matches!(error, MigrationError::Newer { least: LATER, newest: 1..LATER }), "{error}");
    let (status, line) = migrate(&app);
    assert_eq!(status, Some(1));
    for part in ["the database is newer than this binary", "migration 9999 or later", &error.to_string()] {
        assert!(line.contains(part), "{line}");
    }
    assert_eq!(line.lines().count(), 1, "{line}");
}

async fn is_current(app: &TestApp) -> bool {
    let mut connection = app.db.acquire().await.expect("a connection");
    migrations::are_current(&mut connection).await.expect("an answer")
}

#[actix_web::test]
async fn a_running_process_is_unready_once_the_mark_excludes_it() {
    let app = TestApp::start().await;
    add_migration(&app, LATER).await;
    assert!(is_current(&app).await);
    set_mark(&app, LATER).await;
    assert!(!is_current(&app).await);
    app.get("/readyz", None).await.is_problem(503, "unavailable");
}

#[actix_web::test]
async fn a_database_without_the_mark_is_unready() {
    let app = TestApp::start().await;
    sqlx::raw_sql("drop table schema_compatibility").execute(&app.db).await.expect("it goes");
    assert!(!is_current(&app).await);
    app.get("/readyz", None).await.is_problem(503, "unavailable");
}

#[actix_web::test]
async fn a_migration_of_another_line_of_versions_is_refused() {
    let app = TestApp::start().await;
    add_migration(&app, 0).await;
    let error = migrations::run(app.options.clone()).await.expect_err("it is unknown");
    assert!(matches!(error, MigrationError::Unknown { version: 0 }), "{error}");
}

#[actix_web::test]
async fn a_later_migration_without_a_mark_is_refused() {
    let app = TestApp::start().await;
    add_migration(&app, LATER).await;
    sqlx::raw_sql("drop table schema_compatibility").execute(&app.db).await.expect("it goes");
    let error = migrations::run(app.options.clone()).await.expect_err("nothing says that it is compatible");
    assert!(matches!(error, MigrationError::Unknown { version: LATER }), "{error}");
}

#[actix_web::test]
async fn the_mark_is_one_row() {
    let app = TestApp::start().await;
    for second in [true, false] {
        let row = format!("insert into schema_compatibility (is_only, least_migration) values ({second}, 1)");
        sqlx::raw_sql(AssertSqlSafe(row)).execute(&app.db).await.expect_err("there is one already");
    }
}
