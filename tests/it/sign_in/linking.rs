//! Identities of a player: linked, unlinked but for the last way in, and what becomes of them with the player.

use std::net::SocketAddr;

use mancala_server::webhook::Reach;
use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    database::{count_rows, until_lock_wait},
    issuer::{BACK_2, StubIssuer, player_of},
};

const PASSWORD: &str = "correct horse";

async fn identities(app: &TestApp, player: &Guest) -> Vec<String> {
    let list = app.get("/v1/me/identities", Some(player)).await;
    assert_eq!(list.status, 200, "{list:?}");
    let items = list.body["items"].as_array().expect("items").clone();
    items.iter().map(|item| item["issuer"].as_str().expect("an id").to_owned()).collect()
}

async fn merge(app: &TestApp, account: &Guest, guest: &Guest) -> Answer {
    app.post("/v1/me/merge", Some(account), &json!({"guest_token": guest.token})).await
}

#[actix_web::test]
async fn a_guest_that_links_an_identity_comes_back_by_it() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let ana = app.guest("Ana").await;
    assert_eq!(identities(&app, &ana).await, [""; 0]);
    let linked = app.link(&issuer, "person", &ana).await;
    assert_eq!(
        (linked.status.as_u16(), linked.string("/issuer"), linked.string("/name")),
        (201, "stub".to_owned(), "Stub".to_owned())
    );
    let again = app.link(&issuer, "person", &ana).await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &linked.body));
    assert_eq!(identities(&app, &ana).await, ["stub"]);
    let signed_in = app.sign_in_by(&issuer, "person").await;
    assert_eq!((signed_in.status.as_u16(), player_of(&signed_in).id), (200, ana.id.clone()));
    app.link(&issuer, "another person", &ana).await.is_problem(409, "identity_taken");
    let bo = app.guest("Bo").await;
    app.link(&issuer, "person", &bo).await.is_problem(409, "identity_taken");
    assert_eq!(count_rows(&app, "player_identity").await, 1);
    assert_eq!(app.get("/v1/me/export", Some(&ana)).await.body["identities"], json!([linked_export(&issuer, &linked)]));
    app.get("/v1/me/identities", None).await.is_problem(401, "unauthenticated");
}

fn linked_export(issuer: &StubIssuer, linked: &Answer) -> Value {
    json!({"issuer": issuer.url(), "since": linked.string("/since")})
}

#[actix_web::test]
async fn the_last_way_in_is_not_unlinked() {
    let issuers = [StubIssuer::start(), StubIssuer::start()];
    let app = StubIssuer::app_of(&issuers).await;
    let ana = player_of(&app.sign_in_by(&issuers[0], "person").await);
    app.unlink("other", &ana).await.is_problem(404, "not_found");
    app.unlink("stub-2", &ana).await.is_problem(404, "not_found");
    // The recovery code is no way in that counts: it may never have been written down.
    app.unlink("stub", &ana).await.is_problem(409, "last_way_in");
    let begun = app.post("/v1/sign-in/stub-2", Some(&ana), &json!({"redirect_uri": BACK_2})).await;
    let (code, state) = issuers[1].authorize(&begun.string("/authorization_url"), "the same person");
    let body = json!({"session": begun.string("/session"), "state": state, "code": code});
    app.put("/v1/me/identities/stub", Some(&ana), &body).await.is_problem(401, "sign_in_refused");
    assert_eq!(app.put("/v1/me/identities/stub-2", Some(&ana), &body).await.status, 201);
    assert_eq!(identities(&app, &ana).await, ["stub", "stub-2"]);
    // If both are unlinked at the same moment, one stays.
    let both = futures_util::future::join(app.unlink("stub", &ana), app.unlink("stub-2", &ana)).await;
    let mut statuses = [both.0.status.as_u16(), both.1.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [204, 409], "{both:?}");
    let left = identities(&app, &ana).await;
    assert_eq!(left.len(), 1);
    // With a password it may go as well.
    let changed = app.patch("/v1/me", Some(&ana), &json!({"name": "Ana", "password": PASSWORD})).await;
    let ana = Guest { id: ana.id, token: changed.string("/tokens/access_token") };
    assert_eq!(identities(&app, &ana).await, left, "a password leaves identities as they are");
    assert_eq!(app.unlink(&left[0], &ana).await.status, 204);
    app.unlink(&left[0], &ana).await.is_problem(404, "not_found");
    assert_eq!(identities(&app, &ana).await, [""; 0]);
    assert_ne!(player_of(&app.sign_in_by(&issuers[0], "person").await).id, ana.id, "the person is a new player");
}

#[actix_web::test]
async fn a_link_that_waits_for_another_sees_whose_it_is() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for (owner, status, detail) in [(&bo, 409, Some("the identity is another player's")), (&ana, 200, None)] {
        let back = app.back_from(&issuer, "person", Some(&ana)).await.body();
        let mut holder = app.db.begin().await.expect("a connection");
        let subject: [u8; 32] = Sha256::digest(format!("{}\0person", issuer.url())).into();
        let stored = sqlx::query("insert into player_identity values ($1, $2, $3, now())");
        let stored = stored.bind(issuer.url()).bind(&subject[..]).bind(Uuid::try_parse(&owner.id).expect("an id"));
        stored.execute(&mut *holder).await.expect("it is stored");
        let release = async {
            until_lock_wait(&app).await;
            holder.commit().await.expect("it is stored");
        };
        let linking = app.put("/v1/me/identities/stub", Some(&ana), &back);
        let (linked, ()) = futures_util::future::join(linking, release).await;
        assert_eq!(linked.status.as_u16(), status, "{linked:?}");
        assert!(detail.is_none_or(|detail| linked.string("/detail").starts_with(detail)), "{linked:?}");
        sqlx::query("delete from player_identity").execute(&app.db).await.expect("it is gone");
    }
}

#[actix_web::test]
async fn a_link_needs_the_credentials_with_which_it_began() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let ana = app.account("Ana", PASSWORD).await;
    let back = app.back_from(&issuer, "person", Some(&ana)).await.body();
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    let path = "/v1/me/identities/stub";
    app.put(path, Some(&ana), &back).await.is_problem(401, "invalid_token");
    let fresh = Guest { id: ana.id, token: changed.string("/tokens/access_token") };
    app.put(path, Some(&fresh), &back).await.is_problem(401, "sign_in_refused");
    assert_eq!(count_rows(&app, "player_identity").await, 0);
}

#[actix_web::test]
async fn a_merged_guest_brings_its_identity_along() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let ana = app.account("Ana", PASSWORD).await;
    let guest = player_of(&app.sign_in_by(&issuer, "person").await);
    assert_eq!(merge(&app, &ana, &guest).await.status, 200);
    assert_eq!(player_of(&app.sign_in_by(&issuer, "person").await).id, ana.id);
    // If both have an identity of the same issuer, the account's stays, and the guest's goes.
    let second = player_of(&app.sign_in_by(&issuer, "another person").await);
    assert_eq!(merge(&app, &ana, &second).await.status, 200);
    assert_eq!(count_rows(&app, "player_identity").await, 1);
    let third = app.sign_in_by(&issuer, "another person").await;
    assert_eq!(third.status, 201);
    assert!(![ana.id, second.id].contains(&player_of(&third).id));
}

#[actix_web::test]
async fn an_erased_player_leaves_no_identity() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let ana = player_of(&app.sign_in_by(&issuer, "person").await);
    let back = app.back_from(&issuer, "another person", Some(&ana)).await.body();
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(count_rows(&app, "player_identity").await, 0);
    app.put("/v1/me/identities/stub", Some(&ana), &back).await.is_problem(401, "invalid_token");
    let anew = app.sign_in_by(&issuer, "person").await;
    assert_eq!(anew.status, 201);
    assert_ne!(player_of(&anew).id, ana.id);
}

#[actix_web::test]
async fn a_player_with_an_identity_may_sign_out_everywhere() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let first = app.sign_in_by(&issuer, "person").await;
    let ana = player_of(&first);
    let all = send(signed(app.request(Method::DELETE, "/v1/me/sign-ins"), Some(&ana))).await;
    assert_eq!(all.status, 204, "{all:?}");
    app.refresh(&first.string("/refresh_token")).await.is_problem(401, "invalid_token");
    let again = app.sign_in_by(&issuer, "person").await;
    assert_eq!((again.status.as_u16(), player_of(&again).id), (200, ana.id));
    // A stolen refresh token ends the sign-in, as of an account.
    let old = again.string("/refresh_token");
    let next = app.refresh(&old).await.string("/refresh_token");
    let last = app.refresh(&next).await.string("/refresh_token");
    app.refresh(&old).await.is_problem(401, "refresh_token_reused");
    app.refresh(&last).await.is_problem(401, "invalid_token");
}

/// Calls of a second server on the same database, with a player's token.
async fn call(address: SocketAddr, method: Method, path: &str, player: &Guest) -> Answer {
    send(signed(reqwest::Client::new().request(method, format!("http://{address}{path}")), Some(player))).await
}

#[actix_web::test]
async fn an_issuer_that_is_not_offered_is_listed_and_no_way_in() {
    let issuers = [StubIssuer::start(), StubIssuer::start()];
    let app = StubIssuer::app_of(&issuers).await;
    let ana = player_of(&app.sign_in_by(&issuers[0], "person").await);
    let begun = app.post("/v1/sign-in/stub-2", Some(&ana), &json!({"redirect_uri": BACK_2})).await;
    let (code, state) = issuers[1].authorize(&begun.string("/authorization_url"), "the same person");
    let body = json!({"session": begun.string("/session"), "state": state, "code": code});
    assert_eq!(app.put("/v1/me/identities/stub-2", Some(&ana), &body).await.status, 201);
    // The operator takes the second issuer out of the file.
    let (address, _) = app.second_server_with(|service| service.issuers = issuers[0].issuers(Reach::Anywhere));
    let list = call(address, Method::GET, "/v1/me/identities", &ana).await;
    let key = list.string("/items/1/issuer");
    assert!(key.starts_with("url_") && key.len() == 36, "{key}");
    let item = |n: usize| {
        let item = &list.body["items"][n];
        (item["issuer"].clone(), item["name"].clone(), item["is_offered"].clone())
    };
    assert_eq!(item(0), (json!("stub"), json!("Stub"), json!(true)));
    assert_eq!(item(1), (json!(key), json!(issuers[1].url()), json!(false)));
    // An issuer that is not offered is no way in: the last offered one stays, and the other may go.
    let unlink = async |name: &str| call(address, Method::DELETE, &format!("/v1/me/identities/{name}"), &ana).await;
    unlink("stub").await.is_problem(409, "last_way_in");
    unlink("stub-2").await.is_problem(404, "not_found");
    let other = if key.ends_with('0') { '1' } else { '0' };
    unlink(&format!("{}{other}", &key[..35])).await.is_problem(404, "not_found");
    assert_eq!(unlink(&key).await.status, 204);
    unlink(&key).await.is_problem(404, "not_found");
    // An issuer that is not offered may go even if it is the only one.
    let nothing = app.second_server_with(|_| {}).0;
    let list = call(nothing, Method::GET, "/v1/me/identities", &ana).await;
    let path = format!("/v1/me/identities/{}", list.string("/items/0/issuer"));
    assert_eq!(call(nothing, Method::DELETE, &path, &ana).await.status, 204);
    assert_eq!(count_rows(&app, "player_identity").await, 0);
}

#[actix_web::test]
async fn a_new_password_unlinks_what_a_thief_has_linked_if_it_is_asked_to() {
    let issuer = StubIssuer::start();
    let app = issuer.app().await;
    let ana = app.account("Ana", PASSWORD).await;
    assert_eq!(app.link(&issuer, "thief", &ana).await.status, 201);
    let alone = app.patch("/v1/me", Some(&ana), &json!({"unlink_identities": true})).await;
    alone.is_problem(422, "validation_failed");
    assert_eq!(alone.body["errors"][0]["pointer"], "/unlink_identities");
    let kept = app.patch("/v1/me", Some(&ana), &json!({"password": "battery staple"})).await;
    assert_eq!(
        (count_rows(&app, "player_identity").await, &kept.body["tokens"]["unlinked_identities"]),
        (1, &Value::Null)
    );
    let ana = Guest { id: ana.id, token: kept.string("/tokens/access_token") };
    let ask = json!({"password": "correct staple", "unlink_identities": true});
    let changed = app.patch("/v1/me", Some(&ana), &ask).await;
    assert_eq!((changed.status.as_u16(), &changed.body["tokens"]["unlinked_identities"]), (200, &json!(1)));
    assert_ne!(player_of(&app.sign_in_by(&issuer, "thief").await).id, ana.id, "the thief is a new player");
}
