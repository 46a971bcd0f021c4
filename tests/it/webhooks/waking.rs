//! How soon the job of webhooks learns of what was appended.

use std::time::Duration;

use actix_web::rt::time::timeout;
use serde_json::json;

use crate::{
    games::practice::{begun, offer_under},
    support::{
        app::TestApp,
        endpoint::Endpoint,
        webhooks::{created_for, deliver},
    },
};

#[actix_web::test]
async fn a_webhook_hears_an_accepted_takeback_as_soon_as_a_move() {
    let (app, endpoint) = (TestApp::start().await, Endpoint::start().await);
    let ana = app.guest("Ana").await;
    created_for(&app, &ana, &endpoint, &json!(["game.move"])).await;
    let id = begun(&app, &ana, "south").await;
    let appended = app.writers.webhook_events();
    let is_woken = async |what| {
        let woken = timeout(Duration::from_secs(2), appended.notified()).await;
        assert!(woken.is_ok(), "{what} does not wake the job");
    };
    app.played(&id, &ana, 1, "A").await;
    is_woken("a move").await;
    // The computer agrees at once. The key is stored in the same transaction, beside the writers.
    assert_eq!(offer_under(&app, &id, &ana, "takeback", "one").await.status, 201);
    is_woken("a takeback").await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"; 2]);
}
