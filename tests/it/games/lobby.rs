//! The lobby of open games, codes for links, and the summary of what waits for a player.

use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
};

async fn created(app: &TestApp, guest: &Guest, more: &Value) -> String {
    let mut body = json!({"variant": "kalah"});
    for (name, value) in more.as_object().expect("an object") {
        body[name] = value.clone();
    }
    app.created(guest, &body).await["id"].as_str().expect("an id").to_owned()
}

async fn summary(app: &TestApp, guest: &Guest) -> Value {
    let answer = app.get("/v1/me/summary", Some(guest)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

#[actix_web::test]
async fn the_lobby_shows_the_games_that_one_would_play() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let slow = json!({"type": "per_move", "move_s": 86400});
    let bank = json!({"type": "bank", "bank_s": 600});
    let plain = created(&app, &ana, &json!({})).await;
    let bga = created(&app, &ana, &json!({"preset": "bga", "clock": slow})).await;
    let fast = created(&app, &ana, &json!({"clock": bank})).await;
    let oware = created(&app, &ana, &json!({"variant": "oware", "clock": bank})).await;
    let link = created(&app, &ana, &json!({"opponent": {"type": "link"}, "visibility": "public"})).await;
    for (query, expected) in [
        ("", vec![&link, &oware, &fast, &bga, &plain]),
        ("&opponent_type=open", vec![&oware, &fast, &bga, &plain]),
        ("&opponent_type=link", vec![&link]),
        ("&variant=kalah&preset=bga", vec![&bga]),
        ("&variant=kalah&preset=standard&opponent_type=open", vec![&fast, &plain]),
        ("&clock=bank", vec![&oware, &fast]),
        ("&clock=per_move", vec![&bga]),
        ("&clock=unlimited&variant=kalah", vec![&link, &plain]),
        ("&clock=bank&variant=kalah&preset=bga", vec![]),
    ] {
        let found = app.list_games(&format!("status=open{query}"), Some(&bo)).await;
        assert_eq!(found.ids().iter().collect::<Vec<_>>(), expected, "{query}");
    }
    // A lobby leaves out the reader's own games; other lists of open games have them.
    assert!(app.list_games("status=open&opponent_type=open", Some(&ana)).await.ids().is_empty());
    assert_eq!(app.list_games("status=open", Some(&ana)).await.ids().len(), 5);
    let own = app.list_games("status=open&clock=bank&player=me", Some(&ana)).await;
    assert_eq!(own.ids(), [oware.clone(), fast.clone()]);
    assert_eq!(app.list_games("status=open&opponent_type=open&player=me", Some(&ana)).await.ids().len(), 4);
}

#[actix_web::test]
async fn a_code_that_was_renewed_opens_the_game_and_the_old_one_does_not() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let game =
        app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "link"}, "visibility": "private"})).await;
    let (id, old) = (game["id"].as_str().expect("an id"), game["join_code"].as_str().expect("a code"));
    let path = format!("/v1/games/{id}/join-code");
    let renew = |guest: &Guest| send(signed(app.request(reqwest::Method::POST, &path), Some(guest)));
    renew(&bo).await.is_problem(404, "not_found");
    let renewed = renew(&ana).await;
    let new = renewed.string("/join_code");
    assert!(renewed.status == 200 && new.len() == old.len() && new != old, "{renewed:?}");
    let wakes = "select wake_at = expires_at from game";
    assert!(sqlx::query_scalar::<_, bool>(wakes).fetch_one(&app.db).await.expect("it still ends some day"));
    let join =
        async |code: &str| app.post(&format!("/v1/games/{id}/join"), Some(&bo), &json!({"join_code": code})).await;
    join(old).await.is_problem(404, "not_found");
    assert_eq!(join(&new).await.status, 200);
    renew(&ana).await.is_problem(409, "seat_taken");
    renew(&bo).await.is_problem(403, "forbidden");
    app.abort_game(id, &ana).await;
    renew(&ana).await.is_problem(409, "game_over");
    let open = created(&app, &ana, &json!({})).await;
    let path = format!("/v1/games/{open}/join-code");
    app.post(&path, Some(&ana), &json!({})).await.is_problem(403, "forbidden");
    app.post(&path, Some(&bo), &json!({})).await.is_problem(403, "not_seated");
}

#[actix_web::test]
async fn a_summary_counts_what_waits_for_a_player() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let nothing = json!({"to_move": 0, "active": 0, "open": 0, "invitations": 0, "offers": 0, "offered_in": [], "next_deadline": null});
    assert_eq!(summary(&app, &ana).await, nothing);
    // Two in which Ana is to move, one in which Bo is, one against herself, an open one, and an invitation.
    let clock = json!({"type": "per_move", "move_s": 3600});
    let mut ids = vec![];
    for more in [json!({"side": "south"}), json!({"side": "south", "clock": clock}), json!({"side": "north"})] {
        let id = created(&app, &ana, &more).await;
        app.join_game(&id, &bo).await;
        ids.push(id);
    }
    created(&app, &ana, &json!({"opponent": {"type": "self"}})).await;
    created(&app, &ana, &json!({})).await;
    created(&app, &bo, &json!({"opponent": {"type": "player", "player_id": ana.id}})).await;
    // Offers of Bo count, her own do not; that of a rematch counts though its game is over.
    app.offer(&ids[0], &bo, "draw").await;
    app.offer(&ids[0], &ana, "pause").await;
    app.offer(&ids[1], &ana, "draw").await;
    app.resign_game(&ids[2], &bo).await;
    app.offer(&ids[2], &bo, "rematch").await;
    let deadline = app.get_game(&ids[1], None).await.body["clock"]["deadline"].clone();
    let offered_in = json!([ids[2], ids[0]]);
    let expected = json!({
        "to_move": 3, "active": 3, "open": 1, "invitations": 1, "offers": 2, "offered_in": offered_in,
        "next_deadline": deadline,
    });
    assert_eq!(summary(&app, &ana).await, expected);
    assert_eq!(summary(&app, &bo).await["offers"], 1);
    app.answer_offer(&ids[2], &ana, "rematch", "accept").await;
    assert_eq!(summary(&app, &ana).await["offers"], 1);
    // An offer of an erased player cannot be accepted.
    app.resign_game(&ids[1], &bo).await;
    app.offer(&ids[1], &bo, "rematch").await;
    assert_eq!(summary(&app, &ana).await["offers"], 2);
    app.delete_me(&bo).await;
    assert_eq!(summary(&app, &ana).await["offers"], 0);
}

#[actix_web::test]
async fn a_summary_that_is_still_the_same_is_304() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let first = app.get("/v1/me/summary", Some(&ana)).await;
    let known = first.headers["etag"].clone();
    let again = || {
        let request = signed(app.request(reqwest::Method::GET, "/v1/me/summary"), Some(&ana));
        send(request.header("if-none-match", known.clone()))
    };
    let same = again().await;
    assert_eq!((same.status.as_u16(), same.text.as_str(), &same.headers["etag"]), (304, "", &known));
    created(&app, &bo, &json!({"opponent": {"type": "player", "player_id": ana.id}})).await;
    let news = again().await;
    assert_eq!((news.status.as_u16(), &news.body["invitations"]), (200, &json!(1)));
    app.get("/v1/me/summary", None).await.is_problem(401, "unauthenticated");
}
