//! The networks from which an account is signed in to: they have places among those who sign in, and are forgotten.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use mancala_server::jobs::purge;
use reqwest::{Client, Method};
use serde_json::json;
use time::Duration;

use crate::support::{
    answer::Answer,
    app::{TestApp, behind_proxy},
    calls::{Guest, send},
    clock::{now, until},
    database::count_rows,
};

const HOME: &str = "192.0.2.1";
const PASSWORD: &str = "correct horse";

/// Signs in at a server, from an address.
async fn sign_in(base: &str, address: &str, name: &str, password: &str) -> Answer {
    let body = json!({"grant_type": "password", "name": name, "password": password});
    send(Client::new().post(format!("{base}/v1/tokens")).header("x-forwarded-for", address).json(&body)).await
}

async fn networks(app: &TestApp, account: &Guest) -> usize {
    let export = app.get("/v1/me/export", Some(account)).await.body;
    export["sign_in_networks"].as_array().expect("the export has them").len()
}

#[actix_web::test]
async fn strangers_of_many_networks_leave_a_known_one_its_place() {
    let app = TestApp::start_with(behind_proxy).await;
    app.account_at("Ana", HOME).await;
    let (base, is_over, refused) = (app.base(), AtomicBool::new(false), AtomicUsize::new(0));
    let guess = async |n: usize| {
        while !is_over.load(Ordering::Relaxed) {
            let guessed = sign_in(&base, &format!("10.{n}.0.1"), &format!("None {n}"), "battery staple").await;
            if guessed.status == 503 {
                guessed.is_problem(503, "unavailable");
                assert!(guessed.headers.contains_key("retry-after"), "{guessed:?}");
                refused.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let honest = async {
        until("guesses are refused", || refused.load(Ordering::Relaxed) >= 100).await;
        let mut statuses = vec![];
        for _ in 0..10 {
            statuses.push(sign_in(&base, HOME, "Ana", PASSWORD).await.status.as_u16());
        }
        is_over.store(true, Ordering::Relaxed);
        statuses
    };
    let (statuses, _) = tokio::join!(honest, join_all((0..200).map(guess)));
    assert_eq!(statuses, [200; 10]);
}

#[actix_web::test]
async fn a_network_is_known_to_every_server() {
    let app = TestApp::start_with(behind_proxy).await;
    app.account_at("Ana", HOME).await;
    let (second, _) = app.second_server_with(behind_proxy);
    let base = format!("http://{second}");
    for n in 0..25 {
        sign_in(&base, &format!("198.51.100.{n}"), "Ana", "battery staple").await;
    }
    assert_eq!(sign_in(&base, HOME, "Ana", PASSWORD).await.status, 200);
}

#[actix_web::test]
async fn the_last_three_networks_of_an_account_are_kept_for_90_days() {
    let app = TestApp::start_with(behind_proxy).await;
    let (ana, bo) = (app.account_at("Ana", HOME).await, app.account_at("Bo", HOME).await);
    assert_eq!(networks(&app, &ana).await, 1);
    assert_eq!(count_rows(&app, "(select distinct network from sign_in_network) as hashes").await, 2);
    for address in ["2001:db8:1:1::1", "2001:db8:1:2::1", "192.0.2.2", "192.0.2.3", HOME] {
        assert_eq!(sign_in(&app.base(), address, "Ana", "battery staple").await.status, 401);
        assert_eq!(sign_in(&app.base(), address, "Ana", PASSWORD).await.status, 200);
        assert!(networks(&app, &ana).await <= 3);
    }
    assert_eq!(networks(&app, &ana).await, 3);
    // A recovery code, and a password of a former guest.
    let cleo = app.guest_at("192.0.2.9").await;
    let request = app.request(Method::PATCH, "/v1/me").header("x-forwarded-for", "192.0.2.9");
    let changed = send(request.bearer_auth(&cleo.token).json(&json!({"name": "Cleo", "password": PASSWORD}))).await;
    let cleo = Guest { token: changed.string("/tokens/access_token"), ..cleo };
    assert_eq!(networks(&app, &cleo).await, 1);
    assert_eq!(app.delete_me(&bo).await.status, 204);
    assert_eq!(count_rows(&app, "sign_in_network").await, 4);
    let settings = purge::Settings { guest_retention: None };
    for (days, left) in [(89, 4), (91, 0)] {
        let later = now() + Duration::days(days);
        purge::run(&app.db, settings, &mut purge::Guests::default(), later).await.expect("a round");
        assert_eq!(count_rows(&app, "sign_in_network").await, left);
    }
    // Without rate limits nothing is stored.
    let unlimited = TestApp::start().await;
    unlimited.account("Ana", PASSWORD).await;
    assert_eq!(count_rows(&unlimited, "sign_in_network").await, 0);
}
