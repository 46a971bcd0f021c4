//! How many open public games a guest and its network have.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest, database::count_rows};

const OPEN: &str = "a guest or a new account has at most 3 open public games";

const OPEN_OF_NETWORK: &str = "the guests and new accounts of one network have at most 20 open public games";

fn open() -> Value {
    json!({"variant": "kalah"})
}

async fn create(app: &TestApp, player: &Guest) -> String {
    app.created(player, &open()).await["id"].as_str().expect("an id").to_owned()
}

/// The detail with which a game is refused, created or sought.
async fn refused(app: &TestApp, player: &Guest) -> String {
    let created = app.create_game(player, &open()).await;
    created.is_problem(409, "too_many_open_games");
    let sought = app.post("/v1/games/seek", Some(player), &json!({"variant": "oware"})).await;
    sought.is_problem(409, "too_many_open_games");
    assert_eq!(created.string("/detail"), sought.string("/detail"));
    created.string("/detail")
}

#[actix_web::test]
async fn a_guest_has_three_open_public_games() {
    let app = TestApp::start_with_networks().await;
    let (ana, bo) = (app.guest_at("192.0.2.1").await, app.guest_at("192.0.2.2").await);
    let mut games = vec![];
    for _ in 0..3 {
        games.push(create(&app, &ana).await);
    }
    assert_eq!(refused(&app, &ana).await, OPEN);
    // Games of other kinds are not counted, and one that already waits is found.
    for body in [
        json!({"variant": "kalah", "visibility": "unlisted"}),
        json!({"variant": "kalah", "opponent": {"type": "link"}, "visibility": "public"}),
        json!({"variant": "kalah", "opponent": {"type": "player", "player_id": bo.id}}),
        json!({"variant": "kalah", "opponent": {"type": "self"}, "visibility": "public"}),
    ] {
        app.created(&ana, &body).await;
    }
    assert_eq!(app.post("/v1/games/seek", Some(&ana), &open()).await.status, 200);
    // A game that begins, is aborted or has expired makes room.
    assert_eq!(app.join_game(&games[0], &bo).await.status, 200);
    games.push(create(&app, &ana).await);
    assert_eq!(app.abort_game(&games[1], &ana).await.status, 200);
    games.push(create(&app, &ana).await);
    let expired = "update game set expires_at = now() - interval '1 minute' where id = $1::uuid";
    sqlx::query(expired).bind(&games[2]).execute(&app.db).await.expect("it expires");
    create(&app, &ana).await;
    assert_eq!(refused(&app, &ana).await, OPEN);
    let restored = "update game set expires_at = wake_at where id = $1::uuid";
    sqlx::query(restored).bind(&games[2]).execute(&app.db).await.expect("it is as its log says");
    assert_eq!(count_rows(&app, "open_game").await, 3);
}

#[actix_web::test]
async fn the_guests_of_a_network_have_twenty_open_public_games() {
    let app = TestApp::start_with_networks().await;
    let guests = join_all((0..16).map(|n| app.guest_at(["2001:db8:1:2::3", "2001:db8:1:4::5"][n % 2]))).await;
    let body = open();
    let answers =
        join_all(guests.iter().flat_map(|guest| [app.create_game(guest, &body), app.create_game(guest, &body)])).await;
    let stored = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!((stored, count_rows(&app, "game").await, count_rows(&app, "open_game").await), (20, 20, 20));
    let late = app.guest_at("2001:db8:1::9").await;
    assert_eq!(refused(&app, &late).await, OPEN_OF_NETWORK);
    create(&app, &app.guest_at("2001:db8:2::1").await).await;
    // A guest that is merged leaves its games to its network.
    let account = app.account("Dee", "correct horse").await;
    sqlx::query("update player set network = null where id = $1::uuid")
        .bind(&account.id)
        .execute(&app.db)
        .await
        .expect("it is no longer new");
    let merged = app.post("/v1/me/merge", Some(&account), &json!({"guest_token": guests[0].token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!(refused(&app, &late).await, OPEN_OF_NETWORK);
    for _ in 0..4 {
        create(&app, &account).await;
    }
    // The games of an erased player end.
    assert_eq!(app.delete_me(&guests[1]).await.status, 204);
    create(&app, &late).await;
}

#[actix_web::test]
async fn a_new_account_counts_as_a_guest_until_its_network_is_forgotten() {
    let app = TestApp::start_with_networks().await;
    let ana = app.account("Ana", "correct horse").await;
    let set = async |network: Option<&str>| {
        let text = "update player set network = $2::uuid where id = $1::uuid";
        sqlx::query(text).bind(&ana.id).bind(network).execute(&app.db).await.expect("a row");
    };
    set(Some("00000000-0000-0000-0000-000000000001")).await;
    for _ in 0..3 {
        create(&app, &ana).await;
    }
    assert_eq!(refused(&app, &ana).await, OPEN);
    set(None).await;
    assert_eq!(count_rows(&app, "open_game").await, 0);
    create(&app, &ana).await;
    // Players of an app have the app in that place.
    let service = app.new_app("Boards").await;
    let player = app.app_player(&service, "bo", "Bo").await;
    for _ in 0..4 {
        create(&app, &player).await;
    }
}

#[actix_web::test]
async fn open_games_are_not_counted_without_rate_limits() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for _ in 0..4 {
        create(&app, &ana).await;
    }
    assert_eq!(count_rows(&app, "open_game").await, 0);
}
