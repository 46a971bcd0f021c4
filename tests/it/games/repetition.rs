//! Repetition in Oware: a game ends when a position comes too often since the last capture. A server without the game
//! in its cache reads the earlier positions from the log. A page of the history is not read from its beginning.

use mancala_server::{
    db::{DbError, games},
    domain::GameId,
    rules::{AnyOptions, AnyPosition, EndReason, HISTORY_MAX, History, Move, Side, Variant},
};
use reqwest::{Client, Method};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
};

/// A small board, on which many games go round in circles.
const OPTIONS: &str = "pits=4;seeds=3;repetition=3";

async fn game_of_one(app: &TestApp) -> (String, Guest) {
    let ana = app.guest("Ana").await;
    let options = json!({"pits": 4, "seeds": 3, "repetition": 3});
    let body = json!({"variant": "oware", "options": options, "opponent": {"type": "self"}});
    let game = app.created(&ana, &body).await;
    (game["id"].as_str().expect("an id").to_owned(), ana)
}

/// The first game of a series that ends by repetition. In each game of the series, the sides take their moves in turn from
/// another place.
fn repeating_line() -> Vec<Move> {
    let options = AnyOptions::parse(Variant::Oware, "standard", OPTIONS).expect("the options are valid");
    let line = |seed: usize| {
        let (mut position, mut line) = (AnyPosition::opening(&options), vec![]);
        while position.outcome().is_none() {
            let moves = position.legal_moves();
            let m = moves[(seed * 31 + line.len() * (seed % 7)) % moves.len()];
            position = position.play(m).expect("it is legal").0;
            line.push(m);
        }
        let repeated = position.outcome().and_then(|outcome| outcome.reason) == Some(EndReason::Repetition);
        repeated.then_some(line)
    };
    (0..10_000).find_map(line).expect("some game ends so")
}

#[actix_web::test]
async fn a_repetition_is_noticed_by_servers_that_did_not_see_the_moves_before() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let line = repeating_line();
    let addresses = [app.address, app.second_server().0, app.second_server().0];
    let mut last = Value::Null;
    for (ply, m) in line.iter().enumerate() {
        // Each move goes to another server than those before and after it, so no cache helps.
        let url = format!("http://{}/v1/games/{id}/moves", addresses[ply % addresses.len()]);
        let body = json!({"ply": ply + 1, "move": m.to_string()});
        let played = send(signed(Client::new().request(Method::POST, url).json(&body), Some(&ana))).await;
        assert_eq!(played.status, 201, "{played:?}");
        last = played.body;
    }
    assert_eq!(last["game"]["status"], "finished");
    assert_eq!(last["game"]["result"]["reason"], "repetition");
    assert_eq!(
        last["move"]["effects"].as_array().and_then(|effects| effects.last()).expect("effects")["type"],
        "game_over"
    );

    // Every page, from wherever it begins, shows the end as the move did; and so does whatever else shows it.
    let moves = line.len();
    for after in 0..moves {
        let page = app.list_moves(&id, &format!("after={after}&limit=100"), None).await;
        assert_eq!(page.status, 200, "{page:?}");
        let items = page.body["items"].as_array().expect("items");
        assert_eq!(items.len(), moves - after);
        assert_eq!(items.last(), Some(&last["move"]), "after {after}");
    }
    let game = app.get_game(&id, None).await.body;
    assert_eq!(game["last_move"], last["move"]);
    assert_eq!(app.list_games("variant=oware", None).await.body["items"][0]["last_move"], last["move"]);
    let position = app.get(&format!("/v1/games/{id}/positions/{moves}"), None).await.body;
    assert_eq!(position["result"]["reason"], "repetition");
    let earlier = app.get(&format!("/v1/games/{id}/positions/{}", moves - 1), None).await.body;
    assert_eq!(earlier["result"], Value::Null);
}

#[actix_web::test]
async fn of_a_game_without_captures_no_more_is_read_than_a_history_holds() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let options = json!({"pits": 12, "seeds": 12, "repetition": 5});
    let game = app.created(&ana, &json!({"variant": "oware", "options": options, "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id").to_owned();
    let options = AnyOptions::parse(Variant::Oware, "standard", "pits=12;seeds=12;repetition=5").expect("options");
    let mut position = AnyPosition::opening(&options);
    for ply in 1..=u32::try_from(HISTORY_MAX).expect("a thousand") + 10 {
        let moves = position.legal_moves();
        let first = (ply * ply) as usize;
        let quiet = |n: &usize| {
            let board = position.play(moves[(first + n) % moves.len()]).expect("it is legal").0.board();
            Side::ALL.into_iter().all(|side| board.store(side) == 0)
        };
        let m = moves[(first + (0..moves.len()).find(quiet).expect("some move captures nothing")) % moves.len()];
        let played = app.play_move(&id, &ana, ply, &m.to_string()).await;
        assert_eq!(played.status, 201, "{played:?}");
        position = position.play(m).expect("it is legal").0;
    }
    let read =
        games::find_whole(&app.db, GameId(id.parse().expect("an id"))).await.expect("a game").expect("it is there");
    assert_eq!(*read.game.position(), position);
    assert_eq!(position.history().map(History::len), Some(HISTORY_MAX));
}

#[actix_web::test]
async fn a_history_that_does_not_lead_to_the_position_is_no_history() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    for (ply, m) in (1..).zip(repeating_line()).take(4) {
        assert_eq!(app.play_move(&id, &ana, ply, &m.to_string()).await.status, 201);
    }
    sqlx::query("update game set history_from_seq = 99 where id = $1::uuid")
        .bind(&id)
        .execute(&app.db)
        .await
        .expect("it");
    let read = || games::find_whole(&app.db, GameId(id.parse().expect("an id")));
    assert!(matches!(read().await, Err(DbError::Inconsistent { table: "game", column: "history_from_seq", .. })));
    sqlx::query("update game set history_from_seq = 1 where id = $1::uuid")
        .bind(&id)
        .execute(&app.db)
        .await
        .expect("it");
    assert!(read().await.is_ok_and(|game| game.is_some()));
}
