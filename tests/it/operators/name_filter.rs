//! The list of words that no name may have: where it counts, and how operators change it.

use serde_json::{Value, json};

use super::operator;
use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{File, server, url},
    calls::Guest,
    clock::{until_async, until_seen},
};

const PASSWORD: &str = "correct horse";

/// Exit status, standard output and standard error of a command on the test's database.
fn run(app: &TestApp, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = server(arguments).env("DATABASE_URL", url(app)).output().expect("the binary runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn load(app: &TestApp, list: &str) {
    let file = File::new(list);
    let (status, _, errors) = run(app, &["names", "load", file.name()]);
    assert_eq!(status, Some(0), "{errors}");
}

async fn guest_named(app: &TestApp, name: &str) -> Answer {
    app.post("/v1/players", None, &json!({ "name": name })).await
}

/// Waits until the server has read a list that refuses a name, or no longer refuses it.
async fn until(app: &TestApp, name: &str, status: u16) -> Answer {
    until_seen("the list is read", async || guest_named(app, name).await, |answer: &Answer| answer.status == status)
        .await
}

fn is_refused(answer: &Answer, pointer: &str) {
    answer.is_problem(422, "validation_failed");
    assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{answer:?}");
    // The answer does not name the word.
    assert!(!answer.text.contains("fool"), "{answer:?}");
}

#[actix_web::test]
async fn every_place_where_a_name_is_chosen_refuses_a_word_of_the_list() {
    let app = TestApp::start().await;
    let (kim, ana) = (operator(&app, "kim").await, app.guest("Ana").await);
    let earlier = app.guest("An old f00l").await;
    let shop = app.new_app("shop").await;
    load(&app, "# of this server\n*fool*\n!foolscap\n");
    is_refused(&until(&app, "Foolish Bo", 422).await, "/name");
    let account = json!({"name": "April F00l", "password": PASSWORD});
    is_refused(&app.post("/v1/players", None, &account).await, "/name");
    is_refused(&app.patch("/v1/me", Some(&ana), &json!({"name": "f.o.o.l"})).await, "/name");
    let hotseat = json!({"variant": "kalah", "opponent": {"type": "self", "name": "FOOL"}});
    is_refused(&app.create_game(&ana, &hotseat).await, "/opponent/name");
    is_refused(&app.write_app_player(&shop, "u1", "F\u{43e}\u{43e}l").await, "/name");
    let rename = json!({"type": "rename", "name": "Fool", "reason": "x"});
    is_refused(&super::act(&app, &kim, &ana.id, &rename).await, "/name");
    assert_eq!(guest_named(&app, "Foolscap").await.status, 201);
    // A name that was there before stays, but no account is made of it.
    assert_eq!(app.patch("/v1/me", Some(&earlier), &json!({"name": "An old f00l"})).await.status, 200);
    is_refused(&app.patch("/v1/me", Some(&earlier), &json!({"password": PASSWORD})).await, "/name");
    let (status, found, _) = run(&app, &["names", "matches"]);
    assert!(status == Some(0) && found.starts_with(&format!("{}  An old f00l  *fool*\n", earlier.id)), "{found}");
    // Guests of the moments before the server had read it.
    assert!(found.lines().skip(1).all(|line| line.ends_with("Foolish Bo  *fool*")), "{found}");
    // The other server of the database reads it as well, and both read that it is gone.
    let (address, _) = app.second_server();
    let there = |name: &str| {
        let body = json!({ "name": name });
        reqwest::Client::new().post(format!("http://{address}/v1/players")).json(&body).send()
    };
    let is_read = async || there("Fool").await.expect("an answer").status() == 422;
    until_async("the other server reads it", is_read).await;
    load(&app, "");
    until(&app, "Foolish Bo", 201).await;
}

#[actix_web::test]
async fn a_list_that_cannot_be_read_changes_nothing() {
    let app = TestApp::start().await;
    load(&app, "damn\n");
    for (list, line) in
        [("damn\n*x*\n", "line 2"), ("two words", "line 1"), (&format!("x{}", "я\n".repeat(30_000)), "65536 bytes")]
    {
        let file = File::new(list);
        let (status, _, errors) = run(&app, &["names", "load", file.name()]);
        assert!(status == Some(1) && errors.contains(line) && errors.contains(file.name()), "{errors}");
    }
    assert_eq!(run(&app, &["names", "load", "/no/such/file"]).0, Some(1));
    assert_eq!(run(&app, &["names", "show"]), (Some(0), "damn\n".to_owned(), String::new()));
    let (status, _, errors) = run(&app, &["names", "check", "D4mn it"]);
    assert!(status == Some(3) && errors.contains("`damn`"), "{errors}");
    assert_eq!(run(&app, &["names", "check", "Adamn"]).0, Some(0));
    let newer = "update name_filter set list = '~like~'";
    sqlx::query(newer).execute(&app.db).await.expect("a list");
    assert_eq!(run(&app, &["names", "check", "damn"]).0, Some(1));
}

#[actix_web::test]
async fn the_log_has_every_change_of_the_list_and_of_keys() {
    let app = TestApp::start().await;
    for arguments in [["create", "kim"], ["rotate", "kim"], ["disable", "kim"], ["create", "kim"], ["disable", "lee"]] {
        let _ = run(&app, &["operators", arguments[0], arguments[1]]);
    }
    load(&app, "damn\n*fool*");
    load(&app, "");
    let lee = run(&app, &["operators", "create", "lee"]).1;
    let caller = Guest { id: String::new(), token: lee.trim().to_owned() };
    let acts = app.get("/v1/operator/acts", Some(&caller)).await.body;
    let told: Vec<(&Value, &Value)> =
        acts["items"].as_array().expect("acts").iter().map(|act| (&act["type"], &act["after"])).collect();
    let key = |name: &str| json!({ "operator": name });
    assert_eq!(
        told,
        [
            (&json!("create_operator"), &key("lee")),
            (&json!("change_name_filter"), &json!({"revision": 2, "entries": 0})),
            (&json!("change_name_filter"), &json!({"revision": 1, "entries": 2})),
            (&json!("disable_operator"), &key("kim")),
            (&json!("rotate_operator"), &key("kim")),
            (&json!("create_operator"), &key("kim")),
        ]
    );
    assert!(acts["items"].as_array().expect("acts").iter().all(|act| act["operator"] == "(command line)"));
    assert!(!acts.to_string().contains("damn") && !acts.to_string().contains("mop_"));
}
