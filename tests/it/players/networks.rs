//! The networks of guests and new accounts: stored as hashes, shown to the player alone, and forgotten.

use std::collections::HashSet;

use mancala_server::{db::players, jobs::purge};
use serde_json::json;
use time::Duration;

use crate::support::{
    app::TestApp, calls::Guest, clock::now, database::count_rows, endpoint::Endpoint, webhooks::created,
};

/// What the export of a player says about its network.
async fn exported(app: &TestApp, player: &Guest) -> Option<String> {
    let answer = app.get("/v1/me/export", Some(player)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let network = answer.body.get("network").expect("the export names it");
    network.as_str().map(str::to_owned)
}

#[actix_web::test]
async fn a_guest_is_stored_with_a_hash_of_its_network() {
    let app = TestApp::start_with_networks().await;
    let mut hashes = HashSet::new();
    for (addresses, count) in [
        (&["192.0.2.1", "::ffff:192.0.2.1"][..], 1),
        (&["192.0.2.2"], 2),
        (&["2001:db8:1:2::3", "2001:db8:1:4::5"], 3),
        (&["2001:db8:2::1"], 4),
    ] {
        for address in addresses {
            let hash = exported(&app, &app.guest_at(address).await).await.expect("a hash");
            assert!(hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()), "{hash}");
            hashes.insert(hash);
        }
        assert_eq!(hashes.len(), count, "{addresses:?}");
    }
    assert_eq!(exported(&app, &app.established_account("Ana").await).await, None);
    // Another key gives other hashes.
    let other = TestApp::start_with_networks().await;
    let hash = exported(&other, &other.guest_at("192.0.2.1").await).await.expect("a hash");
    assert!(!hashes.contains(&hash));
    // Without rate limits nothing is stored.
    let unlimited = TestApp::start().await;
    assert_eq!(exported(&unlimited, &unlimited.guest("Ana").await).await, None);
    assert_eq!(exported(&unlimited, &unlimited.account("Bo", "correct horse").await).await, None);
}

#[actix_web::test]
async fn a_network_is_forgotten_with_an_erasure_and_in_time() {
    let app = TestApp::start_with_networks().await;
    let endpoint = Endpoint::start().await;
    let against = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
    let mut guests = vec![];
    for _ in 0..3 {
        let guest = app.guest_at("192.0.2.1").await;
        app.created(&guest, &against).await;
        created(&app, &guest, &endpoint).await;
        guests.push(guest);
    }
    let known = async || {
        let mut counts = vec![];
        for what in [
            "player where network is not null",
            "computer_game where network is not null",
            "webhook where network is not null",
        ] {
            counts.push(count_rows(&app, what).await);
        }
        counts
    };
    assert_eq!(known().await, [3, 3, 3]);
    // A new name and a password change nothing.
    assert_eq!(app.patch("/v1/me", Some(&guests[0]), &json!({"name": "Ana"})).await.status, 200);
    assert_eq!(app.patch("/v1/me", Some(&guests[0]), &json!({"password": "correct horse"})).await.status, 200);
    assert_eq!(known().await, [3, 3, 3]);
    assert_eq!(app.delete_me(&guests[1]).await.status, 204);
    assert_eq!(known().await, [2, 2, 2]);
    let settings = purge::Settings { guest_retention: None };
    for (days, left) in [(89, 2), (91, 0)] {
        let now = now() + Duration::days(days);
        purge::run(&app.db, settings, &mut purge::Guests::default(), now).await.expect("a round");
        assert_eq!(known().await, [left; 3], "after {days} days");
    }
    assert_eq!(players::forget_networks(&app.db, now() + Duration::days(91), 10).await.expect("a database"), 0);
}

#[actix_web::test]
async fn the_guests_of_a_network_share_a_limit_of_webhooks() {
    let app = TestApp::start_with_networks().await;
    let endpoint = Endpoint::start().await;
    let create = async |player: &Guest| app.post("/v1/webhooks", Some(player), &json!({"url": endpoint.url()})).await;
    for _ in 0..2 {
        let guest = app.guest_at("192.0.2.1").await;
        for _ in 0..10 {
            assert_eq!(create(&guest).await.status, 201);
        }
        create(&guest).await.is_problem(409, "too_many_webhooks");
    }
    let refused = create(&app.guest_at("192.0.2.1").await).await;
    refused.is_problem(409, "too_many_webhooks");
    assert!(refused.string("/detail").contains("of one network"), "{refused:?}");
    assert_eq!(create(&app.guest_at("192.0.2.2").await).await.status, 201);
    assert_eq!(create(&app.established_account("Ana").await).await.status, 201);
}
