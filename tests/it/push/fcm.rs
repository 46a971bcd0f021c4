//! Firebase Cloud Messaging: what an app is sent, by which access token, and what the answers of Google lead to.

use mancala_server::push::ServiceAccount;
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    clock::now,
    database::count_rows,
    fcm::{FcmApp, MESSAGES, account_file, claims, failure, google, granted},
    push::{PushApp, web_push},
    push_service::Pushed,
};

const PATH: &str = "/v1/me/devices";

const TOKEN: &str = "cXy1-_:APA91bEx4mpleOfAToken";

/// Google's answer for a device of Apple's, with the reason that Apple gives.
fn of_apple(reason: &str) -> String {
    let details = json!([
        {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "INVALID_ARGUMENT"},
        {"@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError", "statusCode": 410, "reason": reason},
    ]);
    format!(
        "400 A\n\n{}",
        json!({"error": {"code": 400, "message": "APNs device token is disabled.", "details": details}})
    )
}

/// The paths that were asked, and the access tokens that came along.
fn asked(pushed: &[Pushed]) -> Vec<(&str, &str)> {
    let access = |one: &Pushed| one.headers.contains_key("authorization");
    pushed.iter().map(|one| (&*one.path, if access(one) { one.header("authorization") } else { "" })).collect()
}

#[actix_web::test]
async fn a_turn_comes_as_a_message_for_the_app_by_an_access_token() {
    let fcm = FcmApp::start().await;
    let (_, id) = fcm.her_turn(TOKEN).await;
    let pushed = fcm.push.pushed().await;
    assert_eq!(asked(&pushed), [("/token", ""), (MESSAGES, "Bearer t1")]);
    let claims = claims(&pushed[0]);
    let issued_at = claims["iat"].as_i64().expect("a time");
    assert!((now().unix_timestamp() - issued_at).abs() < 60, "{issued_at}");
    assert_eq!(
        (&claims["aud"], &claims["scope"], &claims["exp"]),
        (
            &json!(format!("http://{}/token", fcm.push.service.address)),
            &json!("https://www.googleapis.com/auth/firebase.messaging"),
            &json!(issued_at + 3600)
        )
    );
    let tag = id.replace('-', "");
    let mut message: Value = serde_json::from_slice(&pushed[1].body).expect("JSON");
    // An app on iOS that uses Firebase.
    let expiration = message["message"]["apns"]["headers"]["apns-expiration"].take();
    let left = expiration.as_str().and_then(|text| text.parse::<i64>().ok()).expect("a time") - now().unix_timestamp();
    assert!((86_300..=86_400).contains(&left), "{left}");
    let expected = json!({"message": {
        "token": TOKEN,
        "notification": {"title": "Kalah", "body": "It is your turn."},
        "data": {"type": "game.your_turn", "game_id": id},
        "android": {"collapse_key": tag, "priority": "NORMAL", "ttl": "86400s", "notification": {"tag": tag}},
        "apns": {
            "headers": {"apns-collapse-id": tag, "apns-expiration": null, "apns-priority": "5"},
            "payload": {"aps": {"thread-id": tag}},
        },
    }});
    assert_eq!((message, pushed[1].header("content-type")), (expected, "application/json"));
    assert!(fcm.push.round().await.is_empty(), "it is sent once");
    assert_eq!(count_rows(&fcm.push.app, "push_device where last_success_at is not null and lane = 0").await, 1);
}

#[actix_web::test]
async fn an_access_token_serves_all_devices_until_shortly_before_its_end() {
    let fcm = FcmApp::start().await;
    // An expired access token is replaced at once.
    fcm.will_grant(&[&granted("tshort", 0)]);
    let (ana, _) = fcm.her_turn(TOKEN).await;
    assert_eq!(asked(&fcm.push.pushed().await), [("/token", ""), (MESSAGES, "Bearer tshort")]);
    for n in 0..4 {
        fcm.push.register(&ana, &json!({"kind": "fcm", "token": format!("{TOKEN}{n}")})).await;
    }
    let cy = fcm.push.app.guest("Cy").await;
    let id = fcm.push.app.started_between(&cy, &ana, &json!({})).await;
    fcm.push.app.played(&id, &cy, 1, "A").await;
    let pushed = fcm.push.pushed().await;
    let mut asked = asked(&pushed);
    asked.sort_unstable();
    assert_eq!(asked, [vec![("/token", "")], vec![(MESSAGES, "Bearer t2"); 5]].concat());
}

#[actix_web::test]
async fn a_refused_access_token_is_replaced_once_and_then_devices_wait() {
    let fcm = FcmApp::start().await;
    fcm.will_grant(&[&granted("told", 3600)]);
    fcm.her_turn(TOKEN).await;
    fcm.push.service.will(&["401 A"]);
    let all = [("/token", ""), (MESSAGES, "Bearer told"), ("/token", ""), (MESSAGES, "Bearer t2")];
    assert_eq!(asked(&fcm.push.pushed().await), all);
    assert_eq!(count_rows(&fcm.push.app, "push_device where last_success_at is not null").await, 1);
    for refusals in [&["401 A", "401 A"][..], &["403 A"]] {
        let fcm = FcmApp::start().await;
        fcm.her_turn(TOKEN).await;
        fcm.push.service.will(refusals);
        assert_eq!(fcm.push.pushed().await.len(), 2 * refusals.len());
        // The failure is not the device's fault.
        assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 0 and due_at > now()").await, 1);
        assert_eq!(count_rows(&fcm.push.app, "push_notice").await, 1);
        fcm.push.let_pass(50).await;
        assert!(fcm.push.round().await.is_empty(), "the whole service is asked nothing for a minute");
        fcm.push.let_pass(11).await;
        assert_eq!(fcm.push.round().await.len(), 1, "and then it is");
    }
}

#[actix_web::test]
async fn without_an_access_token_devices_wait_and_do_not_fail() {
    for reply in ["400 A\n\n{\"error\": \"invalid_grant\"}", "200 A\n\n{}", "503 A"] {
        let fcm = FcmApp::start().await;
        fcm.will_grant(&[reply]);
        fcm.her_turn(TOKEN).await;
        assert_eq!(asked(&fcm.push.pushed().await), [("/token", "")], "{reply}");
        assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 0 and due_at > now()").await, 1, "{reply}");
    }
}

#[actix_web::test]
async fn tokens_that_google_does_not_know_are_forgotten_and_no_others() {
    let field = json!({"error": {"code": 400, "details": [
        {"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "INVALID_ARGUMENT"},
        {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{"field": "message.token"}]},
    ]}});
    let text = json!({"error": {"message": "The registration token is not a valid FCM registration token"}});
    for (reply, devices, notices) in [
        (failure(404, "UNREGISTERED"), 0, 0),
        (failure(403, "SENDER_ID_MISMATCH"), 0, 0),
        (of_apple("Unregistered"), 0, 0),
        (of_apple("BadDeviceToken"), 0, 0),
        (format!("400 A\n\n{field}"), 0, 0),
        (format!("400 A\n\n{text}"), 0, 0),
        // The message is not taken.
        (failure(400, "INVALID_ARGUMENT"), 1, 0),
        // Nothing says that it is the token that is not found.
        ("404 A".to_owned(), 1, 1),
        ("500 A".to_owned(), 1, 1),
    ] {
        let fcm = FcmApp::start().await;
        fcm.her_turn(TOKEN).await;
        fcm.push.service.will(&[&reply]);
        assert_eq!(fcm.push.pushed().await.len(), 2, "{reply}");
        let left = (count_rows(&fcm.push.app, "push_device").await, count_rows(&fcm.push.app, "push_notice").await);
        assert_eq!(left, (devices, notices), "{reply}");
        assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 1").await, devices, "{reply}");
    }
}

#[actix_web::test]
async fn a_device_that_has_worked_is_not_forgotten_by_another_project() {
    for reply in [failure(403, "SENDER_ID_MISMATCH"), of_apple("BadDeviceToken")] {
        let fcm = FcmApp::start().await;
        let (ana, _) = fcm.her_turn(TOKEN).await;
        fcm.push.pushed().await;
        fcm.another_turn(&ana).await;
        fcm.push.service.will(&[&reply]);
        fcm.push.pushed().await;
        assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 1").await, 1, "{reply}");
        assert_eq!(count_rows(&fcm.push.app, "push_notice").await, 1, "{reply}");
    }
}

#[actix_web::test]
async fn a_wrong_key_of_apple_at_google_is_not_the_fault_of_a_device() {
    let fcm = FcmApp::start().await;
    let (ana, _) = fcm.her_turn(TOKEN).await;
    fcm.push.service.will(&[&failure(401, "THIRD_PARTY_AUTH_ERROR")]);
    assert_eq!(asked(&fcm.push.pushed().await), [("/token", ""), (MESSAGES, "Bearer t1")]);
    assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 0 and due_at > now()").await, 1);
    // Others go on.
    fcm.push.register(&ana, &json!({"kind": "fcm", "token": format!("{TOKEN}2")})).await;
    fcm.another_turn(&ana).await;
    assert_eq!(asked(&fcm.push.pushed().await), [(MESSAGES, "Bearer t1")]);
    assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 0").await, 2);
}

#[actix_web::test]
async fn a_pause_leaves_the_devices_of_a_service_alone_and_no_browsers() {
    let fcm = FcmApp::start_beside(web_push()).await;
    let (ana, _) = fcm.her_turn(TOKEN).await;
    fcm.push.service.will(&["403 A"]);
    assert_eq!(fcm.push.pushed().await.len(), 2);
    fcm.push.register(&ana, &json!({"kind": "fcm", "token": format!("{TOKEN}2")})).await;
    let browser = fcm.push.browser(&ana, "a").await;
    fcm.another_turn(&ana).await;
    let pushed = fcm.push.pushed().await;
    assert!(!pushed.is_empty() && pushed.iter().all(|one| browser.endpoint.ends_with(&one.path)), "{pushed:?}");
    let untouched = "push_device where kind = 'fcm' and lease is null and due_at <= now()";
    assert_eq!(count_rows(&fcm.push.app, untouched).await, 1);
    fcm.push.let_pass(61).await;
    assert!(asked(&fcm.push.all().await).iter().filter(|one| one.0 == MESSAGES).count() >= 2);
}

#[actix_web::test]
async fn a_refusal_after_a_success_is_about_one_device() {
    let fcm = FcmApp::start().await;
    let (ana, _) = fcm.her_turn(TOKEN).await;
    fcm.push.pushed().await;
    fcm.another_turn(&ana).await;
    fcm.push.service.will(&["403 A"]);
    fcm.push.pushed().await;
    assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 0 and due_at > now()").await, 1);
    fcm.push.register(&ana, &json!({"kind": "fcm", "token": format!("{TOKEN}2")})).await;
    fcm.another_turn(&ana).await;
    assert_eq!(asked(&fcm.push.pushed().await), [(MESSAGES, "Bearer t1")]);
}

#[actix_web::test]
async fn too_many_messages_pause_what_google_names_the_project_or_a_device() {
    let quota = |subject: &str| {
        let violations = json!([{"subject": subject, "description": "Message rate exceeded"}]);
        format!(
            "429 A\n\n{}",
            json!({"error": {"status": "RESOURCE_EXHAUSTED", "details": [{"violations": violations}]}})
        )
    };
    for (subject, state, others) in
        [("project:1", "push_device where failures = 0", 0), ("device:1", "push_device where failures = 1", 1)]
    {
        let fcm = FcmApp::start().await;
        let (ana, _) = fcm.her_turn(TOKEN).await;
        fcm.push.service.will(&[&quota(subject)]);
        assert_eq!(fcm.push.pushed().await.len(), 2);
        assert_eq!(count_rows(&fcm.push.app, state).await, 1);
        let waits = "push_device where due_at > now() + interval '50 s'";
        assert_eq!(count_rows(&fcm.push.app, waits).await, 1, "{subject}");
        fcm.push.register(&ana, &json!({"kind": "fcm", "token": format!("{TOKEN}2")})).await;
        fcm.another_turn(&ana).await;
        assert_eq!(fcm.push.pushed().await.len(), others, "{subject}");
    }
}

#[actix_web::test]
async fn a_digest_has_texts_alone_and_a_reminder_wakes_the_device() {
    let fcm = FcmApp::start().await;
    let (ana, _) = fcm.her_turn(TOKEN).await;
    for _ in 0..4 {
        fcm.another_turn(&ana).await;
    }
    let message = |pushed: &[Pushed]| -> Value {
        serde_json::from_slice::<Value>(&pushed.last().expect("a message").body).expect("JSON")["message"].take()
    };
    let digest = message(&fcm.push.pushed().await);
    assert_eq!(digest["data"], json!({"type": "digest", "games": "5"}));
    assert_eq!(digest["notification"]["body"], "It is your turn in 5 games.");
    // Its turn and the reminder are of one game.
    let id = fcm.push.urgent_turn(&ana).await;
    let pushed = fcm.push.round().await;
    assert_eq!(asked(&pushed), [(MESSAGES, "Bearer t1")]);
    let reminder = message(&pushed);
    assert_eq!(reminder["data"], json!({"type": "game.deadline_soon", "game_id": id}));
    let (android, apns) = (&reminder["android"], &reminder["apns"]);
    assert_eq!((&android["priority"], &apns["headers"]["apns-priority"]), (&json!("HIGH"), &json!("10")));
    assert_eq!(apns["payload"]["aps"]["sound"], "default");
    let ttl: i64 = android["ttl"].as_str().and_then(|text| text.strip_suffix('s')?.parse().ok()).expect("seconds");
    assert!((43_000..=43_200).contains(&ttl), "{ttl}");
    let expiration = apns["headers"]["apns-expiration"].as_str().and_then(|text| text.parse::<i64>().ok());
    let left = expiration.expect("a time") - now().unix_timestamp();
    assert!((43_000..=43_200).contains(&left), "{left}");
}

#[actix_web::test]
async fn google_gets_the_pause_that_it_asks_for() {
    for status in ["429", "503"] {
        let fcm = FcmApp::start().await;
        fcm.her_turn(TOKEN).await;
        fcm.push.service.will(&[&format!("{status} A\nretry-after: 600\n\n{{}}")]);
        assert_eq!(fcm.push.pushed().await.len(), 2);
        fcm.push.let_pass(590).await;
        assert!(fcm.push.round().await.is_empty());
        fcm.push.let_pass(140).await;
        assert_eq!(asked(&fcm.push.round().await), [(MESSAGES, "Bearer t1")], "{status}");
        assert_eq!(count_rows(&fcm.push.app, "push_device where failures = 0 and paused_until is null").await, 1);
    }
}

#[actix_web::test]
async fn apps_are_registered_by_their_tokens_where_they_are_offered() {
    let fcm = FcmApp::start().await;
    let app = &fcm.push.app;
    assert_eq!(app.get("/v1/push", None).await.body, json!({"kinds": ["fcm"], "web": null}));
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for (field, body) in [
        ("/token", json!({"kind": "fcm"})),
        ("/token", json!({"kind": "fcm", "token": null})),
        ("/token", json!({"kind": "fcm", "token": "a".repeat(15)})),
        ("/token", json!({"kind": "fcm", "token": "a".repeat(1025)})),
        ("/token", json!({"kind": "fcm", "token": format!("{TOKEN}/../a")})),
        ("/token", json!({"kind": "fcm", "token": format!("{TOKEN}é")})),
        (
            "/subscription",
            json!({"kind": "fcm", "token": TOKEN, "subscription": {"endpoint": "https://a.example/",
            "keys": {"p256dh": "", "auth": ""}}}),
        ),
    ] {
        let refused = app.post(PATH, Some(&ana), &body).await;
        refused.is_problem(422, "validation_failed");
        assert!(refused.text.contains(field), "{body} {refused:?}");
    }
    let registration = json!({"kind": "fcm", "token": TOKEN});
    let made = app.post(PATH, Some(&ana), &registration).await;
    assert_eq!((made.status.as_u16(), made.string("/kind")), (201, "fcm".into()));
    assert_eq!(made.string("/service"), fcm.push.service.address.to_string());
    assert!(!made.text.contains(TOKEN), "{made:?}");
    assert_eq!(app.post(PATH, Some(&ana), &registration).await.status, 200);
    // The device belongs to the player who signed in there last.
    assert_eq!(app.post(PATH, Some(&bo), &registration).await.status, 201);
    assert_eq!(count_rows(app, "push_device").await, 1);
    // A server offers what its operator has set up.
    app.post(PATH, Some(&ana), &json!({"kind": "web"})).await.is_problem(409, "push_not_offered");
    for other in [TestApp::start().await, PushApp::start().await.app] {
        let cy = other.guest("Cy").await;
        other.post(PATH, Some(&cy), &registration).await.is_problem(409, "push_not_offered");
    }
    let push = PushApp::start().await;
    let cy = push.app.guest("Cy").await;
    push.app.post(PATH, Some(&cy), &json!({"kind": "web", "token": TOKEN})).await.is_problem(422, "validation_failed");
}

#[test]
fn a_file_that_is_no_service_account_is_refused_and_not_shown() {
    let good = account_file("https://oauth2.googleapis.com/token");
    let fcm = google();
    assert_eq!(fcm.host(), "fcm.googleapis.com");
    for (field, value, word) in [
        ("project_id", json!("../a"), "project_id"),
        ("project_id", json!(""), "project_id"),
        ("private_key", json!("hunter2"), "private_key"),
        ("token_uri", json!(null), "JSON of a service account"),
    ] {
        let mut file = good.clone();
        file[field] = value;
        let reason = ServiceAccount::parse(&file.to_string()).expect_err("a fault");
        assert!(reason.contains(word) && !reason.contains("hunter2"), "{field} {reason}");
    }
}
