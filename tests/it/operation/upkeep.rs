//! The gauges of upkeep: readiness without probes, jobs, backups, the archive, standbys and the computer's turns.

use std::{fs, path::Path};

use mancala_server::{
    db::{backups, games::computer_turns, standbys},
    http::new_key,
    jobs::archive::{Scan, run},
};
use reqwest::Client;
use serde_json::json;
use sqlx::ConnectOptions;
use time::Duration as Days;

use crate::support::{
    app::TestApp,
    binary::{Running, server, url},
    calls::send,
    clock::{now, until_seen, until_some},
    cluster::{Cluster, superuser_of},
    database::{set_away, set_back},
    scrape::{count, sample},
    standby::Standby,
};

/// The jobs that every server has; `push` and `mail` run only where they are set up.
const JOBS: [&str; 13] = [
    "abandonment",
    "analyses",
    "archive",
    "computer",
    "deadlines",
    "erasure",
    "explorer",
    "names",
    "observation",
    "purge",
    "suspended_games",
    "webhook_messages",
    "webhooks",
];

fn job(name: &str) -> String {
    format!(r#"mancala_job_last_success_timestamp_seconds{{job_name="{name}"}}"#)
}

fn ready(check: &str) -> String {
    format!(r#"mancala_ready{{check="{check}"}}"#)
}

/// The metrics of a server once this is so.
async fn metrics_once(metrics: &str, is_so: impl Fn(&str) -> bool) -> String {
    let look = async || send(Client::new().get(metrics)).await.text;
    until_seen("the metrics say so", look, |text: &String| is_so(text)).await
}

#[actix_web::test]
async fn readiness_and_jobs_are_shown_though_nothing_probes_them() {
    let app = TestApp::start().await;
    let running = Running::start_with(&url(&app), &new_key(), &["--metrics-listen", "127.0.0.1:0"], &[]);
    let metrics = running.metrics.clone().expect("the log says where");
    let is_there = |text: &str| JOBS.iter().all(|name| text.contains(&format!("{} ", job(name))));
    let text = metrics_once(&metrics, |text| sample(text, &ready("all")) > 0.5 && is_there(text)).await;
    let failed: Vec<_> =
        text.lines().filter(|line| line.starts_with("mancala_ready{") && line.ends_with(" 0")).collect();
    assert_eq!(failed, Vec::<&str>::new());
    // A round of maintenance comes a minute after the start.
    assert!(text.contains(&format!("{} 0", job("purge"))), "{text}");
    let begun = now().unix_timestamp() - 60;
    let at = usize::try_from(begun).expect("a time after 1970");
    metrics_once(&metrics, |text| {
        ["computer", "deadlines", "webhooks"].iter().all(|name| count(text, &job(name)) > at)
    })
    .await;

    let mut superuser = app.superuser().await;
    set_away(&app, &mut superuser).await;
    metrics_once(&metrics, |text| text.contains(&format!("{} 0", ready("connection")))).await;
    let text = metrics_once(&metrics, |text| text.contains(&format!("{} 0", ready("all")))).await;
    assert!(text.contains(&format!("{} 1", ready("disk"))), "{text}");
    set_back(&app, &mut superuser).await;
    metrics_once(&metrics, |text| sample(text, &ready("all")) > 0.5).await;
}

#[actix_web::test]
async fn the_time_of_a_backup_is_noted_and_shown() {
    let app = TestApp::start().await;
    assert_eq!(backups::find_last(&app.db).await.expect("a database"), None);
    let before = now();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("noted-{}.dump", std::process::id()));
    let made = server(&["backup"]).arg(&file).env("DATABASE_URL", url(&app)).output().expect("the binary runs");
    assert!(made.status.success(), "{made:?}");
    fs::remove_file(&file).expect("the backup is there");
    let last = backups::find_last(&app.db).await.expect("a database").expect("a time");
    assert!((last - before).abs() < Days::MINUTE, "{last}");
    let running = Running::start_with(&url(&app), &new_key(), &["--metrics-listen", "127.0.0.1:0"], &[]);
    let metrics = running.metrics.clone().expect("the log says where");
    let line = format!("mancala_backup_last_success_timestamp_seconds {}\n", last.unix_timestamp());
    metrics_once(&metrics, |text| text.contains(&line)).await;
}

#[actix_web::test]
async fn the_lag_of_the_archive_is_that_of_the_oldest_log_that_stays() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    app.resign_game(&id, &south).await;
    sqlx::raw_sql("update archive_state set migrated_at = now() - interval '2 days'")
        .execute(&app.db)
        .await
        .expect("a row");
    let lag_days = async |scan: &mut Scan, days: i64| {
        let at = now() + Days::days(days);
        run(&app.db, &app.metrics, Some(Days::WEEK), scan, at).await.expect("a database");
        count(&app.metrics.text(), "mancala_archive_lag_seconds") / 86_400
    };
    let mut scan = Scan::default();
    assert_eq!(lag_days(&mut scan, 6).await, 0, "it is not due");
    // Its log is damaged, so it stays.
    sqlx::raw_sql("update event set kind = 'praised' where seq = 2").execute(&app.db).await.expect("a row");
    assert_eq!(lag_days(&mut scan, 10).await, 3);
    assert_eq!(lag_days(&mut scan, 12).await, 5, "a log that is put off waits as well");
    sqlx::raw_sql("truncate event, game, unarchived_game cascade").execute(&app.db).await.expect("tables");
    assert_eq!(lag_days(&mut scan, 13).await, 0);
}

#[actix_web::test]
async fn the_oldest_turn_of_the_computer_counts_unless_it_is_put_off() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let body = json!({"variant": "kalah", "side": "north", "opponent": {"type": "computer", "level": 8}});
    app.created(&ana, &body).await;
    sqlx::raw_sql("update computer_turn set waits_since = now() - interval '90 s'")
        .execute(&app.db)
        .await
        .expect("rows");
    let queued = computer_turns::count_waiting(&app.db).await.expect("a database");
    assert!(queued.turns == 1 && (90..120).contains(&queued.oldest_s), "{queued:?}");
    let turn = computer_turns::take(&app.db, now(), now() + Days::MINUTE).await.expect("a database").expect("a turn");
    computer_turns::put_off(&app.db, turn, now() + Days::HOUR).await.expect("a database");
    let queued = computer_turns::count_waiting(&app.db).await.expect("a database");
    assert_eq!((queued.turns, queued.oldest_s), (1, 0));
}

#[actix_web::test]
async fn the_lag_of_standbys_takes_the_right_to_see_them() {
    let cluster = Cluster::start("standby-lag");
    let app = TestApp::start_on(&cluster, |_| {}).await;
    let mut superuser = superuser_of(&app.options).connect().await.expect("PostgreSQL runs");
    let user = app.options.get_username();
    // An earlier run has left the right.
    let revoke = format!("revoke pg_monitor from {user}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(revoke)).execute(&mut superuser).await.expect("the right is revoked");
    assert_eq!(standbys::list_lags(&app.db).await.expect("a database"), None, "the user may not see them");
    let grant = format!("grant pg_monitor to {user}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(grant)).execute(&mut superuser).await.expect("the right is granted");
    assert_eq!(standbys::list_lags(&app.db).await.expect("a database"), Some(vec![]));
    let standby = Standby::of(&app.options, "standby-lag").await;
    let (name, lag) = until_some("the standby is connected", async || {
        let mut lags = standbys::list_lags(&app.db).await.expect("a database").expect("it may see them");
        assert!(lags.len() <= 1, "{lags:?}");
        lags.pop()
    })
    .await;
    assert!(name == "walreceiver" && lag >= 0.0, "{name} {lag}");
    drop(standby);
}
