//! Apple's service (APNs): what an app is sent, by which provider token, and what the answers of Apple lead to.

use mancala_server::push::{Apns, ApnsSettings, new_vapid_key};
use serde_json::json;

use crate::support::{
    apns::{ApnsApp, TOPIC, apns_file},
    clock::now,
    database::count_rows,
    fcm::FcmApp,
};

const PATH: &str = "/v1/me/devices";

const TOKEN: &str = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0";

#[actix_web::test]
async fn a_turn_comes_over_http2_for_the_app_by_a_provider_token() {
    let apns = ApnsApp::start().await;
    let (_, id) = apns.her_turn(TOKEN).await;
    let notified = apns.notified().await;
    let [one] = &notified[..] else { panic!("{notified:?}") };
    assert_eq!(one.url, format!("https://apns.example:{}/3/device/{TOKEN}", apns.port));
    let tag = id.replace('-', "");
    for (name, value) in [
        ("apns-topic", TOPIC),
        ("apns-push-type", "alert"),
        ("apns-collapse-id", &tag),
        ("apns-priority", "5"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(one.header(name), value, "{name}");
    }
    let left = one.header("apns-expiration").parse::<i64>().expect("a time") - now().unix_timestamp();
    assert!((86_300..=86_400).contains(&left), "{left}");
    let expected = json!({
        "aps": {"alert": {"title": "Kalah", "body": "It is your turn."}, "thread-id": tag},
        "data": {"type": "game.your_turn", "game_id": id},
    });
    assert_eq!(one.body, expected);
    let claims = apns.claims(one);
    let issued_at = claims["iat"].as_i64().expect("a time");
    // All servers and all starts have the same claims for half an hour.
    assert_eq!(issued_at % 1800, 0);
    assert!((0..1860).contains(&(now().unix_timestamp() - issued_at)), "{issued_at}");
    assert_eq!(claims, json!({"iss": "ABCDE12345", "iat": issued_at}));
    assert!(apns.notified().await.is_empty(), "it is sent once");
    assert_eq!(count_rows(&apns.push.app, "push_device where last_success_at is not null and lane = 0").await, 1);
}

#[actix_web::test]
async fn a_provider_token_serves_all_devices() {
    let apns = ApnsApp::start().await;
    let (ana, _) = apns.her_turn(TOKEN).await;
    apns.push.register(&ana, &json!({"kind": "apns", "token": format!("{}00", &TOKEN[..62])})).await;
    let first = apns.notified().await;
    let cy = apns.push.app.guest("Cy").await;
    let id = apns.push.app.started_between(&cy, &ana, &json!({})).await;
    apns.push.app.played(&id, &cy, 1, "A").await;
    let second = apns.notified().await;
    assert_eq!((first.len(), second.len()), (2, 2));
    // Signatures of the same claims differ, so this is the same token.
    let token = first[0].header("authorization");
    assert!(first.iter().chain(&second).all(|notified| notified.header("authorization") == token));
}

#[actix_web::test]
async fn tokens_that_apple_does_not_know_are_forgotten_and_no_others() {
    for (status, reason, devices, notices) in [
        (410, "Unregistered", 0, 0),
        (400, "BadDeviceToken", 0, 0),
        (400, "DeviceTokenNotForTopic", 0, 0),
        // The message is not taken.
        (400, "BadExpirationDate", 1, 0),
        (413, "PayloadTooLarge", 1, 0),
        (404, "BadPath", 1, 1),
        (500, "InternalServerError", 1, 1),
    ] {
        let apns = ApnsApp::start().await;
        apns.her_turn(TOKEN).await;
        apns.will(&[(status, None, reason)]);
        assert_eq!(apns.notified().await.len(), 1, "{reason}");
        let left = (count_rows(&apns.push.app, "push_device").await, count_rows(&apns.push.app, "push_notice").await);
        assert_eq!(left, (devices, notices), "{reason}");
        assert_eq!(count_rows(&apns.push.app, "push_device where failures = 1").await, devices, "{reason}");
    }
}

#[actix_web::test]
async fn a_refused_key_or_app_makes_devices_wait_and_not_fail() {
    for (status, reason) in
        [(403, "InvalidProviderToken"), (400, "TopicDisallowed"), (429, "TooManyProviderTokenUpdates")]
    {
        let apns = ApnsApp::start().await;
        apns.her_turn(TOKEN).await;
        apns.will(&[(status, None, reason)]);
        assert_eq!(apns.notified().await.len(), 1, "{reason}");
        assert_eq!(
            count_rows(&apns.push.app, "push_device where failures = 0 and due_at > now()").await,
            1,
            "{reason}"
        );
        apns.push.let_pass(50).await;
        assert!(apns.notified().await.is_empty(), "the whole service is asked nothing for a minute");
        assert_eq!(count_rows(&apns.push.app, "push_notice").await, 1, "{reason}");
        apns.push.let_pass(11).await;
        assert_eq!(apns.notified().await.len(), 1, "and then it is");
    }
}

#[actix_web::test]
async fn a_device_that_has_worked_is_not_forgotten_by_another_topic() {
    for reason in ["BadDeviceToken", "DeviceTokenNotForTopic"] {
        let apns = ApnsApp::start().await;
        let (ana, _) = apns.her_turn(TOKEN).await;
        apns.notified().await;
        apns.push.another_turn(&ana).await;
        apns.will(&[(400, None, reason)]);
        assert_eq!(apns.notified().await.len(), 1);
        assert_eq!(count_rows(&apns.push.app, "push_device where failures = 1").await, 1, "{reason}");
        assert_eq!(count_rows(&apns.push.app, "push_notice").await, 1, "{reason}");
    }
}

#[actix_web::test]
async fn a_reminder_wakes_the_device_and_a_digest_counts_games() {
    let apns = ApnsApp::start().await;
    let (ana, _) = apns.her_turn(TOKEN).await;
    for _ in 0..4 {
        apns.push.another_turn(&ana).await;
    }
    assert_eq!(apns.notified().await[0].body["data"], json!({"type": "digest", "games": 5}));
    let id = apns.push.urgent_turn(&ana).await;
    let notified = apns.notified().await;
    let [one] = &notified[..] else { panic!("{notified:?}") };
    assert_eq!(one.body["data"], json!({"type": "game.deadline_soon", "game_id": id}));
    assert_eq!((one.header("apns-priority"), &one.body["aps"]["sound"]), ("10", &json!("default")));
    let left = one.header("apns-expiration").parse::<i64>().expect("a time") - now().unix_timestamp();
    assert!((43_000..=43_200).contains(&left), "{left}");
}

#[actix_web::test]
async fn devices_of_apple_share_a_connection() {
    let apns = ApnsApp::start().await;
    for n in 0..8 {
        apns.her_turn(&format!("{}{n:02}", &TOKEN[..62])).await;
    }
    assert_eq!(apns.notified().await.len(), 8);
    assert_eq!(apns.connections(), 1);
    let (ana, _) = apns.her_turn(TOKEN).await;
    apns.push.another_turn(&ana).await;
    apns.notified().await;
    assert_eq!(apns.connections(), 1);
}

#[actix_web::test]
async fn apple_gets_the_pause_that_it_asks_for() {
    for (status, reason) in [(429, "TooManyRequests"), (503, "Shutdown")] {
        let apns = ApnsApp::start().await;
        apns.her_turn(TOKEN).await;
        apns.will(&[(status, Some(600), reason)]);
        assert_eq!(apns.notified().await.len(), 1);
        apns.push.let_pass(580).await;
        assert!(apns.notified().await.is_empty());
        apns.push.let_pass(140).await;
        assert_eq!(apns.notified().await.len(), 1);
        assert_eq!(count_rows(&apns.push.app, "push_device where failures = 0 and paused_until is null").await, 1);
    }
}

#[actix_web::test]
async fn apps_of_apple_are_registered_by_their_tokens_where_they_are_offered() {
    let apns = ApnsApp::start().await;
    let app = &apns.push.app;
    assert_eq!(app.get("/v1/push", None).await.body, json!({"kinds": ["apns"], "web": null}));
    let ana = app.guest("Ana").await;
    for token in [&TOKEN[1..], &"a".repeat(201), &format!("{}/../", &TOKEN[1..]), &"g".repeat(64)] {
        let refused = app.post(PATH, Some(&ana), &json!({"kind": "apns", "token": token})).await;
        refused.is_problem(422, "validation_failed");
        assert!(refused.text.contains("/token"), "{refused:?}");
    }
    app.post(PATH, Some(&ana), &json!({"kind": "apns"})).await.is_problem(422, "validation_failed");
    let made = app.post(PATH, Some(&ana), &json!({"kind": "apns", "token": TOKEN})).await;
    assert_eq!((made.status.as_u16(), made.string("/kind")), (201, "apns".into()));
    assert_eq!(made.string("/service"), format!("apns.example:{}", apns.port));
    // The same token in other letters is the same device.
    let again = app.post(PATH, Some(&ana), &json!({"kind": "apns", "token": TOKEN.to_uppercase()})).await;
    assert_eq!((again.status.as_u16(), again.string("/id")), (200, made.string("/id")));
    app.post(PATH, Some(&ana), &json!({"kind": "fcm", "token": TOKEN})).await.is_problem(409, "push_not_offered");
    let fcm = FcmApp::start().await;
    let bo = fcm.push.app.guest("Bo").await;
    let refused = fcm.push.app.post(PATH, Some(&bo), &json!({"kind": "apns", "token": TOKEN})).await;
    refused.is_problem(409, "push_not_offered");
}

#[test]
fn a_file_with_a_fault_is_refused_and_its_environment_chooses_the_service() {
    let host = |file: &serde_json::Value| {
        let settings = ApnsSettings::parse(&file.to_string(), |_| Ok(new_vapid_key())).expect("settings");
        let service = settings.service();
        Apns::new(settings, service).expect("a service").host().to_owned()
    };
    let mut file = apns_file();
    assert_eq!(host(&file), "api.push.apple.com");
    file["environment"] = json!("sandbox");
    assert_eq!(host(&file), "api.sandbox.push.apple.com");
    for (field, value, word) in [
        ("team_id", json!("A"), "team_id"),
        ("key_id", json!("../../../a"), "key_id"),
        ("topic", json!(""), "topic"),
        ("topic", json!("a b"), "topic"),
        ("environment", json!("hunter2"), "line 1"),
        ("secret", json!("hunter2"), "line 1"),
    ] {
        let mut file = apns_file();
        file[field] = value;
        let reason = ApnsSettings::parse(&file.to_string(), |_| Ok(new_vapid_key())).err().expect("a fault");
        assert!(reason.contains(word) && !reason.contains("hunter2"), "{field} {reason}");
    }
    for (key, word) in [(Err("it is not there".to_owned()), "it is not there"), (Ok("hunter2".to_owned()), ".p8")] {
        let reason = ApnsSettings::parse(&apns_file().to_string(), |_| key).err().expect("a fault");
        assert!(reason.contains(word) && !reason.contains("hunter2"), "{reason}");
    }
}
