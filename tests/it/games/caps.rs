//! What a player may ask of another one again and again: invitations within a day, and offers between two plies.

use futures_util::future::join_all;
use mancala_server::jobs::purge;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    records::archive::archive_all,
    support::{answer::Answer, app::TestApp, calls::Guest, clock::now, database::count_rows},
};

/// How many invitations a player may make another one within 24 hours.
const INVITATIONS_MAX: usize = 20;

fn invitation(invited: &Guest) -> Value {
    json!({"variant": "kalah", "opponent": {"type": "player", "player_id": invited.id}})
}

async fn invite(app: &TestApp, inviter: &Guest, invited: &Guest) -> Answer {
    app.create_game(inviter, &invitation(invited)).await
}

/// Makes an offer, which is declined or withdrawn.
async fn offer_in_vain(app: &TestApp, id: &str, (by, to): (&Guest, &Guest), kind: &str, declines: bool) -> Answer {
    let made = app.offer(id, by, kind).await;
    let (guest, word) = if declines { (to, "decline") } else { (by, "withdraw") };
    app.answer_offer(id, guest, kind, word).await;
    made
}

#[actix_web::test]
async fn a_player_invites_the_same_other_one_so_often_in_a_day() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    // Declined and withdrawn ones count, and so do those at the same moment.
    for n in 0..INVITATIONS_MAX - 5 {
        let id = invite(&app, &ana, &bo).await.string("/id");
        let (guest, word) = if n % 2 == 0 { (&bo, "decline") } else { (&ana, "abort") };
        assert_eq!(app.post(&format!("/v1/games/{id}/{word}"), Some(guest), &json!({})).await.status, 200);
    }
    let at_once = join_all((0..10).map(|_| invite(&app, &ana, &bo))).await;
    assert_eq!(at_once.iter().filter(|answer| answer.status == 201).count(), 5, "{at_once:?}");
    let refused = invite(&app, &ana, &bo).await;
    refused.is_problem(409, "too_many_invitations");
    // Clients that obey this header by themselves would wait for a day.
    assert!(!refused.headers.contains_key("retry-after"), "{refused:?}");
    let again = OffsetDateTime::parse(&refused.string("/retry_at"), &Rfc3339).expect("a moment");
    let seconds = (again - now()).whole_seconds();
    assert!((86_000..=86_401).contains(&seconds), "{seconds}");
    assert_eq!(count_rows(&app, "game").await, 20);
    // Each pair and each direction counts for itself.
    assert_eq!(invite(&app, &ana, &cy).await.status, 201);
    assert_eq!(invite(&app, &bo, &ana).await.status, 201);
    // When the first one is a day old, there is room for one.
    let age = "update invitation_count set made_at[1] = now() - interval '24 hours' where made_at[20] is not null";
    assert_eq!(sqlx::query(age).execute(&app.db).await.expect("a database").rows_affected(), 1);
    assert_eq!(invite(&app, &ana, &bo).await.status, 201);
    invite(&app, &ana, &bo).await.is_problem(409, "too_many_invitations");
}

#[actix_web::test]
async fn a_block_answers_invitations_as_before_and_counts_none() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    for n in 0..INVITATIONS_MAX {
        assert_eq!(invite(&app, &ana, &bo).await.status, 201, "{n}");
    }
    for blocked in [&bo, &cy] {
        app.put(&format!("/v1/me/blocks/{}", blocked.id), Some(&ana), &json!({})).await;
        for _ in 0..2 {
            invite(&app, &ana, blocked).await.is_problem(422, "validation_failed");
            invite(&app, blocked, &ana).await.is_problem(422, "validation_failed");
        }
    }
    assert_eq!(count_rows(&app, "invitation_count").await, 1);
}

#[actix_web::test]
async fn an_erasure_and_a_day_leave_no_count_of_invitations() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    for (inviter, invited) in [(&ana, &bo), (&bo, &ana), (&bo, &cy)] {
        assert_eq!(invite(&app, inviter, invited).await.status, 201);
    }
    app.delete_me(&ana).await;
    assert_eq!(count_rows(&app, "invitation_count").await, 1);
    // Until then, the invitations that a player has made are in its export.
    let recent = async |guest: &Guest| app.get("/v1/me/export", Some(guest)).await.body["recent_invitations"].clone();
    let exported = recent(&bo).await;
    assert_eq!((&exported[0]["player"]["id"], exported.as_array().map(Vec::len)), (&json!(cy.id), Some(1)));
    let made_at = exported[0]["made_at"].as_array().expect("moments");
    assert!(made_at.len() == 1 && made_at[0].is_string(), "{exported}");
    assert_eq!(recent(&cy).await, json!([]));
    let settings = purge::Settings { guest_retention: None };
    for (later, left) in [(time::Duration::hours(23), 1), (time::Duration::hours(25), 0)] {
        purge::run(&app.db, settings, &mut purge::Guests::default(), now() + later).await.expect("a database");
        assert_eq!(count_rows(&app, "invitation_count").await, left);
    }
}

#[actix_web::test]
async fn an_offer_is_made_three_times_between_two_plies() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"clock": {"type": "per_move", "move_s": 3600}})).await;
    for kind in ["draw", "pause"] {
        for declines in [true, false, true] {
            assert_eq!(offer_in_vain(&app, &id, (&south, &north), kind, declines).await.status, 201);
        }
        let refused = app.offer(&id, &south, kind).await;
        refused.is_problem(409, "offer_not_possible");
        assert!(refused.string("/detail").contains("3 times"), "{refused:?}");
        assert!(refused.body["game"].is_object(), "{refused:?}");
    }
    // The other player's count, and accept by offering the same.
    assert_eq!(app.offer(&id, &north, "pause").await.status, 201);
    assert_eq!(app.offer(&id, &south, "pause").await.status, 201);
    assert!(app.get_game(&id, None).await.body["clock"]["paused_at"].is_string());
    // A ply later they begin anew.
    app.played(&id, &south, 1, "A").await;
    assert_eq!(app.offer(&id, &south, "draw").await.status, 201);
}

#[actix_web::test]
async fn a_rematch_is_offered_three_times_also_from_an_archive() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    for ply in 1..=2 {
        app.played(&id, if ply == 1 { &south } else { &north }, ply, if ply == 1 { "A" } else { "a" }).await;
    }
    app.resign_game(&id, &south).await;
    for _ in 0..2 {
        assert_eq!(offer_in_vain(&app, &id, (&south, &north), "rematch", true).await.status, 201);
    }
    // The log so far rests in one row.
    assert_eq!(archive_all(&app).await.games, 1);
    assert_eq!(offer_in_vain(&app, &id, (&south, &north), "rematch", true).await.status, 201);
    app.offer(&id, &south, "rematch").await.is_problem(409, "offer_not_possible");
    assert_eq!(app.offer(&id, &north, "rematch").await.status, 201);
    assert_eq!(app.offer(&id, &south, "rematch").await.status, 201);
    assert!(app.get_game(&id, None).await.body["rematch_game_id"].is_string());
}
