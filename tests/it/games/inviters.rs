//! Who may invite a player, and how often the players of one network invite the same one.

use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
};

fn of(player: &Guest) -> Value {
    json!({"variant": "kalah", "opponent": {"type": "player", "player_id": player.id}})
}

async fn invite(app: &TestApp, inviter: &Guest, invited: &Guest, address: &str) -> Answer {
    let request = app.request(reqwest::Method::POST, "/v1/games").header("x-forwarded-for", address);
    send(signed(request, Some(inviter)).json(&of(invited))).await
}

async fn befriend(app: &TestApp, one: &Guest, other: &Guest) {
    for (player, friend) in [(one, other), (other, one)] {
        let answer = app.put(&format!("/v1/me/friends/{}", friend.id), Some(player), &json!({})).await;
        assert!(answer.status.is_success(), "{answer:?}");
    }
}

/// Says who may invite a player; what is shown then.
async fn allow(app: &TestApp, player: &Guest, inviters: &str) {
    let changed = app.patch("/v1/me", Some(player), &json!({"who_may_invite": inviters})).await;
    assert_eq!((changed.status.as_u16(), &changed.body["who_may_invite"]), (200, &json!(inviters)));
    assert_eq!(app.get("/v1/me", Some(player)).await.body["who_may_invite"], inviters);
}

#[actix_web::test]
async fn a_player_says_who_may_invite_it_and_others_see_a_block() {
    let app = TestApp::start().await;
    let (victim, guest) = (app.account("Vic", "correct horse").await, app.guest("Guest").await);
    let (account, friend) = (app.account("Ann", "correct horse").await, app.guest("Friend").await);
    befriend(&app, &victim, &friend).await;
    assert_eq!(app.get("/v1/me", Some(&victim)).await.body["who_may_invite"], "everyone");
    // A block answers so.
    let blocking = app.guest("Blocking").await;
    let path = format!("/v1/me/blocks/{}", guest.id);
    assert!(send(signed(app.request(reqwest::Method::PUT, &path), Some(&blocking))).await.status.is_success());
    let blocked = app.create_game(&guest, &of(&blocking)).await;
    blocked.is_problem(422, "validation_failed");
    for (inviters, may) in [
        ("everyone", [true, true, true]),
        ("accounts", [false, true, false]),
        ("friends", [false, false, true]),
        ("none", [false; 3]),
        ("everyone", [true; 3]),
    ] {
        allow(&app, &victim, inviters).await;
        for (inviter, may) in [&guest, &account, &friend].into_iter().zip(may) {
            let answer = app.create_game(inviter, &of(&victim)).await;
            if may {
                assert_eq!(answer.status, 201, "{inviters} {answer:?}");
            } else {
                assert_eq!(answer.body["errors"], blocked.body["errors"], "{inviters}");
                let named = json!({"variant": "kalah", "opponent": {"type": "player", "name": "Vic"}});
                let by_name = app.create_game(inviter, &named).await;
                by_name.is_problem(422, "validation_failed");
                assert_eq!(by_name.body["errors"][0]["detail"], blocked.body["errors"][0]["detail"]);
            }
        }
    }
    for body in [json!({"who_may_invite": "nobody"}), json!({"who_may_invite": null})] {
        app.patch("/v1/me", Some(&victim), &body).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn the_setting_does_not_keep_a_rematch_back_and_goes_with_the_player() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    allow(&app, &south, "none").await;
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    assert!(app.offer(&id, &north, "rematch").await.status.is_success());
    assert_eq!(app.answer_offer(&id, &south, "rematch", "accept").await.status, 200);
    let exported = app.get("/v1/me/export", Some(&south)).await;
    assert_eq!(exported.body["player"]["who_may_invite"], "none");
    assert_eq!(app.delete_me(&south).await.status, 204);
    assert_eq!(crate::support::database::count_rows(&app, "invitation_policy").await, 0);
}

#[actix_web::test]
async fn the_guests_of_a_network_invite_one_player_sixty_times_a_day() {
    let app = TestApp::start_with_networks().await;
    let (victim, other) = (app.guest_at("198.51.100.1").await, app.guest_at("198.51.100.2").await);
    let guests = [app.guest_at("192.0.2.1").await, app.guest_at("192.0.2.1").await, app.guest_at("192.0.2.1").await];
    for guest in &guests {
        for _ in 0..20 {
            assert_eq!(invite(&app, guest, &victim, "192.0.2.1").await.status, 201);
        }
    }
    let late = app.guest_at("192.0.2.1").await;
    // The network from which a guest was made counts.
    for address in ["192.0.2.1", "203.0.113.9"] {
        let refused = invite(&app, &late, &victim, address).await;
        refused.is_problem(409, "too_many_invitations");
        assert!(refused.body["retry_at"].is_string());
    }
    assert_eq!(invite(&app, &late, &other, "192.0.2.1").await.status, 201);
    let elsewhere = app.guest_at("203.0.113.1").await;
    assert_eq!(invite(&app, &elsewhere, &victim, "203.0.113.1").await.status, 201);
    // Each account of the network has two left.
    let account = app.account("Ann", "correct horse").await;
    sqlx::query("update player set network = null where id = $1::uuid")
        .bind(&account.id)
        .execute(&app.db)
        .await
        .expect("it is no longer new");
    for expected in [201, 201, 409] {
        assert_eq!(invite(&app, &account, &victim, "192.0.2.1").await.status, expected);
    }
    assert_eq!(invite(&app, &account, &victim, "203.0.113.1").await.status, 201, "it is at another network now");
    let exported = app.get("/v1/me/export", Some(&late)).await;
    assert!(exported.body["recent_invitations"][0]["network"].is_string());
    // A day later there is room.
    let aged = "update invitation_count set made_at = array(select at - interval '1 day' from unnest(made_at) as at)";
    sqlx::query(aged).execute(&app.db).await.expect("they are older");
    assert_eq!(invite(&app, &late, &victim, "192.0.2.1").await.status, 201);
}

#[actix_web::test]
async fn the_players_of_an_app_are_not_counted_by_its_network() {
    let app = TestApp::start_with_networks().await;
    let service = app.new_app("Boards").await;
    let victim = app.app_player(&service, "vic", "Vic").await;
    for n in 0..4 {
        let inviter = app.app_player(&service, &format!("user-{n}"), "User").await;
        for _ in 0..20 {
            assert_eq!(invite(&app, &inviter, &victim, "192.0.2.1").await.status, 201);
        }
    }
}
