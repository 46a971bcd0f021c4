//! A suspended player who erases itself and comes back as the same person is suspended as before.

use mancala_server::{db::players::kept_suspensions, domain::PlayerId};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{act, operator, suspend};
use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::Guest,
    clock::now,
    database::count_rows,
    issuer::{StubIssuer, player_of},
};

async fn is_suspended(app: &TestApp, player: &Guest) -> bool {
    let created = app.create_game(player, &json!({"variant": "kalah"})).await;
    let suspension = app.get("/v1/me", Some(player)).await.body["suspension"].clone();
    let is_suspended = created.status != 201;
    assert_eq!(suspension != Value::Null, is_suspended);
    if is_suspended {
        created.is_problem(403, "player_suspended");
    }
    is_suspended
}

fn returned(answer: &Answer) -> Guest {
    assert_eq!(answer.status, 201, "it is a new player: {answer:?}");
    player_of(answer)
}

#[actix_web::test]
async fn a_ban_outlives_the_erasure_of_a_player_with_an_identity() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let kim = operator(&app, "kim").await;
    let ana = returned(&app.sign_in_by(&issuer, "ana").await);
    for kind in ["ban", "suspend"] {
        suspend(&app, &kim, &ana, kind).await;
    }
    let until = app.get("/v1/me", Some(&ana)).await.body["suspension"]["until"].clone();
    assert!(until.is_string());
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!((count_rows(&app, "player_suspension").await, count_rows(&app, "kept_suspension").await), (0, 1));
    // Another person is another player.
    assert!(!is_suspended(&app, &returned(&app.sign_in_by(&issuer, "bo").await)).await);
    let again = returned(&app.sign_in_by(&issuer, "ana").await);
    assert!(again.id != ana.id && is_suspended(&app, &again).await);
    let suspension = app.get("/v1/me", Some(&again)).await.body["suspension"].clone();
    assert_eq!(suspension["until"], until);
    assert_ne!(suspension["reason"], "spam", "the reason was erased");
    // Once more, and lifted: then the person is free.
    assert_eq!(app.delete_me(&again).await.status, 204);
    let again = returned(&app.sign_in_by(&issuer, "ana").await);
    assert!(is_suspended(&app, &again).await);
    assert_eq!(act(&app, &kim, &again.id, &json!({"type": "lift", "reason": "x"})).await.status, 201);
    assert!(!is_suspended(&app, &again).await);
    assert_eq!(app.delete_me(&again).await.status, 204);
    assert!(!is_suspended(&app, &returned(&app.sign_in_by(&issuer, "ana").await)).await);
}

#[actix_web::test]
async fn a_suspended_player_does_not_leave_its_identity_behind() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let kim = operator(&app, "kim").await;
    let ana = app.account("Ana", "correct horse").await;
    assert_eq!(app.link(&issuer, "ana", &ana).await.status, 201);
    suspend(&app, &kim, &ana, "ban").await;
    app.unlink("stub", &ana).await.is_problem(403, "player_suspended");
    let body = json!({"password": "battery staple", "unlink_identities": true});
    app.patch("/v1/me", Some(&ana), &body).await.is_problem(403, "player_suspended");
    assert_eq!(app.delete_me(&ana).await.status, 204);
    // The identity suspends also the player that it is linked to.
    let bo = app.account("Bo", "correct horse").await;
    assert_eq!(app.link(&issuer, "ana", &bo).await.status, 201);
    assert!(is_suspended(&app, &bo).await);
}

#[actix_web::test]
async fn a_ban_outlives_the_erasure_of_a_player_of_an_app() {
    let app = TestApp::start().await;
    let kim = operator(&app, "kim").await;
    let (service, other) = (app.new_app("Boards").await, app.new_app("Pits").await);
    let ana = app.app_player(&service, "ana", "Ana").await;
    suspend(&app, &kim, &ana, "ban").await;
    assert_eq!(app.delete_app_player(&service, "ana").await.status, 204);
    assert!(!is_suspended(&app, &app.app_player(&other, "ana", "Ana").await).await);
    assert!(!is_suspended(&app, &app.app_player(&service, "bo", "Bo").await).await);
    let again = app.app_player(&service, "ana", "Ana").await;
    assert!(again.id != ana.id && is_suspended(&app, &again).await);
}

#[actix_web::test]
async fn a_kept_suspension_ends_when_the_suspension_would_have() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let kim = operator(&app, "kim").await;
    let ana = returned(&app.sign_in_by(&issuer, "ana").await);
    suspend(&app, &kim, &ana, "suspend").await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    let past = "update kept_suspension set until = now() - interval '1 s'";
    sqlx::query(past).execute(&app.db).await.expect("it has ended");
    let again = returned(&app.sign_in_by(&issuer, "ana").await);
    assert!(!is_suspended(&app, &again).await);
    suspend(&app, &kim, &again, "suspend").await;
    assert_eq!(app.delete_me(&again).await.status, 204);
    assert_eq!(kept_suspensions::purge(&app.db, now(), 10).await.expect("a database"), 0);
    let later = now() + time::Duration::days(8);
    assert_eq!(kept_suspensions::purge(&app.db, later, 10).await.expect("a database"), 1);
    // A hash that is not known suspends no player.
    let player = PlayerId(Uuid::now_v7());
    let restored = kept_suspensions::restore(&app.db, player, &[7; 32], now()).await.expect("a database");
    assert!(restored.is_none());
}
