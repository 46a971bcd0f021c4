//! Devices: registered, listed, removed, bounded, and gone with their players.

use mancala_server::webhook::{Ports, Reach};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    database::count_rows,
    push::{PushApp, web_push},
    push_service::Browser,
};

const PATH: &str = "/v1/me/devices";

async fn devices(app: &TestApp, player: &Guest) -> Vec<Value> {
    let listed = app.get(PATH, Some(player)).await;
    assert_eq!((listed.status.as_u16(), &listed.body["next_cursor"]), (200, &Value::Null), "{listed:?}");
    listed.body["items"].as_array().expect("items").clone()
}

async fn delete(app: &TestApp, player: &Guest, id: &str) -> u16 {
    send(signed(app.request(Method::DELETE, &format!("{PATH}/{id}")), Some(player))).await.status.as_u16()
}

#[actix_web::test]
async fn a_server_that_is_not_set_up_offers_nothing_and_says_so() {
    let push = PushApp::start().await;
    let app = TestApp::start().await;
    assert_eq!(app.get("/v1/push", None).await.body, json!({"kinds": [], "web": null}));
    let ana = app.guest("Ana").await;
    let registration = Browser::at(&push.service, "a").registration();
    app.post(PATH, Some(&ana), &registration).await.is_problem(409, "push_not_offered");
    assert_eq!(devices(&app, &ana).await, [] as [Value; 0]);
    let offered = push.app.get("/v1/push", None).await.body;
    assert_eq!(offered, json!({"kinds": ["web"], "web": {"public_key": push.public_key()}}));
    let bo = push.app.guest("Bo").await;
    push.app.post(PATH, Some(&bo), &json!({"kind": "fax"})).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_device_is_registered_once_listed_to_its_player_and_removed() {
    let push = PushApp::start().await;
    let app = &push.app;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut registration = Browser::at(&push.service, "a").registration();
    let made = app.post(PATH, Some(&ana), &registration).await;
    assert_eq!(
        (made.status.as_u16(), made.string("/kind"), made.string("/language")),
        (201, "web".into(), "en".into())
    );
    assert_eq!(made.string("/service"), push.service.address.to_string());
    assert!(!made.text.contains("p256dh") && !made.text.contains("http"), "{made:?}");
    registration["language"] = json!("de");
    let again = app.post(PATH, Some(&ana), &registration).await;
    assert_eq!((again.status.as_u16(), again.string("/language")), (200, "de".into()));
    let id = made.string("/id");
    assert_eq!(again.string("/id"), id);
    assert_eq!((devices(app, &ana).await, devices(app, &bo).await.len()), (vec![again.body], 0));
    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(export.body["devices"][0]["id"], json!(id));
    for (player, path, status) in [(&bo, id.as_str(), 404), (&ana, "x", 404), (&ana, &id, 204), (&ana, &id, 404)] {
        assert_eq!(delete(app, player, path).await, status, "{path}");
    }
    assert_eq!(devices(app, &ana).await, [] as [Value; 0]);
}

#[actix_web::test]
async fn a_browser_belongs_to_the_player_who_signed_in_last() {
    let push = PushApp::start().await;
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    let registration = Browser::at(&push.service, "a").registration();
    let of_ana = push.register(&ana, &registration).await;
    let of_bo = push.register(&bo, &registration).await;
    assert_ne!(of_ana, of_bo);
    assert_eq!((devices(&push.app, &ana).await.len(), devices(&push.app, &bo).await.len()), (0, 1));
}

#[actix_web::test]
async fn addresses_that_point_inside_and_keys_that_are_none_are_refused() {
    let app = TestApp::start_with(|service| {
        service.settings.push = web_push();
        service.settings.webhook_reach = Reach::Public(Ports::HTTPS);
    })
    .await;
    let push = PushApp::start().await;
    let ana = app.guest("Ana").await;
    let mut good = Browser::at(&push.service, "a").registration();
    for endpoint in [
        "",
        "a",
        "http://push.example/a",
        "https://127.0.0.1/a",
        "https://2130706433/a",
        "https://[::1]/a",
        "https://[::ffff:10.0.0.1]/a",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/a",
        "https://postgres/a",
        "https://metadata.google.internal/",
        "https://push.example:5432/a",
        "https://a:b@push.example/a",
        "https://push.example/a#b",
        "file:///etc/passwd",
    ] {
        good["subscription"]["endpoint"] = json!(endpoint);
        let refused = app.post(PATH, Some(&ana), &good).await;
        refused.is_problem(422, "validation_failed");
        assert!(refused.text.contains("/subscription/endpoint"), "{endpoint} {refused:?}");
    }
    good["subscription"]["endpoint"] = json!("https://push.example/a");
    let point = good["subscription"]["keys"]["p256dh"].as_str().expect("a key").to_owned();
    let off_the_curve = format!("{}{}", &point[..80], if &point[80..] == "AAAAAAA" { "AAAAAAB" } else { "AAAAAAA" });
    for (field, value) in [
        ("p256dh", json!("")),
        ("p256dh", json!("!")),
        ("p256dh", json!(&point[..86])),
        ("p256dh", json!(off_the_curve)),
        ("p256dh", json!("B".repeat(10_000))),
        ("auth", json!("")),
        ("auth", json!("AAAA")),
        ("auth", json!(1)),
    ] {
        let mut body = good.clone();
        body["subscription"]["keys"][field] = value;
        let refused = app.post(PATH, Some(&ana), &body).await;
        refused.is_problem(422, "validation_failed");
        assert!(refused.text.contains(&format!("/subscription/keys/{field}")), "{refused:?}");
    }
    for body in [json!({}), json!({"kind": "web"}), json!({"kind": "sms"}), json!({"kind": "web", "subscription": {}})]
    {
        app.post(PATH, Some(&ana), &body).await.is_problem(422, "validation_failed");
    }
    let mut body = good.clone();
    body["language"] = json!("tlh");
    app.post(PATH, Some(&ana), &body).await.is_problem(422, "validation_failed");
    assert_eq!(app.post(PATH, Some(&ana), &good).await.status, 201);
}

#[actix_web::test]
async fn a_player_has_ten_devices_and_a_network_of_guests_two_hundred() {
    let push = PushApp::start().await;
    let ana = push.app.guest("Ana").await;
    let mut registrations = vec![];
    for n in 0..10 {
        registrations.push(Browser::at(&push.service, &format!("{n}")).registration());
        push.register(&ana, &registrations[n]).await;
    }
    let eleventh = Browser::at(&push.service, "10").registration();
    push.app.post(PATH, Some(&ana), &eleventh).await.is_problem(409, "too_many_devices");
    // A device that is there already does not count again.
    assert_eq!(push.app.post(PATH, Some(&ana), &registrations[3]).await.status, 200);
    // With new keys it takes its own place.
    let renewed = Browser::at(&push.service, "3").registration();
    assert_eq!(push.app.post(PATH, Some(&ana), &renewed).await.status, 201);
    let oldest = devices(&push.app, &ana).await[9]["id"].as_str().expect("an id").to_owned();
    assert_eq!(delete(&push.app, &ana, &oldest).await, 204);
    push.register(&ana, &eleventh).await;

    let network = "00000000-0000-0000-0102-030405060708";
    for statement in [
        "update player set network = $1::uuid where kind = 'guest'",
        "insert into push_device (id, player_id, kind, address, address_hash, host, language, created_at, network)
            select gen_random_uuid(), id, 'web', n::text, sha256(n::text::bytea), '', 'en', now(), $1::uuid
            from player, generate_series(1, 200) as n where kind = 'guest'",
        "delete from push_device where network is null and $1::uuid is not null",
    ] {
        sqlx::query(statement)
            .bind(network.parse::<uuid::Uuid>().expect("an id"))
            .execute(&push.app.db)
            .await
            .expect("it is done");
    }
    let bo = push.app.guest("Bo").await;
    sqlx::query("update player set network = (select network from push_device limit 1) where name = 'Bo'")
        .execute(&push.app.db)
        .await
        .expect("it is of the network");
    push.app.post(PATH, Some(&bo), &eleventh).await.is_problem(409, "too_many_devices");
    // With the network of the player, that of its devices is forgotten.
    let forget = sqlx::query("update player set network = null where network is not null");
    forget.execute(&push.app.db).await.expect("rows");
    assert_eq!(count_rows(&push.app, "push_device where network is not null").await, 0);
}

#[actix_web::test]
async fn a_new_password_and_signing_out_everywhere_remove_the_devices() {
    let push = PushApp::start().await;
    let app = &push.app;
    let guest = app.guest("Ana").await;
    push.browser(&guest, "a").await;
    let first = app.patch("/v1/me", Some(&guest), &json!({"password": "correct horse"})).await;
    let ana = Guest { id: guest.id, token: first.string("/tokens/access_token") };
    assert_eq!(devices(app, &ana).await.len(), 1, "a guest who becomes an account is the same at the same device");
    let second = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    let ana = Guest { token: second.string("/tokens/access_token"), ..ana };
    assert_eq!(devices(app, &ana).await.len(), 0);
    push.browser(&ana, "a").await;
    let out = send(signed(app.request(Method::DELETE, "/v1/me/sign-ins"), Some(&ana))).await;
    assert_eq!((out.status.as_u16(), count_rows(app, "push_device").await), (204, 0), "{out:?}");
}

#[actix_web::test]
async fn an_erased_player_leaves_no_device_and_nothing_that_waits() {
    let push = PushApp::start().await;
    let (ana, bo) = (push.app.guest("Ana").await, push.app.guest("Bo").await);
    push.browser(&ana, "a").await;
    push.browser(&bo, "b").await;
    push.app.started_between(&ana, &bo, &json!({})).await;
    push.convert().await;
    assert_eq!((count_rows(&push.app, "push_device").await, count_rows(&push.app, "push_notice").await), (2, 1));
    assert_eq!(push.app.delete_me(&ana).await.status, 204);
    assert_eq!((count_rows(&push.app, "push_device").await, count_rows(&push.app, "push_notice").await), (1, 0));
}

#[actix_web::test]
async fn an_account_takes_along_the_devices_of_a_guest_the_newest_ten() {
    let push = PushApp::start().await;
    let app = &push.app;
    let (guest, bo) = (app.guest("Guest").await, app.guest("Bo").await);
    let ana = app.account("Ana", "correct horse").await;
    for n in 0..6 {
        push.browser(&ana, &format!("a{n}")).await;
        push.browser(&guest, &format!("g{n}")).await;
    }
    let id = app.started_between(&bo, &ana, &json!({})).await;
    let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    assert_eq!((devices(app, &ana).await.len(), count_rows(app, "push_device").await), (10, 10));
    app.played(&id, &bo, 1, "A").await;
    let mut paths: Vec<_> = push.pushed().await.into_iter().map(|pushed| pushed.path).collect();
    paths.sort();
    let expected: Vec<_> = ["a", "g"].iter().flat_map(|of| (1..6).map(move |n| format!("/{of}{n}"))).collect();
    assert_eq!(paths, expected);
}

/// The tokens of a new sign-in of an account.
async fn sign_in(app: &TestApp, account: &Guest) -> (Guest, Answer) {
    let body = json!({"grant_type": "password", "name": "Ana", "password": "correct horse"});
    let tokens = app.post("/v1/tokens", None, &body).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    (Guest { id: account.id.clone(), token: tokens.string("/access_token") }, tokens)
}

#[actix_web::test]
async fn a_device_goes_with_the_sign_in_that_registered_it() {
    let push = PushApp::start().await;
    let app = &push.app;
    let ana = app.account("Ana", "correct horse").await;
    push.browser(&ana, "own").await;
    for way in ["sign_in", "token", "reuse"] {
        let (thief, tokens) = sign_in(app, &ana).await;
        let browser = push.browser(&thief, way).await;
        let first = tokens.string("/refresh_token");
        let second = app.refresh(&first).await.string("/refresh_token");
        app.refresh(&second).await;
        assert_eq!(devices(app, &ana).await.len(), 2, "new tokens of a sign-in leave its devices");
        match way {
            "sign_in" => {
                let path = format!("/v1/me/sign-ins/{}", tokens.string("/sign_in_id"));
                let ended = send(signed(app.request(Method::DELETE, &path), Some(&ana))).await;
                assert_eq!(ended.status, 204, "{ended:?}");
            }
            "token" => {
                let revoked = app.post("/v1/tokens/revoke", None, &json!({"token": second})).await;
                assert_eq!(revoked.status, 200, "{revoked:?}");
            }
            _ => app.refresh(&first).await.is_problem(401, "refresh_token_reused"),
        }
        assert_eq!(devices(app, &ana).await.len(), 1, "{way}");
        // The access token is good for minutes, but registers nothing any more.
        app.post(PATH, Some(&thief), &browser.registration()).await.is_problem(401, "invalid_token");
        assert_eq!(count_rows(app, "push_device").await, 1, "{way}");
    }
}

#[actix_web::test]
async fn a_device_is_of_the_sign_in_that_registered_it_last() {
    let push = PushApp::start().await;
    let app = &push.app;
    let ana = app.account("Ana", "correct horse").await;
    let ((first, one), (second, two)) = (sign_in(app, &ana).await, sign_in(app, &ana).await);
    let browser = push.browser(&first, "a").await;
    push.register(&second, &browser.registration()).await;
    for (tokens, left) in [(one, 1), (two, 0)] {
        let path = format!("/v1/me/sign-ins/{}", tokens.string("/sign_in_id"));
        assert_eq!(send(signed(app.request(Method::DELETE, &path), Some(&ana))).await.status, 204);
        assert_eq!(devices(app, &ana).await.len(), left);
    }
    // What is left of a guest's sign-ins does not take its devices along.
    let guest = app.guest("Bo").await;
    push.browser(&guest, "b").await;
    app.patch("/v1/me", Some(&guest), &json!({"password": "correct horse"})).await;
    sqlx::query("delete from refresh_family").execute(&app.db).await.expect("they have expired");
    assert_eq!(count_rows(app, "push_device").await, 1);
}
