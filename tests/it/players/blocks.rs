//! The list of blocked players: who can be blocked, and what becomes of blocks with their players.

use std::collections::BTreeSet;

use mancala_server::{
    db::players::{self, blocks::BLOCKS_MAX},
    domain::Level,
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

async fn block(app: &TestApp, blocker: &Guest, player: &str) -> Answer {
    send(signed(app.request(Method::PUT, &format!("/v1/me/blocks/{player}")), Some(blocker))).await
}

async fn unblock(app: &TestApp, blocker: &Guest, player: &str) -> Answer {
    send(signed(app.request(Method::DELETE, &format!("/v1/me/blocks/{player}")), Some(blocker))).await
}

/// The ids of the blocked players on a page.
fn blocked(page: &Answer) -> Vec<String> {
    let items = page.body["items"].as_array().unwrap_or_else(|| panic!("no page: {page:?}"));
    items.iter().map(|item| item["player"]["id"].as_str().expect("an id").to_owned()).collect()
}

async fn list(app: &TestApp, guest: &Guest) -> Vec<String> {
    blocked(&app.get("/v1/me/blocks?limit=100", Some(guest)).await)
}

/// All blocks, by the ids of the players.
async fn rows(app: &TestApp) -> BTreeSet<(String, String)> {
    let rows = sqlx::query_as("select blocker_id::text, blocked_id::text from player_block").fetch_all(&app.db).await;
    rows.expect("blocks are read").into_iter().collect()
}

#[actix_web::test]
async fn blocked_players_are_listed_last_first_until_they_are_unblocked() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    let mut ids = vec![];
    for n in 0..5 {
        let player = if n == 0 { app.account("Bo", PASSWORD).await } else { app.guest("Bo").await };
        let made = block(&app, &ana, &player.id).await;
        assert_eq!((made.status.as_u16(), made.text.as_str()), (204, ""));
        ids.insert(0, player.id);
    }
    let first = app.get("/v1/me/blocks", Some(&ana)).await;
    assert_eq!(first.body["items"][4]["player"], json!({"id": ids[4], "name": "Bo", "kind": "account"}));
    // Blocking again changes nothing.
    assert_eq!(block(&app, &ana, &ids[3]).await.status, 204);
    assert_eq!(app.get("/v1/me/blocks", Some(&ana)).await.body, first.body);
    assert_eq!(list(&app, &eve).await, [] as [&str; 0]);

    let (mut seen, mut path) = (vec![], "/v1/me/blocks?limit=2".to_owned());
    loop {
        let page = app.get(&path, Some(&ana)).await;
        seen.extend(blocked(&page));
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        let link = page.headers["link"].to_str().expect("text");
        path = link[1..link.find('>').expect("a link ends")].to_owned();
        assert!(path.contains(cursor) && path.contains("limit=2"), "{path}");
        app.get(&path, Some(&eve)).await.is_problem(422, "validation_failed");
    }
    assert_eq!(seen, ids);
    for query in ["limit=0", "limit=101", "cursor=x", "cursor=", "player=me"] {
        app.get(&format!("/v1/me/blocks?{query}"), Some(&ana)).await.is_problem(422, "validation_failed");
    }
    for _ in 0..2 {
        assert_eq!(unblock(&app, &ana, &ids[1]).await.status, 204);
    }
    ids.remove(1);
    assert_eq!(list(&app, &ana).await, ids);
}

#[actix_web::test]
async fn only_another_guest_or_account_can_be_blocked() {
    let app = TestApp::start().await;
    let (ana, bo, gone) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Gone").await);
    app.delete_me(&gone).await;
    let game = json!({"game": {"variant": "kalah", "seats": {"south": {"name": "Cy"}}}, "moves": [{"move": "A"}]});
    let game = app.post("/v1/games/import", Some(&bo), &game).await.string("/items/0/game_id");
    let imported = app.get_game(&game, Some(&bo)).await.string("/seats/south/id");
    let computer = Level::try_from(3).expect("a level").player().0.to_string();
    for player in [&ana.id, &gone.id, &imported, &computer] {
        block(&app, &ana, player).await.is_problem(403, "forbidden");
    }
    for player in ["0199aaaa-0000-7000-8000-000000000000", "me", "Bo"] {
        block(&app, &ana, player).await.is_problem(404, "not_found");
    }
    unblock(&app, &ana, "Bo").await.is_problem(404, "not_found");
    assert_eq!(unblock(&app, &ana, &gone.id).await.status, 204);
    assert!(rows(&app).await.is_empty());
}

#[actix_web::test]
async fn blocks_are_their_players_own() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let path = format!("/v1/me/blocks/{}", bo.id);
    block(&app, &ana, &bo.id).await;
    let (gone, stranger) = (app.guest("Gone").await, app.stranger());
    app.delete_me(&gone).await;
    for (method, path) in [(Method::PUT, path.as_str()), (Method::DELETE, &path), (Method::GET, "/v1/me/blocks")] {
        let call = |guest| send(signed(app.request(method.clone(), path), guest));
        call(None).await.is_problem(401, "unauthenticated");
        call(Some(&stranger)).await.is_problem(401, "invalid_token");
        call(Some(&gone)).await.is_problem(401, "invalid_token");
    }
    // The blocked player learns nothing, and ends nothing.
    assert_eq!(list(&app, &bo).await, [] as [&str; 0]);
    assert_eq!(unblock(&app, &bo, &ana.id).await.status, 204);
    assert_eq!(list(&app, &ana).await, [bo.id.as_str()]);
    assert!(!app.get("/v1/me/export", Some(&bo)).await.text.contains(&ana.id));
    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(export.body["blocks"][0]["player"]["id"], json!(bo.id));
}

#[actix_web::test]
async fn a_player_blocks_a_bounded_number_of_others() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Cy").await);
    let others = "with others as (
            insert into player (id, kind, name, created_at) select gen_random_uuid(), 'guest', 'x', now() from generate_series(1, $2)
            returning id
        ) select id from others where $1::uuid is not null";
    let others: Vec<Uuid> = sqlx::query_scalar(others)
        .bind(Uuid::try_parse(&ana.id).expect("an id"))
        .bind(i32::try_from(BLOCKS_MAX - 1).expect("a small number"))
        .fetch_all(&app.db)
        .await
        .expect("players come");
    sqlx::query("insert into player_block select $1::uuid, blocked, now() from unnest($2::uuid[]) as blocked")
        .bind(&ana.id)
        .bind(&others)
        .execute(&app.db)
        .await
        .expect("blocks come");
    assert_eq!(block(&app, &ana, &bo.id).await.status, 204);
    block(&app, &ana, &cy.id).await.is_problem(409, "too_many_blocks");
    // Neither a repetition is refused, nor the block of another player.
    assert_eq!(block(&app, &ana, &bo.id).await.status, 204);
    assert_eq!(block(&app, &cy, &ana.id).await.status, 204);
    assert_eq!(unblock(&app, &ana, &bo.id).await.status, 204);
    assert_eq!(block(&app, &ana, &cy.id).await.status, 204);
}

#[actix_web::test]
async fn an_erasure_leaves_no_block_of_a_player_or_against_it() {
    let app = TestApp::start().await;
    let (ana, bo, cy) = (app.guest("Ana").await, app.account("Bo", PASSWORD).await, app.guest("Cy").await);
    for (blocker, player) in [(&ana, &bo), (&bo, &ana), (&ana, &cy), (&cy, &ana), (&bo, &cy), (&cy, &bo)] {
        assert_eq!(block(&app, blocker, &player.id).await.status, 204);
    }
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(rows(&app).await, BTreeSet::from([(bo.id.clone(), cy.id.clone()), (cy.id.clone(), bo.id.clone())]));
    // The release before knows no blocks, and erases so.
    let erased = "update player set kind = 'deleted', name = 'Deleted player' where id = $1::uuid";
    sqlx::query(erased).bind(&cy.id).execute(&app.db).await.expect("the player is erased");
    assert!(rows(&app).await.is_empty());
}

#[actix_web::test]
async fn a_guest_that_is_purged_takes_its_blocks_along() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    block(&app, &ana, &bo.id).await;
    let later = now() + time::Duration::days(400);
    players::purge_guests(&app.db, later, None, 100).await.expect("guests go");
    assert_eq!((count_rows(&app, "player where kind = 'guest'").await, count_rows(&app, "player_block").await), (0, 0));
}

#[actix_web::test]
async fn an_account_takes_over_the_blocks_of_a_guest_and_those_against_it() {
    let app = TestApp::start().await;
    let (guest, ana) = (app.guest("Ana as a guest").await, app.account("Ana", PASSWORD).await);
    let [bo, cy, di, ed] = [app.guest("Bo").await, app.guest("Cy").await, app.guest("Di").await, app.guest("Ed").await];
    // Both the guest and the account with Bo and Di, only the guest with Cy and Ed; and each other.
    for (blocker, player) in [
        (&guest, &bo),
        (&ana, &bo),
        (&guest, &cy),
        (&di, &guest),
        (&di, &ana),
        (&ed, &guest),
        (&guest, &ana),
        (&ana, &guest),
        (&bo, &cy),
    ] {
        assert_eq!(block(&app, blocker, &player.id).await.status, 204);
    }
    for _ in 0..2 {
        let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
        assert_eq!(merged.status, 200, "{merged:?}");
        let pairs = [(&ana, &bo), (&ana, &cy), (&di, &ana), (&ed, &ana), (&bo, &cy)];
        let expected = pairs.map(|(blocker, player)| (blocker.id.clone(), player.id.clone()));
        assert_eq!(rows(&app).await, BTreeSet::from(expected));
    }
    let invitation = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    app.create_game(&ed, &invitation).await.is_problem(422, "validation_failed");
    // The id of the guest is the account's no longer: a block of it would keep nothing away.
    block(&app, &bo, &guest.id).await.is_problem(403, "forbidden");
}

#[actix_web::test]
async fn blocks_and_erasures_at_once_leave_no_block_of_an_erased_player() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for _ in 0..10 {
        let bo = app.guest("Bo").await;
        let (made, own, erased) =
            futures_util::future::join3(block(&app, &ana, &bo.id), block(&app, &bo, &ana.id), app.delete_me(&bo)).await;
        assert_eq!(erased.status, 204);
        assert!([204, 403].contains(&made.status.as_u16()), "{made:?}");
        assert!([204, 401].contains(&own.status.as_u16()), "{own:?}");
        assert_eq!(rows(&app).await, BTreeSet::new());
    }
    assert_eq!(app.get("/v1/me/blocks", Some(&ana)).await.body, json!({"items": [], "next_cursor": Value::Null}));
}
