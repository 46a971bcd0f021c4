//! What imports may store and cost: quotas, the rate limit, and who may import public games.

use futures_util::future::join_all;
use mancala_server::{
    db::records::usage::ImportTotal,
    http::{ImportQuotas, Service},
};
use reqwest::Client;
use serde_json::json;

use crate::{
    records::import::{WHOLE, import, whole_game},
    support::{
        answer::Answer,
        app::{TestApp, limited},
        calls::{send, signed},
    },
};

/// Quotas of so many games and plies for guests, and ten times as many for accounts.
fn quotas(games: u32, plies: u32) -> impl FnOnce(&mut Service) {
    let guest = ImportTotal { games, plies };
    let account = ImportTotal { games: games * 10, plies: plies * 10 };
    move |service| service.settings.import_quotas = ImportQuotas { account, guest }
}

async fn count(app: &TestApp, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&app.db).await.expect("a count")
}

#[actix_web::test]
async fn an_import_over_the_quota_is_refused_whole_and_says_what_is_left() {
    let app = TestApp::start_with(quotas(3, 15)).await;
    let ana = app.guest("Ana").await;
    let first = import(&app, &ana, "", "text/plain", WHOLE.repeat(2)).await;
    assert_eq!(first.body["imported"], 2, "{first:?}");
    // The record has a game too many, with names that are new.
    let names = WHOLE.replace("Ana", "Cleo").replace("Bo", "Dan");
    let refused = import(&app, &ana, "", "text/plain", names.repeat(2)).await;
    refused.is_problem(409, "too_many_imports");
    assert!(refused.string("/detail").contains("1 games and 7 plies are left"), "{refused:?}");
    // Few games, with too many plies.
    let long = import(&app, &ana, "", "text/plain", whole_game("kalah", "", "Eve").to_string()).await;
    long.is_problem(409, "too_many_imports");
    assert_eq!(count(&app, "select count(*) from game").await, 2);
    assert_eq!(count(&app, "select count(*) from player where kind = 'imported'").await, 2);
    let usage = app.get("/v1/me/imports", Some(&ana)).await.body["usage"].clone();
    assert_eq!(usage, json!({"games": 2, "games_max": 3, "plies": 8, "plies_max": 15}));
    assert_eq!(import(&app, &ana, "", "text/plain", WHOLE).await.body["imported"], 1);
    import(&app, &ana, "", "text/plain", WHOLE).await.is_problem(409, "too_many_imports");
    // Another player has a quota of its own, and an account a larger one.
    assert_eq!(import(&app, &app.guest("Bo").await, "", "text/plain", WHOLE).await.body["imported"], 1);
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "correct horse"})).await;
    let ana = crate::support::calls::Guest { token: changed.string("/tokens/access_token"), ..ana };
    assert_eq!(import(&app, &ana, "", "text/plain", WHOLE).await.body["imported"], 1);
    let usage = app.get("/v1/me/imports", Some(&ana)).await.body["usage"].clone();
    assert_eq!(usage, json!({"games": 4, "games_max": 30, "plies": 16, "plies_max": 150}));
}

#[actix_web::test]
async fn concurrent_imports_at_many_servers_never_exceed_the_quota() {
    let app = TestApp::start_with(quotas(5, 1000)).await;
    let ana = app.guest("Ana").await;
    // Each server allows a player a single import at a time.
    let servers: Vec<_> = (0..8).map(|_| app.second_server_with(quotas(5, 1000)).0).collect();
    let imports = servers.iter().map(|address| {
        let request = Client::new().post(format!("http://{address}/v1/games/import"));
        send(signed(request, Some(&ana)).header("content-type", "text/plain").body(WHOLE))
    });
    let answers = join_all(imports).await;
    let imported = answers.iter().filter(|answer| answer.status == 200).count();
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.is_problem(409, "too_many_imports");
    }
    assert_eq!((imported, count(&app, "select count(*) from game").await), (5, 5));
    assert_eq!(app.get("/v1/me/imports", Some(&ana)).await.body["usage"]["games"], 5);
}

#[actix_web::test]
async fn an_import_costs_what_it_makes_the_server_do() {
    let app = TestApp::start_with(limited).await;
    let game = "[Variant \"kalah\"]\n1. A *\n";
    // A long game has some three hundred plies in few bytes.
    let long = whole_game("congkak", "rounds=multi;max_rounds=8", "Ana");
    let plies = long.moves().len();
    for (name, body, calls) in [
        ("few", game.to_owned(), 1),
        ("games", game.repeat(1000), 100),
        ("bytes", format!("{game}{}", "\n".repeat(4 << 20)), 128),
        ("plies", long.to_string().repeat(45_000 / plies), 45_000 / plies * plies / 500),
    ] {
        // Each by a player of its own, with a whole quota.
        let player = app.account(name, "correct horse").await;
        let answer = import(&app, &player, "", "text/plain", body).await;
        assert_eq!(answer.status, 200, "{name}: {answer:?}");
        let left = left(&answer);
        // The budget gets some calls back while the body is read.
        assert!(left <= 300 - calls.div_ceil(2) && left + calls >= 299, "{name}: {left} left of 300, for {calls}");
    }
    let many = long.to_string().repeat(125_000 / plies + 1);
    let refused = import(&app, &app.guest("many").await, "", "text/plain", many).await;
    refused.is_problem(422, "validation_failed");
    assert!(refused.string("/detail").contains("125000 plies"), "{refused:?}");
}

#[actix_web::test]
async fn new_guests_of_an_address_bring_no_new_room_for_imports() {
    let app = TestApp::start_with(limited).await;
    let long = whole_game("congkak", "rounds=multi;max_rounds=8", "Ana");
    let body = long.to_string().repeat(10_000 / long.moves().len());
    for n in 0..10 {
        let guest = app.guest(&format!("Guest {n}")).await;
        assert_eq!(import(&app, &guest, "", "text/plain", body.clone()).await.status, 200, "guest {n}");
    }
    let late = app.guest("Late").await;
    let refused = import(&app, &late, "", "text/plain", body.clone()).await;
    refused.is_problem(429, "rate_limited");
    assert!(refused.string("/detail").contains("of this address"), "{refused:?}");
    assert!(refused.headers.contains_key("retry-after"));
    assert_eq!(app.get("/v1/me/imports", Some(&late)).await.body["usage"]["games"], 0, "nothing is stored");
    let account = app.established_account("Account").await;
    assert_eq!(import(&app, &account, "", "text/plain", body).await.status, 200);
}

/// The calls that are left of a quota.
fn left(answer: &Answer) -> usize {
    let text = answer.headers["ratelimit"].to_str().expect("text");
    let rest = text.split_once(";r=").expect("what is left").1;
    rest.split(';').next().and_then(|number| number.parse().ok()).expect("a number")
}

#[actix_web::test]
async fn guests_import_no_public_games() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let refused = import(&app, &ana, "?visibility=public", "text/plain", WHOLE).await;
    refused.is_problem(403, "forbidden");
    assert!(refused.string("/detail").contains("need an account"), "{refused:?}");
    for visibility in ["private", "unlisted"] {
        let answer = import(&app, &ana, &format!("?visibility={visibility}"), "text/plain", WHOLE).await;
        assert_eq!(answer.body["imported"], 1, "{answer:?}");
    }
    let bo = app.account("Bo", "correct horse").await;
    assert_eq!(import(&app, &bo, "?visibility=public", "text/plain", WHOLE).await.body["imported"], 1);
}
