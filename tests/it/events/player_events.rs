//! The events of all games of a player: none is missed, after any cut and from any server.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};
use sqlx::ConnectOptions;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::{until, until_async},
    database::{set_away, set_back},
    games::{event_pages, some_move, timeless},
    listener::Listener,
};

/// What "at once" means on a busy machine.
const SOON: Duration = Duration::from_secs(15);

/// A request for the stream of all games of a player.
pub fn asking_for_all(base: &str, query: &str, guest: Option<&Guest>) -> RequestBuilder {
    let request = Client::new().get(format!("{base}/v1/me/events?{query}"));
    signed(request.header("accept", "text/event-stream"), guest)
}

async fn listen(app: &TestApp, guest: &Guest) -> Listener {
    Listener::open(asking_for_all(&app.base(), "", Some(guest))).await
}

/// A page of them.
async fn page(app: &TestApp, query: &str, guest: &Guest) -> Answer {
    app.get(&format!("/v1/me/events?{query}"), Some(guest)).await
}

/// The place where a new client begins.
pub(super) async fn beginning(app: &TestApp, guest: &Guest) -> String {
    let page = page(app, "", guest).await;
    assert_eq!((page.status.as_u16(), &page.body["items"], &page.body["next_cursor"]), (200, &json!([]), &Value::Null));
    page.string("/last_event_id")
}

/// All events from a place on, by pages, and where they end.
pub(super) async fn rest(app: &TestApp, after: &str, limit: usize, guest: &Guest) -> (Vec<Value>, String) {
    let (mut all, mut query) = (vec![], format!("after={after}&limit={limit}"));
    loop {
        let page = page(app, &query, guest).await;
        assert_eq!(page.status, 200, "{page:?}");
        let items = page.body["items"].as_array().expect("items");
        assert!(items.len() <= limit);
        all.extend(items.iter().cloned());
        let last = page.string("/last_event_id");
        let Some(cursor) = page.body["next_cursor"].as_str() else { return (all, last) };
        assert_eq!(cursor, last);
        let link = page.headers["link"].to_str().expect("text");
        query = format!("limit={limit}&cursor={cursor}");
        assert_eq!(link, format!("</v1/me/events?{query}>; rel=\"next\""));
    }
}

/// The expected events: those of each game, once and in their order.
async fn are_complete(app: &TestApp, events: &[Value], guest: &Guest) {
    let mut games = BTreeMap::<&str, Vec<Value>>::new();
    for event in events {
        let mut told = timeless(event.clone());
        told.as_object_mut().expect("an object").remove("id").expect("an id");
        games.entry(event["game_id"].as_str().expect("an id")).or_default().push(told);
    }
    for (id, told) in games {
        let log = event_pages(app, id, 100, Some(guest)).await;
        assert_eq!(told, log.into_iter().map(timeless).collect::<Vec<_>>());
    }
}

pub(super) async fn game_of(app: &TestApp, guest: &Guest, body: &Value) -> String {
    let game = app.created(guest, body).await;
    game["id"].as_str().expect("an id").to_owned()
}

/// Games of each kind, begun and ended in each way, in which a player takes part.
async fn games_of_all_kinds(app: &TestApp, ana: &Guest, bo: &Guest) {
    let alone = game_of(app, ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    assert_eq!(app.play_move(&alone, ana, 1, "A").await.status, 201);
    let open = game_of(app, ana, &json!({"variant": "oware", "side": "south"})).await;
    assert_eq!(app.join_game(&open, bo).await.status, 200);
    assert_eq!(app.play_move(&open, ana, 1, "A").await.status, 201);
    assert_eq!(app.resign_game(&open, bo).await.status, 200);
    assert_eq!(app.offer(&open, ana, "rematch").await.status, 201);
    assert_eq!(app.answer_offer(&open, bo, "rematch", "accept").await.status, 200);
    let invitation = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    let aborted = game_of(app, bo, &invitation).await;
    assert_eq!(app.join_game(&aborted, ana).await.status, 200);
    assert_eq!(app.abort_game(&aborted, ana).await.status, 200);
    // Ana never sits in these.
    let declined = game_of(app, bo, &invitation).await;
    assert_eq!(app.decline_game(&declined, ana).await.status, 200);
    game_of(app, bo, &invitation).await;
    // Ana has no seat in this game either, and gets no event of it.
    game_of(app, bo, &json!({"variant": "kalah"})).await;
}

/// How many games those are, and how many events.
const GAMES: usize = 6;
const EVENTS: usize = 2 + 7 + 2 + 3 + 2 + 1;

#[actix_web::test]
async fn pages_and_a_stream_have_every_event_of_all_games_of_a_player() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let begun = beginning(&app, &ana).await;
    let mut stream = listen(&app, &ana).await;
    games_of_all_kinds(&app, &ana, &bo).await;
    let mut heard = vec![];
    while heard.len() < EVENTS {
        let event = stream.next().await.expect("an event");
        assert_eq!((&event.data["id"], &event.data["type"]), (&json!(stream.last_id), &json!(event.kind)));
        heard.push(event.data);
    }
    are_complete(&app, &heard, &ana).await;
    let told = |events: &[Value]| {
        let mut told: Vec<_> =
            events.iter().map(|event| (event["game_id"].to_string(), event["seq"].as_u64())).collect();
        told.sort();
        told
    };
    for limit in [1, 3, 100] {
        let (all, last) = rest(&app, &begun, limit, &ana).await;
        are_complete(&app, &all, &ana).await;
        assert_eq!(told(&all), told(&heard));
        assert_eq!(rest(&app, &last, limit, &ana).await.0, Vec::<Value>::new());
    }
    let games: BTreeSet<_> = heard.iter().map(|event| event["game_id"].to_string()).collect();
    assert_eq!(games.len(), GAMES);
    // A client that was cut off resumes after any event, with a page or a stream, and misses nothing.
    for after in 0..EVENTS {
        let id = heard[after]["id"].as_str().expect("an id");
        let again = rest(&app, id, 100, &ana).await.0;
        are_complete(&app, &[&heard[..=after], &again].concat(), &ana).await;
        assert_eq!(told(&heard[after + 1..]), told(&again));
        let resumed = asking_for_all(&app.base(), "after=", Some(&ana)).header("last-event-id", id);
        let mut resumed = Listener::open(resumed).await;
        for event in &again {
            let mut heard = resumed.next().await.expect("an event").data;
            heard["id"] = event["id"].clone();
            assert_eq!(heard, *event);
        }
    }
}

#[actix_web::test]
async fn an_event_reaches_other_servers_and_waiting_pages_at_once() {
    let app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let elsewhere = format!("http://{elsewhere}");
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut here = listen(&app, &ana).await;
    let mut there = Listener::open(asking_for_all(&elsewhere, "", Some(&ana))).await;
    let mut of_bo = Listener::open(asking_for_all(&elsewhere, "", Some(&bo))).await;
    let after = beginning(&app, &ana).await;
    let wait = |after: &str| {
        let request = Client::new().get(format!("{elsewhere}/v1/me/events?after={after}"));
        send(signed(request.header("prefer", "wait=50"), Some(&ana)))
    };
    let begun = Instant::now();
    let (created, waited) = join(app.created(&ana, &json!({"variant": "kalah", "side": "south"})), wait(&after)).await;
    let id = created["id"].as_str().expect("an id");
    assert_eq!(waited.body["items"][0]["type"], "created");
    assert_eq!(app.join_game(id, &bo).await.status, 200);
    let (played, waited) = join(app.play_move(id, &ana, 1, "A"), wait(&waited.string("/last_event_id"))).await;
    assert_eq!((played.status.as_u16(), waited.status.as_u16()), (201, 200));
    assert!(waited.body["items"].as_array().is_some_and(|items| !items.is_empty()));
    for stream in [&mut here, &mut there] {
        for kind in ["created", "joined", "moved"] {
            assert_eq!(stream.next().await.expect("an event").kind, kind);
        }
    }
    // Events from before a player joined may be included.
    let mut heard = vec![];
    while heard.last().is_none_or(|kind| kind != "moved") {
        heard.extend(of_bo.next().await.map(|heard| heard.kind).filter(|kind| kind != "created"));
    }
    assert_eq!(heard, ["joined", "moved"]);
    assert!(begun.elapsed() < SOON);
}

#[actix_web::test]
async fn an_event_in_flight_during_a_read_is_sent_once_it_is_stored() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut games = vec![];
    for _ in 0..3 {
        let id = game_of(&app, &ana, &json!({"variant": "kalah", "side": "south"})).await;
        assert_eq!(app.join_game(&id, &bo).await.status, 200);
        games.push(id);
    }
    let [late, model, other] = &games[..] else { panic!("three games") };
    assert_eq!(app.offer(model, &ana, "draw").await.status, 201);
    let begun = beginning(&app, &bo).await;
    // Another server stores the same in another game, and takes long.
    let mut elsewhere = app.options.connect().await.expect("PostgreSQL runs");
    let store = format!(
        "begin; \
         insert into event select '{late}', at, seq, ply, seat, kind, move, position, detail from event \
         where game_id = '{model}' and kind = 'offered'; \
         update game set (version, updated_at, offers) = \
         (select version, updated_at, offers from game where id = '{model}') where id = '{late}'"
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(store)).execute(&mut elsewhere).await.expect("it is under way");
    // A later transaction commits first, and its events are sent.
    assert_eq!(app.play_move(other, &ana, 1, "A").await.status, 201);
    let (all, last_seen) = rest(&app, &begun, 1, &bo).await;
    let told = |events: &[Value]| {
        events.iter().map(|event| (event["game_id"].clone(), event["type"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(told(&all), [(json!(other), json!("moved"))]);
    sqlx::raw_sql("commit").execute(&mut elsewhere).await.expect("it is stored");
    for (after, limit) in [(&last_seen, 1), (&last_seen, 100), (&begun, 1), (&begun, 100)] {
        let (all, last) = rest(&app, after, limit, &bo).await;
        let expected = [(json!(late), json!("offered")), (json!(other), json!("moved"))];
        assert_eq!(told(&all), if after == &last_seen { &expected[..1] } else { &expected });
        assert_eq!(rest(&app, &last, limit, &bo).await.0, Vec::<Value>::new());
    }
}

#[actix_web::test]
async fn an_event_during_paging_is_sent_once() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let after = beginning(&app, &ana).await;
    let mut games = vec![];
    for _ in 0..3 {
        games.push(game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await);
    }
    let (mut all, mut cursor) = (vec![], after);
    // After each page but the last something happens in every game: what is read already, and what is not yet.
    for ply in 1.. {
        let page = page(&app, &format!("cursor={cursor}&limit=2"), &ana).await;
        all.extend(page.body["items"].as_array().expect("items").iter().cloned());
        cursor = page.string("/last_event_id");
        if ply < 5 {
            for id in &games {
                let game = app.get_game(id, None).await.body;
                assert_eq!(app.play_move(id, &ana, ply, some_move(&game)).await.status, 201);
            }
        } else if page.body["next_cursor"].is_null() {
            break;
        }
    }
    // All of the last round, too.
    all.extend(rest(&app, &cursor, 2, &ana).await.0);
    are_complete(&app, &all, &ana).await;
    assert_eq!(all.len(), 3 * 5);
}

#[actix_web::test]
async fn events_since_a_partial_read_are_sent_with_the_rest() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let begun = beginning(&app, &ana).await;
    for _ in 0..3 {
        game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    }
    let first = page(&app, &format!("after={begun}&limit=2"), &ana).await;
    let (after, told) = (first.string("/last_event_id"), first.body["items"].as_array().expect("items").len());
    let last = game_of(&app, &ana, &json!({"variant": "oware", "opponent": {"type": "self"}})).await;
    for limit in [1, 2, 3, 100] {
        let (all, end) = rest(&app, &after, limit, &ana).await;
        assert_eq!((told + all.len(), &all.last().expect("an event")["game_id"]), (4, &json!(last)));
        assert_eq!(rest(&app, &end, limit, &ana).await.0, Vec::<Value>::new());
    }
    let mut resumed = Listener::open(asking_for_all(&app.base(), &format!("after={after}"), Some(&ana))).await;
    while resumed.next().await.expect("an event").data["game_id"] != *last {}
    // Stored events are answered without a wait.
    let rest_alone = rest(&app, &begun, 2, &ana).await.0[2]["id"].as_str().expect("an id").to_owned();
    let begun = Instant::now();
    let request = Client::new().get(format!("{}/v1/me/events?after={rest_alone}", app.base()));
    let waited = send(signed(request.header("prefer", "wait=50"), Some(&ana))).await;
    assert_eq!(waited.body["items"][0]["game_id"], *last);
    assert!(begun.elapsed() < SOON);
}

#[actix_web::test]
async fn a_server_with_a_wrong_clock_loses_no_event() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut superuser = app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs");
    let begun = beginning(&app, &ana).await;
    let mut told = vec![];
    for shift in ["- interval '3 days'", "+ interval '3 days'"] {
        let id = game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
        for set in [
            format!("update event set at = at {shift} where game_id = '{id}'"),
            format!(
                "update game set created_at = created_at {shift}, updated_at = updated_at {shift}, \
                     started_at = started_at {shift} where id = '{id}'"
            ),
        ] {
            sqlx::raw_sql(sqlx::AssertSqlSafe(set)).execute(&mut superuser).await.expect("it is shifted");
        }
        let (all, _) = rest(&app, &begun, 100, &ana).await;
        told.push(id);
        let games: Vec<_> = all.iter().map(|event| event["game_id"].as_str().expect("an id").to_owned()).collect();
        assert_eq!(games, told);
    }
}

#[actix_web::test]
async fn a_database_that_goes_away_and_comes_back_loses_nothing_of_a_stream() {
    let app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let ana = app.guest("Ana").await;
    let id = game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let mut streams = vec![
        listen(&app, &ana).await,
        Listener::open(asking_for_all(&format!("http://{elsewhere}"), "", Some(&ana))).await,
    ];
    for stream in &mut streams {
        until_marked(stream).await;
    }
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    for stream in &mut streams {
        assert_eq!(stream.next().await.expect("an event").data["seq"], 2);
    }
    let mut superuser = app.superuser().await;
    set_away(&app, &mut superuser).await;
    app.play_move(&id, &ana, 2, "a").await.is_problem(503, "unavailable");
    for stream in &mut streams {
        stream.comment().await;
    }
    set_back(&app, &mut superuser).await;
    let is_stored = async || app.play_move(&id, &ana, 2, "a").await.status.is_success();
    until_async("the move is stored", is_stored).await;
    for stream in &mut streams {
        assert_eq!(stream.next().await.expect("an event").data["seq"], 3);
    }
}

#[actix_web::test]
async fn a_stream_cut_off_before_its_first_event_misses_nothing() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let mut stream = listen(&app, &ana).await;
    // No event is expected: it is read as far as the first that it says.
    until_marked(&mut stream).await;
    let last = stream.last_id.clone();
    drop(stream);
    let id = game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let again = asking_for_all(&app.base(), "", Some(&ana)).header("last-event-id", last);
    let heard = Listener::open(again).await.next().await.expect("an event");
    assert_eq!((heard.kind.as_str(), &heard.data["game_id"]), ("created", &json!(id)));
}

#[actix_web::test]
async fn only_the_player_gets_the_stream_or_a_ticket_for_it() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    app.get("/v1/me/events", None).await.is_problem(401, "unauthenticated");
    let ticket = async |guest: &Guest, body: &Value| {
        let given = app.post("/v1/me/stream-tickets", Some(guest), body).await;
        assert_eq!(given.status, 201, "{given:?}");
        (given.string("/ticket"), given.body["game_id"].clone())
    };
    let (of_all, game) = ticket(&ana, &json!({})).await;
    assert_eq!(game, Value::Null);
    let id = game_of(&app, &ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let (of_one, _) = ticket(&ana, &json!({"game_id": id})).await;
    assert_eq!(app.get(&format!("/v1/me/events?ticket={of_all}"), None).await.status, 200);
    app.get(&format!("/v1/me/events?ticket={of_one}"), None).await.is_problem(401, "invalid_token");
    app.get(&format!("/v1/games/{id}/events?ticket={of_all}"), None).await.is_problem(401, "invalid_token");
    app.get(&format!("/v1/me/events?ticket={of_all}"), Some(&ana)).await.is_problem(422, "validation_failed");
    let mut stream = Listener::open(asking_for_all(&app.base(), &format!("ticket={of_all}"), None)).await;
    // Another player's place is of no use, nor is any other text.
    let place = beginning(&app, &bo).await;
    for after in [place.as_str(), "x", "0", &"A".repeat(2000)] {
        page(&app, &format!("after={after}"), &ana).await.is_problem(422, "validation_failed");
        let named = asking_for_all(&app.base(), "", Some(&ana)).header("last-event-id", after);
        send(named).await.is_problem(422, "validation_failed");
    }
    let own = beginning(&app, &ana).await;
    for query in ["limit=0", "limit=101", &format!("after={own}&cursor={own}"), "seq=1"] {
        page(&app, query, &ana).await.is_problem(422, "validation_failed");
    }
    let head = app.request(Method::HEAD, "/v1/me/events").header("accept", "text/event-stream");
    let head = send(signed(head, Some(&ana))).await;
    assert_eq!(
        (head.status, &head.headers["content-type"]),
        (StatusCode::OK, &"text/event-stream".parse().expect("a value"))
    );
    // Events of others are not sent, and the stream ends with its player.
    game_of(&app, &bo, &json!({"variant": "kalah"})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    let heard = stream.next().await.expect("an event");
    assert_eq!((heard.kind.as_str(), &heard.data["game_id"]), ("moved", &json!(id)));
    assert_eq!(app.delete_me(&ana).await.status, 204);
    while let Some(heard) = stream.next().await {
        assert_eq!(heard.data["game_id"], json!(id));
    }
    assert!(stream.is_whole);
    until("no stream is open any more", || app.hub.waiters() == 0 && app.hub.audience().streams() == 0).await;
}

#[actix_web::test]
async fn players_of_many_games_on_two_servers_get_every_event() {
    const GAMES: usize = 12;
    const PLIES: u32 = 15;
    let app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let bases = [app.base(), format!("http://{elsewhere}")];
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut streams = vec![];
    for base in &bases {
        streams.push(Listener::open(asking_for_all(base, "", Some(&ana))).await);
    }
    for stream in &mut streams {
        until_marked(stream).await;
    }
    let playing = join_all((0..GAMES).map(async |n| {
        let id = game_of(&app, &ana, &json!({"variant": "kalah", "side": "south"})).await;
        let mut game = app.join_game(&id, &bo).await.body;
        for ply in 1..=PLIES {
            if game["status"] != "active" {
                break;
            }
            let mover = if game["turn"] == "south" { &ana } else { &bo };
            let address = format!("{}/v1/games/{id}/moves", bases[(n + ply as usize) % 2]);
            let body = json!({"ply": ply, "move": some_move(&game)});
            let played = send(signed(Client::new().post(address).json(&body), Some(mover))).await;
            assert_eq!(played.status, 201, "{played:?}");
            game = played.body["game"].clone();
        }
        game["version"].as_u64().expect("a number")
    }));
    let versions = playing.await;
    for stream in &mut streams {
        let (mut known, mut heard) = (BTreeMap::<String, u64>::new(), vec![]);
        while known.values().sum::<u64>() < versions.iter().sum::<u64>() {
            let event = stream.next().await.expect("an event").data;
            let (seq, before) = (event["seq"].as_u64(), known.entry(event["game_id"].to_string()).or_default());
            // On a busy server it may come again.
            if seq > Some(*before) {
                *before = seq.expect("a number");
                heard.push(event);
            }
        }
        are_complete(&app, &heard, &ana).await;
    }
}

/// Reads a stream without events until it has sent the place to resume from.
pub async fn until_marked(stream: &mut Listener) {
    let begun = Instant::now();
    while stream.last_id.is_empty() {
        assert!(begun.elapsed() < SOON, "it says nothing");
        stream.hears_nothing().await;
    }
}
