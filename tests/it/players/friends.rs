//! Friends: asked for, accepted, declined, withdrawn and ended; and what becomes of them with their players.

use std::collections::BTreeSet;

use mancala_server::{
    db::players::{
        self,
        friends::{self, FRIENDS_MAX, RECEIVED_MAX, REQUEST_LIFETIME, REQUESTS_MAX},
    },
    domain::{Level, PlayerId},
};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
};

const PASSWORD: &str = "correct horse";

async fn ask(app: &TestApp, guest: &Guest, player: &str) -> Answer {
    send(signed(app.request(Method::PUT, &format!("/v1/me/friends/{player}")), Some(guest))).await
}

/// Asks, and returns what the two are then.
async fn asked(app: &TestApp, guest: &Guest, other: &Guest) -> String {
    let answer = ask(app, guest, &other.id).await;
    assert_eq!((answer.status.as_u16(), &answer.body["player"]["id"]), (200, &json!(other.id)), "{answer:?}");
    answer.string("/status")
}

async fn end(app: &TestApp, guest: &Guest, player: &str) {
    let answer = send(signed(app.request(Method::DELETE, &format!("/v1/me/friends/{player}")), Some(guest))).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
}

async fn block(app: &TestApp, guest: &Guest, player: &Guest, method: Method) {
    let path = format!("/v1/me/blocks/{}", player.id);
    assert_eq!(send(signed(app.request(method, &path), Some(guest))).await.status, 204);
}

/// Two players that are friends.
async fn befriend(app: &TestApp, one: &Guest, other: &Guest) {
    assert_eq!(asked(app, one, other).await, "asked");
    assert_eq!(asked(app, other, one).await, "friends");
}

fn player(guest: &Guest) -> PlayerId {
    PlayerId(Uuid::try_parse(&guest.id).expect("an id"))
}

fn ids(page: &Answer) -> Vec<String> {
    let items = page.body["items"].as_array().unwrap_or_else(|| panic!("no page: {page:?}"));
    items.iter().map(|item| item["player"]["id"].as_str().expect("an id").to_owned()).collect()
}

async fn list(app: &TestApp, guest: &Guest, status: &str) -> Vec<String> {
    ids(&app.get(&format!("/v1/me/friends?limit=100&status={status}"), Some(guest)).await)
}

/// The names of those that are something to a player: friends, asked, received, declined.
async fn all(app: &TestApp, guest: &Guest) -> [Vec<String>; 4] {
    let mut found = [const { vec![] }; 4];
    for (place, status) in found.iter_mut().zip(["friends", "asked", "received", "declined"]) {
        let page = app.get(&format!("/v1/me/friends?limit=100&status={status}"), Some(guest)).await;
        let items = page.body["items"].as_array().expect("a page");
        assert!(items.iter().all(|item| item["status"] == status));
        *place = items.iter().map(|item| item["player"]["name"].as_str().expect("a name").to_owned()).collect();
        place.sort();
    }
    found
}

fn none() -> [Vec<String>; 4] {
    [const { vec![] }; 4]
}

#[actix_web::test]
async fn a_request_is_accepted_by_asking_back() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.account("Bo", PASSWORD).await);
    let first = ask(&app, &ana, &bo.id).await;
    assert_eq!(first.body["player"], json!({"id": bo.id, "name": "Bo", "kind": "account"}));
    assert_eq!(first.body["status"], "asked");
    // Again: nothing changes.
    assert_eq!(ask(&app, &ana, &bo.id).await.body, first.body);
    assert_eq!(all(&app, &ana).await, [vec![], vec!["Bo".to_owned()], vec![], vec![]]);
    assert_eq!(all(&app, &bo).await, [vec![], vec![], vec!["Ana".to_owned()], vec![]]);
    let accepted = ask(&app, &bo, &ana.id).await;
    assert_eq!(accepted.body["status"], "friends");
    let again = ask(&app, &ana, &bo.id).await;
    assert_eq!((&again.body["status"], &again.body["since"]), (&json!("friends"), &accepted.body["since"]));
    assert_eq!(all(&app, &ana).await, [vec!["Bo".to_owned()], vec![], vec![], vec![]]);
    assert_eq!(all(&app, &bo).await, [vec!["Ana".to_owned()], vec![], vec![], vec![]]);
    for _ in 0..2 {
        end(&app, &ana, &bo.id).await;
        assert_eq!((all(&app, &ana).await, all(&app, &bo).await), (none(), none()));
    }
    // A friendship that has ended can be asked for again.
    assert_eq!(asked(&app, &bo, &ana).await, "asked");
    end(&app, &bo, &ana.id).await;
    assert_eq!(count_rows(&app, "friendship").await, 0);
}

#[actix_web::test]
async fn a_declined_request_looks_like_one_that_waits() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let first = ask(&app, &ana, &bo.id).await;
    end(&app, &bo, &ana.id).await;
    assert_eq!(all(&app, &ana).await, [vec![], vec!["Bo".to_owned()], vec![], vec![]]);
    assert_eq!(ask(&app, &ana, &bo.id).await.body, first.body);
    // A withdrawal does not make a new request of it.
    for _ in 0..2 {
        end(&app, &ana, &bo.id).await;
        assert_eq!(all(&app, &ana).await, none());
        assert_eq!(asked(&app, &ana, &bo).await, "asked");
        assert_eq!(all(&app, &bo).await, [vec![], vec![], vec![], vec!["Ana".to_owned()]]);
    }
    // The player that has declined may think again.
    assert_eq!(asked(&app, &bo, &ana).await, "friends");
    assert_eq!(all(&app, &ana).await, [vec!["Bo".to_owned()], vec![], vec![], vec![]]);
}

#[actix_web::test]
async fn a_request_that_was_withdrawn_is_not_accepted() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    asked(&app, &ana, &bo).await;
    end(&app, &ana, &bo.id).await;
    assert_eq!(asked(&app, &bo, &ana).await, "asked");
    end(&app, &ana, &bo.id).await;
    end(&app, &bo, &ana.id).await;
    // The first request was declined and withdrawn, so a request of the other player is a new one.
    assert_eq!(asked(&app, &ana, &bo).await, "asked");
    assert_eq!(list(&app, &bo, "received").await, [ana.id.as_str()]);
}

#[actix_web::test]
async fn requests_lapse_whether_they_are_declined_or_not() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    befriend(&app, &bo, &cy).await;
    asked(&app, &ana, &bo).await;
    asked(&app, &ana, &cy).await;
    end(&app, &bo, &ana.id).await;
    let later = now() + REQUEST_LIFETIME;
    assert_eq!(friends::purge(&app.db, now() + REQUEST_LIFETIME / 2, 100).await.expect("nothing goes"), 0);
    // Before they are purged, they can be asked again.
    let stored = friends::ask(&app.db, player(&ana), player(&bo), later).await.expect("it is stored");
    assert!(matches!(stored, friends::Asking::Stored(_)));
    assert_eq!(list(&app, &bo, "received").await, [ana.id.as_str()]);
    assert_eq!(friends::purge(&app.db, later, 100).await.expect("one goes"), 1);
    assert_eq!(all(&app, &ana).await, [vec![], vec!["Bo".to_owned()], vec![], vec![]]);
    assert_eq!(list(&app, &bo, "friends").await, [cy.id.as_str()]);
}

#[actix_web::test]
async fn only_another_guest_or_account_can_be_a_friend() {
    let app = TestApp::start().await;
    let (ana, bo, gone) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Gone").await);
    app.delete_me(&gone).await;
    let game = json!({"game": {"variant": "kalah", "seats": {"south": {"name": "Cy"}}}, "moves": [{"move": "A"}]});
    let game = app.post("/v1/games/import", Some(&bo), &game).await.string("/items/0/game_id");
    let imported = app.get_game(&game, Some(&bo)).await.string("/seats/south/id");
    let computer = Level::try_from(3).expect("a level").player().0.to_string();
    for player in [&ana.id, &gone.id, &imported, &computer] {
        ask(&app, &ana, player).await.is_problem(403, "forbidden");
    }
    for player in ["0199aaaa-0000-7000-8000-000000000000", "me", "Bo"] {
        ask(&app, &ana, player).await.is_problem(404, "not_found");
    }
    end(&app, &ana, &gone.id).await;
    assert_eq!(count_rows(&app, "friendship").await, 0);
}

#[actix_web::test]
async fn friends_are_their_players_own() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    befriend(&app, &ana, &bo).await;
    let (gone, stranger) = (app.guest("Gone").await, app.stranger());
    app.delete_me(&gone).await;
    let path = format!("/v1/me/friends/{}", bo.id);
    for (method, path) in [(Method::PUT, path.as_str()), (Method::DELETE, &path), (Method::GET, "/v1/me/friends")] {
        let call = |guest| send(signed(app.request(method.clone(), path), guest));
        call(None).await.is_problem(401, "unauthenticated");
        call(Some(&stranger)).await.is_problem(401, "invalid_token");
        call(Some(&gone)).await.is_problem(401, "invalid_token");
    }
    end(&app, &eve, &ana.id).await;
    assert_eq!(all(&app, &eve).await, none());
    asked(&app, &eve, &bo).await;
    end(&app, &bo, &eve.id).await;
    let words = async |guest: &Guest| {
        let export = app.get("/v1/me/export", Some(guest)).await;
        let items = export.body["friends"].as_array().expect("friends").clone();
        items.iter().map(|item| format!("{} {}", item["player"]["name"], item["status"])).collect::<Vec<_>>()
    };
    assert_eq!(words(&bo).await, [r#""Ana" "friends""#, r#""Eve" "declined""#]);
    assert_eq!(words(&eve).await, [r#""Bo" "asked""#]);
}

#[actix_web::test]
async fn each_list_has_pages_the_last_first() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    let (mut friends, mut received, mut sent) = (vec![], vec![], vec![]);
    for n in 0..15 {
        let bo = app.guest("Bo").await;
        match n % 3 {
            // Half of the friends have asked, half were asked.
            0 if n % 2 == 0 => befriend(&app, &ana, &bo).await,
            0 => befriend(&app, &bo, &ana).await,
            1 => drop(asked(&app, &bo, &ana).await),
            _ => drop(asked(&app, &ana, &bo).await),
        }
        [&mut friends, &mut received, &mut sent][n % 3].insert(0, bo.id);
    }
    for (status, expected) in [("friends", friends), ("received", received), ("asked", sent)] {
        let (mut seen, mut path) = (vec![], format!("/v1/me/friends?limit=2&status={status}"));
        loop {
            let page = app.get(&path, Some(&ana)).await;
            seen.extend(ids(&page));
            let Some(cursor) = page.body["next_cursor"].as_str() else { break };
            let link = page.headers["link"].to_str().expect("text");
            path = link[1..link.find('>').expect("a link ends")].to_owned();
            assert!(path.contains(cursor) && path.contains(status), "{path}");
            app.get(&path, Some(&eve)).await.is_problem(422, "validation_failed");
            let other = path.replace(&format!("status={status}"), "status=declined");
            app.get(&other, Some(&ana)).await.is_problem(422, "validation_failed");
        }
        assert_eq!(seen, expected, "{status}");
    }
    for query in ["limit=0", "limit=101", "cursor=x", "cursor=", "player=me", "status=enemies", "status="] {
        app.get(&format!("/v1/me/friends?{query}"), Some(&ana)).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn two_that_ask_at_once_are_friends_exactly_once() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        let (one, other) = futures_util::future::join(asked(&app, &ana, &bo), asked(&app, &bo, &ana)).await;
        assert_eq!(BTreeSet::from([one.as_str(), &other]), BTreeSet::from(["asked", "friends"]));
        assert_eq!(list(&app, &ana, "friends").await, [bo.id.as_str()]);
        assert_eq!(list(&app, &bo, "friends").await, [ana.id.as_str()]);
    }
    assert_eq!(count_rows(&app, "friendship").await, 10);
}

/// Other players in this relation to a player.
async fn others(app: &TestApp, of: &Guest, number: u32, accepted: Option<&str>) {
    let sql = "with others as (
            insert into player (id, kind, name, created_at) select gen_random_uuid(), 'guest', 'x', now() from generate_series(1, $2)
            returning id
        ) insert into friendship (asker_id, asked_id, asked_at, accepted_at) select $1, id, now(), $3::text::timestamptz from others";
    sqlx::query(sql)
        .bind(player(of).0)
        .bind(i32::try_from(number).expect("a small number"))
        .bind(accepted)
        .execute(&app.db)
        .await
        .expect("friends come");
}

#[actix_web::test]
async fn a_player_has_a_bounded_number_of_friends_and_of_requests() {
    let app = TestApp::start().await;
    let (ana, bo, cy, di) =
        (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await, app.guest("Di").await);
    others(&app, &ana, REQUESTS_MAX - 1, None).await;
    asked(&app, &ana, &bo).await;
    ask(&app, &ana, &cy.id).await.is_problem(409, "too_many_friends");
    // Neither a repetition is refused, nor an answer.
    asked(&app, &ana, &bo).await;
    befriend(&app, &cy, &ana).await;
    // A declined request counts: the asker is not notified of a refusal.
    end(&app, &bo, &ana.id).await;
    ask(&app, &ana, &di.id).await.is_problem(409, "too_many_friends");
    end(&app, &ana, &bo.id).await;
    asked(&app, &ana, &di).await;

    others(&app, &ana, FRIENDS_MAX - 1, Some("2026-01-01")).await;
    let eve = app.guest("Eve").await;
    asked(&app, &eve, &ana).await;
    for (one, other) in [(&ana, &eve), (&di, &ana)] {
        ask(&app, one, &other.id).await.is_problem(409, "too_many_friends");
    }
    end(&app, &ana, &cy.id).await;
    assert_eq!(asked(&app, &di, &ana).await, "friends");
}

#[actix_web::test]
async fn a_bounded_number_of_requests_waits_for_a_player() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let sql = "with others as (
            insert into player (id, kind, name, created_at) select gen_random_uuid(), 'guest', 'x', now() from generate_series(1, $2)
            returning id
        ) insert into friendship (asker_id, asked_id, asked_at) select id, $1, now() from others";
    let number = i32::try_from(RECEIVED_MAX - 1).expect("a small number");
    sqlx::query(sql).bind(player(&ana).0).bind(number).execute(&app.db).await.expect("requests come");
    asked(&app, &bo, &ana).await;
    asked(&app, &cy, &ana).await;
    assert_eq!(list(&app, &ana, "received").await[0], bo.id);
    assert_eq!(list(&app, &ana, "declined").await, [cy.id.as_str()]);
    assert_eq!(asked(&app, &ana, &cy).await, "friends");
}

#[actix_web::test]
async fn a_block_ends_a_friendship_and_is_not_told() {
    let app = TestApp::start().await;
    let (ana, bo, cy, di) =
        (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await, app.guest("Di").await);
    befriend(&app, &bo, &ana).await;
    asked(&app, &cy, &ana).await;
    asked(&app, &ana, &di).await;
    for other in [&bo, &cy, &di] {
        block(&app, &ana, other, Method::PUT).await;
        ask(&app, &ana, &other.id).await.is_problem(403, "forbidden");
    }
    // What the others see is what they see of a player that has withdrawn, declined, or does not answer.
    assert_eq!((all(&app, &bo).await, all(&app, &di).await), (none(), none()));
    assert_eq!(all(&app, &cy).await, [vec![], vec!["Ana".to_owned()], vec![], vec![]]);
    let eve = app.guest("Eve").await;
    for other in [&bo, &cy, &di] {
        let (blocked, free) = (ask(&app, other, &ana.id).await, ask(&app, other, &eve.id).await);
        assert_eq!((blocked.status, &blocked.body["status"]), (free.status, &free.body["status"]));
        assert_eq!(ask(&app, other, &ana.id).await.body, blocked.body);
        assert!(list(&app, other, "asked").await.contains(&ana.id));
    }
    // The request is not among those that Ana has declined either.
    assert_eq!(all(&app, &ana).await, none());
    assert_eq!(app.get("/v1/me/export", Some(&ana)).await.body["friends"], json!([]));
    assert_eq!(list(&app, &ana, "received").await, [] as [&str; 0]);
    assert_eq!(list(&app, &ana, "friends").await, [] as [&str; 0]);
    // After the block it is as if Ana had declined.
    block(&app, &ana, &bo, Method::DELETE).await;
    assert_eq!(asked(&app, &ana, &bo).await, "friends");
}

#[actix_web::test]
async fn a_block_that_comes_and_goes_repeats_no_request() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    asked(&app, &ana, &bo).await;
    end(&app, &bo, &ana.id).await;
    block(&app, &ana, &bo, Method::PUT).await;
    assert_eq!(all(&app, &ana).await, none());
    block(&app, &ana, &bo, Method::DELETE).await;
    asked(&app, &ana, &bo).await;
    assert_eq!(list(&app, &bo, "received").await, [] as [&str; 0]);
}

#[actix_web::test]
async fn a_block_and_a_request_at_once_leave_no_friends() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        asked(&app, &bo, &ana).await;
        let accept = ask(&app, &ana, &bo.id);
        let ((), answer, again) =
            futures_util::future::join3(block(&app, &ana, &bo, Method::PUT), accept, ask(&app, &bo, &ana.id)).await;
        assert!([200, 403].contains(&answer.status.as_u16()), "{answer:?}");
        assert_eq!(again.status, 200);
        assert_eq!((list(&app, &ana, "friends").await, list(&app, &ana, "received").await), (vec![], vec![]));
    }
    assert_eq!(count_rows(&app, "friendship where declined_at is null").await, 0);
}

#[actix_web::test]
async fn an_erasure_leaves_no_friend_and_no_request() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.account("Bo", PASSWORD).await, app.guest("Cy").await);
    befriend(&app, &ana, &bo).await;
    befriend(&app, &bo, &cy).await;
    asked(&app, &ana, &cy).await;
    end(&app, &cy, &ana.id).await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(count_rows(&app, "friendship").await, 1);
    assert_eq!(all(&app, &bo).await, [vec!["Cy".to_owned()], vec![], vec![], vec![]]);
    // The release before knows no friends, and erases so.
    let erased = "update player set kind = 'deleted', name = 'Deleted player' where id = $1::uuid";
    sqlx::query(erased).bind(&cy.id).execute(&app.db).await.expect("the player is erased");
    assert_eq!(count_rows(&app, "friendship").await, 0);

    for _ in 0..10 {
        let di = app.guest("Di").await;
        let (made, own, erased) =
            futures_util::future::join3(ask(&app, &bo, &di.id), ask(&app, &di, &bo.id), app.delete_me(&di)).await;
        assert_eq!(erased.status, 204);
        assert!([200, 403].contains(&made.status.as_u16()), "{made:?}");
        assert!([200, 401].contains(&own.status.as_u16()), "{own:?}");
        assert_eq!(count_rows(&app, "friendship").await, 0);
    }
}

#[actix_web::test]
async fn a_guest_that_is_purged_is_a_friend_no_more() {
    let app = TestApp::start().await;
    befriend(&app, &app.guest("Ana").await, &app.guest("Bo").await).await;
    players::purge_guests(&app.db, now() + time::Duration::days(400), None, 100).await.expect("guests go");
    assert_eq!(count_rows(&app, "friendship").await, 0);
}

#[actix_web::test]
async fn an_account_takes_a_guests_friends_along() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Ana as a guest").await, app.account("Ana", PASSWORD).await);
    let mut others = vec![];
    for name in ["Bo", "Cy", "Di", "Ed", "Flo", "Gus"] {
        others.push(app.guest(name).await);
    }
    let [bo, cy, di, ed, flo, gus] = &others[..] else { panic!("six others") };
    befriend(&app, &guest, bo).await;
    befriend(&app, &guest, &ana).await;
    // A friend of the guest whom the account has asked becomes its friend. If both directions are asked, the account's request
    // stays.
    befriend(&app, cy, &guest).await;
    asked(&app, &ana, cy).await;
    asked(&app, &guest, di).await;
    asked(&app, di, &ana).await;
    asked(&app, ed, &guest).await;
    end(&app, &guest, &ed.id).await;
    // Blocks of either keep friends of the other away.
    befriend(&app, &guest, flo).await;
    block(&app, &ana, flo, Method::PUT).await;
    befriend(&app, &ana, gus).await;
    block(&app, gus, &guest, Method::PUT).await;
    // A request that waits goes on to look so for the asker.
    let hal = app.guest("Hal").await;
    asked(&app, &hal, &guest).await;
    block(&app, &ana, &hal, Method::PUT).await;
    for _ in 0..2 {
        let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
        assert_eq!(merged.status, 200, "{merged:?}");
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        assert_eq!(all(&app, &ana).await, [names(&["Bo", "Cy"]), vec![], names(&["Di"]), names(&["Ed"])]);
        assert_eq!(all(&app, bo).await, [names(&["Ana"]), vec![], vec![], vec![]]);
        assert_eq!(all(&app, ed).await, [vec![], names(&["Ana"]), vec![], vec![]]);
        assert_eq!((all(&app, flo).await, all(&app, gus).await), (none(), none()));
        assert_eq!(all(&app, &hal).await, [vec![], names(&["Ana"]), vec![], vec![]]);
    }
    let of_guest: i64 = sqlx::query_scalar("select count(*) from friendship where $1::uuid in (asker_id, asked_id)")
        .bind(&guest.id)
        .fetch_one(&app.db)
        .await
        .expect("a count");
    assert_eq!(of_guest, 0);
    ask(&app, bo, &guest.id).await.is_problem(403, "forbidden");
    assert_eq!(
        app.get("/v1/me/friends?status=asked", Some(bo)).await.body,
        json!({"items": [], "next_cursor": Value::Null})
    );
}
