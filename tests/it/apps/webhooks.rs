//! A webhook for all players of an app.

use std::collections::HashMap;

use mancala_server::db::apps;
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    apps::app_name,
    clock::now,
    database::count_rows,
    endpoint::{Endpoint, Reply},
    webhooks::{create, created, created_for, deliver, let_pass},
};

#[actix_web::test]
async fn one_webhook_is_told_of_the_games_of_all_players_of_the_app() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, bo) = (app.app_player(&acme, "a", "Ana").await, app.app_player(&acme, "b", "Bo").await);
    let guest = app.guest("Cleo").await;
    // A game that began before the webhook is reported from then on.
    let early = app.started_between(&ana, &guest, &json!({})).await;
    deliver(&app).await;
    let endpoint = Endpoint::start().await;
    let (_, secret) = created(&app, &acme, &endpoint).await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), [] as [&str; 0], "nothing of the time before");
    app.played(&early, &ana, 1, "A").await;
    let (among, apart) =
        (app.started_between(&ana, &bo, &json!({})).await, app.started_between(&guest, &bo, &json!({})).await);
    app.played(&among, &ana, 1, "A").await;
    app.played(&apart, &guest, 1, "A").await;
    deliver(&app).await;
    let mut told: HashMap<(String, String), Vec<String>> = HashMap::new();
    for one in endpoint.received() {
        assert!(one.is_signed_by(&secret));
        let text = |name: &str| one.body["data"][name].as_str().expect("text").to_owned();
        told.entry((text("game_id"), text("player_id"))).or_default().push(one.kind().to_owned());
    }
    let expected = [
        ((early, ana.id.clone()), vec!["game.move"]),
        ((among.clone(), ana.id.clone()), vec!["game.your_turn", "game.move"]),
        ((among, bo.id.clone()), vec!["game.move", "game.your_turn"]),
        ((apart, bo.id.clone()), vec!["game.move", "game.your_turn"]),
    ];
    let expected: HashMap<_, Vec<String>> =
        expected.into_iter().map(|(of, kinds)| (of, kinds.into_iter().map(ToOwned::to_owned).collect())).collect();
    assert_eq!(told, expected);
}

#[actix_web::test]
async fn notices_to_two_players_of_one_game_arrive_in_its_order() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, bo) = (app.app_player(&acme, "a", "Ana").await, app.app_player(&acme, "b", "Bo").await);
    let endpoint = Endpoint::start().await;
    created(&app, &acme, &endpoint).await;
    endpoint.will(&[
        Reply::Status(500),
        Reply::Status(200),
        Reply::Status(200),
        Reply::Status(503),
        Reply::Status(404),
    ]);
    let game = app.started_between(&ana, &bo, &json!({})).await;
    for (ply, mv, reply) in [(1, "A", "a"), (3, "E", "e"), (5, "D", "d")] {
        app.played(&game, &ana, ply, mv).await;
        deliver(&app).await;
        app.played(&game, &bo, ply + 1, reply).await;
    }
    for _ in 0..12 {
        let_pass(&app, 400).await;
        deliver(&app).await;
    }
    let mut arrived: Vec<(u64, String, String)> = vec![];
    for one in endpoint.received() {
        let next = (one.seq(), one.kind().to_owned(), one.body["data"]["player_id"].to_string());
        // An attempt that failed comes again.
        if !arrived.contains(&next) {
            arrived.push(next);
        }
    }
    let order: Vec<_> = arrived.iter().map(|(seq, kind, _)| (*seq, kind.clone())).collect();
    assert!(order.is_sorted(), "{order:?}");
    // Six moves, told to both, and the turns that begin.
    assert_eq!(order.iter().filter(|(_, kind)| kind == "game.move").count(), 12);
    assert_eq!(count_rows(&app, "webhook_delivery where not is_delivered").await, 0);
}

#[actix_web::test]
async fn a_disabled_app_is_told_nothing_and_erased_players_are_left_out() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, bo) = (app.app_player(&acme, "a", "Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &acme, &endpoint, &json!(["game.move", "game.finished"])).await;
    let game = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&game, &ana, 1, "A").await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"]);
    apps::disable(&app.db, &app_name("acme"), now()).await.expect("it is disabled");
    app.played(&game, &bo, 2, "a").await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"]);
    apps::enable(&app.db, &app_name("acme")).await.expect("it is enabled");
    assert_eq!(app.delete_app_player(&acme, "a").await.status, 204);
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"], "the app has erased the player itself");
    assert_eq!(count_rows(&app, "webhook_event").await, 0);
}

#[actix_web::test]
async fn games_without_players_of_apps_leave_nothing_for_webhooks() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let ana = app.app_player(&acme, "a", "Ana").await;
    created(&app, &acme, &Endpoint::start().await).await;
    let (game, south, _) = app.started(&json!({})).await;
    app.played(&game, &south, 1, "A").await;
    assert_eq!(count_rows(&app, "game where has_webhooks").await, 0);
    assert_eq!(count_rows(&app, "webhook_event").await, 0);
    // A game is reported from the moment at which a player of an app sits in it, or is invited.
    let open = app.created(&south, &json!({"variant": "kalah", "side": "south"})).await;
    assert_eq!(count_rows(&app, "game where has_webhooks").await, 0);
    assert_eq!(app.join_game(open["id"].as_str().expect("an id"), &ana).await.status, 200);
    let invited: Value = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    app.created(&south, &invited).await;
    assert_eq!(count_rows(&app, "game where has_webhooks").await, 2);
}

#[actix_web::test]
async fn what_waits_for_a_disabled_app_is_sent_once_it_is_enabled() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, bo) = (app.app_player(&acme, "a", "Ana").await, app.guest("Bo").await);
    let (endpoint, off) = (Endpoint::start().await, Endpoint::start().await);
    let (path, _) = created_for(&app, &acme, &endpoint, &json!(["game.move"])).await;
    let (path_off, _) = created_for(&app, &acme, &off, &json!(["game.move"])).await;
    assert_eq!(app.patch(&path_off, Some(&acme), &json!({"enabled": false})).await.status, 200);
    endpoint.will(&[Reply::Status(500)]);
    let game = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&game, &ana, 1, "A").await;
    // The first attempt fails, and the notice waits for the next one. A third webhook waits for its challenge.
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move"]);
    let asked = Endpoint::start().await;
    assert_eq!(create(&app, &acme, &json!({"url": asked.url()})).await.status, 201);
    apps::disable(&app.db, &app_name("acme"), now()).await.expect("it is disabled");
    assert_eq!(count_rows(&app, "webhook where disabled_reason = 'app_disabled'").await, 2);
    for _ in 0..3 {
        let_pass(&app, 400).await;
        deliver(&app).await;
    }
    assert_eq!((endpoint.kinds().len(), asked.challenges().len()), (1, 0));
    apps::enable(&app.db, &app_name("acme")).await.expect("it is enabled");
    for _ in 0..3 {
        deliver(&app).await;
        let_pass(&app, 400).await;
    }
    assert_eq!(endpoint.kinds(), ["game.move"; 2], "what waited is sent");
    assert_eq!(asked.challenges().len(), 1);
    assert_eq!(off.kinds(), [] as [&str; 0]);
    let shown = app.get(&path, Some(&acme)).await;
    assert_eq!((&shown.body["enabled"], &shown.body["disabled_reason"]), (&json!(true), &Value::Null));
    let shown = app.get(&path_off, Some(&acme)).await;
    assert_eq!((&shown.body["enabled"], &shown.body["disabled_reason"]), (&json!(false), &json!("by_request")));
    // A call that began before the app was disabled enables nothing.
    sqlx::query("update webhook set disabled_at = now(), disabled_reason = 'app_disabled'")
        .execute(&app.db)
        .await
        .expect("they are disabled");
    let changed = app.patch(&path, Some(&acme), &json!({"enabled": true})).await;
    assert_eq!((&changed.body["enabled"], &changed.body["disabled_reason"]), (&json!(false), &json!("app_disabled")));
}
