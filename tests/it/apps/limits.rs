//! What the players of an app share, as the guests of a network do.

use mancala_server::db::players::forget_networks;
use serde_json::{Value, json};
use sqlx::query;
use time::Duration;

use crate::support::{app::TestApp, calls::Guest, clock::now, database::count_rows};

fn against_computer() -> Value {
    json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}})
}

/// Copies one game against the computer so many times, each as one of another player of the same app.
async fn copy_game(app: &TestApp, times: i32) {
    for statement in [
        "insert into game select (jsonb_populate_record(null::game, first || jsonb_build_object('id', gen_random_uuid()))).*
            from (select to_jsonb(game) as first from game limit 1) as found, generate_series(1, $1)",
        "insert into computer_game (game_id, player_id, network)
            select game.id, gen_random_uuid(), (select network from computer_game limit 1) from game
            where not exists (select from computer_game where game_id = game.id) limit $1",
    ] {
        query(statement).bind(times).execute(&app.db).await.expect("games");
    }
}

#[actix_web::test]
async fn the_players_of_an_app_share_games_against_the_computer() {
    let app = TestApp::start_with_networks().await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    let (ana, bo) = (app.app_player(&acme, "a", "Ana").await, app.app_player(&acme, "b", "Bo").await);
    let eve = app.app_player(&other, "e", "Eve").await;
    app.created(&ana, &against_computer()).await;
    // More than the guests of a network have.
    copy_game(&app, 998).await;
    app.created(&bo, &against_computer()).await;
    let refused = app.create_game(&bo, &against_computer()).await;
    refused.is_problem(409, "too_many_games");
    assert_eq!(
        refused.string("/detail"),
        "the players of one app have at most 1000 games against the computer that are not over"
    );
    app.created(&eve, &against_computer()).await;
    app.created(&app.guest_at("192.0.2.1").await, &against_computer()).await;
    // The copies have no events, which every game of a test must have.
    query("delete from game where not exists (select from event where game_id = game.id)")
        .execute(&app.db)
        .await
        .expect("they are deleted");
}

#[actix_web::test]
async fn an_app_is_the_network_of_its_players_for_good() {
    let app = TestApp::start_with_networks().await;
    let acme = app.new_app("acme").await;
    let ana = app.app_player(&acme, "a", "Ana").await;
    app.created(&ana, &against_computer()).await;
    let guest: Guest = app.guest_at("192.0.2.1").await;
    let export = async |player: &Guest| app.get("/v1/me/export", Some(player)).await.body["network"].clone();
    assert_eq!(export(&ana).await, Value::Null);
    assert!(export(&guest).await.is_string());
    let later = now() + Duration::days(91);
    assert_eq!(forget_networks(&app.db, later, 10).await.expect("a database"), 1, "the guest's");
    assert_eq!(export(&guest).await, Value::Null);
    for what in [
        "player join app_player on player_id = player.id where network = app_id",
        "computer_game join app on app.id = network",
    ] {
        assert_eq!(count_rows(&app, what).await, 1, "{what}");
    }
}
