//! What the log says about an outage of the database: that it began, that it is over, and little in between.

use std::time::{Duration, Instant};

use actix_web::rt::time::{sleep, timeout};
use futures_util::future::join_all;
use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions};

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    calls::send,
    cluster::superuser_of,
};

/// Lets the database refuse all connections, or accept them again.
async fn allow_connections(app: &TestApp, allow: bool) {
    let name = app.options.get_database().expect("a name");
    let superuser = superuser_of(&app.options).database("postgres");
    let mut connection = superuser.connect().await.expect("PostgreSQL runs");
    let sql = format!("alter database \"{name}\" allow_connections {allow}");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("a superuser may");
    if !allow {
        let sql = format!("select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'");
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("a superuser may");
    }
}

#[actix_web::test]
async fn an_outage_is_two_lines_and_its_failures_are_few() {
    let app = TestApp::start().await;
    let arguments = ["--rate-limits", "off", "--computer-threads", "0", "--analysis-threads", "0"];
    let mut running = Running::start_with(&url(&app), &new_key(), &arguments, &[]);
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
    allow_connections(&app, false).await;
    // Longer than a lost connection, which is no outage.
    let (mut failed, begun) = (0, Instant::now());
    while failed < 100 || begun.elapsed() < Duration::from_secs(3) {
        let asked = join_all((0..50).map(|_| send(running.get("/v1/games"))));
        failed += asked.await.iter().filter(|answer| answer.status == 503).count();
    }
    allow_connections(&app, true).await;
    let back = async {
        while running.playing(&id, &south, 1, "A").send().await.is_ok_and(|answer| answer.status() != 200) {
            sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_mins(1), back).await.expect("the database is back");
    // The line about the end comes with the next read of revocations.
    sleep(Duration::from_secs(1)).await;
    running.signal(Signal::SIGTERM);
    let (_, log) = running.ended();
    let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let about = |text: &str| {
        let message = |line: &&Value| line["message"].as_str().is_some_and(|message| message.contains(text));
        lines.iter().filter(message).collect::<Vec<_>>()
    };
    assert_eq!(about("the database does not answer: ").len(), 1, "{log}");
    assert_eq!(about("the database answers again, after ").len(), 1, "{log}");
    let requests = about("request failed");
    assert!((1..=50).contains(&requests.len()), "{} lines for {failed} failures\n{log}", requests.len());
}
