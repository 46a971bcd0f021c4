//! Two people at one device: a game against oneself with a name for the second seat.

use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest, database::count_rows};

fn between(name: &str) -> Value {
    json!({"variant": "kalah", "side": "south", "opponent": {"type": "self", "name": name}, "options": {"pie": true}})
}

async fn begun(app: &TestApp, guest: &Guest) -> String {
    app.created(guest, &between("Bo")).await["id"].as_str().expect("an id").to_owned()
}

#[actix_web::test]
async fn the_second_seat_of_a_game_against_oneself_may_have_a_name() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let game = app.created(&ana, &between("Bo")).await;
    let id = game["id"].as_str().expect("an id");
    let player = json!({"id": ana.id, "name": "Ana", "kind": "account"});
    let bo = json!({"id": ana.id, "name": "Ana", "kind": "account", "display_name": "Bo"});
    assert_eq!((&game["seats"]["south"], &game["seats"]["north"]), (&player, &bo));
    assert_eq!((&game["opponent"], &game["visibility"]), (&json!({"type": "self", "name": "Bo"}), &json!("unlisted")));
    assert_eq!((&game["status"], &game["me"]["is_my_turn"]), (&json!("active"), &json!(true)));
    // The name goes with its person through a swap, and is there after every move.
    let played = app.played(id, &ana, 1, "B").await;
    assert_eq!(played["seats"]["north"], bo);
    let swapped = app.played(id, &ana, 2, "swap").await;
    assert_eq!((&swapped["seats"]["south"], &swapped["seats"]["north"]), (&bo, &player));
    let read = app.get_game(id, None).await.body;
    assert_eq!(read["seats"], swapped["seats"]);
    let record = app.get(&format!("/v1/games/{id}/export?format=text"), None).await.text;
    assert!(record.contains("[South \"Ana\"]\n[North \"Bo\"]"), "{record}");
    let picture = app.get(&format!("/v1/games/{id}/board.svg"), None).await.text;
    assert!(picture.contains("Bo (hotseat)") && picture.contains("Ana"), "{picture}");
    let own = app.get("/v1/me/export", Some(&ana)).await.body;
    assert_eq!(own["games"][0]["game"]["opponent"]["name"], "Bo");
    // Records keep both names, also as JSON.
    let exported = app.get(&format!("/v1/games/{id}/export?format=json"), None).await.body;
    let imported = app.post("/v1/games/import", Some(&ana), &exported).await;
    let again = app.get_game(&imported.string("/items/0/game_id"), Some(&ana)).await.body;
    assert_eq!((&again["seats"]["south"]["name"], &again["seats"]["north"]["name"]), (&json!("Bo"), &json!("Ana")));
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
    // Without a name it is as before.
    let plain = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    assert_eq!((&plain["opponent"], &plain["visibility"]), (&json!({"type": "self"}), &json!("public")));
    assert_eq!(plain["seats"]["north"].get("display_name"), None);
}

#[actix_web::test]
async fn a_name_at_the_second_seat_is_checked_like_a_players() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let long = "x".repeat(33);
    for name in ["", " Bo", "B\u{200b}o", "a\nb", &long, "Computer 3", "Admin"] {
        let refused = app.create_game(&ana, &between(name)).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.string("/errors/0/pointer"), "/opponent/name", "{name}");
    }
    for opponent in [
        json!({"type": "self", "name": 1}),
        json!({"type": "self", "name": null}),
        json!({"type": "open", "name": "Bo"}),
        json!({"type": "computer", "level": 1, "name": "Bo"}),
    ] {
        let body = json!({"variant": "kalah", "opponent": opponent});
        app.create_game(&ana, &body).await.is_problem(422, "validation_failed");
    }
    assert_eq!(count_rows(&app, "game").await, 0);
}

#[actix_web::test]
async fn the_name_at_the_second_seat_is_erased_with_its_player() {
    let app = TestApp::start().await;
    let (ana, cleo) = (app.guest("Ana").await, app.guest("Cleo").await);
    let (id, kept) = (begun(&app, &ana).await, begun(&app, &cleo).await);
    app.played(&id, &ana, 1, "B").await;
    // The game is in the cache of the server.
    assert_eq!(app.get_game(&id, None).await.body["opponent"]["name"], "Bo");
    assert_eq!(app.delete_me(&ana).await.status, 204);
    let game = app.get_game(&id, None).await;
    assert!(!game.text.contains("Bo"), "{game:?}");
    assert_eq!((&game.body["opponent"], &game.body["status"]), (&json!({"type": "self"}), &json!("finished")));
    let stored: Vec<Option<String>> =
        sqlx::query_scalar("select hotseat_name from game order by id").fetch_all(&app.db).await.expect("rows");
    assert_eq!(stored, [None, Some("Bo".to_owned())]);
    assert_eq!(app.get_game(&kept, None).await.body["opponent"]["name"], "Bo");
    let logged: i64 = sqlx::query_scalar("select count(*) from event where detail::text like '%Bo%'")
        .fetch_one(&app.db)
        .await
        .expect("a count");
    assert_eq!(logged, 0, "the log has no name");
}

#[actix_web::test]
async fn a_merged_guest_takes_the_name_at_the_second_seat_along() {
    let app = TestApp::start().await;
    let (guest, account) = (app.guest("Ana").await, app.account("Dee", "correct horse").await);
    let id = begun(&app, &guest).await;
    let merged = app.post("/v1/me/merge", Some(&account), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!(app.get_game(&id, None).await.body["seats"]["north"]["display_name"], "Bo");
    assert_eq!(app.delete_me(&account).await.status, 204);
    assert_eq!(app.get_game(&id, None).await.body["opponent"], json!({"type": "self"}));
}
