//! What can be played.

use serde_json::json;

use crate::app::TestApp;

#[actix_web::test]
async fn the_variants_are_listed_with_all_that_a_form_for_a_new_game_needs() {
    let app = TestApp::start().await;
    let list = app.get("/v1/variants", None).await;
    assert_eq!(list.status, 200);
    assert_eq!(list.body["next_cursor"], json!(null));
    insta::assert_json_snapshot!(list.body["items"]);
    assert_eq!(app.get("/v1/variants/kalah", None).await.body, list.body["items"][0]);
}
