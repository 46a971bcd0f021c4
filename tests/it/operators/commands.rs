//! The same from the command line.

use serde_json::json;

use super::private;
use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{server, url},
    calls::Guest,
    database::count_rows,
};

/// Exit status and standard output of a command on the test's database.
fn run(app: &TestApp, arguments: &[&str]) -> (Option<i32>, String) {
    let output = server(arguments).env("DATABASE_URL", url(app)).output().expect("the binary runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn done(app: &TestApp, arguments: &[&str]) -> String {
    let (status, text) = run(app, arguments);
    assert_eq!(status, Some(0), "{arguments:?}: {text}");
    text
}

async fn reports(app: &TestApp, key: &str) -> Answer {
    let caller = Guest { id: String::new(), token: key.trim().to_owned() };
    app.get("/v1/operator/reports", Some(&caller)).await
}

#[actix_web::test]
async fn keys_are_made_listed_rotated_and_disabled() {
    let app = TestApp::start().await;
    let first = done(&app, &["operators", "create", "kim"]);
    assert!(first.starts_with("mop_") && first.trim().len() == 47, "{first}");
    assert_eq!(reports(&app, &first).await.status, 200);
    assert_eq!(run(&app, &["operators", "create", "kim"]).0, Some(1));
    assert_eq!(run(&app, &["operators", "create", "Kim Lee"]).0, Some(2));
    let second = done(&app, &["operators", "rotate", "kim"]);
    assert_eq!(reports(&app, &first).await.status, 401);
    assert_eq!(reports(&app, &second).await.status, 200);
    done(&app, &["operators", "disable", "kim"]);
    assert_eq!(reports(&app, &second).await.status, 401);
    let listed = done(&app, &["operators", "list"]);
    assert!(listed.starts_with("kim  disabled") && !listed.contains("mop_"), "{listed}");
    for command in ["rotate", "disable"] {
        assert_eq!(run(&app, &["operators", command, "lee"]).0, Some(1));
    }
}

#[actix_web::test]
async fn players_and_reports_are_handled_from_the_command_line() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"reason": "spam", "note": "again\nand again"});
    let report = app.post(&format!("/v1/players/{}/reports", bo.id), Some(&ana), &body).await.string("/id");
    let listed = done(&app, &["reports", "list"]);
    assert!(listed.contains(&report) && listed.contains("again and again"), "{listed}");
    let later = app.post(&format!("/v1/players/{}/reports", ana.id), Some(&bo), &json!({"reason": "other"})).await;
    let rest = done(&app, &["reports", "list", "--after", &report]);
    assert!(rest.starts_with(&format!("report {}", later.string("/id"))) && rest.lines().count() == 1, "{rest}");
    assert_eq!(run(&app, &["reports", "show", &report]).0, Some(1), "it names no game");
    let game = app.started_between(&ana, &bo, &private(&bo)).await;
    let body = json!({"reason": "stalling", "game_id": game});
    let of_game = app.post(&format!("/v1/players/{}/reports", bo.id), Some(&ana), &body).await.string("/id");
    let shown = done(&app, &["reports", "show", &of_game]);
    assert!(shown.contains("[South \"Ana\"]"), "{shown}");
    done(&app, &["reports", "close", &of_game, "rejected"]);
    assert_eq!(run(&app, &["reports", "show", &of_game]).0, Some(1));
    done(&app, &["reports", "close", &later.string("/id"), "rejected"]);
    done(&app, &["players", "warn", &bo.id, "Write less."]);
    done(&app, &["players", "rename", &bo.id, "Player 7", "spam"]);
    done(&app, &["players", "suspend", &bo.id, "7", "spam"]);
    done(&app, &["reports", "close", &report, "upheld"]);
    assert_eq!(run(&app, &["reports", "close", &report, "upheld"]).0, Some(1));
    assert_eq!(done(&app, &["reports", "list"]), "");
    let shown = done(&app, &["players", "show", &bo.id]);
    for text in ["Player 7", "suspended until", "upheld", "Write less.", "(command line)"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    done(&app, &["players", "ban", &bo.id, "spam"]);
    done(&app, &["players", "lift", &bo.id, "sorry"]);
    assert_eq!(run(&app, &["players", "lift", &bo.id, "sorry"]).0, Some(1));
    assert_eq!(run(&app, &["players", "warn", "0199aaaa-0000-7000-8000-000000000000", "x"]).0, Some(1));
    assert_eq!(count_rows(&app, "operator_act where operator = '(command line)'").await, 9);
}

#[actix_web::test]
async fn persons_are_erased_from_the_command_line_and_nobody_else() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.account("Bo", "correct horse").await);
    let computer: uuid::Uuid = sqlx::query_scalar("select id from player where kind = 'computer' limit 1")
        .fetch_one(&app.db)
        .await
        .expect("the computer has players");
    let (computer, unknown) = (computer.to_string(), "0199aaaa-0000-7000-8000-000000000000");
    let said = done(&app, &["players", "erase", &ana.id, &bo.id, &computer, unknown]);
    let expected = [
        (&ana.id[..], "is erased"),
        (&bo.id, "is erased"),
        (&computer, "is no person, and stays"),
        (unknown, "does not exist"),
    ];
    assert_eq!(said, expected.map(|(id, became)| format!("{id}  {became}\n")).concat());
    assert_eq!(done(&app, &["players", "erase", &ana.id]), format!("{}  was erased before\n", ana.id));
    assert_eq!(app.get(&format!("/v1/players/{}", bo.id), None).await.string("/kind"), "deleted");
    let body = json!({"grant_type": "password", "name": "Bo", "password": "correct horse"});
    app.post("/v1/tokens", None, &body).await.is_problem(401, "invalid_credentials");
    assert_eq!(run(&app, &["players", "erase"]).0, Some(2));
}
