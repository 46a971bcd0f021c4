//! Finding people: by the beginning of a name, among recent opponents, and by the whole name for an invitation.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    operators::{act, operator, suspend},
    support::{
        answer::Answer,
        app::TestApp,
        calls::{Guest, send, signed},
        database::count_rows,
    },
};

const PASSWORD: &str = "correct horse";

/// An account that wants to be found.
async fn findable(app: &TestApp, name: &str) -> Guest {
    let account = app.account(name, PASSWORD).await;
    let changed = app.patch("/v1/me", Some(&account), &json!({"is_findable": true})).await;
    assert_eq!((changed.status.as_u16(), &changed.body["is_findable"]), (200, &json!(true)), "{changed:?}");
    account
}

async fn search(app: &TestApp, prefix: &str, guest: &Guest) -> Answer {
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("name_prefix", prefix).finish();
    app.get(&format!("/v1/players?{query}"), Some(guest)).await
}

/// The names that are found.
async fn found(app: &TestApp, prefix: &str, guest: &Guest) -> Vec<String> {
    let answer = search(app, prefix, guest).await;
    let items = answer.body["items"].as_array().unwrap_or_else(|| panic!("no list: {answer:?}"));
    items.iter().map(|item| item["name"].as_str().expect("a name").to_owned()).collect()
}

async fn block(app: &TestApp, guest: &Guest, player: &Guest) {
    let request = app.request(Method::PUT, &format!("/v1/me/blocks/{}", player.id));
    assert_eq!(send(signed(request, Some(guest))).await.status, 204);
}

#[actix_web::test]
async fn accounts_that_want_it_are_found_by_the_beginning_of_their_names() {
    let app = TestApp::start().await;
    let eve = app.guest("Annette").await;
    for name in ["Anna", "ÁNNIKA", "Ann Lee", "Bo", "anton"] {
        findable(&app, name).await;
    }
    app.account("Annemarie", PASSWORD).await;
    let answer = search(&app, "anton", &eve).await;
    assert_eq!(answer.body["items"].as_array().expect("a list").len(), 1);
    assert_eq!(
        (&answer.body["items"][0]["name"], &answer.body["items"][0]["kind"]),
        (&json!("anton"), &json!("account"))
    );
    for (prefix, names) in [
        ("an", vec!["Ann Lee", "Anna", "anton"]),
        ("ANN", vec!["Ann Lee", "Anna"]),
        ("Ann L", vec!["Ann Lee"]),
        ("Anna", vec!["Anna"]),
        ("Annab", vec![]),
        // An accent counts, however it is written.
        ("án", vec!["ÁNNIKA"]),
        ("a\u{301}n", vec!["ÁNNIKA"]),
        // No pattern.
        ("a%", vec![]),
        ("a_", vec![]),
        ("bo", vec!["Bo"]),
    ] {
        assert_eq!(found(&app, prefix, &eve).await, names, "{prefix}");
    }
}

#[actix_web::test]
async fn a_search_needs_a_caller_and_two_characters() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    app.get("/v1/players?name_prefix=an", None).await.is_problem(401, "unauthenticated");
    app.get("/v1/me/opponents", None).await.is_problem(401, "unauthenticated");
    for prefix in ["", "a", " ", "a ", &"a".repeat(33), &"a".repeat(4000)] {
        search(&app, prefix, &ana).await.is_problem(422, "validation_failed");
    }
    for query in ["", "?name=ana", "?name_prefix=ana&limit=100"] {
        app.get(&format!("/v1/players{query}"), Some(&ana)).await.is_problem(422, "validation_failed");
    }
    app.get("/v1/me/opponents?limit=100", Some(&ana)).await.is_problem(422, "validation_failed");
    for stranger in [app.stranger()] {
        search(&app, "ana", &stranger).await.is_problem(401, "invalid_token");
        app.get("/v1/me/opponents", Some(&stranger)).await.is_problem(401, "invalid_token");
    }
}

#[actix_web::test]
async fn an_account_is_found_only_while_it_wants_to_be() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.account("Ana", PASSWORD).await, app.guest("Eve").await);
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["is_findable"], false);
    assert_eq!(found(&app, "ana", &eve).await, [] as [&str; 0]);
    let set = async |body: Value| app.patch("/v1/me", Some(&ana), &body).await;
    assert_eq!(set(json!({"is_findable": true})).await.body["is_findable"], true);
    assert_eq!(app.get("/v1/me", Some(&ana)).await.body["is_findable"], true);
    assert_eq!(app.get("/v1/me/export", Some(&ana)).await.body["player"]["is_findable"], true);
    assert_eq!(found(&app, "ana", &eve).await, ["Ana"]);
    // A new name is found, the former one no more; the public profile does not tell.
    assert_eq!(set(json!({"name": "Bea"})).await.body["is_findable"], true);
    assert_eq!((found(&app, "ana", &eve).await, found(&app, "bea", &eve).await), (vec![], vec!["Bea".to_owned()]));
    assert_eq!(app.get(&format!("/v1/players/{}", ana.id), Some(&eve)).await.body.get("is_findable"), None);
    assert_eq!(found(&app, "bea", &ana).await, [] as [&str; 0]);
    assert_eq!(set(json!({"is_findable": false})).await.body["is_findable"], false);
    assert_eq!(found(&app, "bea", &eve).await, [] as [&str; 0]);
    set(json!({"is_findable": true})).await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(found(&app, "bea", &eve).await, [] as [&str; 0]);
    assert_eq!(count_rows(&app, "account").await, 0);
}

#[actix_web::test]
async fn a_guest_is_not_found_until_it_is_an_account() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    app.patch("/v1/me", Some(&ana), &json!({"is_findable": true})).await.is_problem(422, "validation_failed");
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"is_findable": false})).await.status, 200);
    let account = json!({"password": PASSWORD, "is_findable": true});
    assert_eq!(app.patch("/v1/me", Some(&ana), &account).await.body["is_findable"], true);
    assert_eq!(found(&app, "an", &eve).await, ["Ana"]);
}

#[actix_web::test]
async fn players_with_a_block_do_not_find_each_other() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (findable(&app, "Anna").await, findable(&app, "Annbo").await, app.guest("Eve").await);
    block(&app, &ana, &bo).await;
    assert_eq!((found(&app, "ann", &ana).await, found(&app, "ann", &bo).await), (vec![], vec![]));
    assert_eq!(found(&app, "ann", &eve).await, ["Anna", "Annbo"]);
}

#[actix_web::test]
async fn a_banned_account_is_not_found_and_a_suspended_one_is() {
    let app = TestApp::start().await;
    let (kim, ana, eve) = (operator(&app, "kim").await, findable(&app, "Anna").await, app.guest("Eve").await);
    suspend(&app, &kim, &ana, "suspend").await;
    assert_eq!(found(&app, "ann", &eve).await, ["Anna"]);
    suspend(&app, &kim, &ana, "ban").await;
    assert_eq!(found(&app, "ann", &eve).await, [] as [&str; 0]);
    act(&app, &kim, &ana.id, &json!({"type": "lift", "reason": "x"})).await;
    assert_eq!(found(&app, "ann", &eve).await, ["Anna"]);
}

#[actix_web::test]
async fn a_search_finds_at_most_twenty_in_the_order_of_names() {
    let app = TestApp::start().await;
    let sql = "with made as (
            insert into player (id, kind, name, created_at) select gen_random_uuid(), 'account', 'Ann' || chr(96 + n), now()
            from generate_series(1, 25) n returning id, name
        ) insert into account (player_id, name_key, password_hash, is_findable) select id, lower(name), 'x', true from made";
    sqlx::query(sql).execute(&app.db).await.expect("accounts come");
    let eve = app.guest("Eve").await;
    let names = found(&app, "ann", &eve).await;
    assert_eq!((names.len(), names[0].as_str(), names[19].as_str()), (20, "Anna", "Annt"));
    assert_eq!(found(&app, "anny", &eve).await, ["Anny"]);
}

/// The ids of the opponents, and their games.
async fn opponents(app: &TestApp, guest: &Guest) -> Vec<(String, String)> {
    let answer = app.get("/v1/me/opponents", Some(guest)).await;
    let items = answer.body["items"].as_array().unwrap_or_else(|| panic!("no list: {answer:?}"));
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    items.iter().map(|item| (text(&item["player"]["id"]), text(&item["game_id"]))).collect()
}

#[actix_web::test]
async fn recent_opponents_are_people_each_once_the_newest_first() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.account("Bo", PASSWORD).await, app.guest("Cy").await);
    let (di, gone, ed) = (app.guest("Di").await, app.guest("Gone").await, app.guest("Ed").await);
    assert_eq!(opponents(&app, &ana).await, []);
    let terms = json!({});
    let first = app.started_between(&ana, &bo, &terms).await;
    app.started_between(&gone, &ana, &terms).await;
    let with_cy = app.started_between(&cy, &ana, &terms).await;
    app.started_between(&di, &ana, &terms).await;
    for opponent in [json!({"type": "self"}), json!({"type": "computer", "level": 1})] {
        app.created(&ana, &json!({"variant": "kalah", "opponent": opponent})).await;
    }
    // Ana has only invited Ed, and the second game is between others.
    app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ed.id}})).await;
    app.started_between(&ed, &bo, &terms).await;
    app.delete_me(&gone).await;
    block(&app, &di, &ana).await;
    let cy_first = vec![(cy.id.clone(), with_cy), (bo.id.clone(), first)];
    assert_eq!(opponents(&app, &ana).await, cy_first);
    // A finished game counts as an active one.
    let last = app.started_between(&bo, &ana, &terms).await;
    assert_eq!(app.resign_game(&last, &ana).await.status, 200);
    assert_eq!(opponents(&app, &ana).await, [(bo.id.clone(), last), cy_first[0].clone()]);
    assert_eq!(opponents(&app, &bo).await.len(), 2);
    let of_bo: BTreeSet<_> = opponents(&app, &bo).await.into_iter().map(|(player, _)| player).collect();
    assert_eq!(of_bo, BTreeSet::from([ana.id, ed.id]));
}

#[actix_web::test]
async fn an_account_is_invited_by_its_name() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.account("Bo Lee", PASSWORD).await);
    let invite = async |caller: &Guest, opponent: Value| {
        let body = json!({"variant": "kalah", "opponent": opponent});
        app.create_game(caller, &body).await
    };
    let named = |name: &str| json!({"type": "player", "name": name});
    // The caller writes the name as the account signs in, whether the account wants to be found or not.
    let made = invite(&ana, named("bo  LEE")).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(app.list_invitations("", &bo).await.ids(), [made.string("/id")]);
    assert_eq!(app.join_game(&made.string("/id"), &bo).await.status, 200);
    app.guest("Cy").await;
    for name in ["Bo", "Cy", "Eve", "", "Computer", &"a".repeat(500)] {
        let refused = invite(&ana, named(name)).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/opponent/name", "{name}: {refused:?}");
    }
    invite(&ana, named("Ana")).await.is_problem(422, "validation_failed");
    for opponent in [json!({"type": "player"}), json!({"type": "player", "name": "Bo Lee", "player_id": bo.id})] {
        invite(&ana, opponent).await.is_problem(422, "validation_failed");
    }
    // With another fault the name is not looked up, so nothing tells whether there is an account.
    for name in ["Bo Lee", "Zed"] {
        let body = json!({"variant": "chess", "opponent": named(name)});
        let refused = app.create_game(&ana, &body).await;
        let errors = refused.body["errors"].as_array().expect("faults");
        assert_eq!((errors.len(), &errors[0]["pointer"]), (1, &json!("/variant")), "{refused:?}");
    }
    // A block is answered like a name that no account has.
    block(&app, &bo, &ana).await;
    for (caller, name) in [(&ana, "Bo Lee"), (&bo, "Ana")] {
        let refused = invite(caller, named(name)).await;
        assert_eq!(refused.body["errors"], invite(caller, named("Zed")).await.body["errors"]);
    }
}

#[actix_web::test]
async fn an_invitation_by_name_is_made_once_under_its_key() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.account("Bo", PASSWORD).await);
    let body = json!({"variant": "kalah", "opponent": {"type": "player", "name": "Bo"}});
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        let request = app.request(Method::POST, "/v1/games").header("Idempotency-Key", "one").json(&body);
        let made = send(signed(request, Some(&ana))).await;
        assert_eq!(made.status, 201, "{made:?}");
        ids.insert(made.string("/id"));
    }
    assert_eq!((ids.len(), app.list_invitations("", &bo).await.ids().len()), (1, 1));
}
