//! Merging: an account takes along what its player has as a guest.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    database::count_rows,
};

const PASSWORD: &str = "correct horse";

async fn merge(app: &TestApp, account: &Guest, token: &str) -> Answer {
    app.post("/v1/me/merge", Some(account), &json!({"guest_token": token})).await
}

/// A game that one player creates and another one joins; the creator opens it.
async fn started(app: &TestApp, south: &Guest, north: &Guest, more: &Value) -> String {
    let mut body = json!({"variant": "kalah", "side": "south"});
    body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let id = app.created(south, &body).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, north).await.status, 200);
    id
}

fn seats(game: &Answer) -> [String; 2] {
    ["south", "north"].map(|side| game.string(&format!("/seats/{side}/id")))
}

#[actix_web::test]
async fn an_account_takes_over_the_seats_notes_and_webhooks_of_a_guest() {
    let app = TestApp::start().await;
    let (guest, bo) = (app.guest("Ana as a guest").await, app.guest("Bo").await);
    let ana = app.account("Ana", PASSWORD).await;
    let active = started(&app, &guest, &bo, &json!({"visibility": "unlisted"})).await;
    let oware = started(&app, &bo, &guest, &json!({"variant": "oware"})).await;
    let finished = started(&app, &bo, &guest, &json!({})).await;
    app.play_move(&finished, &bo, 1, "A").await;
    app.resign_game(&finished, &bo).await;
    let open = app.created(&guest, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    let alone = app.created(&guest, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let computer =
        app.created(&guest, &json!({"variant": "kalah", "opponent": {"type": "computer", "level": 1}})).await;
    let between = started(&app, &guest, &ana, &json!({})).await;
    let invited = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": guest.id}});
    let invitation = app.created(&bo, &invited).await["id"].as_str().expect("an id").to_owned();
    for (player, text) in [(&guest, "as a guest"), (&ana, "as an account")] {
        for ply in if player.id == guest.id { 0..2 } else { 1..2 } {
            let note =
                app.put(&format!("/v1/games/{finished}/notes/{ply}"), Some(player), &json!({"text": text})).await;
            assert!(note.status.is_success(), "{note:?}");
        }
    }
    let hook = json!({"url": "https://example.com/hook", "events": ["game.move"]});
    assert_eq!(app.post("/v1/webhooks", Some(&guest), &hook).await.status, 201);

    for _ in 0..2 {
        let merged = merge(&app, &ana, &guest.token).await;
        assert_eq!((merged.status.as_u16(), merged.string("/id")), (200, ana.id.clone()), "{merged:?}");
    }
    let game = app.get_game(&active, Some(&ana)).await;
    assert_eq!(seats(&game), [ana.id.clone(), bo.id.clone()]);
    assert_eq!(app.play_move(&active, &ana, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&oware, &bo, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&oware, &ana, 2, "a").await.status, 201);
    let past = app.get_game(&finished, None).await;
    assert_eq!((seats(&past)[1].clone(), past.string("/result/winner_player_id")), (ana.id.clone(), ana.id.clone()));
    assert_eq!(app.join_game(&open, &bo).await.status, 200);
    for id in [&alone, &computer].map(|game| game["id"].as_str().expect("an id")) {
        assert!(app.get_game(id, Some(&ana)).await.text.contains(&ana.id));
        assert!(!app.get_game(id, Some(&ana)).await.text.contains(&guest.id));
    }
    assert_eq!(app.resign_game(alone["id"].as_str().expect("an id"), &ana).await.status, 200);
    // The log says so, and the game between the two is one against oneself.
    let events = app.get(&format!("/v1/games/{finished}/events"), None).await;
    let last = events.body["items"].as_array().and_then(|items| items.last()).expect("events").clone();
    assert_eq!(
        (&last["type"], &last["side"], &last["player"]["id"]),
        (&json!("reseated"), &json!("north"), &json!(ana.id))
    );
    assert_eq!(seats(&app.get_game(&between, None).await), [ana.id.clone(), ana.id.clone()]);
    assert_eq!(app.get_game(&invitation, None).await.body["status"], "aborted");
    let notes = app.get(&format!("/v1/games/{finished}/notes"), Some(&ana)).await;
    assert!(notes.text.contains("as a guest") && notes.text.contains("as an account"), "{notes:?}");
    assert_eq!(app.get("/v1/webhooks", Some(&ana)).await.body["items"].as_array().map(Vec::len), Some(1));
    // The guest is no longer a player that can call.
    app.create_game(&guest, &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    app.get("/v1/me", Some(&guest)).await.is_problem(401, "invalid_token");
    // With the account, what is left of the guest is erased.
    app.delete_me(&ana).await;
    assert!(!app.get_game(&between, None).await.text.contains("as a guest"));
    assert_eq!(count_rows(&app, "player where name = 'Ana as a guest'").await, 0);
}

#[actix_web::test]
async fn a_game_between_a_guest_and_its_account_becomes_one_against_oneself() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Guest").await, app.account("Ana", PASSWORD).await);
    let clock = json!({"clock": {"type": "per_move", "move_s": 86_400}});
    let active = started(&app, &guest, &ana, &clock).await;
    assert_eq!(app.play_move(&active, &guest, 1, "A").await.status, 201);
    assert!(app.offer(&active, &guest, "pause").await.status.is_success());
    assert!(app.answer_offer(&active, &ana, "pause", "accept").await.status.is_success());
    for (player, kind) in [(&guest, "takeback"), (&ana, "draw")] {
        let offered = app.offer(&active, player, kind).await;
        assert!(offered.status.is_success(), "{offered:?}");
    }
    let finished = started(&app, &ana, &guest, &json!({})).await;
    app.play_move(&finished, &ana, 1, "A").await;
    app.resign_game(&finished, &guest).await;
    assert!(app.offer(&finished, &guest, "rematch").await.status.is_success());
    assert_eq!(merge(&app, &ana, &guest.token).await.status, 200);

    let actions = async |id: &str| app.get_game(id, Some(&ana)).await.body["me"]["actions"].clone();
    assert_eq!(actions(&active).await, json!(["move", "resign"]));
    assert_eq!(actions(&finished).await, json!([]));
    for (id, kind) in [(&active, "draw"), (&active, "pause"), (&finished, "rematch")] {
        app.offer(id, &ana, kind).await.is_problem(409, "offer_not_possible");
        for answer in ["accept", "withdraw"] {
            app.answer_offer(id, &ana, kind, answer).await.is_problem(409, "offer_not_possible");
        }
    }
    let game = app.get_game(&active, Some(&ana)).await.body;
    assert_eq!((&game["offers"], &game["clock"]["paused_at"]), (&json!([]), &Value::Null), "{game}");
    // The account plays on for both sides, and the side to move resigns.
    assert_eq!(app.play_move(&active, &ana, 2, "b").await.status, 201);
    let resigned = app.resign_game(&active, &ana).await;
    assert_eq!((&resigned.body["status"], &resigned.body["result"]["winner"]), (&json!("finished"), &json!("north")));
    // Neither game counts.
    let stats = app.get(&format!("/v1/players/{}/stats", ana.id), None).await;
    assert_eq!(stats.body["variants"], json!([]));
}

#[actix_web::test]
async fn an_invitation_between_a_guest_and_its_account_ends_with_the_merge() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Guest").await, app.account("Ana", PASSWORD).await);
    let mut ids = vec![];
    for (creator, invited) in [(&guest, &ana), (&ana, &guest)] {
        let body = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": invited.id}});
        ids.push(app.created(creator, &body).await["id"].as_str().expect("an id").to_owned());
    }
    assert_eq!(merge(&app, &ana, &guest.token).await.status, 200);
    for id in &ids {
        assert_eq!(app.get_game(id, Some(&ana)).await.body["status"], "aborted");
    }
    for direction in ["received", "sent"] {
        let page = app.list_invitations(&format!("direction={direction}"), &ana).await;
        assert_eq!(page.body["items"], json!([]), "{direction}");
    }
}

#[actix_web::test]
async fn the_names_of_merged_imports_go_with_their_games() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Guest").await, app.account("Ana", PASSWORD).await);
    for (player, name) in [(&guest, "Zelda"), (&guest, "Yorick"), (&ana, "Zelda")] {
        let seats = json!({"south": {"name": name}, "north": {"name": "Xaver"}});
        let game = json!({"game": {"variant": "kalah", "seats": seats}, "moves": [{"move": "A"}]});
        let imported = app.post("/v1/games/import", Some(player), &game).await;
        assert_eq!(imported.body["imported"], 1, "{imported:?}");
    }
    assert_eq!(count_rows(&app, "player where kind = 'imported'").await, 5);
    assert_eq!(merge(&app, &ana, &guest.token).await.status, 200);
    // If both have imported a name, the account's stays.
    let of_ana = "player where importer_id = (select id from player where kind = 'account')";
    assert_eq!(count_rows(&app, of_ana).await, 3);
    let deleted = send(signed(app.request(Method::DELETE, "/v1/me/imports"), Some(&ana))).await;
    assert_eq!((&deleted.body["deleted"], &deleted.body["remaining"]), (&json!(3), &json!(0)));
    assert_eq!(count_rows(&app, "player where kind = 'imported'").await, 0);
}

#[actix_web::test]
async fn two_merges_of_one_guest_at_once_are_one() {
    let app = TestApp::start().await;
    let (second, _) = app.second_server();
    let (ana, eve) = (app.account("Ana", PASSWORD).await, app.account("Eve", "battery staple").await);
    for _ in 0..5 {
        let (guest, bo) = (app.guest("Guest").await, app.guest("Bo").await);
        let ids = [started(&app, &guest, &bo, &json!({})).await, started(&app, &bo, &guest, &json!({})).await];
        let answers = join_all([(&ana, app.address), (&eve, second), (&ana, second)].map(|(account, address)| {
            let request = reqwest::Client::new().post(format!("http://{address}/v1/me/merge"));
            send(request.bearer_auth(&account.token).json(&json!({"guest_token": guest.token})))
        }))
        .await;
        let is_ana = answers[0].status == 200;
        let (winner, lost) = if is_ana { (&ana, vec![1]) } else { (&eve, vec![0, 2]) };
        for (n, answer) in answers.iter().enumerate() {
            if lost.contains(&n) {
                answer.is_problem(422, "validation_failed");
                assert_eq!(answer.body["errors"][0]["pointer"], "/guest_token");
            } else {
                assert_eq!(answer.status, 200, "{answer:?}");
            }
        }
        for id in &ids {
            let game = app.get_game(id, None).await;
            assert!(seats(&game).contains(&winner.id) && !seats(&game).contains(&guest.id), "{game:?}");
            assert_eq!(game.body["version"], 3, "each seat is taken over once");
        }
    }
}

#[actix_web::test]
async fn only_a_guest_is_merged_and_only_with_an_account() {
    let app = TestApp::start().await;
    let first = app.post("/v1/players", None, &json!({"name": "Guest"})).await;
    let guest = Guest { id: first.string("/player/id"), token: first.string("/access_token") };
    let (ana, eve) = (app.account("Ana", PASSWORD).await, app.account("Eve", "battery staple").await);
    merge(&app, &guest, &app.guest("Bo").await.token).await.is_problem(403, "forbidden");
    for token in ["", "nonsense", &eve.token, &ana.token, &app.stranger().token] {
        let refused = merge(&app, &ana, token).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], "/guest_token");
    }
    for body in [json!({}), json!({"guest_token": 5}), json!({"token": guest.token})] {
        app.post("/v1/me/merge", Some(&ana), &body).await.is_problem(422, "validation_failed");
    }
    app.post("/v1/me/merge", None, &json!({"guest_token": guest.token})).await.is_problem(401, "unauthenticated");
    // A refresh token serves as well, if it is the newest, also when the answer was lost.
    let old = first.string("/refresh_token");
    let second = app.refresh(&old).await.string("/refresh_token");
    let third = app.refresh(&second).await.string("/refresh_token");
    merge(&app, &ana, &old).await.is_problem(422, "validation_failed");
    for _ in 0..2 {
        assert_eq!(merge(&app, &ana, &third).await.status, 200);
    }
    merge(&app, &eve, &third).await.is_problem(422, "validation_failed");
    app.refresh(&third).await.is_problem(401, "invalid_token");
    let code = json!({"grant_type": "recovery_code", "recovery_code": first.string("/recovery_code")});
    app.post("/v1/tokens", None, &code).await.is_problem(401, "invalid_credentials");
    // A guest that has signed out of all its tokens by becoming an account is none any more.
    let cy = app.guest("Cy").await;
    assert_eq!(app.patch("/v1/me", Some(&cy), &json!({"password": "staple battery"})).await.status, 200);
    merge(&app, &ana, &cy.token).await.is_problem(422, "validation_failed");
    let erased = app.guest("Di").await;
    app.delete_me(&erased).await;
    merge(&app, &ana, &erased.token).await.is_problem(422, "validation_failed");
    let gone = send(signed(app.request(Method::DELETE, "/v1/me"), Some(&ana))).await;
    assert_eq!(gone.status, 204);
}
