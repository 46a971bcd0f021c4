//! Games in the states that tests begin with, and all pages of a list.

use mancala_server::rules::{AnyOptions, AnyPosition, Variant};
use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest};

/// A new game that one player plays for both sides.
pub async fn game_of_one(app: &TestApp) -> (String, Guest) {
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    (game["id"].as_str().expect("an id").to_owned(), ana)
}

/// A legal move that differs from ply to ply: the first one each time would end the game soon.
pub fn some_move(game: &Value) -> &str {
    let (legal, ply) = (game["legal_moves"].as_array().expect("moves"), game["ply"].as_u64().expect("a number"));
    legal[usize::try_from(ply * 7).expect("a small number") % legal.len()].as_str().expect("a move")
}

/// A game whose log is complete: created, joined, some moves, a resignation, and a rematch.
pub async fn finished_with_rematch(app: &TestApp, moves: u32) -> (String, Guest, Guest) {
    let (id, south, north) = app.started(&json!({"options": {"pie": true}})).await;
    for ply in 1..=moves {
        let game = app.get_game(&id, None).await;
        let mover = if game.string("/turn") == "south" { &south } else { &north };
        let played = app.play_move(&id, mover, ply, some_move(&game.body)).await;
        assert_eq!(played.status, 201, "{played:?}");
    }
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    let offers = format!("/v1/games/{id}/offers");
    let offered = app.post(&offers, Some(&north), &json!({"type": "rematch"})).await;
    assert!(offered.status.is_success(), "{offered:?}");
    let accepted = app.post(&format!("{offers}/rematch/accept"), Some(&south), &json!({})).await;
    assert!(accepted.status.is_success(), "{accepted:?}");
    (id, south, north)
}

/// The ids of the games on all pages of a list, by following its links.
pub async fn walk(app: &TestApp, query: &str, guest: Option<&Guest>) -> Vec<String> {
    let mut seen = vec![];
    let mut path = format!("/v1/games?{query}");
    for _ in 0..100 {
        let page = app.get(&path, guest).await;
        assert_eq!(page.status, 200, "{path} {page:?}");
        seen.extend(page.ids());
        match page.headers.get("link").map(|link| link.to_str().expect("text").to_owned()) {
            Some(link) => link[1..link.find('>').expect("a link ends")].clone_into(&mut path),
            None => return seen,
        }
    }
    panic!("{query} has no end")
}

/// All events of a game, page by page.
pub async fn event_pages(app: &TestApp, id: &str, limit: usize, guest: Option<&Guest>) -> Vec<Value> {
    let (mut all, mut query) = (vec![], format!("limit={limit}"));
    loop {
        let page = app.get(&format!("/v1/games/{id}/events?{query}"), guest).await;
        assert_eq!(page.status, 200, "{page:?}");
        let items = page.body["items"].as_array().expect("items");
        assert!(items.len() <= limit);
        all.extend(items.iter().cloned());
        let Some(cursor) = page.body["next_cursor"].as_str() else { return all };
        let link = page.headers["link"].to_str().expect("text");
        query = format!("limit={limit}&cursor={cursor}");
        assert_eq!(link, format!("</v1/games/{id}/events?{query}>; rel=\"next\""));
    }
}

/// An event without the clock, which only the newest one of a game has when it is read.
pub fn timeless(mut event: Value) -> Value {
    event.as_object_mut().expect("an event is an object").remove("clock");
    event
}

/// A game as every viewer sees it.
pub fn without_me(mut game: Value) -> Value {
    game.as_object_mut().expect("a game is an object").remove("me");
    game
}

/// Legal moves of a match of Congkak on the largest board: the longest answers there are.
pub fn long_line(moves: usize) -> Value {
    let options = AnyOptions::parse(Variant::Congkak, "match", "pits=12;seeds=12;max_rounds=100").expect("options");
    let mut position = AnyPosition::opening(&options);
    let mut line = vec![];
    while line.len() < moves {
        let legal = position.legal_moves();
        let m = legal[line.len() * 7 % legal.len()];
        position.play_unchecked(m);
        line.push(m.to_string());
    }
    json!({"preset": "match", "options": {"pits": 12, "seeds": 12, "max_rounds": 100}, "moves": line})
}

impl TestApp {
    /// A public game of so many plies that a player imports; its id.
    pub async fn imported_long_game(&self, importer: &Guest, plies: usize) -> String {
        let line = long_line(plies);
        let moves: Vec<_> = line["moves"].as_array().expect("moves").iter().map(|mv| json!({ "move": mv })).collect();
        let game = json!({"variant": "congkak", "preset": line["preset"], "options": line["options"]});
        let imported = self
            .post("/v1/games/import?visibility=public", Some(importer), &json!({"game": game, "moves": moves}))
            .await;
        imported.string("/items/0/game_id")
    }
}
