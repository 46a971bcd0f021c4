//! The events of a game, as pages and as a stream.

use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use reqwest::{Method, StatusCode, header::HeaderValue};
use serde_json::json;
use uuid::Uuid;

use crate::support::{
    app::TestApp,
    calls::{Guest, send},
    clock::until,
    games::{event_pages, finished_with_rematch, game_of_one},
    listener::{Heard, Listener, asking, kinds},
    scrape::count,
};

/// What "at once" means on a busy machine.
const SOON: Duration = Duration::from_secs(15);

#[actix_web::test]
async fn a_stream_resumed_anywhere_has_exactly_the_rest_of_the_log() {
    let app = TestApp::start().await;
    let (id, south, north) = finished_with_rematch(&app, 9).await;
    let whole = Listener::at(&app, &id, 0, None).await.rest().await;
    let moves = app.list_moves(&id, "limit=100", None).await.body["items"].take();
    let game = app.get_game(&id, None).await.body;
    let moved = ["moved"; 9];
    assert_eq!(
        kinds(&whole),
        [&["created", "joined"][..], &moved, &["resigned", "finished", "offered", "rematched"]].concat()
    );
    for (event, seq) in whole.iter().zip(1..) {
        assert_eq!((event.id, &event.data["seq"]), (Some(seq), &json!(seq)));
        assert_eq!((&event.data["game_id"], &event.data["type"]), (&json!(id), &json!(event.kind)));
        assert!(event.data["at"].is_string());
    }
    let told: Vec<_> = whole.iter().filter_map(|event| event.data.get("move").cloned()).collect();
    assert_eq!(json!(told), moves);
    let ana = json!({"id": south.id, "name": "South", "kind": "guest"});
    let bo = json!({"id": north.id, "name": "North", "kind": "guest"});
    assert_eq!((&whole[0].data["side"], &whole[0].data["player"]), (&json!("south"), &ana));
    assert_eq!((&whole[1].data["side"], &whole[1].data["player"]), (&json!("north"), &bo));
    assert_eq!(whole[11].data["side"], "south");
    assert_eq!(whole[12].data["result"], game["result"]);

    assert!(whole.iter().all(|event| event.data.get("clock").is_some() == (event.id == Some(15))));
    let items: Vec<_> = whole.iter().map(|event| event.data.clone()).collect();
    for limit in [1, 5, 100] {
        assert_eq!(event_pages(&app, &id, limit, None).await, items);
    }
    for after in 0..whole.len() {
        let rest = &whole[after..];
        let mut by_address = Listener::at(&app, &id, after as u64, None).await;
        assert_eq!(by_address.rest().await, rest);
        assert!(by_address.is_whole && by_address.retry_ms.is_some_and(|retry| (1000..=2000).contains(&retry)));
        // An `EventSource` repeats its address; the header is the later one.
        let again = asking(&app.base(), &id, "after=1", None).header("last-event-id", after.to_string());
        assert_eq!(Listener::open(again).await.rest().await, rest);
        let page = app.request(Method::GET, &format!("/v1/games/{id}/events?limit=100&after=4"));
        let page = send(page.header("last-event-id", after.to_string())).await;
        assert_eq!(page.body, json!({"items": items[after..], "next_cursor": null}));
    }
    // The log is complete: 204 tells an `EventSource` not to reconnect.
    for request in
        [asking(&app.base(), &id, "after=15", None), asking(&app.base(), &id, "", None).header("last-event-id", "15")]
    {
        let answer = send(request).await;
        assert_eq!((answer.status, answer.text.as_str()), (StatusCode::NO_CONTENT, ""));
    }
    let page = app.get(&format!("/v1/games/{id}/events?after=15"), None).await;
    assert_eq!((page.status.as_u16(), &page.body), (200, &json!({"items": [], "next_cursor": null})));
    until("no stream is open any more", || app.hub.waiters() == 0 && app.hub.audience().streams() == 0).await;
}

#[actix_web::test]
async fn a_client_that_follows_a_stream_never_asks_for_the_game() {
    let app = TestApp::start().await;
    let clock = json!({"clock": {"type": "bank", "bank_s": 600, "increment_s": 5}, "options": {"pie": true}});
    let (id, south, north) = app.started(&clock).await;
    let mut stream = Listener::at(&app, &id, 2, None).await;
    for (ply, mover, mv) in [(1, &south, "C"), (2, &south, "B"), (3, &north, "swap"), (4, &south, "a")] {
        app.played(&id, mover, ply, mv).await;
        let event = stream.next().await.expect("an event").data;
        let game = app.get_game(&id, None).await.body;
        assert_eq!(event["seq"], game["version"]);
        for field in ["board", "turn", "legal_moves", "clock"] {
            assert_eq!(event[field], game[field], "{field} after ply {ply}");
        }
        assert_eq!(event.get("result"), None);
    }
    // An offer changes no board, but it is the newest event, so it has the clock.
    app.offer(&id, &south, "pause").await;
    app.answer_offer(&id, &north, "pause", "accept").await;
    let events = [stream.next().await, stream.next().await].map(|event| event.expect("an event").data);
    assert_eq!(events[1]["clock"], app.get_game(&id, None).await.body["clock"]);
    assert!(events[1]["clock"]["paused_at"].is_string() && events[1].get("turn").is_none());
    app.resign_game(&id, &south).await;
    let events = stream.until_finished().await;
    let (last, game) = (&events.last().expect("an event").data, app.get_game(&id, None).await.body);
    assert_eq!((&last["turn"], &last["legal_moves"]), (&json!(null), &json!([])));
    assert_eq!((&last["clock"], &last["result"]), (&game["clock"], &game["result"]));
    assert_eq!(game["clock"]["deadline"], json!(null));
    // Only the newest event has a clock.
    let all = event_pages(&app, &id, 100, None).await;
    assert_eq!(all.iter().filter(|event| event.get("clock").is_some()).count(), 1);
    assert_eq!((&all[0]["turn"], &all[0]["board"]["south"]["store"]), (&json!(null), &json!(0)));
    assert_eq!((&all[1]["turn"], all[1]["legal_moves"].as_array().map(Vec::len)), (&json!("south"), Some(6)));
}

#[actix_web::test]
async fn the_move_that_ends_a_game_says_how_it_ended() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let mut game = app.get_game(&id, Some(&ana)).await.body;
    while game["status"] == "active" {
        let mv = game["legal_moves"][0].as_str().expect("a move").to_owned();
        let ply = u32::try_from(game["ply"].as_u64().expect("a number") + 1).expect("a small number");
        game = app.played(&id, &ana, ply, &mv).await;
    }
    let events = event_pages(&app, &id, 100, None).await;
    let [.., before, last, finished] = &events[..] else { panic!("{events:?}") };
    assert!(before.get("result").is_none() && before["turn"].is_string());
    for event in [last, finished] {
        assert_eq!(
            (&event["result"], &event["turn"], &event["legal_moves"]),
            (&game["result"], &json!(null), &json!([]))
        );
    }
    assert_eq!((&last["type"], &last["board"]), (&json!("moved"), &game["board"]));
    // The same position in the history.
    let plies = app.list_moves(&id, "include=board&limit=100", None).await.body["items"].clone();
    let end = plies.as_array().and_then(|plies| plies.last()).expect("a ply").clone();
    assert_eq!((&end["board"], &end["turn"], &end["legal_moves"]), (&game["board"], &json!(null), &json!([])));
}

#[actix_web::test]
async fn the_last_event_of_a_game_is_followed_by_the_end() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let aborted = app.created(&ana, &json!({"variant": "kalah"})).await;
    let body = json!({"variant": "kalah", "side": "north", "opponent": {"type": "player", "player_id": bo.id}});
    let declined = app.created(&ana, &body).await;
    let ids = [&aborted, &declined].map(|game| game["id"].as_str().expect("an id").to_owned());
    let mut streams = vec![];
    for id in &ids {
        let mut stream = Listener::at(&app, id, 0, None).await;
        assert_eq!(stream.next().await.expect("the first event").kind, "created");
        streams.push(stream);
    }
    assert_eq!(app.abort_game(&ids[0], &ana).await.status, 200);
    assert_eq!(app.decline_game(&ids[1], &bo).await.status, 200);
    for ((stream, id), kind) in streams.iter_mut().zip(&ids).zip(["aborted", "declined"]) {
        let last = stream.next().await.expect("the game's end");
        assert_eq!((last.id, last.kind.as_str()), (Some(2), kind));
        let end = stream.next().await.expect("the end");
        assert_eq!((end.id, end.kind.as_str(), end.data), (None, "end", json!({"game_id": id, "seq": 2})));
        assert_eq!(stream.next().await, None);
        assert!(stream.is_whole);
    }
}

#[actix_web::test]
async fn a_stream_goes_on_from_a_game_to_its_rematch() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let mut stream = Listener::at(&app, &id, 0, None).await;
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    assert_eq!(stream.until_finished().await.len(), 4);
    // A client that connects after the end gets the same.
    let mut late = Listener::at(&app, &id, 4, None).await;
    let offers = format!("/v1/games/{id}/offers");
    assert!(app.post(&offers, Some(&north), &json!({"type": "rematch"})).await.status.is_success());
    for stream in [&mut stream, &mut late] {
        assert_eq!(stream.next().await.expect("an event").kind, "offered");
    }
    assert!(app.post(&format!("{offers}/rematch/accept"), Some(&south), &json!({})).await.status.is_success());
    for stream in [&mut stream, &mut late] {
        assert_eq!((kinds(&stream.rest().await), stream.is_whole), (vec!["rematched"], true));
    }
}

#[actix_web::test]
async fn every_device_and_spectator_gets_every_event() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let id = game["id"].as_str().expect("an id");
    let mut streams =
        join_all([Some(&ana), Some(&ana), None, None].map(|guest| Listener::at(&app, id, 0, guest))).await;
    until("all listen", || app.hub.audience().streams() == 4).await;
    let bo = app.guest("Bo").await;
    assert_eq!(app.join_game(id, &bo).await.status, 200);
    let played = app.play_move(id, &ana, 1, "A").await;
    assert_eq!(app.resign_game(id, &bo).await.status, 200);
    let heard = join_all(streams.iter_mut().map(Listener::until_finished)).await;
    for events in &heard {
        assert_eq!(kinds(events), ["created", "joined", "moved", "resigned", "finished"]);
        assert_eq!(events[2].data["move"], played.body["move"]);
        assert_eq!((&events[3].data["side"], &events[4].data["result"]["winner"]), (&json!("north"), &json!("south")));
        assert_eq!(events, &heard[0]);
    }
}

#[actix_web::test]
async fn after_a_pie_swap_events_name_the_side_that_a_player_had_then() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"options": {"pie": true}})).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&id, &north, 2, "swap").await.status, 201);
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    let events = Listener::at(&app, &id, 0, None).await.until_finished().await;
    let sides: Vec<_> = events.iter().map(|event| event.data["side"].as_str()).collect();
    assert_eq!(sides, [Some("south"), Some("north"), None, None, Some("north"), None]);
    assert_eq!(events[5].data["result"]["winner_player_id"], north.id);
    // What came before the place where a client goes on counts as well.
    let rest = Listener::at(&app, &id, 4, None).await.until_finished().await;
    assert_eq!(rest, events[4..]);
}

#[actix_web::test]
async fn a_player_who_was_erased_is_shown_as_such() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    assert_eq!(app.delete_me(&south).await.status, 204);
    let events = Listener::at(&app, &id, 0, None).await.until_finished().await;
    assert_eq!(kinds(&events), ["created", "joined", "resigned", "finished"]);
    let shown = |event: &Heard| (event.data["player"]["kind"].clone(), event.data["player"]["name"].clone());
    assert_eq!(shown(&events[0]), (json!("deleted"), json!("Deleted player")));
    assert_eq!(events[1].data["player"]["id"], north.id);
}

#[actix_web::test]
async fn only_its_players_get_the_events_of_a_private_game() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let opponent = json!({"type": "player", "player_id": bo.id});
    let game = app.created(&ana, &json!({"variant": "kalah", "visibility": "private", "opponent": opponent})).await;
    let id = game["id"].as_str().expect("an id");
    let unknown = Uuid::now_v7().to_string();
    for (id, reader) in [(id, None), (id, Some(&eve)), (&unknown, Some(&ana)), ("nonsense", None)] {
        send(asking(&app.base(), id, "", reader)).await.is_problem(404, "not_found");
        app.get(&format!("/v1/games/{id}/events"), reader).await.is_problem(404, "not_found");
    }
    for reader in [&ana, &bo] {
        let first = Listener::at(&app, id, 0, Some(reader)).await.next().await;
        assert_eq!(first.expect("an event").kind, "created");
    }
    let eve = Guest { token: format!("{}x", ana.token), ..eve };
    send(asking(&app.base(), id, "", Some(&eve))).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn an_impossible_place_in_the_log_is_refused_with_a_reason() {
    let app = TestApp::start().await;
    let (id, _, _) = app.started(&json!({})).await;
    let (other, _, _) = app.started(&json!({})).await;
    let path = format!("/v1/games/{id}/events");
    for accept in ["text/event-stream", "application/json"] {
        let ask = |query: &str| app.request(Method::GET, &format!("{path}?{query}")).header("accept", accept);
        for (request, pointer) in [
            (ask("after=-1"), "?after"),
            (ask("after=x"), "?after"),
            (ask("after=4294967296"), "?after"),
            (ask("after=3"), "?after"),
            (ask("cursor=x"), "?cursor"),
            (ask("ticket=x&after=x"), "?after"),
            (ask("").header("last-event-id", "3"), "last-event-id"),
            (ask("").header("last-event-id", "-1"), "last-event-id"),
            (ask("").header("last-event-id", "+1"), "last-event-id"),
            (ask("").header("last-event-id", "1.0"), "last-event-id"),
            (ask("").header("last-event-id", "99999999999"), "last-event-id"),
            (ask("").header("last-event-id", "é"), "last-event-id"),
            (ask("").header("last-event-id", "1").header("last-event-id", "1"), "last-event-id"),
        ] {
            let answer = send(request).await;
            answer.is_problem(422, "validation_failed");
            assert_eq!(answer.body["errors"][0]["pointer"], pointer);
        }
        // After an unknown event, the client gets the present end of the log.
        let ahead = send(ask("").header("last-event-id", "7")).await;
        assert!(ahead.string("/detail").contains("the game's last event is 2"), "{ahead:?}");
    }
    let cursor = app.get(&format!("/v1/games/{other}/events?limit=1"), None).await.string("/next_cursor");
    app.get(&format!("{path}?cursor={cursor}"), None).await.is_problem(422, "validation_failed");
    app.get(&format!("{path}?cursor={cursor}&after=1"), None).await.is_problem(422, "validation_failed");
    app.get(&format!("{path}?limit=101"), None).await.is_problem(422, "validation_failed");
    // Nothing is the beginning.
    let request = app.request(Method::GET, &path).header("last-event-id", "");
    assert_eq!(send(request).await.body["items"][0]["seq"], 1);
    let neither = app.request(Method::GET, &path).header("accept", "text/html");
    send(neither).await.is_problem(406, "not_acceptable");
}

#[actix_web::test]
async fn a_page_that_would_be_empty_waits_for_an_event() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let ask = |after: u32, wait: &str| {
        let request = app.request(Method::GET, &format!("/v1/games/{id}/events?after={after}"));
        send(request.header("prefer", wait))
    };
    let playing = async {
        until("the request waits", || app.hub.waiters() == 1).await;
        app.play_move(&id, &ana, 1, "A").await
    };
    let (page, played) = join(ask(1, "wait=50"), playing).await;
    assert_eq!(page.body["items"][0]["move"], played.body["move"]);
    assert_eq!(
        (&page.headers["preference-applied"], &page.body["items"][0]["seq"]),
        (&HeaderValue::from_static("wait=50"), &json!(2))
    );
    let begun = Instant::now();
    let empty = ask(2, "wait=1").await;
    assert_eq!((empty.status.as_u16(), &empty.body), (200, &json!({"items": [], "next_cursor": null})));
    assert!(begun.elapsed() >= Duration::from_secs(1));
    assert_eq!(empty.headers["preference-applied"], "wait=1");
    // Stored events are answered at once, and so is a wait for an event that cannot come.
    let begun = Instant::now();
    let request = app.request(Method::GET, &format!("/v1/games/{id}/events")).header("prefer", "wait=50");
    assert_eq!(send(request.header("last-event-id", "1")).await.body["items"][0]["seq"], 2);
    assert_eq!(ask(1, "wait=50").await.body["items"][0]["seq"], 2);
    let releasing = async {
        until("the request waits", || app.hub.waiters() == 1).await;
        app.hub.release_all();
    };
    let (released, ()) = join(ask(2, "wait=50"), releasing).await;
    assert_eq!((released.status.as_u16(), released.headers.get("preference-applied")), (200, None));
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    assert_eq!(ask(4, "wait=1").await.body["items"], json!([]));
    assert!(begun.elapsed() < SOON);
}

#[actix_web::test]
async fn a_stream_is_neither_compressed_nor_cached() {
    let app = TestApp::start().await;
    let (id, _, _) = finished_with_rematch(&app, 6).await;
    let request = asking(&app.base(), &id, "", None).header("accept-encoding", "gzip");
    let request = request.header("origin", "https://play.example");
    let mut stream = Listener::open(request).await;
    for (name, value) in [("cache-control", "no-store"), ("x-accel-buffering", "no"), ("transfer-encoding", "chunked")]
    {
        assert_eq!(stream.headers()[name], value);
    }
    assert_eq!(stream.headers().get("content-encoding"), None);
    assert_eq!(stream.headers()["vary"], "Accept, Authorization, Last-Event-ID, Prefer");
    assert_eq!(stream.headers()["access-control-allow-origin"], "*");
    assert!(stream.headers().contains_key("x-request-id"));
    assert_eq!(stream.rest().await.len(), 12);
    let page = app.get(&format!("/v1/games/{id}/events"), None).await;
    assert_eq!(page.headers["cache-control"], "private, no-cache");
}

#[actix_web::test]
async fn head_is_answered_at_once_and_holds_no_stream() {
    let app = TestApp::start().await;
    let (id, _, _) = app.started(&json!({})).await;
    let path = format!("/v1/games/{id}/events");
    for accept in ["text/event-stream", "application/json"] {
        let answer = send(app.request(Method::HEAD, &path).header("accept", accept)).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, ""));
        assert_eq!(answer.headers["content-type"], accept);
    }
    let unknown = app.request(Method::HEAD, &format!("/v1/games/{}/events", Uuid::now_v7()));
    assert_eq!(send(unknown.header("accept", "text/event-stream")).await.status, 404);
    assert_eq!(app.hub.waiters(), 0);
}

#[actix_web::test]
async fn a_ticket_stands_for_the_token_for_one_stream_and_nothing_else() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    let private = json!({"variant": "kalah", "visibility": "private", "opponent": {"type": "link"}});
    let (game, other) = (app.created(&ana, &private).await, app.created(&ana, &private).await);
    let (id, other) = (game["id"].as_str().expect("an id"), other["id"].as_str().expect("an id"));
    let ask = async |guest, id: &str| app.post("/v1/me/stream-tickets", guest, &json!({"game_id": id})).await;
    let given = ask(Some(&ana), id).await;
    assert_eq!((given.status.as_u16(), &given.body["game_id"]), (201, &json!(id)), "{given:?}");
    assert_eq!(given.headers["cache-control"], "no-store");
    let ticket = given.string("/ticket");
    // As often as needed: an `EventSource` that comes back repeats its address.
    for query in [format!("ticket={ticket}"), format!("after=0&ticket={ticket}")] {
        let mut stream = Listener::open(asking(&app.base(), id, &query, None)).await;
        assert_eq!(stream.next().await.expect("an event").kind, "created");
        let page = app.get(&format!("/v1/games/{id}/events?{query}"), None).await;
        assert_eq!(page.body["items"][0]["type"], "created");
    }
    // Neither another stream's nor a token, nor the other way round.
    for (id, ticket) in [(other, ticket.as_str()), (id, "x"), (id, &format!("{ticket}x")), (id, &ana.token)] {
        let query = format!("ticket={ticket}");
        send(asking(&app.base(), id, &query, None)).await.is_problem(401, "invalid_token");
        app.get(&format!("/v1/games/{id}/events?{query}"), None).await.is_problem(401, "invalid_token");
    }
    let bearer = Guest { token: ticket.clone(), ..ana.clone() };
    app.get("/v1/me", Some(&bearer)).await.is_problem(401, "invalid_token");
    let both = send(asking(&app.base(), id, &format!("ticket={ticket}"), Some(&ana))).await;
    both.is_problem(422, "validation_failed");
    app.get(&format!("/v1/games/{id}?ticket={ticket}"), None).await.is_problem(422, "validation_failed");
    assert!(count(&app.metrics.text(), r#"mancala_tokens_refused_total{token="ticket"}"#) >= 8);

    // The ticket ends with the sign-in of its token alone.
    let bo = app.account("Bo", "correct horse").await;
    let tokens = app.sign_in("Bo", "correct horse").await;
    let mut tickets = vec![];
    for token in [&tokens.string("/access_token"), &bo.token] {
        let device = Guest { token: token.clone(), ..bo.clone() };
        let given = app.post("/v1/me/stream-tickets", Some(&device), &json!({})).await;
        tickets.push(format!("/v1/me/events?ticket={}", given.string("/ticket")));
        assert_eq!(app.get(&tickets[tickets.len() - 1], None).await.status, 200);
    }
    let revoked = app.post("/v1/tokens/revoke", None, &json!({"token": tokens.string("/refresh_token")})).await;
    assert_eq!(revoked.status, 200);
    app.get(&tickets[0], None).await.is_problem(401, "invalid_token");
    assert_eq!(app.get(&tickets[1], None).await.status, 200);

    // A player who may not see the game gets no ticket.
    ask(Some(&eve), id).await.is_problem(404, "not_found");
    ask(None, id).await.is_problem(401, "unauthenticated");
    app.post("/v1/me/stream-tickets", Some(&ana), &json!({"game_id": 1})).await.is_problem(422, "validation_failed");
    app.delete_me(&ana).await;
    send(asking(&app.base(), id, &format!("ticket={ticket}"), None)).await.is_problem(401, "invalid_token");
    ask(Some(&ana), id).await.is_problem(401, "invalid_token");
}
