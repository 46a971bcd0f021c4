//! What the log says about an outage of the database: that it began, that it is over, and nearly nothing in between.

use std::time::{Duration, Instant};

use actix_web::rt::time::sleep;
use futures_util::future::join_all;
use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    calls::send,
    clock::until_async,
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

/// The lines of an outage during which `call` is made again and again; with how many calls failed.
async fn lines_of_an_outage(filter: &[(&str, &str)], call: impl AsyncFn(&Running) -> usize) -> (Vec<Value>, usize) {
    let app = TestApp::start().await;
    // This server runs all jobs.
    let mut running = Running::start_with(&url(&app), &new_key(), &["--rate-limits", "off"], filter);
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
    allow_connections(&app, false).await;
    // Longer than all jobs wait between two rounds.
    let (mut failed, begun) = (0, Instant::now());
    while begun.elapsed() < Duration::from_secs(12) {
        failed += call(&running).await;
    }
    allow_connections(&app, true).await;
    until_async("the database is back", async || {
        running.play(&id, &south, 1, "A").await.status == 200 && send(running.get("/readyz")).await.status == 200
    })
    .await;
    // The line about the end comes with the next read of revocations, and those of jobs with their next rounds.
    sleep(Duration::from_secs(6)).await;
    running.signal(Signal::SIGTERM);
    let (_, log) = running.ended();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let text = |line: &Value| line["message"].as_str().unwrap_or_default().to_owned();
    let during = lines.skip_while(|line| !text(line).starts_with("ready: ")).skip(1);
    (during.take_while(|line| !text(line).starts_with("stopping")).collect(), failed)
}

fn time(line: &Value) -> OffsetDateTime {
    OffsetDateTime::parse(line["timestamp"].as_str().expect("a time"), &Rfc3339).expect("RFC 3339")
}

/// Checks that the outage has its two lines; and before these one of a failed request in a second, until it is found.
fn is_two_lines(lines: &[Value]) {
    let [early @ .., begins, ends] = lines else { panic!("{lines:#?}") };
    let says = |line: &Value, text| line["message"].as_str().is_some_and(|message| message.starts_with(text));
    assert!(
        says(begins, "the database does not answer: ") && says(ends, "the database answers again, after "),
        "{lines:#?}"
    );
    assert!(early.iter().all(|line| says(line, "request failed")), "{lines:#?}");
    // Each kind has a line a second, and there are few kinds.
    let is_repeated = |(n, line): (usize, &Value)| {
        let is_near = |before: &Value| time(line) - time(before) < Duration::from_millis(900);
        early[..n].iter().any(|before| before["cause"] == line["cause"] && is_near(before))
    };
    assert!(early.len() <= 6 && !early.iter().enumerate().any(is_repeated), "{lines:#?}");
    assert!(lines.iter().all(|line| line.get("spans").is_none()), "the span stands once: {lines:#?}");
}

#[actix_web::test]
async fn an_outage_without_requests_is_two_lines() {
    let probe = async |running: &Running| {
        sleep(Duration::from_secs(1)).await;
        usize::from(send(running.get("/readyz")).await.status == 503)
    };
    // A filter of the operator does not bring the lines of the pools back.
    let (lines, failed) = lines_of_an_outage(&[("RUST_LOG", "info,actix_server=warn")], probe).await;
    assert!(failed > 3, "{failed}");
    is_two_lines(&lines);
    assert_eq!(lines.len(), 2);
}

#[actix_web::test]
async fn an_outage_under_load_is_two_lines_and_a_few_early_ones() {
    let read = async |running: &Running| {
        let asked = join_all((0..50).map(|_| send(running.get("/v1/games"))));
        asked.await.iter().filter(|answer| answer.status == 503).count()
    };
    let (lines, failed) = lines_of_an_outage(&[], read).await;
    assert!(failed > 100, "{failed}");
    is_two_lines(&lines);
    let left_out: u64 = lines.iter().filter_map(|line| line["left_out"].as_u64()).sum();
    assert!(left_out > 100, "the failures are counted: {lines:#?}");
}
