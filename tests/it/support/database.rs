//! A test's database as its operator sees it: taken away, given back, its locks, its rows.

use sqlx::{AssertSqlSafe, PgConnection};

use crate::support::{app::TestApp, clock::until_async};

/// Refuses new connections to the database and ends those that there are.
pub async fn set_away(app: &TestApp, superuser: &mut PgConnection) {
    let database = app.options.get_database().expect("a name");
    let away = format!("alter database {database} with allow_connections false");
    sqlx::raw_sql(AssertSqlSafe(away)).execute(&mut *superuser).await.expect("it goes away");
    let end = "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1";
    sqlx::query(end).bind(database).execute(superuser).await.expect("connections end");
}

/// Allows connections again.
pub async fn set_back(app: &TestApp, superuser: &mut PgConnection) {
    let database = app.options.get_database().expect("a name");
    let back = format!("alter database {database} with allow_connections true");
    sqlx::raw_sql(AssertSqlSafe(back)).execute(superuser).await.expect("it comes back");
}

/// The statements in a test's database that wait for a lock.
const LOCK_WAITS: &str = "pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";

/// Waits until a statement waits for a lock.
pub async fn until_lock_wait(app: &TestApp) {
    until_async("a statement waits for a lock", async || count_rows(app, LOCK_WAITS).await > 0).await;
}

/// Waits until no statement waits for a lock.
pub async fn until_no_lock_wait(app: &TestApp) {
    until_async("no statement waits for a lock", async || count_rows(app, LOCK_WAITS).await == 0).await;
}

/// How many rows a table has; a condition may follow the table's name.
pub async fn count_rows(app: &TestApp, what: &'static str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(format!("select count(*) from {what}"))).fetch_one(&app.db).await.expect("a count")
}
