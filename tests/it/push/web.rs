//! Web Push: what a browser is sent, when, and what the answers of a push service lead to.

use std::{future::ready, sync::Arc};

use mancala_server::{
    db::{
        outbound::{Full, Lane},
        push::sending::{take, waiting},
    },
    domain::DeviceKind,
    jobs::push as jobs,
    push::Pusher,
    webhook::{Names, Ports, Reach, Sender, system_names},
};
use reqwest::Method;
use serde_json::json;
use sqlx::AssertSqlSafe;
use time::Duration;

use crate::support::{
    calls::{Guest, send, signed},
    clock::{now, until_async},
    database::count_rows,
    job::Job,
    push::{CONTACT, PushApp},
    push_service::{Browser, HANGS, PushService, Pushed},
};

/// Waits until an attempt to a device succeeds and is recorded.
async fn until_recorded(push: &PushApp) {
    let succeeded = "push_device where last_success_at is not null";
    until_async("a success is recorded", async || count_rows(&push.app, succeeded).await > 0).await;
}

/// Ana, with a browser, is to move in a game with Bo, who has played.
async fn her_turn(push: &PushApp) -> (Guest, Guest, Browser, String) {
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    let browser = push.browser(&ana, "ana").await;
    let id = push.app.started_between(&bo, &ana, &json!({})).await;
    push.app.played(&id, &bo, 1, "A").await;
    (ana, bo, browser, id)
}

/// The types of the notices that came, by the browser that opens them.
fn kinds(browser: &Browser, pushed: &[Pushed]) -> Vec<String> {
    let opened = pushed.iter().map(|pushed| browser.open(&pushed.body));
    opened.map(|message| message["data"]["type"].as_str().expect("a type").to_owned()).collect()
}

#[actix_web::test]
async fn a_turn_comes_sealed_for_the_browser_and_signed_by_the_server() {
    let push = PushApp::start().await;
    let (_, _, browser, id) = her_turn(&push).await;
    let pushed = push.pushed().await;
    let [one] = &pushed[..] else { panic!("{pushed:?}") };
    assert_eq!(one.path, "/ana");
    let tag = id.replace('-', "");
    // A push service reads it.
    let topic = one.header("topic").to_owned();
    assert!(topic.len() == 32 && !topic.contains(&tag[..8]), "{topic}");
    for (name, value) in [
        ("content-encoding", "aes128gcm"),
        ("content-type", "application/octet-stream"),
        ("ttl", "86400"),
        ("urgency", "normal"),
    ] {
        assert_eq!(one.header(name), value, "{name}");
    }
    let claims = one.claims(&push.public_key());
    assert_eq!((&claims["aud"], &claims["sub"]), (&json!(format!("http://{}", push.service.address)), &json!(CONTACT)));
    let left = claims["exp"].as_i64().expect("a time") - now().unix_timestamp();
    assert!((11 * 3600..=24 * 3600).contains(&left), "{left}");
    let message = browser.open(&one.body);
    let expected = json!({
        "title": "Kalah",
        "body": "It is your turn.",
        "tag": tag,
        "data": {"type": "game.your_turn", "game_id": id},
    });
    assert_eq!(message, expected);
    assert!(push.round().await.is_empty(), "it is sent once");
    assert_eq!(count_rows(&push.app, "push_device where last_success_at is not null and lane = 0").await, 1);
    assert_eq!(count_rows(&push.app, "push_notice").await, 0);
}

#[actix_web::test]
async fn a_turn_waits_five_seconds_and_one_that_was_played_is_not_shown() {
    let push = PushApp::start().await;
    let (ana, bo, browser, id) = her_turn(&push).await;
    assert!(push.round().await.is_empty());
    assert_eq!(count_rows(&push.app, "push_notice").await, 1);
    push.app.played(&id, &ana, 2, "a").await;
    assert!(push.pushed().await.is_empty());
    assert_eq!(count_rows(&push.app, "push_notice").await, 0);
    push.app.played(&id, &bo, 3, "C").await;
    assert_eq!(kinds(&browser, &push.pushed().await), ["game.your_turn"]);
}

#[actix_web::test]
async fn what_happens_later_takes_the_place_of_what_was_not_sent() {
    let push = PushApp::start().await;
    let (ana, bo, browser, id) = her_turn(&push).await;
    push.service.will(&["500 A"]);
    assert_eq!(push.pushed().await.len(), 1);
    push.app.played(&id, &ana, 2, "a").await;
    push.convert().await;
    push.app.played(&id, &bo, 3, "C").await;
    push.convert().await;
    assert_eq!(count_rows(&push.app, "push_notice").await, 1);
    assert_eq!(push.app.resign_game(&id, &bo).await.status, 200);
    push.convert().await;
    assert_eq!(count_rows(&push.app, "push_notice").await, 1);
    assert_eq!(kinds(&browser, &push.pushed().await), ["game.finished"]);
}

#[actix_web::test]
async fn invitations_and_ends_are_shown_to_those_who_did_not_make_them() {
    let push = PushApp::start().await;
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    let of_ana = push.browser(&ana, "ana").await;
    push.browser(&bo, "bo").await;
    let invited = json!({"variant": "oware", "side": "south", "opponent": {"type": "player", "player_id": ana.id}});
    let declined = push.app.created(&bo, &invited).await["id"].as_str().expect("an id").to_owned();
    let pushed = push.round().await;
    assert_eq!((kinds(&of_ana, &pushed), pushed.len()), (vec!["game.invited".to_owned()], 1));
    assert_eq!(of_ana.open(&pushed[0].body)["title"], "Oware");
    assert_eq!(push.app.decline_game(&declined, &ana).await.status, 200);
    assert_eq!(push.round().await.iter().map(|pushed| pushed.path.as_str()).collect::<Vec<_>>(), ["/bo"]);
    // An invitation that was answered before it was sent.
    let id = push.app.created(&bo, &invited).await["id"].as_str().expect("an id").to_owned();
    push.convert().await;
    assert_eq!(push.app.join_game(&id, &ana).await.status, 200);
    let pushed = push.pushed().await;
    assert_eq!(pushed.iter().map(|pushed| pushed.path.as_str()).collect::<Vec<_>>(), ["/bo"], "it is Bo's turn");
    assert_eq!(push.app.resign_game(&id, &bo).await.status, 200);
    assert_eq!(kinds(&of_ana, &push.pushed().await), ["game.finished"]);
}

#[actix_web::test]
async fn what_a_muted_player_asks_is_not_shown() {
    let push = PushApp::start().await;
    let [ana, bo, cy] = [push.app.guest("Ana").await, push.app.guest("Bo").await, push.app.guest("Cy").await];
    let browser = push.browser(&ana, "ana").await;
    let mute = push.app.request(Method::PUT, &format!("/v1/me/mutes/{}", bo.id));
    assert_eq!(send(signed(mute, Some(&ana))).await.status, 204);
    let invited = json!({"variant": "oware", "side": "south", "opponent": {"type": "player", "player_id": ana.id}});
    let id = push.app.created(&bo, &invited).await["id"].as_str().expect("an id").to_owned();
    assert!(push.round().await.is_empty());
    push.app.created(&cy, &invited).await;
    assert_eq!(kinds(&browser, &push.round().await), ["game.invited"], "others are heard");
    // The two play as before.
    assert_eq!(push.app.join_game(&id, &ana).await.status, 200);
    push.app.played(&id, &bo, 1, "A").await;
    assert_eq!(kinds(&browser, &push.pushed().await), ["game.your_turn"]);
}

#[actix_web::test]
async fn a_deadline_is_told_when_it_is_near_unless_it_has_moved_on() {
    let push = PushApp::start().await;
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    let browser = push.browser(&ana, "ana").await;
    let terms = json!({"clock": {"type": "per_move", "move_s": 86400}});
    let [missed, played] =
        [push.app.started_between(&bo, &ana, &terms).await, push.app.started_between(&bo, &ana, &terms).await];
    for id in [&missed, &played] {
        push.app.played(id, &bo, 1, "A").await;
    }
    assert_eq!(push.pushed().await.len(), 2);
    push.app.played(&played, &ana, 2, "a").await;
    push.convert().await;
    push.let_pass(17 * 3600).await;
    assert!(push.round().await.is_empty());
    push.let_pass(3600).await;
    let pushed = push.round().await;
    assert_eq!(kinds(&browser, &pushed), ["game.deadline_soon"]);
    assert_eq!(
        (pushed[0].header("urgency"), browser.open(&pushed[0].body)["data"]["game_id"].clone()),
        ("high", json!(missed))
    );
    assert!(push.round().await.is_empty());
}

#[actix_web::test]
async fn nothing_is_shown_of_games_that_one_plays_alone_or_of_others() {
    let push = PushApp::start().await;
    let (ana, bo, cy) = (push.app.guest("Ana").await, push.app.guest("Bo").await, push.app.guest("Cy").await);
    push.browser(&ana, "ana").await;
    for opponent in [json!({"type": "self"}), json!({"type": "computer", "level": 1})] {
        push.app.created(&ana, &json!({"variant": "kalah", "side": "south", "opponent": opponent})).await;
    }
    // A game without a device leaves nothing for the job: its moves cost what they did.
    let id = push.app.started_between(&bo, &cy, &json!({})).await;
    push.app.played(&id, &bo, 1, "A").await;
    assert_eq!(count_rows(&push.app, "game where has_webhooks").await, 2, "those of Ana");
    assert_eq!(count_rows(&push.app, "webhook_event join game on game.id = game_id where not has_webhooks").await, 0);
    assert!(push.pushed().await.is_empty());
}

#[actix_web::test]
async fn games_that_had_begun_before_the_device_are_told_too() {
    let push = PushApp::start().await;
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    let id = push.app.started_between(&bo, &ana, &json!({})).await;
    let browser = push.browser(&ana, "ana").await;
    push.app.played(&id, &bo, 1, "A").await;
    assert_eq!(kinds(&browser, &push.pushed().await), ["game.your_turn"]);
    // A game that was being stored at that moment is flagged some seconds later.
    let later = push.app.started_between(&bo, &ana, &json!({})).await;
    sqlx::raw_sql("update game set has_webhooks = false").execute(&push.app.db).await.expect("it is not flagged");
    push.let_pass(20).await;
    push.round().await;
    push.app.played(&later, &bo, 1, "A").await;
    assert_eq!(kinds(&browser, &push.pushed().await), ["game.your_turn"]);
}

#[actix_web::test]
async fn a_subscription_that_is_gone_is_forgotten() {
    for status in ["404 A", "410 A"] {
        let push = PushApp::start().await;
        let (ana, ..) = her_turn(&push).await;
        push.browser(&ana, "other").await;
        push.service.will(&[status, "201 A"]);
        assert_eq!(push.pushed().await.len(), 2);
        assert_eq!((count_rows(&push.app, "push_device").await, count_rows(&push.app, "push_notice").await), (1, 0));
    }
}

#[actix_web::test]
async fn a_push_service_that_asks_for_a_pause_gets_it() {
    let push = PushApp::start().await;
    let (_, _, browser, _) = her_turn(&push).await;
    push.service.will(&["429 A\nretry-after: 600"]);
    assert_eq!(push.pushed().await.len(), 1);
    push.let_pass(590).await;
    assert!(push.round().await.is_empty());
    // The pause is up to a fifth longer by chance.
    push.let_pass(140).await;
    assert_eq!(kinds(&browser, &push.round().await), ["game.your_turn"]);
    assert_eq!(count_rows(&push.app, "push_device where failures = 0 and paused_until is null").await, 1);
}

#[actix_web::test]
async fn failures_are_retried_more_and_more_rarely_for_a_day() {
    let push = PushApp::start().await;
    let (ana, ..) = her_turn(&push).await;
    push.service.will(&vec!["503 A"; 100]);
    assert_eq!(push.pushed().await.len(), 1);
    // Each pause is up to a fifth longer by chance.
    for (passed, count) in [(4, 0), (3, 1), (8, 0), (5, 1), (25, 1), (38, 0)] {
        push.let_pass(passed).await;
        assert_eq!(push.round().await.len(), count, "{passed}");
    }
    assert!(push.app.get("/v1/me/devices", Some(&ana)).await.body["items"][0]["failing_since"].is_string());
    // What is of yesterday is dropped. The address has never been a push service's, so it is forgotten at the next failure.
    push.let_pass(25 * 3600).await;
    assert!(push.round().await.is_empty());
    assert_eq!((count_rows(&push.app, "push_device").await, count_rows(&push.app, "push_notice").await), (1, 0));
    push.app.started_between(&ana, &push.app.guest("Cy").await, &json!({})).await;
    assert_eq!(push.pushed().await.len(), 1);
    assert_eq!(count_rows(&push.app, "push_device").await, 0);
}

#[actix_web::test]
async fn an_address_that_answers_like_no_push_service_counts_as_failing() {
    for status in ["200 A", "302 A\nlocation: http://127.0.0.1:1/", "403 A", "400 A", "500 A"] {
        let push = PushApp::start().await;
        her_turn(&push).await;
        push.service.will(&[status]);
        assert_eq!(push.pushed().await.len(), 1, "{status}");
        assert_eq!(
            count_rows(&push.app, "push_device where failures = 1 and last_success_at is null").await,
            1,
            "{status}"
        );
        // What the service calls malformed is not sent again.
        assert_eq!(count_rows(&push.app, "push_notice").await, i64::from(!status.starts_with("400")), "{status}");
    }
}

#[actix_web::test]
async fn nothing_is_sent_to_a_name_that_has_come_to_point_inside() {
    let push = PushApp::start().await;
    let port = push.service.address.port();
    let names: Names = Arc::new(|_| Box::pin(ready(Ok(vec!["127.0.0.1".parse().expect("an address")]))));
    let push = push.reaching(Reach::Public(Ports::new(&[443, port]).expect("few")), names.clone());
    her_turn(&push).await;
    for (n, host) in ["push.example", "127.0.0.1", "2130706433"].iter().enumerate() {
        sqlx::query("update push_device set address = $1, paused_until = null, due_at = now() - interval '1 min'")
            .bind(format!("https://{host}:{port}/a"))
            .execute(&push.app.db)
            .await
            .expect("it is changed");
        push.pushed().await;
        assert_eq!(push.service.connections(), 0, "{host}");
        let failed: i32 =
            sqlx::query_scalar("select failures from push_device").fetch_one(&push.app.db).await.expect("one");
        assert_eq!(usize::try_from(failed), Ok(n + 1), "{host}");
    }
    // Without the check of addresses it is reached by the same name.
    let push = push.reaching(Reach::Anywhere, names);
    sqlx::query("update push_device set address = $1, paused_until = null, due_at = now() - interval '1 min'")
        .bind(format!("https://push.example:{port}/a"))
        .execute(&push.app.db)
        .await
        .expect("it is changed");
    push.pushed().await;
    assert_eq!(push.service.connections(), 1);
}

#[actix_web::test]
async fn what_waits_for_a_browser_does_not_reach_the_player_who_takes_it_over() {
    let push = PushApp::start().await;
    let (_, _, browser, _) = her_turn(&push).await;
    push.convert().await;
    let cy = push.app.guest("Cy").await;
    push.register(&cy, &browser.registration()).await;
    assert!(push.pushed().await.is_empty());
    // The address alone takes nothing over: the keys are the browser's.
    let dan = push.app.guest("Dan").await;
    let mut stolen = browser.registration();
    stolen["subscription"]["keys"] = Browser::at(&push.service, "ana").registration()["subscription"]["keys"].clone();
    push.register(&dan, &stolen).await;
    let devices = push.app.get("/v1/me/devices", Some(&cy)).await.body;
    assert_eq!(devices["items"].as_array().expect("items").len(), 1);
}

#[actix_web::test]
async fn registering_again_ends_no_pause() {
    let push = PushApp::start().await;
    let (ana, _, browser, _) = her_turn(&push).await;
    push.service.will(&["429 A\nretry-after: 600"]);
    assert_eq!(push.pushed().await.len(), 1);
    push.register(&ana, &browser.registration()).await;
    push.let_pass(300).await;
    assert!(push.round().await.is_empty());
}

#[actix_web::test]
async fn a_turn_that_is_played_while_others_are_sent_is_not_sent() {
    let push = PushApp::start().await;
    let (ana, ..) = her_turn(&push).await;
    push.convert().await;
    push.let_pass(6).await;
    let leases = (now(), now() + Duration::seconds(30));
    let taken = take(&push.app.db, Lane::Unproven, &[DeviceKind::Web], &Full::default(), leases, 10).await;
    let taken = taken.expect("it is taken");
    let [device] = &taken[..] else { panic!("{taken:?}") };
    let versions = [device.notices[0].version];
    let still = async || waiting(&push.app.db, device.id, device.lease, &versions).await.expect("an answer").len();
    assert_eq!(still().await, 1);
    // Another process has taken the lease over, the player is erased.
    assert!(waiting(&push.app.db, device.id, device.id, &versions).await.expect("an answer").is_empty());
    assert_eq!(push.app.delete_me(&ana).await.status, 204);
    assert_eq!(still().await, 0);
}

#[actix_web::test]
async fn an_address_that_hangs_keeps_no_other_device_waiting() {
    let push = PushApp::start().await;
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    push.browser(&ana, "ana").await;
    let hanging = PushService::start().await;
    hanging.will(&[HANGS; 10]);
    push.register(&bo, &Browser::at(&hanging, "bo").registration()).await;
    let pusher = Pusher::new(push.push.clone(), Sender::new(Reach::Anywhere, system_names()));
    let settings = jobs::Settings { pusher, metrics: push.app.metrics.clone(), attempts_max: 128 };
    let pool = push.app.db.clone();
    for (south, north) in [(&ana, &bo), (&bo, &ana)] {
        let id = push.app.started_between(south, north, &json!({})).await;
        push.app.played(&id, south, 1, "A").await;
    }
    push.convert().await;
    push.let_pass(6).await;
    let job = Job::start(|stopping| jobs::run(pool, settings, stopping));
    until_recorded(&push).await;
    // The attempt that hangs lasts ten seconds, and does not keep the other one from being recorded.
    assert_eq!(count_rows(&push.app, "push_device where lease is not null and failures = 0").await, 1);
    job.end().await;
}

#[actix_web::test]
async fn a_host_that_hangs_leaves_half_of_a_lane_to_others() {
    let push = PushApp::start().await;
    let hanging = PushService::start().await;
    hanging.will(&[HANGS; 100]);
    let other = push.app.guest("Other").await;
    let mut players = vec![];
    for n in 0..5 {
        let player = push.app.guest(&format!("Player {n}")).await;
        for device in 0..10 {
            push.register(&player, &Browser::at(&hanging, &format!("{n}-{device}")).registration()).await;
        }
        players.push(player);
    }
    let ana = push.app.guest("Ana").await;
    push.browser(&ana, "ana").await;
    players.push(ana);
    for player in &players {
        let id = push.app.started_between(&other, player, &json!({})).await;
        push.app.played(&id, &other, 1, "A").await;
    }
    push.convert().await;
    push.let_pass(6).await;
    // All have answered soon before, and Ana's is the last one that is due.
    let healthy = format!(
        "update push_device set lane = 0, due_at = now() - interval '2 s';
         update push_device set due_at = now() - interval '1 s' where player_id = '{}'",
        players[5].id
    );
    sqlx::raw_sql(AssertSqlSafe(healthy)).execute(&push.app.db).await.expect("they are healthy");
    let pusher = Pusher::new(push.push.clone(), Sender::new(Reach::Anywhere, system_names()));
    let settings = jobs::Settings { pusher, metrics: push.app.metrics.clone(), attempts_max: 128 };
    let pool = push.app.db.clone();
    let job = Job::start(|stopping| jobs::run(pool, settings, stopping));
    until_recorded(&push).await;
    assert_eq!(count_rows(&push.app, "push_device where failures > 0").await, 0, "none that hangs has ended");
    job.end().await;
}
