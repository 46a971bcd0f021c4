//! Webhooks of a test: creating them, running one round of their jobs, and moving their times into the past.

use std::time::{Duration, Instant};

use mancala_server::{
    http::write_message,
    jobs::{
        purge::{self, Guests},
        webhooks::{self, Settings},
    },
    webhook::{Names, Reach, Sender, system_names},
};
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::support::{answer::Answer, app::TestApp, calls::Guest, clock::now, endpoint::Endpoint};

pub fn settings(app: &TestApp, reach: Reach, names: Names) -> Settings {
    Settings {
        sender: Sender::new(reach, names),
        write: write_message,
        devices: vec![],
        metrics: app.metrics.clone(),
        attempts_max: 512,
    }
}

/// Runs a round of the deliveries' job; returns how many attempts it made.
pub async fn round(app: &TestApp) -> usize {
    webhooks::round(&app.db, &settings(app, Reach::Anywhere, system_names())).await.expect("a round")
}

/// Rounds until nothing is due any more.
pub async fn deliver(app: &TestApp) {
    for _ in 0..1000 {
        if round(app).await == 0 {
            return;
        }
    }
    panic!("there is always something to send");
}

/// Moves the times of all webhooks and deliveries so many seconds into the past.
pub async fn let_pass(app: &TestApp, seconds: i64) {
    for (table, columns) in [
        ("webhook_event", &["put_off_until"][..]),
        ("webhook_delivery", &["next_attempt_at", "leased_until", "ended_at", "created_at"][..]),
        (
            "webhook",
            &[
                "created_at",
                "verified_at",
                "due_at",
                "flag_at",
                "failing_since",
                "failed_at",
                "paused_until",
                "disabled_at",
            ][..],
        ),
    ] {
        let mut changes: Vec<_> =
            columns.iter().map(|column| format!("{column} = {column} - interval '{seconds} s'")).collect();
        if table == "webhook" {
            changes.push(format!(
                "previous_until = array(select until - interval '{seconds} s' from unnest(previous_until) as until)"
            ));
        }
        let statement = format!("update {table} set {}", changes.join(", "));
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&app.db).await.expect("time can be moved");
    }
}

/// Runs a round of the purging job, which runs every minute.
pub async fn purge(app: &TestApp) {
    let settings = purge::Settings { guest_retention: None };
    purge::run(&app.db, settings, &mut Guests::default(), now()).await.expect("it is purged");
}

pub async fn create(app: &TestApp, guest: &Guest, body: &Value) -> Answer {
    app.post("/v1/webhooks", Some(guest), body).await
}

/// Queues a ping. On a busy machine the job that records a delivery locks the webhook for longer than a request waits.
pub async fn ping(app: &TestApp, player: &Guest, webhook: &str) {
    let begun = Instant::now();
    loop {
        let answer = app.post(&format!("{webhook}/ping"), Some(player), &json!({})).await;
        if answer.status != 503 || begun.elapsed() > Duration::from_secs(90) {
            assert_eq!(answer.status, 202, "{answer:?}");
            return;
        }
    }
}

/// Creates a webhook for all events, as if its endpoint had repeated the challenge; returns its path and its secret.
pub async fn created(app: &TestApp, guest: &Guest, endpoint: &Endpoint) -> (String, String) {
    created_for(app, guest, endpoint, &Value::Null).await
}

pub async fn created_for(app: &TestApp, guest: &Guest, endpoint: &Endpoint, events: &Value) -> (String, String) {
    let answer = create(app, guest, &json!({"url": endpoint.url(), "events": events})).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    assert_eq!(answer.headers["location"], format!("/v1/webhooks/{}", answer.string("/id")));
    for verified in [
        "delete from webhook_delivery where webhook_id = $1 and type = 'webhook.challenge'",
        "update webhook set verified_at = now(), challenge = null, due_at = null where id = $1",
    ] {
        let id = Uuid::try_parse(&answer.string("/id")).expect("an id");
        sqlx::query(verified).bind(id).execute(&app.db).await.expect("it is verified");
    }
    (format!("/v1/webhooks/{}", answer.string("/id")), answer.string("/secret"))
}
