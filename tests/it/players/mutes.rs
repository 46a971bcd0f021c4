//! Muted players: what of theirs is silent, what is not, and what becomes of mutes with their players.

use std::collections::BTreeSet;

use mancala_server::{db::players::mutes::MUTES_MAX, domain::Level};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    endpoint::Endpoint,
    webhooks::{created, deliver},
};

const PASSWORD: &str = "correct horse";

async fn mute(app: &TestApp, muter: &Guest, player: &str) -> Answer {
    send(signed(app.request(Method::PUT, &format!("/v1/me/mutes/{player}")), Some(muter))).await
}

async fn unmute(app: &TestApp, muter: &Guest, player: &str) -> Answer {
    send(signed(app.request(Method::DELETE, &format!("/v1/me/mutes/{player}")), Some(muter))).await
}

/// All mutes, by the ids of the players.
async fn rows(app: &TestApp) -> BTreeSet<(String, String)> {
    let rows = sqlx::query_as("select muter_id::text, muted_id::text from player_mute").fetch_all(&app.db).await;
    rows.expect("mutes are read").into_iter().collect()
}

/// The other players in a list of the caller's.
async fn others(app: &TestApp, path: &str, guest: &Guest) -> Vec<String> {
    let page = app.get(path, Some(guest)).await;
    let items = page.body["items"].as_array().unwrap_or_else(|| panic!("no page: {page:?}"));
    items.iter().map(|item| item["player"]["id"].as_str().expect("an id").to_owned()).collect()
}

fn invitation(invited: &Guest) -> Value {
    json!({"variant": "kalah", "opponent": {"type": "player", "player_id": invited.id}})
}

/// The numbers on the icon of a player's app.
async fn waiting(app: &TestApp, guest: &Guest) -> (Value, Value, usize) {
    let summary = app.get("/v1/me/summary", Some(guest)).await.body;
    let named = summary["offered_in"].as_array().expect("games").len();
    (summary["invitations"].clone(), summary["offers"].clone(), named)
}

#[actix_web::test]
async fn a_webhook_is_not_told_what_a_muted_player_asks_for() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let endpoint = Endpoint::start().await;
    created(&app, &ana, &endpoint).await;
    assert_eq!(mute(&app, &ana, &bo.id).await.status, 204);
    let id = app.started_between(&ana, &bo, &json!({"clock": {"type": "per_move", "move_s": 3600}})).await;
    for kind in ["draw", "pause"] {
        assert_eq!(app.offer(&id, &bo, kind).await.status, 201);
    }
    app.answer_offer(&id, &bo, "draw", "withdraw").await;
    for _ in 0..2 {
        let invited = app.created(&bo, &invitation(&ana)).await;
        // Its end is as silent as it was.
        assert_eq!(app.abort_game(invited["id"].as_str().expect("an id"), &bo).await.status, 200);
    }
    app.created(&bo, &invitation(&ana)).await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.your_turn"]);
    // Play goes on, and answers to what the player has asked for herself are heard.
    app.played(&id, &ana, 1, "A").await;
    app.played(&id, &bo, 2, "a").await;
    app.offer(&id, &ana, "draw").await;
    app.answer_offer(&id, &bo, "draw", "decline").await;
    deliver(&app).await;
    let heard = ["game.your_turn", "game.move", "game.move", "game.your_turn", "game.offer"];
    assert_eq!(
        endpoint.kinds().iter().collect::<BTreeSet<_>>(),
        heard.iter().map(ToString::to_string).collect::<Vec<_>>().iter().collect()
    );
    assert_eq!(endpoint.kinds().len(), heard.len());
    // Others are heard, and so is the player once the mute is gone.
    app.created(&cy, &invitation(&ana)).await;
    assert_eq!(unmute(&app, &ana, &bo.id).await.status, 204);
    app.created(&bo, &invitation(&ana)).await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds()[heard.len()..], ["game.invited", "game.invited"]);
}

#[actix_web::test]
async fn what_a_muted_player_asks_for_is_not_counted_but_listed() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let mut invited = vec![];
    for other in [&bo, &cy] {
        let id = app.started_between(&ana, other, &json!({})).await;
        assert_eq!(app.offer(&id, other, "draw").await.status, 201);
        let over = app.started_between(other, &ana, &json!({})).await;
        app.resign_game(&over, other).await;
        assert_eq!(app.offer(&over, other, "rematch").await.status, 201);
        invited.insert(0, app.created(other, &invitation(&ana)).await["id"].as_str().expect("an id").to_owned());
    }
    assert_eq!(waiting(&app, &ana).await, (json!(2), json!(4), 4));
    mute(&app, &ana, &bo.id).await;
    assert_eq!(waiting(&app, &ana).await, (json!(1), json!(2), 2));
    // The invitation is there for a player that looks, and can be accepted.
    assert_eq!(app.list_invitations("", &ana).await.ids(), invited);
    assert_eq!(app.join_game(&invited[1], &ana).await.status, 200);
    // The muted player sees no difference, and its own numbers stay.
    assert_eq!(app.list_invitations("direction=sent", &bo).await.ids(), [] as [&str; 0]);
    mute(&app, &bo, &cy.id).await;
    assert_eq!(waiting(&app, &bo).await, (json!(0), json!(0), 0));
    unmute(&app, &ana, &bo.id).await;
    assert_eq!(waiting(&app, &ana).await, (json!(1), json!(4), 4));
}

#[actix_web::test]
async fn a_request_of_a_muted_player_is_as_good_as_declined() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    mute(&app, &ana, &bo.id).await;
    let ask = async |asker: &Guest, asked: &Guest| {
        app.put(&format!("/v1/me/friends/{}", asked.id), Some(asker), &json!({})).await
    };
    let (of_bo, of_cy) = (ask(&bo, &ana).await, ask(&cy, &ana).await);
    assert_eq!((of_bo.status, &of_bo.body["status"]), (of_cy.status, &of_cy.body["status"]));
    assert_eq!(others(&app, "/v1/me/friends?status=received", &ana).await, [cy.id.as_str()]);
    assert_eq!(others(&app, "/v1/me/friends?status=declined", &ana).await, [bo.id.as_str()]);
    assert_eq!(others(&app, "/v1/me/friends?status=asked", &bo).await, [ana.id.as_str()]);
    // The player may still accept.
    assert_eq!(ask(&ana, &bo).await.body["status"], "friends");
}

#[actix_web::test]
async fn mutes_are_listed_bounded_and_their_players_own() {
    let app = TestApp::start().await;
    let (ana, bo, gone) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Gone").await);
    app.delete_me(&gone).await;
    let computer = Level::try_from(3).expect("a level").player().0.to_string();
    for player in [&ana.id, &gone.id, &computer] {
        mute(&app, &ana, player).await.is_problem(403, "forbidden");
    }
    for player in ["0199aaaa-0000-7000-8000-000000000000", "me"] {
        mute(&app, &ana, player).await.is_problem(404, "not_found");
    }
    mute(&app, &gone, &ana.id).await.is_problem(401, "invalid_token");
    let mut ids = vec![];
    for _ in 0..3 {
        let player = app.guest("Cy").await;
        for _ in 0..2 {
            assert_eq!(mute(&app, &ana, &player.id).await.status, 204);
        }
        ids.insert(0, player.id);
    }
    let first = app.get("/v1/me/mutes?limit=2", Some(&ana)).await;
    let cursor = first.body["next_cursor"].as_str().expect("there is more");
    assert_eq!(others(&app, "/v1/me/mutes?limit=2", &ana).await, ids[..2]);
    assert_eq!(others(&app, &format!("/v1/me/mutes?limit=2&cursor={cursor}"), &ana).await, ids[2..]);
    app.get(&format!("/v1/me/mutes?cursor={cursor}"), Some(&bo)).await.is_problem(422, "validation_failed");
    assert_eq!(others(&app, "/v1/me/mutes", &bo).await, [] as [&str; 0]);
    assert_eq!(app.get("/v1/me/export", Some(&ana)).await.body["mutes"].as_array().map(Vec::len), Some(3));
    // Up to the bound.
    let more = "with others as (
            insert into player (id, kind, name, created_at) select gen_random_uuid(), 'guest', 'x', now() from generate_series(1, $2)
            returning id
        ) insert into player_mute select $1, id, now() from others";
    let more = sqlx::query(more)
        .bind(Uuid::try_parse(&ana.id).expect("an id"))
        .bind(i32::try_from(MUTES_MAX - 3).expect("a small number"));
    // The key of a row that is new in the same statement is checked at its end.
    more.execute(&app.db).await.expect("mutes come");
    mute(&app, &ana, &bo.id).await.is_problem(409, "too_many_mutes");
    assert_eq!(mute(&app, &ana, &ids[0]).await.status, 204);
    for _ in 0..2 {
        assert_eq!(unmute(&app, &ana, &ids[0]).await.status, 204);
    }
    assert_eq!(mute(&app, &ana, &bo.id).await.status, 204);
}

#[actix_web::test]
async fn mutes_go_with_an_erasure_and_along_with_a_merge() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Ana as a guest").await, app.account("Ana", PASSWORD).await);
    let (bo, cy) = (app.guest("Bo").await, app.guest("Cy").await);
    for (muter, player) in [(&guest, &bo), (&ana, &bo), (&cy, &guest), (&guest, &ana), (&bo, &cy)] {
        assert_eq!(mute(&app, muter, &player.id).await.status, 204);
    }
    let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    let pairs = [(&ana, &bo), (&cy, &ana), (&bo, &cy)];
    let expected = pairs.map(|(muter, player)| (muter.id.clone(), player.id.clone()));
    assert_eq!(rows(&app).await, BTreeSet::from(expected));
    mute(&app, &bo, &guest.id).await.is_problem(403, "forbidden");
    app.delete_me(&bo).await;
    assert_eq!(rows(&app).await, BTreeSet::from([(cy.id.clone(), ana.id.clone())]));
}
