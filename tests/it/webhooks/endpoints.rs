//! Webhooks: which events each gets, its secrets, its pings, and to whom it belongs.

use futures_util::future::join;
use mancala_server::{db::Writers, jobs::deadlines};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    app::TestApp,
    calls::{send, signed},
    clock::now,
    database::count_rows,
    endpoint::{Endpoint, Reply},
    webhooks::{create, created, created_for, deliver, let_pass, ping, purge},
};

#[actix_web::test]
async fn each_event_is_sent_as_a_signed_message_without_players_names() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana the First").await, app.guest("Bo the Second").await);
    let (to_ana, to_bo) = (Endpoint::start().await, Endpoint::start().await);
    let (_, of_ana) = created(&app, &ana, &to_ana).await;
    let (_, of_bo) = created(&app, &bo, &to_bo).await;
    let clock = json!({"type": "per_move", "move_s": 600});
    let invitation = json!({"variant": "kalah", "side": "south", "clock": clock, "opponent": {"type": "player", "player_id": bo.id}});
    let id = app.created(&ana, &invitation).await["id"].as_str().expect("an id").to_owned();
    deliver(&app).await;
    assert_eq!((to_ana.kinds(), to_bo.kinds()), (vec![], vec!["game.invited".to_owned()]));
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    // A message shows the game as it is when the message is written.
    deliver(&app).await;
    // An extra move begins no turn.
    app.played(&id, &ana, 1, "C").await;
    app.played(&id, &ana, 2, "A").await;
    app.offer(&id, &bo, "takeback").await;
    app.offer(&id, &bo, "draw").await;
    app.answer_offer(&id, &ana, "draw", "decline").await;
    app.offer(&id, &ana, "takeback").await;
    assert_eq!(app.answer_offer(&id, &bo, "takeback", "accept").await.status, 200);
    app.resign_game(&id, &ana).await;
    deliver(&app).await;
    let told = |endpoint: &Endpoint| {
        endpoint.received().iter().map(|one| format!("{} {}", one.seq(), one.kind())).collect::<Vec<_>>()
    };
    assert_eq!(
        told(&to_ana),
        [
            "2 game.your_turn",
            "3 game.move",
            "4 game.move",
            "5 game.offer",
            "8 game.move",
            "8 game.your_turn",
            "10 game.finished"
        ]
    );
    assert_eq!(
        told(&to_bo),
        [
            "1 game.invited",
            "3 game.move",
            "4 game.move",
            "4 game.your_turn",
            "6 game.offer",
            "7 game.offer",
            "8 game.move",
            "10 game.finished"
        ]
    );
    let log = app.get(&format!("/v1/games/{id}/events"), Some(&ana)).await.body;
    for (endpoint, secret, player, side) in [(&to_ana, &of_ana, &ana, "south"), (&to_bo, &of_bo, &bo, "north")] {
        for one in endpoint.received() {
            assert!(one.is_signed_by(secret) && !one.is_signed_by("whsec_AAAA"), "{one:?}");
            assert_eq!(
                (one.path.as_str(), &one.headers["content-type"]),
                ("/notices?key=1", &"application/json".parse().expect("a value"))
            );
            let agent = one.headers["user-agent"].to_str().expect("text").to_owned();
            assert_eq!(agent, concat!("mancala-server/", env!("CARGO_PKG_VERSION")));
            assert!(!one.text.contains("the First") && !one.text.contains("the Second"), "{}", one.text);
            let data = &one.body["data"];
            let seq = usize::try_from(one.seq()).expect("a seq");
            if data["event"]["type"] != "created" {
                assert_eq!(data["side"], side);
                if data["event"]["type"] != "joined" {
                    // The state after an event is read with the game.
                    let mut event = log["items"][seq - 1].clone();
                    for field in ["board", "turn", "legal_moves", "clock"] {
                        event.as_object_mut().expect("an object").remove(field);
                    }
                    assert_eq!(data["event"], event);
                }
            }
            assert_eq!((&data["game_id"], &data["player_id"]), (&json!(id), &json!(player.id)));
            assert_eq!(one.body["timestamp"], log["items"][seq - 1]["at"]);
        }
    }
    let first = to_ana.received()[0].clone();
    insta::assert_json_snapshot!(first.body, {
        ".timestamp" => "[time]", ".data.game_id" => "[game]", ".data.player_id" => "[player]", ".data.deadline" => "[time]",
        ".data.event.game_id" => "[game]", ".data.event.at" => "[time]", ".data.event.player.id" => "[player]",
    });
}

#[actix_web::test]
async fn games_without_webhooks_queue_nothing_and_others_one_message() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let endpoint = Endpoint::start().await;
    created(&app, &cy, &endpoint).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    app.resign_game(&id, &bo).await;
    assert_eq!((count_rows(&app, "webhook_event").await, count_rows(&app, "game where has_webhooks").await), (0, 0));
    let id = app.started_between(&ana, &cy, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    // The join, and a move.
    assert_eq!((count_rows(&app, "webhook_event").await, count_rows(&app, "game where has_webhooks").await), (2, 1));
    deliver(&app).await;
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["game.move", "game.your_turn"]);
    assert_eq!(count_rows(&app, "webhook_event").await, 0);
}

#[actix_web::test]
async fn a_webhook_created_during_a_game_gets_the_rest_of_it() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = app.started_between(&ana, &bo, &json!({})).await;
    let other = app.started_between(&bo, &ana, &json!({})).await;
    let invited = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    let invited = app.created(&bo, &invited).await["id"].as_str().expect("an id").to_owned();
    app.played(&id, &ana, 1, "A").await;
    let endpoint = Endpoint::start().await;
    created(&app, &ana, &endpoint).await;
    app.played(&id, &bo, 2, "a").await;
    app.played(&other, &bo, 1, "A").await;
    app.abort_game(&invited, &bo).await;
    deliver(&app).await;
    assert_eq!(endpoint.received().iter().filter(|one| one.kind() == "game.your_turn").count(), 2);
    assert_eq!(endpoint.received().len(), 5);
    // A game that was being stored at that moment is found some seconds later.
    sqlx::raw_sql("update game set has_webhooks = false").execute(&app.db).await.expect("it is older");
    let_pass(&app, 16).await;
    deliver(&app).await;
    assert_eq!(count_rows(&app, "game where has_webhooks").await, 2);
    assert_eq!(count_rows(&app, "webhook where flag_at is not null").await, 0);
}

#[actix_web::test]
async fn only_what_was_asked_for_is_sent() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (turns, ends, offers) = (Endpoint::start().await, Endpoint::start().await, Endpoint::start().await);
    let (path, _) = created_for(&app, &ana, &turns, &json!(["game.your_turn", "game.your_turn"])).await;
    created_for(&app, &ana, &ends, &json!(["game.finished"])).await;
    created_for(&app, &bo, &offers, &json!(["game.offer", "game.invited"])).await;
    assert_eq!(app.get(&path, Some(&ana)).await.body["events"], json!(["game.your_turn"]));
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    deliver(&app).await;
    let changed = app.patch(&path, Some(&ana), &json!({"events": ["game.move"]})).await;
    assert_eq!((changed.status.as_u16(), &changed.body["events"]), (200, &json!(["game.move"])));
    app.played(&id, &bo, 2, "a").await;
    app.offer(&id, &ana, "draw").await;
    app.answer_offer(&id, &bo, "draw", "accept").await;
    deliver(&app).await;
    assert_eq!(turns.kinds(), ["game.your_turn", "game.move"]);
    assert_eq!((ends.kinds(), offers.kinds()), (vec!["game.finished".to_owned()], vec!["game.offer".to_owned()]));
    let all = app.patch(&path, Some(&ana), &json!({"events": null})).await;
    assert_eq!(all.body["events"], Value::Null);
}

#[actix_web::test]
async fn a_secret_is_shown_once_and_those_before_sign_while_it_is_exchanged() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, first) = created(&app, &ana, &endpoint).await;
    assert!(first.starts_with("whsec_") && !app.get(&path, Some(&ana)).await.text.contains(&first));
    assert!(!app.get("/v1/webhooks", Some(&ana)).await.text.contains("whsec_"));
    let ping = async || {
        ping(&app, &ana, &path).await;
        deliver(&app).await;
        endpoint.received().pop().expect("a ping")
    };
    // The answer to the first exchange may have been lost: what was known before still signs.
    let lost = app.post(&format!("{path}/rotate-secret"), Some(&ana), &json!({})).await.string("/secret");
    let rotated = app.post(&format!("{path}/rotate-secret"), Some(&ana), &json!({})).await;
    let second = rotated.string("/secret");
    assert!(rotated.body["previous_secret_until"].is_string() && rotated.headers["cache-control"] == "no-store");
    assert_ne!(first, second);
    let both = ping().await;
    assert!([&first, &lost, &second].into_iter().all(|secret| both.is_signed_by(secret)));
    assert_eq!(both.kind(), "webhook.ping");
    let_pass(&app, 24 * 60 * 60 + 1).await;
    let one = ping().await;
    assert!(!one.is_signed_by(&first) && one.is_signed_by(&second));
}

#[actix_web::test]
async fn what_was_sent_can_be_looked_at_and_sent_again() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&id, &ana, 1, "A").await;
    app.played(&id, &bo, 2, "a").await;
    deliver(&app).await;
    let first = app.get(&format!("{path}/deliveries?limit=3"), Some(&ana)).await;
    let next = first.body["next_cursor"].as_str().expect("there is more").to_owned();
    let second = app.get(&format!("{path}/deliveries?limit=3&cursor={next}"), Some(&ana)).await;
    assert_eq!((first.ids().len(), second.ids().len(), &second.body["next_cursor"]), (3, 1, &Value::Null));
    let told: Vec<_> = [first.ids(), second.ids()].concat().into_iter().rev().collect();
    assert_eq!(told, endpoint.received().iter().map(|one| one.id().to_owned()).collect::<Vec<_>>());
    let again = app.post(&format!("{path}/deliveries/{}/redeliver", told[1]), Some(&ana), &json!({})).await;
    assert_eq!((again.status.as_u16(), &again.body["status"]), (202, &json!("waiting")));
    // The delivery fails, and what is new in its game does not wait for it.
    endpoint.will(&[Reply::Status(500), Reply::Status(500)]);
    deliver(&app).await;
    app.played(&id, &ana, 3, "B").await;
    let_pass(&app, 10).await;
    deliver(&app).await;
    let_pass(&app, 11).await;
    deliver(&app).await;
    let received = endpoint.received();
    assert_eq!((received[4].id(), &received[4].text), (received[1].id(), &received[1].text));
    assert!(received[5..].iter().any(|one| one.seq() == 5));
    for path in [
        format!("{path}/deliveries/{}/redeliver", Uuid::now_v7()),
        format!("{path}/deliveries/one/redeliver"),
        format!("/v1/webhooks/{}/ping", Uuid::now_v7()),
    ] {
        app.post(&path, Some(&ana), &json!({})).await.is_problem(404, "not_found");
    }
    app.get(&format!("{path}/deliveries?cursor=x"), Some(&ana)).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_ping_that_waits_is_not_joined_by_another() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    let first = app.post(&format!("{path}/ping"), Some(&ana), &json!({})).await;
    let second = app.post(&format!("{path}/ping"), Some(&ana), &json!({})).await;
    assert_eq!(first.string("/id"), second.string("/id"));
    deliver(&app).await;
    assert_eq!(endpoint.kinds(), ["webhook.ping"]);
    assert_ne!(app.post(&format!("{path}/ping"), Some(&ana), &json!({})).await.string("/id"), first.string("/id"));
}

#[actix_web::test]
async fn a_webhook_is_its_players_own_and_there_are_ten_at_most() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    let (path, _) = created(&app, &ana, &endpoint).await;
    for answer in [
        app.get(&path, Some(&bo)).await,
        app.get(&format!("{path}/deliveries"), Some(&bo)).await,
        app.patch(&path, Some(&bo), &json!({"enabled": false})).await,
        send(signed(app.request(Method::DELETE, &path), Some(&bo))).await,
        app.post(&format!("{path}/rotate-secret"), Some(&bo), &json!({})).await,
        app.post(&format!("{path}/ping"), Some(&bo), &json!({})).await,
    ] {
        answer.is_problem(404, "not_found");
    }
    create(&app, &app.stranger(), &json!({"url": endpoint.url()})).await.is_problem(401, "invalid_token");
    app.get(&path, None).await.is_problem(401, "unauthenticated");
    for _ in 1..10 {
        created(&app, &ana, &endpoint).await;
    }
    create(&app, &ana, &json!({"url": endpoint.url()})).await.is_problem(409, "too_many_webhooks");
    assert_eq!(app.get("/v1/webhooks", Some(&ana)).await.ids().len(), 10);
    assert_eq!(send(signed(app.request(Method::DELETE, &path), Some(&ana))).await.status, 204);
    assert_eq!(send(signed(app.request(Method::DELETE, &path), Some(&ana))).await.status, 404);
    created(&app, &ana, &endpoint).await;
}

#[actix_web::test]
async fn a_repeated_request_under_a_key_creates_one_webhook() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let keyed = async |url: &str| loop {
        let request = app.request(Method::POST, "/v1/webhooks").header("idempotency-key", "one");
        let answer = send(signed(request, Some(&ana)).json(&json!({ "url": url }))).await;
        // While the one is stored, the other waits, but not for long: then it is asked to come again.
        if answer.status != 503 {
            return answer;
        }
    };
    let (first, second) = join(keyed("https://example.com/a"), keyed("https://example.com/a")).await;
    assert_eq!((first.status, &first.text), (second.status, &second.text));
    assert_eq!((first.status.as_u16(), app.get("/v1/webhooks", Some(&ana)).await.ids().len()), (201, 1));
    let replayed = keyed("https://example.com/a").await;
    assert!(replayed.headers.contains_key("idempotent-replayed"));
    for answer in [first, second, replayed] {
        assert_eq!(answer.headers["cache-control"], "no-store");
    }
    keyed("https://example.com/b").await.is_problem(422, "idempotency_key_reused");
    // A rotated secret is not shown again.
    let path = app.get("/v1/webhooks", Some(&ana)).await.ids().remove(0);
    let rotated = app.post(&format!("/v1/webhooks/{path}/rotate-secret"), Some(&ana), &json!({})).await;
    assert_eq!(rotated.status, 200);
    assert!(!keyed("https://example.com/a").await.headers.contains_key("idempotent-replayed"));
}

#[actix_web::test]
async fn an_erased_player_has_no_webhooks() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    let (_, secret) = created(&app, &ana, &endpoint).await;
    let id = app.started_between(&ana, &bo, &json!({})).await;
    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(export.body["webhooks"][0]["url"], endpoint.url());
    assert!(!export.text.contains(&secret));
    deliver(&app).await;
    let sent = endpoint.received().len();
    app.played(&id, &ana, 1, "A").await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    deliver(&app).await;
    assert_eq!(endpoint.received().len(), sent);
    assert_eq!(count_rows(&app, "webhook where player_id is not null or url <> '' or secret <> ''").await, 0);
    assert_eq!(count_rows(&app, "webhook_event").await, 0);
    purge(&app).await;
    for table in ["webhook", "webhook_delivery"] {
        assert_eq!(count_rows(&app, table).await, 0, "{table}");
    }
}

#[actix_web::test]
async fn the_timeout_of_an_unread_game_is_sent_to_its_players() {
    let mut app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let endpoint = Endpoint::start().await;
    created_for(&app, &ana, &endpoint, &json!(["game.finished"])).await;
    let id = app.started_between(&ana, &bo, &json!({"clock": {"type": "per_move", "move_s": 60}})).await;
    app.let_pass(&id, 61).await;
    let_pass(&app, 61).await;
    let writers = Writers::start(&app.options, 1, Writers::QUEUE_MAX).0;
    deadlines::settle_due(&app.db, &writers, now()).await.expect("it settles");
    deliver(&app).await;
    let received = endpoint.received();
    assert_eq!((received.len(), &received[0].body["data"]["status"]), (1, &json!("aborted")));
}
