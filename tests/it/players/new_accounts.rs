//! New accounts: what they share with the guests of their network, and when they no longer do.

use mancala_server::jobs::purge;
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use crate::{
    records::import::{import, whole_game},
    support::{
        app::{LOOPBACK, TestApp, never_refilled},
        calls::{Guest, send, signed},
        clock::now,
        database::count_rows,
        endpoint::Endpoint,
        games::some_move,
    },
};

const HOME: &str = "192.0.2.1";

/// Whether the export of a player shows a network.
async fn has_network(app: &TestApp, player: &Guest) -> bool {
    !app.get("/v1/me/export", Some(player)).await.body["network"].is_null()
}

/// A round of maintenance so many hours later.
async fn maintain_after(app: &TestApp, hours: i64) {
    let settings = purge::Settings { guest_retention: None };
    let later = now() + Duration::hours(hours);
    purge::run(&app.db, settings, &mut purge::Guests::default(), later).await.expect("a round");
}

/// Finishes a game of ten plies between two players.
async fn finish_between(app: &TestApp, south: &Guest, north: &Guest, plies: u32) {
    let id = app.started_between(south, north, &json!({})).await;
    let mut game = app.get_game(&id, Some(south)).await.body;
    for ply in 1..=plies {
        let player = if game["turn"] == "south" { south } else { north };
        let mv = some_move(&game).to_owned();
        game = app.played(&id, player, ply, &mv).await;
    }
    assert_eq!(app.resign_game(&id, south).await.status, 200);
}

#[actix_web::test]
async fn a_new_account_shares_what_the_guests_of_its_network_share() {
    let app = TestApp::start_with_networks().await;
    let guest = app.guest_at(HOME).await;
    let (ana, bo) = (app.account_at("Ana", HOME).await, app.account_at("Bo", HOME).await);
    let cleo = app.guest_at(HOME).await;
    let changed = app.patch("/v1/me", Some(&cleo), &json!({"name": "Cleo", "password": "correct horse"})).await;
    let cleo = Guest { token: changed.string("/tokens/access_token"), ..cleo };
    let network = |export: Value| export["network"].as_str().expect("a hash").to_owned();
    let of_guest = network(app.get("/v1/me/export", Some(&guest)).await.body);
    for account in [&ana, &bo, &cleo] {
        assert_eq!(network(app.get("/v1/me/export", Some(account)).await.body), of_guest);
    }
    // Games against the computer.
    let against = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
    for player in [&guest, &ana, &bo, &cleo] {
        app.created(player, &against).await;
    }
    for player in [&guest, &ana, &bo, &cleo] {
        app.create_game(player, &against).await.is_problem(409, "too_many_games");
    }
    app.created(&app.account_at("Dee", "192.0.2.2").await, &against).await;
    app.created(&app.established_account("Eve").await, &against).await;
    // Webhooks.
    let endpoint = Endpoint::start().await;
    let create = async |player: &Guest| app.post("/v1/webhooks", Some(player), &json!({"url": endpoint.url()})).await;
    for player in [&ana, &bo] {
        for _ in 0..10 {
            assert_eq!(create(player).await.status, 201);
        }
    }
    create(&cleo).await.is_problem(409, "too_many_webhooks");
}

#[actix_web::test]
async fn an_account_is_new_for_a_day_and_until_its_person_is_known() {
    let app = TestApp::start_with_networks().await;
    let (ana, bo, cleo) =
        (app.account_at("Ana", HOME).await, app.account_at("Bo", HOME).await, app.account_at("Cleo", HOME).await);
    let against = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
    app.created(&ana, &against).await;
    for (statement, player) in [
        (
            "insert into account_email (player_id, address, address_key, verified_at) values ($1::uuid, 'a@b.c', 'a@b.c', now())",
            &ana,
        ),
        (
            "insert into player_identity (issuer, subject_hash, player_id, created_at) values ('https://i.test', '\\x01', $1::uuid, now())",
            &bo,
        ),
        ("insert into account_email (player_id, pending, pending_since) values ($1::uuid, 'a@b.c', now())", &cleo),
    ] {
        sqlx::query(statement).bind(&player.id).execute(&app.db).await.expect("a row");
    }
    let is_new = |token: &str| app.tokens.verify(token.as_bytes(), now()).expect("a token").is_new;
    assert!(is_new(&ana.token));
    let known = async || [has_network(&app, &ana).await, has_network(&app, &bo).await, has_network(&app, &cleo).await];
    maintain_after(&app, 23).await;
    assert_eq!(known().await, [true; 3]);
    maintain_after(&app, 25).await;
    assert_eq!(known().await, [false, false, true]);
    assert_eq!(count_rows(&app, "computer_game where network is not null").await, 0);
    for (name, expected) in [("Ana", false), ("Cleo", true)] {
        assert_eq!(is_new(&app.sign_in(name, "correct horse").await.string("/access_token")), expected);
    }
    maintain_after(&app, 89 * 24).await;
    assert_eq!(known().await, [false, false, true]);
    maintain_after(&app, 91 * 24).await;
    assert_eq!(known().await, [false; 3]);
}

#[actix_web::test]
async fn five_games_with_people_of_three_other_networks_make_an_account_known() {
    let app = TestApp::start_with_networks().await;
    let ana = app.account_at("Ana", HOME).await;
    let (near, far, established) = (
        app.guest_at(HOME).await,
        [app.guest_at("192.0.2.2").await, app.account_at("Bo", "192.0.2.3").await],
        app.established_account("Cleo").await,
    );
    let is_known = async || {
        maintain_after(&app, 25).await;
        !has_network(&app, &ana).await
    };
    // Neither games with oneself, nor with players of one's network, nor short ones count.
    for _ in 0..5 {
        finish_between(&app, &ana, &near, 10).await;
    }
    finish_between(&app, &far[0], &ana, 10).await;
    finish_between(&app, &ana, &far[1], 10).await;
    finish_between(&app, &ana, &far[1], 10).await;
    finish_between(&app, &ana, &established, 9).await;
    assert!(!is_known().await);
    finish_between(&app, &established, &ana, 10).await;
    assert!(!is_known().await, "four games with people of three networks");
    finish_between(&app, &ana, &far[0], 10).await;
    assert!(is_known().await);
    assert!(has_network(&app, &far[1]).await, "it has played with one other only");
}

#[actix_web::test]
async fn what_a_new_account_takes_over_from_a_guest_counts_for_its_network() {
    let app = TestApp::start_with_networks().await;
    let endpoint = Endpoint::start().await;
    let (ana, bo) = (app.account_at("Ana", HOME).await, app.established_account("Bo").await);
    for (account, counted) in [(&ana, 1), (&bo, 0)] {
        let guest = app.guest_at("192.0.2.9").await;
        let against = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
        app.created(&guest, &against).await;
        assert_eq!(app.post("/v1/webhooks", Some(&guest), &json!({"url": endpoint.url()})).await.status, 201);
        let merged = app.post("/v1/me/merge", Some(account), &json!({"guest_token": guest.token})).await;
        assert_eq!(merged.status, 200, "{merged:?}");
        for table in ["computer_game", "webhook"] {
            let query = format!(
                "select count(*) from {table} join player on player.id = player_id and player.network = {table}.network
                where player_id = '{}'::uuid",
                account.id
            );
            let count: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&app.db).await.expect("a count");
            assert_eq!(count, counted, "{table}");
        }
    }
    assert_eq!(count_rows(&app, "webhook where network is not null").await, 1);
}

#[actix_web::test]
async fn new_accounts_of_an_address_bring_no_new_room_for_imports_and_notes() {
    let app = TestApp::start_with(|service| {
        never_refilled(service);
        service.trusted_proxies = vec![LOOPBACK];
    })
    .await;
    let long = whole_game("congkak", "rounds=multi;max_rounds=8", "Ana");
    let body = long.to_string().repeat(100_000 / long.moves().len() - 1);
    let ana = app.account("Ana", "correct horse").await;
    assert_eq!(import(&app, &ana, "", "text/plain", body).await.status, 200);
    let body = long.to_string().repeat(10_000 / long.moves().len());
    let bo = app.account("Bo", "correct horse").await;
    import(&app, &bo, "", "text/plain", body.clone()).await.is_problem(429, "rate_limited");
    let cleo = app.established_account("Cleo").await;
    assert_eq!(import(&app, &cleo, "", "text/plain", body).await.status, 200);
}

#[actix_web::test]
async fn guests_and_new_accounts_of_an_address_share_room_for_notes() {
    let app = TestApp::start_with(never_refilled).await;
    let text = "\u{10ffff}".repeat(2000);
    let write = async |player: &Guest, game: &str, ply: u32| {
        let request = app.request(Method::PUT, &format!("/v1/games/{game}/notes/{ply}"));
        send(signed(request, Some(player)).json(&json!({"text": text}))).await
    };
    let reader = app.guest("Reader").await;
    let game = app.created(&reader, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    let mut written = 0;
    let mut last = None;
    for n in 0..12 {
        let player = app.account(&format!("Writer {n}"), "correct horse").await;
        for _ in 0..250 {
            let answer = write(&player, &game, 0).await;
            if answer.status == 429 {
                last = Some(answer);
                break;
            }
            written += 1;
        }
    }
    let refused = last.expect("some were too many");
    refused.is_problem(429, "rate_limited");
    assert!(refused.string("/detail").contains("of this address"), "{refused:?}");
    assert!((1000..1400).contains(&written), "{written}");
    assert_eq!(write(&app.established_account("Ana").await, &game, 0).await.status, 201);
}
