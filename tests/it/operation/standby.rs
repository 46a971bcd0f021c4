//! A standby that answers reads: it never shows less than the primary, and its failure is no outage.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use mancala_server::metrics::Metrics;
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, postgres::PgConnectOptions};

use crate::support::{
    app::{TestApp, plan},
    calls::Guest,
    clock::until_async,
    cluster::{Cluster, superuser_of},
    detour::Detour,
    games::{finished_with_rematch, some_move},
    scrape::count,
    standby::Standby,
};

/// A cluster that has standbys, and a server on it without them.
async fn primary(name: &str) -> (Cluster, TestApp) {
    let cluster = Cluster::start(name);
    let app = TestApp::start_on(&cluster, |_| {}).await;
    // The clusters of tests lose the last changes in a crash, but a standby has to get them.
    let database = app.options.get_database().expect("a name").to_owned();
    let mut superuser = superuser_of(&app.options).connect().await.expect("PostgreSQL runs");
    let durable = format!("alter database {database} set synchronous_commit = on");
    sqlx::raw_sql(AssertSqlSafe(durable)).execute(&mut superuser).await.expect("the setting is changed");
    (cluster, app)
}

/// A server whose reads a standby answers, on a cluster of its own.
struct Beside {
    app: TestApp,
    standby: Standby,
    metrics: Arc<Metrics>,
    /// The primary; it ends last.
    _cluster: Cluster,
}

impl Beside {
    async fn start(name: &str) -> Self {
        let (cluster, app) = primary(name).await;
        let standby = Standby::of(&app.options, name).await;
        let options = standby.options();
        Self::with(cluster, app, standby, &options)
    }

    /// With a standby that is reached by these options.
    fn with(cluster: Cluster, mut app: TestApp, standby: Standby, options: &PgConnectOptions) -> Self {
        let (address, metrics) = app.second_server_with(|service| {
            service.standby = Some(options.clone().into());
            service.plan = plan(true);
        });
        app.address = address;
        Self { app, standby, metrics, _cluster: cluster }
    }

    fn reads(&self, by: &str) -> usize {
        count(&self.metrics.text(), &format!(r#"mancala_standby_reads_total{{by="{by}"}}"#))
    }

    /// Reads until the standby has answered once more.
    async fn until_the_standby_answers(&self) {
        let before = self.reads("standby");
        until_async("the standby answers", async || {
            assert_eq!(self.app.list_games("limit=1", None).await.status, 200);
            self.reads("standby") > before
        })
        .await;
    }

    async fn read(&self, path: &str, guest: &Guest) -> Value {
        let answer = self.app.get(path, Some(guest)).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {answer:?}");
        answer.body
    }
}

#[actix_web::test]
async fn a_standby_answers_lists_histories_and_exports() {
    let beside = Beside::start("standby-reads").await;
    let (id, south, _) = finished_with_rematch(&beside.app, 8).await;
    beside.until_the_standby_answers().await;
    let me = south.id.clone();
    for path in [
        "/v1/games".to_owned(),
        format!("/v1/games?ids={id}"),
        "/v1/games?player=me".to_owned(),
        "/v1/me/summary".to_owned(),
        "/v1/me/invitations".to_owned(),
        format!("/v1/players/{me}"),
        format!("/v1/players/{me}/stats"),
        format!("/v1/games/{id}/moves?include=board"),
        format!("/v1/games/{id}/positions/3"),
        format!("/v1/games/{id}/events"),
        format!("/v1/games/{id}/export"),
        "/v1/games/export".to_owned(),
        "/v1/explorer?variant=kalah".to_owned(),
    ] {
        // A standby that is late once is left alone for a second.
        until_async(&format!("the standby answers {path}"), async || {
            let before = beside.reads("standby");
            let answer = beside.app.get(&path, Some(&south)).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            beside.reads("standby") > before
        })
        .await;
    }
}

#[actix_web::test]
async fn a_late_standby_never_shows_less_than_the_primary() {
    let beside = Beside::start("standby-late").await;
    let app = &beside.app;
    let ana = app.guest("Ana").await;
    beside.until_the_standby_answers().await;
    beside.standby.execute("select pg_wal_replay_pause()").await;
    let game =
        app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}, "visibility": "public"})).await;
    let id = game["id"].as_str().expect("an id").to_owned();
    let answered = beside.reads("standby");
    let mut present = game;
    for ply in 1..=4 {
        present = app.played(&id, &ana, ply, some_move(&present)).await;
        let history = beside.read(&format!("/v1/games/{id}/moves"), &ana).await;
        assert_eq!(history["items"].as_array().map(Vec::len), usize::try_from(ply).ok(), "{history}");
        let own = beside.read("/v1/games?player=me", &ana).await;
        assert_eq!(own["items"][0]["ply"], ply, "{own}");
    }
    let public = beside.read("/v1/games?status=active", &ana).await;
    assert_eq!(public["items"][0]["id"], id.as_str(), "{public}");
    let named = app.patch("/v1/me", Some(&ana), &json!({"name": "Anna"})).await;
    assert_eq!(named.status, 200, "{named:?}");
    let profile = beside.read(&format!("/v1/players/{}", ana.id), &ana).await;
    assert_eq!(profile["name"], "Anna");
    assert!(beside.reads("primary") > 0 && beside.reads("standby") == answered, "{}", beside.metrics.text());
    beside.standby.execute("select pg_wal_replay_resume()").await;
    beside.until_the_standby_answers().await;
}

#[actix_web::test]
async fn a_standby_that_is_away_is_no_outage() {
    let mut beside = Beside::start("standby-away").await;
    let (id, south, _) = finished_with_rematch(&beside.app, 4).await;
    beside.until_the_standby_answers().await;
    beside.standby.kill();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(3) {
        for path in ["/v1/games?player=me".to_owned(), format!("/v1/games/{id}/moves"), "/v1/games/export".to_owned()] {
            beside.read(&path, &south).await;
        }
    }
    assert!(beside.reads("primary") > 0);
}

#[actix_web::test]
async fn a_standby_that_freezes_keeps_no_client_waiting() {
    let beside = Beside::start("standby-frozen").await;
    let ana = beside.app.guest("Ana").await;
    beside.until_the_standby_answers().await;
    // Connections that compare positions go on: only reads are frozen.
    let frozen = beside.standby.freeze_readers().await;
    assert!(frozen > 0);
    let before = beside.reads("primary");
    for _ in 0..3 {
        let begun = Instant::now();
        beside.read("/v1/games?player=me", &ana).await;
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    }
    assert!(beside.reads("primary") > before);
}

#[actix_web::test]
async fn of_two_standbys_behind_one_address_the_other_never_answers() {
    let (cluster, app) = primary("standby-two").await;
    let (standby, other) =
        (Standby::of(&app.options, "standby-one").await, Standby::of(&app.options, "standby-other").await);
    let detour = Detour::to(&standby.options());
    let options = detour.options(&app.options);
    let beside = Beside::with(cluster, app, standby, &options);
    let ana = beside.app.guest("Ana").await;
    beside.until_the_standby_answers().await;
    // Comparisons of positions stay with the first standby. Reads go to the other one, which is late.
    other.execute("select pg_wal_replay_pause()").await;
    detour.turn_to(&other.options());
    assert!(beside.standby.end_readers().await > 0);
    let terms = json!({"variant": "kalah", "opponent": {"type": "self"}, "visibility": "public"});
    let mut present = beside.app.created(&ana, &terms).await;
    let id = present["id"].as_str().expect("an id").to_owned();
    let begun = Instant::now();
    // Longer than the second for which a standby that failed is left alone.
    for ply in 1.. {
        present = beside.app.played(&id, &ana, ply, some_move(&present)).await;
        let own = beside.read("/v1/games?player=me", &ana).await;
        assert_eq!(own["items"][0]["ply"], ply, "{own}");
        if begun.elapsed() > Duration::from_secs(4) || present["status"] != "active" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(beside.reads("primary") > 0, "{}", beside.metrics.text());
}

#[actix_web::test]
async fn the_standby_of_a_primary_that_was_set_back_never_answers() {
    let (cluster, mut app) = primary("standby-ahead").await;
    let detour = Detour::to(&app.options);
    let direct = app.options.clone();
    app.options = detour.options(&direct);
    let ana = app.guest("Ana").await;
    let terms = json!({"variant": "kalah", "opponent": {"type": "self"}, "visibility": "public"});
    let mut present = app.created(&ana, &terms).await;
    let id = present["id"].as_str().expect("an id").to_owned();
    present = app.played(&id, &ana, 1, some_move(&present)).await;
    let backup = Standby::restored(&direct, "standby-backup").await;
    let standby = Standby::of(&direct, "standby-ahead").await;
    let options = standby.options();
    let beside = Beside::with(cluster, app, standby, &options);
    present = beside.app.played(&id, &ana, 2, some_move(&present)).await;
    beside.app.played(&id, &ana, 3, some_move(&present)).await;
    beside.until_the_standby_answers().await;
    detour.turn_to(&backup.options());
    detour.cut();
    // While its connections are opened anew, the server is out of service.
    let is_set_back = async || beside.app.get_game(&id, Some(&ana)).await.body["ply"] == 1;
    until_async("the server sees that the database was set back", is_set_back).await;
    let (answered, begun) = (beside.reads("standby"), Instant::now());
    while begun.elapsed() < Duration::from_secs(3) {
        let own = beside.read("/v1/games?player=me", &ana).await;
        assert_eq!(own["items"][0]["ply"], 1, "{own}");
        let history = beside.read(&format!("/v1/games/{id}/moves"), &ana).await;
        assert_eq!(history["items"].as_array().map(Vec::len), Some(1), "{history}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(beside.reads("standby"), answered);
}
