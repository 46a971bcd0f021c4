//! A stream of all games of a player reads the games that notifications name. Its ids claim nothing of the other games.

use std::{collections::BTreeSet, time::Duration};

use futures_util::future::join_all;
use reqwest::Client;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection, raw_sql};
use tokio::time::timeout;

use super::player_events::{asking_for_all, beginning, game_of, rest, until_marked};
use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    listener::Listener,
};

/// More games than an id names.
const MANY_GAMES: usize = 20;

/// The longest id that such a stream sends: one that names 16 games and is in the middle of a read of all games.
const ID_CHARS_MAX: usize = 1000;

/// The game and the `seq` of an event.
type Key = (String, u64);

fn key(event: &Value) -> Key {
    (event["game_id"].as_str().expect("an id").to_owned(), event["seq"].as_u64().expect("a number"))
}

/// What a stream sends until it has sent all these events, each once.
async fn hear_all(stream: &mut Listener, expected: &BTreeSet<Key>) -> Vec<Value> {
    let mut heard = vec![];
    while heard.len() < expected.len() {
        heard.push(stream.next().await.expect("an event").data);
    }
    assert_eq!(heard.iter().map(key).collect::<BTreeSet<_>>(), *expected, "none is missing, and none comes twice");
    heard
}

/// A client that resumes after any event gets exactly those that were not sent before it.
async fn resumes_after_each(app: &TestApp, heard: &[Value], expected: &BTreeSet<Key>, guest: &Guest) {
    for sent in 1..=heard.len() {
        let id = heard[sent - 1]["id"].as_str().expect("an id");
        assert!(id.len() <= ID_CHARS_MAX, "{} characters", id.len());
        let (again, _) = rest(app, id, 100, guest).await;
        assert_eq!(sent + again.len(), expected.len(), "after event {sent}: {again:?}");
        let all: BTreeSet<_> = heard[..sent].iter().chain(&again).map(key).collect();
        assert_eq!(all, *expected, "after event {sent}");
    }
}

/// A game that has begun.
async fn joined(app: &TestApp, ana: &Guest, bo: &Guest) -> String {
    let id = game_of(app, ana, &json!({"variant": "kalah", "side": "south"})).await;
    assert_eq!(app.join_game(&id, bo).await.status, 200);
    id
}

/// Stores the last event of `model` in another game, in a transaction that is still open. No server hears of it.
async fn store_unnotified(app: &TestApp, game: &str, model: &str) -> PgConnection {
    let mut elsewhere = app.options.connect().await.expect("PostgreSQL runs");
    let store = format!(
        "begin; \
         insert into event select '{game}', at, seq, ply, seat, kind, move, position, detail from event \
         where game_id = '{model}' and seq = 3; \
         update game set (version, updated_at, offers) = \
         (select version, updated_at, offers from game where id = '{model}') where id = '{game}'"
    );
    raw_sql(AssertSqlSafe(store)).execute(&mut elsewhere).await.expect("it is under way");
    elsewhere
}

async fn commit(mut transaction: PgConnection) {
    raw_sql("commit").execute(&mut transaction).await.expect("it is stored");
}

#[actix_web::test]
async fn an_id_claims_no_event_whose_notification_did_not_come() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut games = vec![];
    for _ in 0..4 {
        games.push(joined(&app, &ana, &bo).await);
    }
    let [lost, late, model, other] = &games[..] else { panic!("four games") };
    assert_eq!(app.offer(model, &ana, "draw").await.status, 201);
    let mut stream = Listener::open(asking_for_all(&app.base(), "", Some(&ana))).await;
    until_marked(&mut stream).await;
    // The first event is stored before the stream's next read; the second is under way during it.
    commit(store_unnotified(&app, lost, model).await).await;
    let under_way = store_unnotified(&app, late, model).await;
    assert_eq!(app.play_move(other, &ana, 1, "A").await.status, 201);
    let mut heard = vec![stream.next().await.expect("an event").data];
    while heard.last().is_none_or(|event| event["game_id"] != *other) {
        heard.push(stream.next().await.expect("an event").data);
    }
    commit(under_way).await;
    let expected: BTreeSet<_> = [lost, late, other].map(|id| (id.clone(), 3)).into();
    resumes_after_each(&app, &heard, &expected, &ana).await;
    // Too many games changed for an id: the stream reads all games, and finds the events that no notification named.
    let open_game = json!({"variant": "kalah"});
    let created = join_all((0..MANY_GAMES).map(|_| game_of(&app, &ana, &open_game))).await;
    let expected: BTreeSet<_> = expected.into_iter().chain(created.into_iter().map(|id| (id, 1))).collect();
    while heard.len() < expected.len() {
        heard.push(stream.next().await.expect("an event").data);
    }
    resumes_after_each(&app, &heard, &expected, &ana).await;
}

#[actix_web::test]
async fn an_event_of_a_named_game_is_found_by_the_next_read_of_it() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (game, model) = (joined(&app, &ana, &bo).await, joined(&app, &ana, &bo).await);
    let begun = beginning(&app, &ana).await;
    let stream = asking_for_all(&app.base(), &format!("after={begun}"), Some(&ana));
    let mut stream = Listener::open(stream).await;
    assert_eq!(app.offer(&model, &ana, "draw").await.status, 201);
    let expected = BTreeSet::from([(model.clone(), 3)]);
    let mut heard = hear_all(&mut stream, &expected).await;
    // The draw offer is stored unnotified. Then the game's next event is reported, and both are sent.
    commit(store_unnotified(&app, &game, &model).await).await;
    assert_eq!(app.answer_offer(&game, &bo, "draw", "decline").await.status, 200);
    let rest = BTreeSet::from([(game.clone(), 3), (game.clone(), 4)]);
    heard.extend(hear_all(&mut stream, &rest).await);
    assert_eq!(heard.iter().map(key).collect::<Vec<_>>(), [(model, 3), (game.clone(), 3), (game, 4)]);
    resumes_after_each(&app, &heard, &expected.into_iter().chain(rest).collect(), &ana).await;
}

#[actix_web::test]
async fn a_client_resumes_at_every_id_of_a_stream_of_many_games() {
    let app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let elsewhere = format!("http://{elsewhere}");
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut stream = Listener::open(asking_for_all(&elsewhere, "", Some(&ana))).await;
    until_marked(&mut stream).await;
    let begun = stream.last_id.clone();
    let bases = [app.base(), elsewhere];
    let playing = join_all((0..MANY_GAMES).map(async |n| {
        let id = joined(&app, &ana, &bo).await;
        let address = format!("{}/v1/games/{id}/moves", bases[n % 2]);
        let body = json!({"ply": 1, "move": "A"});
        let played = send(signed(Client::new().post(address).json(&body), Some(&ana))).await;
        assert_eq!(played.status, 201, "{played:?}");
        id
    }));
    let expected: BTreeSet<_> =
        playing.await.into_iter().flat_map(|id| [1, 2, 3].map(|seq| (id.clone(), seq))).collect();
    let heard = hear_all(&mut stream, &expected).await;
    resumes_after_each(&app, &heard, &expected, &ana).await;
    let (all, _) = rest(&app, &begun, 7, &ana).await;
    assert_eq!((all.len(), all.iter().map(key).collect()), (expected.len(), expected));
}

#[actix_web::test]
async fn a_stream_passes_events_that_cannot_be_read() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    let mut stream = Listener::open(asking_for_all(&app.base(), "", Some(&ana))).await;
    until_marked(&mut stream).await;
    let damage = format!("update event set position = 'damaged' where game_id = '{id}' and ply = 1");
    raw_sql(AssertSqlSafe(damage)).execute(&app.db).await.expect("it is damaged");
    let mut legal = app.get_game(&id, Some(&ana)).await.body["legal_moves"][0].as_str().expect("a move").to_owned();
    // The event behind the damaged one cannot be read either, nor what is read together with it.
    for ply in 2..=12 {
        let played = app.play_move(&id, &ana, ply, &legal).await;
        assert_eq!(played.status, 201, "{played:?}");
        legal = played.string("/game/legal_moves/0");
        let heard = timeout(Duration::from_secs(2), stream.next()).await;
        if heard.is_ok_and(|heard| heard.expect("an event").data["move"]["ply"].as_u64() > Some(2)) {
            break;
        }
        assert!(ply < 12, "no move is heard any more");
    }
    raw_sql("truncate event, game cascade").execute(&app.db).await.expect("nothing damaged is left");
}
