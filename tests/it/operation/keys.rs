//! What a lost signing key costs.

use mancala_server::http::new_key;
use nix::sys::signal::Signal;
use serde_json::json;

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    calls::send,
};

#[actix_web::test]
async fn after_the_loss_of_the_key_refresh_tokens_still_work() {
    let app = TestApp::start().await;
    let (old_key, new_key) = (new_key(), new_key());
    let mut lost = Running::start_with(&url(&app), &old_key, &[], &[]);
    let guest = send(lost.post("/v1/players").json(&json!({"name": "Ana"}))).await;
    let (access, refresh) = (guest.string("/access_token"), guest.string("/refresh_token"));
    assert_eq!(send(lost.get("/v1/me").bearer_auth(&access)).await.status, 200);
    lost.signal(Signal::SIGTERM);
    assert_eq!(lost.ended().0, Some(0));
    let running = Running::start_with(&url(&app), &new_key, &[], &[]);
    send(running.get("/v1/me").bearer_auth(&access)).await.is_problem(401, "invalid_token");
    let body = json!({"grant_type": "refresh_token", "refresh_token": refresh});
    let renewed = send(running.post("/v1/tokens").json(&body)).await;
    assert_eq!(renewed.status, 200, "{renewed:?}");
    assert_eq!(renewed.body["player"], guest.body["player"]);
    let me = send(running.get("/v1/me").bearer_auth(renewed.string("/access_token"))).await;
    assert_eq!(me.status, 200);
}
