//! What a game says of its caller: side, turn, and what the caller may do now.

use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest, games::game_of_one};

async fn me(app: &TestApp, id: &str, guest: &Guest) -> Value {
    app.get_game(id, Some(guest)).await.body["me"].clone()
}

fn actions(me: &Value) -> Vec<&str> {
    me["actions"].as_array().expect("actions").iter().map(|action| action.as_str().expect("text")).collect()
}

#[actix_web::test]
async fn a_game_says_what_its_caller_may_do() {
    let app = TestApp::start().await;
    let (ana, bob, eve) = (app.guest("Ana").await, app.guest("Bob").await, app.guest("Eve").await);
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let id = game["id"].as_str().expect("an id");
    assert_eq!(game["me"], json!({"side": "south", "is_my_turn": false, "actions": ["abort"]}));
    assert_eq!(me(&app, id, &bob).await, json!({"side": null, "is_my_turn": false, "actions": ["join"]}));
    assert_eq!(app.get_game(id, None).await.body.get("me"), None);

    let joined = app.join_game(id, &bob).await;
    assert_eq!(
        joined.body["me"],
        json!({"side": "north", "is_my_turn": false, "actions": ["resign", "abort", "offer_draw"]})
    );
    let of_ana = me(&app, id, &ana).await;
    assert_eq!(
        of_ana,
        json!({"side": "south", "is_my_turn": true, "actions": ["move", "resign", "abort", "offer_draw"]})
    );
    assert_eq!(me(&app, id, &eve).await, json!({"side": null, "is_my_turn": false, "actions": []}));

    // An answer to a move, a list and a conflict say it as well.
    let played = app.played(id, &ana, 1, "C").await;
    assert_eq!(actions(&played["me"]), ["move", "resign", "offer_draw", "offer_takeback"]);
    let listed = app.list_games("player=me", Some(&bob)).await.body["items"][0]["me"].clone();
    assert_eq!(actions(&listed), ["resign", "abort", "offer_draw"]);
    let stale = app.play_move(id, &bob, 1, "a").await;
    assert_eq!(stale.body["game"]["me"], listed);

    app.offer(id, &ana, "takeback").await;
    assert_eq!(actions(&me(&app, id, &ana).await), ["move", "resign", "offer_draw", "withdraw_takeback"]);
    assert_eq!(
        actions(&me(&app, id, &bob).await),
        ["resign", "abort", "offer_draw", "accept_takeback", "decline_takeback"]
    );
    app.resign_game(id, &bob).await;
    assert_eq!(actions(&me(&app, id, &bob).await), ["offer_rematch"]);
    app.offer(id, &bob, "rematch").await;
    assert_eq!(actions(&me(&app, id, &ana).await), ["accept_rematch", "decline_rematch"]);
    assert_eq!(actions(&me(&app, id, &bob).await), ["withdraw_rematch"]);
}

#[actix_web::test]
async fn every_action_that_a_game_lists_is_accepted() {
    let app = TestApp::start().await;
    let terms = json!({"variant": "oware", "clock": {"type": "per_move", "move_s": 600}});
    let (id, south, north) = app.started(&terms).await;
    app.played(&id, &south, 1, "A").await;
    app.played(&id, &north, 2, "a").await;
    let listed = me(&app, &id, &south).await;
    assert_eq!(actions(&listed), ["move", "resign", "offer_draw", "offer_end", "offer_takeback", "offer_pause"]);
    for kind in ["draw", "end", "takeback", "pause"] {
        let offered = app.offer(&id, &south, kind).await;
        assert_eq!(offered.status, 201, "{offered:?}");
        let answers = me(&app, &id, &north).await;
        assert!(actions(&answers).contains(&format!("accept_{kind}").as_str()), "{answers}");
        assert_eq!(app.answer_offer(&id, &north, kind, "decline").await.status, 200);
    }
    app.offer(&id, &south, "pause").await;
    app.answer_offer(&id, &north, "pause", "accept").await;
    assert!(actions(&me(&app, &id, &north).await).contains(&"withdraw_pause"));
    assert_eq!(app.answer_offer(&id, &north, "pause", "withdraw").await.status, 200);
}

#[actix_web::test]
async fn what_a_game_says_of_its_caller_is_true_after_a_swap() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"options": {"pie": true}})).await;
    app.played(&id, &south, 1, "B").await;
    let before = me(&app, &id, &north).await;
    assert_eq!((&before["side"], &before["is_my_turn"]), (&json!("north"), &json!(true)));
    let swapped = app.played(&id, &north, 2, "swap").await;
    assert_eq!((&swapped["me"]["side"], &swapped["me"]["is_my_turn"]), (&json!("south"), &json!(false)));
    assert_eq!(swapped["turn"], "north");
    let other = me(&app, &id, &south).await;
    assert_eq!((&other["side"], &other["is_my_turn"]), (&json!("north"), &json!(true)));
    let tag = app.get_game(&id, Some(&south)).await.headers["etag"].clone();
    assert_ne!(tag, app.get_game(&id, Some(&north)).await.headers["etag"]);
    app.played(&id, &south, 3, swapped["legal_moves"][0].as_str().expect("a move")).await;
}

#[actix_web::test]
async fn a_game_of_one_player_is_always_that_players_turn() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    assert_eq!(
        me(&app, &id, &ana).await,
        json!({"side": "south", "is_my_turn": true, "actions": ["move", "resign", "abort"]})
    );
    let invited = app.guest("Bob").await;
    let game = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": invited.id}});
    let game = app.created(&ana, &game).await;
    assert_eq!(actions(&me(&app, game["id"].as_str().expect("an id"), &invited).await), ["join", "decline"]);
    let by_link = app.created(&ana, &json!({"variant": "kalah", "visibility": "private"})).await;
    assert_eq!(actions(&by_link["me"]), ["renew_join_code", "abort"]);
}
