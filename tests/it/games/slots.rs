//! The slots of games: which id gets which, and that no order depends on them.

use mancala_server::domain::{GameId, PlayerId, Slot};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{app::TestApp, calls::Guest, games::walk};

/// Many within each millisecond.
const IDS: usize = 20_000;

fn slot_of(game: &str) -> Slot {
    GameId(Uuid::try_parse(game).expect("an id")).slot()
}

fn slot_for(guest: &Guest) -> Slot {
    PlayerId(Uuid::try_parse(&guest.id).expect("an id")).slot()
}

#[test]
fn ids_of_one_process_are_in_their_order_whatever_their_slots() {
    let slots: Vec<_> = (0..IDS).map(|_| PlayerId(Uuid::now_v7()).slot()).collect();
    let ids: Vec<_> = slots.iter().map(|slot| GameId(Uuid::now_v7()).in_slot(*slot)).collect();
    assert!(ids.is_sorted_by(|one, next| one < next));
    assert_eq!(ids.iter().map(|id| id.slot()).collect::<Vec<_>>(), slots);
    let of_one_ms = ids.windows(2).filter(|pair| pair[0].0.as_u128() >> 80 == pair[1].0.as_u128() >> 80).count();
    assert!(of_one_ms > 0, "each id has a millisecond of its own: the test tells nothing");
}

#[actix_web::test]
async fn a_game_has_the_slot_of_its_creator_or_of_the_game_before() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.guest("Bo").await);
    let created = app.created(&bo, &json!({"variant": "kalah"})).await;
    assert_eq!(slot_of(created["id"].as_str().expect("an id")), slot_for(&bo));
    let sought = app.post("/v1/games/seek", Some(&ana), &json!({"variant": "oware"})).await;
    assert_eq!((sought.status.as_u16(), slot_of(&sought.string("/id"))), (201, slot_for(&ana)));
    let imported = app.imported_long_game(&ana, 3).await;
    assert_eq!(slot_of(&imported), slot_for(&ana));
    // Bo goes on with a game that Ana imported.
    let from = json!({"from": {"game_id": imported, "ply": 2}, "opponent": {"type": "self"}});
    let continued = app.created(&bo, &from).await;
    assert_eq!(slot_of(continued["id"].as_str().expect("an id")), slot_for(&ana));
}

#[actix_web::test]
async fn a_rematch_has_the_slot_of_the_game_before() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut game = app.started_between(&ana, &bo, &json!({"variant": "kalah"})).await;
    for _ in 0..2 {
        assert_eq!(slot_of(&game), slot_for(&ana));
        assert_eq!(app.resign_game(&game, &ana).await.status, 200);
        assert_eq!(app.offer(&game, &ana, "rematch").await.status, 201);
        let agreed = app.answer_offer(&game, &bo, "rematch", "accept").await;
        assert_eq!(agreed.status, 200, "{agreed:?}");
        let rematch = app.get_game(&game, Some(&ana)).await.string("/rematch_game_id");
        assert_ne!(rematch, game);
        game = rematch;
    }
}

#[actix_web::test]
async fn lists_cursors_and_event_ids_go_by_time_and_not_by_slots() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let begun = app.get("/v1/me/events", Some(&ana)).await.string("/last_event_id");
    let mut games = vec![];
    for n in 0..12 {
        let (creator, other) = if n % 2 == 0 { (&ana, &bo) } else { (&bo, &ana) };
        games.push(app.started_between(creator, other, &json!({"variant": "kalah"})).await);
    }
    assert!(games.is_sorted());
    games.reverse();
    for limit in [1, 5, 100] {
        let query = format!("player={}&limit={limit}", ana.id);
        assert_eq!(walk(&app, &query, Some(&ana)).await, games, "{query}");
    }
    games.reverse();
    let (mut heard, mut query) = (vec![], format!("after={begun}&limit=1"));
    loop {
        let page = app.get(&format!("/v1/me/events?{query}"), Some(&ana)).await;
        heard.extend(page.body["items"].as_array().expect("items").iter().map(|event| event["game_id"].clone()));
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        query = format!("cursor={cursor}&limit=1");
    }
    let expected: Vec<Value> = games.iter().flat_map(|id| [json!(id), json!(id)]).collect();
    assert_eq!(heard, expected, "the creation and the join of each");
}
