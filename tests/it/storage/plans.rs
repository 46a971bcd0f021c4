//! Plans are made once for all values, mostly while the tables are small. So no statement may read a whole table or a whole queue because that is
//! cheap while it is empty.

use std::{fs, path::Path};

use mancala_server::db;
use serde_json::Value;
use sqlx::{AssertSqlSafe, PgConnection, Row};

use crate::support::app::TestApp;

/// Tables with a row or a few, or that a command works through as a whole.
const SMALL: [&str; 7] = [
    "app",
    "app_issuer",
    "archive_state",
    "explorer_rebuild",
    "explorer_rebuild_game",
    "last_backup",
    "schema_compatibility",
];

/// The plan that a new server makes for a statement.
async fn plan(connection: &mut PgConnection, statement: &str, parameters: usize) -> Vec<String> {
    let nulls = vec!["null"; parameters].join(", ");
    let values = if parameters == 0 { String::new() } else { format!("({nulls})") };
    let prepare = AssertSqlSafe(format!("prepare asked as {statement}"));
    sqlx::raw_sql(prepare).execute(&mut *connection).await.expect("it is prepared");
    let explain = AssertSqlSafe(format!("explain (costs off) execute asked {values}"));
    let lines = sqlx::raw_sql(explain).fetch_all(&mut *connection).await.expect("it is planned");
    sqlx::raw_sql("deallocate asked").execute(connection).await.expect("it was prepared");
    lines.iter().map(|line| line.get(0)).collect()
}

/// Lines of a plan that read a whole table or a whole queue of deliveries.
fn unbounded(plan: &[String]) -> Vec<&str> {
    let is_unbounded = |(n, line): (usize, &String)| {
        if let Some((_, scanned)) = line.split_once("Seq Scan on ") {
            return !SMALL.contains(&scanned.split(' ').next().unwrap_or_default());
        }
        let has_condition = plan.get(n + 1).is_some_and(|next| next.contains("Index Cond"));
        line.contains("Scan using webhook_delivery_") && !has_condition
    };
    plan.iter().enumerate().filter(|(n, line)| is_unbounded((*n, *line))).map(|(_, line)| line.trim()).collect()
}

/// Calls `check` with every statement of the service, and with its plan on a connection of the service.
async fn for_each_plan(connection: &mut PgConnection, mut check: impl FnMut(&str, &[String])) {
    let mut planned = 0;
    for file in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx")).expect("statements") {
        let text = fs::read_to_string(file.expect("a file").path()).expect("a text");
        let query: Value = serde_json::from_str(&text).expect("JSON");
        let statement = query["query"].as_str().expect("a statement").trim();
        // The deletion of what is left of webhooks, once a minute, looks for webhooks with anything left.
        let is_purge = statement.starts_with("with abandoned");
        let word = statement.split_whitespace().next().unwrap_or_default();
        if is_purge || !["select", "with", "insert", "update", "delete"].contains(&word) {
            continue;
        }
        let parameters = query["describe"]["parameters"]["Left"].as_array().map_or(0, Vec::len);
        check(statement, &plan(connection, statement, parameters).await);
        planned += 1;
    }
    assert!(planned > 200, "{planned}");
}

#[actix_web::test]
async fn no_statement_is_planned_to_read_a_whole_table_or_queue() {
    let app = TestApp::start().await;
    let pool = db::pool(app.options.clone(), 1);
    let mut connection = pool.acquire().await.expect("a connection");
    let check = |statement: &str, plan: &[String]| {
        assert_eq!(unbounded(plan), [] as [&str; 0], "{statement}\n{}", plan.join("\n"));
    };
    for_each_plan(&mut connection, check).await;
}

#[actix_web::test]
async fn no_statement_is_planned_to_start_workers() {
    let app = TestApp::start().await;
    let pool = db::pool(app.options.clone(), 1);
    let mut connection = pool.acquire().await.expect("a connection");
    // In a large table a range is expected to have so many rows that workers seem cheap. Here they seem free.
    let workers_are_free = "set parallel_setup_cost = 0; set parallel_tuple_cost = 0;
        set min_parallel_table_scan_size = 0; set min_parallel_index_scan_size = 0";
    sqlx::raw_sql(workers_are_free).execute(&mut *connection).await.expect("settings");
    let check = |statement: &str, plan: &[String]| {
        assert!(!starts_workers(plan), "{statement}\n{}", plan.join("\n"));
    };
    for_each_plan(&mut connection, check).await;
    let workers = "set max_parallel_workers_per_gather = 2";
    sqlx::raw_sql(workers).execute(&mut *connection).await.expect("a setting");
    let mut with_workers = 0;
    for_each_plan(&mut connection, |_, plan| with_workers += usize::from(starts_workers(plan))).await;
    assert!(with_workers > 0, "the service's setting is why no statement starts workers");
}

fn starts_workers(plan: &[String]) -> bool {
    plan.iter().any(|line| line.contains("Gather"))
}
