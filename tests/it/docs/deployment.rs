//! What `deploy/`, the examples for docker and the pages for operators name exists.

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::support::{app::TestApp, calls::send, issuer::StubIssuer};

/// Settings that `docker-compose.yml` makes itself, each with its reason.
const SET_BY_COMPOSE: [(&str, &str); 4] = [
    ("LISTEN", "the image listens on all addresses of the container; PUBLISH names the port"),
    ("DATABASE_URL", "made of POSTGRES_PASSWORD"),
    ("DATA_DIR", "the container has no PostgreSQL of its own"),
    ("JWT_PRIVATE_KEY_FILE", "the volume `key`"),
];

/// Crates whose names look like metrics.
const CRATES: [&str; 6] =
    ["mancala_server", "mancala_db", "mancala_embedded_postgres", "mancala_engine", "mancala_http", "mancala_jobs"];

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of metrics in a text.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_metric = |word: &&str| {
        let is_ours = word.starts_with("mancala_") && !CRATES.contains(word);
        is_ours || word.starts_with("process_")
    };
    words.filter(is_metric).collect()
}

/// The sections of the page about alerts.
fn sections(page: &str) -> BTreeSet<&str> {
    page.lines().filter_map(|line| line.strip_prefix("## ")).collect()
}

/// The variables of all options.
fn variables() -> Vec<String> {
    let page = read("docs/configuration.md");
    let rows = page.lines().filter(|line| line.starts_with("| `--") && line.matches(" | ").count() == 3);
    let variable = |row: &str| row.split(" | ").nth(1).map(|cell| cell.trim_matches('`').to_owned());
    rows.filter_map(variable)
        .filter(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'))
        .collect()
}

#[actix_web::test]
async fn every_metric_of_alerts_dashboard_and_pages_is_exposed() {
    let app = StubIssuer::start().app().await;
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    send(app.request(reqwest::Method::GET, "/none")).await.is_problem(404, "not_found");
    // Jobs and standbys are those of a whole deployment.
    app.metrics.upkeep().job("purge");
    app.metrics.upkeep().set_ready("all", true);
    app.metrics.watched().set_missing_rights(&["select on game".to_owned()]);
    app.metrics.upkeep().set_standbys(Some(vec![("b".to_owned(), 0.0)]));
    let text = app.metrics.text();
    let exposed: BTreeSet<&str> = text.lines().filter_map(|line| line.split(['{', ' ']).next()).collect();
    let described: BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    for path in [
        "deploy/prometheus/rules.yml",
        "deploy/grafana/dashboard.json",
        "docs/operations.md",
        "docs/operations/alerts.md",
    ] {
        let file = read(path);
        let named = metrics(&file);
        assert!(named.len() > 1, "{path}: {named:?}");
        let unknown: Vec<_> =
            named.iter().filter(|name| !exposed.contains(*name) && !described.contains(*name)).collect();
        assert!(unknown.is_empty(), "{path} names {unknown:?}, which are not in\n{text}");
    }
    // The resources of the table exist as well.
    let page = read("docs/operations/alerts.md");
    let section = page.split("\n## ").find(|section| section.starts_with("MancalaNearItsLimit")).expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| `") && line.matches(" | ").count() == 2);
    let resources: Vec<&str> =
        rows.flat_map(|row| row.split(" | ").next().unwrap_or_default().split('`').skip(1).step_by(2)).collect();
    assert!(resources.len() > 5, "{resources:?}");
    for resource in resources.iter().filter(|name| !["resource", "access_log_queue"].contains(name)) {
        assert!(
            text.contains(&format!("mancala_resource_max{{resource=\"{resource}\"}}")),
            "{resource} is not in\n{text}"
        );
    }
}

/// A counter that an alert asks for, and the values of labels that it names.
fn counters(rules: &str) -> BTreeSet<(&str, Vec<&str>)> {
    let mut found = BTreeSet::new();
    for (at, _) in rules.match_indices("_total") {
        let name = rules[..at].rsplit(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next();
        let (name, rest) = (name.unwrap_or_default(), &rules[at + "_total".len()..]);
        let labels = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map_or("", |(labels, _)| labels);
        let is_named = |label: &&str| label.contains("=\"");
        found.insert((name, labels.split(',').filter(is_named).filter(|label| !label.contains("!=")).collect()));
    }
    found
}

#[actix_web::test]
async fn every_counter_that_alerts_ask_for_is_there_from_the_start() {
    // A counter that begins with its first increment has not increased for Prometheus.
    let app = StubIssuer::start().app().await;
    let (rules, text) = (read("deploy/prometheus/rules.yml"), app.metrics.text());
    let asked = counters(&rules);
    assert!(asked.len() > 10, "{asked:?}");
    let is_there = |name: &str, labels: &[&str]| {
        let is_sample = |line: &&str| {
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with("_total{") || rest.starts_with("_total "))
        };
        text.lines().filter(is_sample).any(|line| labels.iter().all(|label| line.contains(label)))
    };
    let absent: Vec<_> = asked.iter().filter(|(name, labels)| !is_there(name, labels)).collect();
    // All requests are only what others are compared with: their routes are those that clients ask for.
    assert_eq!(absent, [&("mancala_http_requests", vec![])], "{text}");
}

#[test]
fn every_alert_has_its_section_and_every_section_its_alert() {
    let (rules, page) = (read("deploy/prometheus/rules.yml"), read("docs/operations/alerts.md"));
    let alerts: BTreeSet<&str> = rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")).collect();
    assert!(alerts.len() > 10);
    assert_eq!(alerts, sections(&page));
    for alert in alerts {
        let anchor = format!("runbook: docs/operations/alerts.md#{}", alert.to_lowercase());
        assert!(rules.lines().any(|line| line.trim() == anchor), "{anchor}");
    }
}

#[test]
fn every_option_reaches_the_container() {
    let (compose, example) = (read("docker-compose.yml"), read(".env.example"));
    let variables = variables();
    assert!(variables.len() > 25, "{variables:?}");
    for name in
        variables.iter().map(String::as_str).chain(["RUST_LOG", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SERVICE_NAME"])
    {
        if SET_BY_COMPOSE.iter().any(|(own, _)| *own == name) {
            continue;
        }
        let passed = format!("      {name}: ${{{name}:-}}");
        assert!(compose.lines().any(|line| line == passed), "docker-compose.yml lacks {passed}");
        let is_named =
            |line: &str| line.trim_start_matches('#').strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        assert!(example.lines().any(is_named), ".env.example lacks {name}");
    }
}

#[test]
fn every_option_of_the_systemd_unit_exists() {
    let variables = variables();
    let example = read("deploy/systemd/mancala-server.env");
    let settings = example.lines().map(|line| line.trim_start_matches('#')).filter_map(|line| line.split_once('='));
    let names: Vec<&str> = settings.map(|(name, _)| name).filter(|name| !name.contains(' ')).collect();
    assert!(names.len() > 5, "{names:?}");
    let unknown: Vec<_> = names.iter().filter(|name| variables.iter().all(|known| known != *name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The blocks of a page in this language.
fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let begin = format!("```{language}\n");
    page.split(&begin).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

#[actix_web::test]
async fn the_statements_about_a_game_find_it() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    let page = read("docs/operations/games.md");
    let statements = blocks(&page, "sql");
    assert!(statements.len() > 2, "{statements:?}");
    for statement in statements {
        let statement = statement.replace(":'game'", &format!("'{id}'"));
        let rows = sqlx::raw_sql(AssertSqlSafe(statement.clone())).fetch_all(&app.db).await;
        assert!(!rows.expect("the page is right").is_empty(), "{statement}");
    }
}

#[test]
fn the_dashboard_is_json_with_an_expression_in_each_panel() {
    let dashboard: Value = serde_json::from_str(&read("deploy/grafana/dashboard.json")).expect("it is JSON");
    let panels = dashboard["panels"].as_array().expect("panels");
    assert!(panels.len() > 10);
    for panel in panels.iter().filter(|panel| panel["type"] != "row") {
        let targets = panel["targets"].as_array().expect("targets");
        let is_asked = targets.iter().all(|target| target["expr"].as_str().is_some_and(|expr| !expr.is_empty()));
        assert!(!targets.is_empty() && is_asked, "{panel}");
    }
}
