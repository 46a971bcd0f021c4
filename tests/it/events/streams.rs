//! Open streams of events: who may hold one, what ends it, and that no failure loses an event.

use std::{
    io::{Read, Write},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all};
use mancala_server::{
    domain::GameId,
    live::{self, STREAMS_OF_PLAYER_MAX, Topic, WAITERS_MAX},
};
use nix::sys::{
    resource::{Resource, getrlimit, setrlimit},
    signal::Signal,
};
use reqwest::Client;
use serde_json::json;
use uuid::Uuid;

use crate::support::{
    app::TestApp,
    binary::{Running, url},
    calls::{Guest, send, signed},
    clock::until,
    database::{set_away, set_back},
    games::{event_pages, finished_with_rematch, game_of_one, some_move, timeless},
    listener::{Heard, Listener, asking, kinds},
    scrape::{count, until_line},
};

/// A client that no limit but that of all waiters holds back.
const ANYONE: live::Client = live::Client { player: None, address: None };

/// What "at once" means on a busy machine.
const SOON: Duration = Duration::from_secs(15);

#[actix_web::test]
async fn a_stream_ends_with_its_sign_in_on_every_server() {
    let app = TestApp::start().await;
    let (elsewhere, hub) = app.second_server();
    let elsewhere = format!("http://{elsewhere}");
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.guest("Bo").await);
    let game = app.created(&bo, &json!({"variant": "kalah"})).await;
    let id = game["id"].as_str().expect("an id");
    let mut open = vec![];
    for (base, guest) in [
        (app.base(), Some(&ana)),
        (app.base(), Some(&bo)),
        (app.base(), None),
        (elsewhere.clone(), Some(&ana)),
        (elsewhere.clone(), Some(&bo)),
    ] {
        open.push(Listener::open(asking(&base, id, "after=1", guest)).await);
    }
    until("all listen", || app.hub.audience().streams() == 3 && hub.audience().streams() == 2).await;
    let changed = app.patch("/v1/me", Some(&ana), &json!({"password": "another horse"})).await;
    assert_eq!(changed.status, 200);
    let [ana_here, bo_here, spectator, ana_there, bo_there] = &mut open[..] else { panic!("five streams") };
    for stream in [ana_here, ana_there] {
        assert_eq!(stream.next().await, None);
        assert!(stream.is_whole);
    }
    // The client cannot reconnect with the old token, and can with a new one.
    send(asking(&app.base(), id, "", Some(&ana))).await.is_problem(401, "invalid_token");
    let ana = Guest { token: changed.string("/tokens/access_token"), ..ana };
    let mut again = Listener::open(asking(&elsewhere, id, "after=1", Some(&ana))).await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    assert_eq!(again.next().await, None);
    // The streams of others stay open.
    assert_eq!(app.abort_game(id, &bo).await.status, 200);
    for stream in [bo_here, spectator, bo_there] {
        assert_eq!(stream.next().await.expect("an event").kind, "aborted");
    }
}

#[actix_web::test]
async fn over_the_limit_a_stream_sends_what_is_stored_and_ends() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let mut held = vec![];
    for _ in 0..STREAMS_OF_PLAYER_MAX {
        held.push(Listener::at(&app, &id, 1, Some(&ana)).await);
    }
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    let told = async |guest: Option<&Guest>| {
        let mut stream = Listener::at(&app, &id, 0, guest).await;
        let events = stream.rest().await;
        assert!(stream.is_whole && stream.retry_ms.is_some_and(|retry| retry >= 10_000), "{:?}", stream.retry_ms);
        assert_eq!(kinds(&events), ["created", "moved"]);
    };
    told(Some(&ana)).await;
    // Others may.
    let mut other = Listener::at(&app, &id, 0, None).await;
    assert_eq!(other.next().await.expect("an event").kind, "created");
    // A draining server accepts no stream, and ends the open ones cleanly and at once.
    let begun = Instant::now();
    app.hub.release_all();
    assert_eq!((kinds(&other.rest().await), other.is_whole), (vec!["moved"], true));
    for stream in &mut held {
        assert_eq!((kinds(&stream.rest().await), stream.is_whole), (vec!["moved"], true));
    }
    assert!(begun.elapsed() < SOON);
    told(None).await;
    until("all are gone", || app.hub.waiters() == 0 && app.hub.audience().streams() == 0).await;
}

#[actix_web::test]
async fn a_stopping_server_ends_its_streams_cleanly() {
    let app = TestApp::start().await;
    let (id, _, _) = app.started(&json!({})).await;
    let mut running = Running::start(&app);
    let mut streams = join_all((0..5).map(|_| Listener::open(asking(&running.base, &id, "after=1", None)))).await;
    for stream in &mut streams {
        assert_eq!(stream.next().await.expect("an event").kind, "joined");
    }
    let begun = Instant::now();
    running.signal(Signal::SIGTERM);
    for stream in &mut streams {
        assert_eq!(stream.next().await, None);
        assert!(stream.is_whole);
    }
    assert_eq!(running.ended().0, Some(0));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

#[actix_web::test]
async fn a_database_that_goes_away_and_comes_back_loses_nothing_of_a_stream() {
    let app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let (id, ana) = game_of_one(&app).await;
    let mut streams = vec![
        Listener::at(&app, &id, 0, None).await,
        Listener::open(asking(&format!("http://{elsewhere}"), &id, "", None)).await,
    ];
    let mut superuser = app.superuser().await;
    let mut expected = vec![1];
    for ply in 1..=3_u64 {
        set_away(&app, &mut superuser).await;
        // A notification arrives while the database cannot be queried.
        app.hub.notify(GameId(id.parse().expect("an id")), u32::MAX);
        set_back(&app, &mut superuser).await;
        let mut game = app.get_game(&id, None).await;
        while game.status == 503 {
            game = app.get_game(&id, None).await;
        }
        let ply_number = u32::try_from(ply).expect("a small number");
        assert_eq!(app.play_move(&id, &ana, ply_number, some_move(&game.body)).await.status, 201);
        expected.push(ply + 1);
    }
    for stream in &mut streams {
        for seq in &expected {
            assert_eq!(stream.next().await.expect("an event").id, Some(*seq));
        }
    }
}

#[actix_web::test]
async fn a_stream_without_a_database_sends_heartbeats_and_ends_with_its_server() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let mut stream = Listener::at(&app, &id, 1, None).await;
    until("it listens", || app.hub.waiters() == 1).await;
    let mut superuser = app.superuser().await;
    set_away(&app, &mut superuser).await;
    app.hub.notify(GameId(id.parse().expect("an id")), 2);
    stream.comment().await;
    let begun = Instant::now();
    app.hub.release_all();
    assert_eq!((stream.next().await, stream.is_whole), (None, true));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    set_back(&app, &mut superuser).await;
}

#[actix_web::test]
async fn of_many_streams_woken_together_one_reads_for_all() {
    const STREAMS: usize = 200;
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let mut streams = join_all((0..STREAMS).map(|_| Listener::at(&app, &id, 1, None))).await;
    until("all listen", || app.hub.audience().streams() == STREAMS).await;
    let asked =
        |text: &str| count(text, "mancala_game_cache_hits_total") + count(text, "mancala_game_cache_misses_total");
    let before = asked(&app.metrics.text());
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    for event in join_all(streams.iter_mut().map(Listener::next)).await {
        assert_eq!(event.expect("an event").id, Some(2));
    }
    let readings = asked(&app.metrics.text()) - before;
    assert!(readings < STREAMS / 4, "{readings}");
    assert_eq!(count(&app.metrics.text(), "mancala_streams"), STREAMS);
}

#[actix_web::test]
async fn a_client_that_hangs_up_is_no_subscriber_any_more() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let streams = join_all((0..20).map(|_| Listener::at(&app, &id, 1, None))).await;
    until("all listen", || app.hub.audience().streams() == 20).await;
    drop(streams);
    until("no stream is open any more", || app.hub.waiters() == 0 && app.hub.audience().streams() == 0).await;
}

#[actix_web::test]
async fn a_client_that_does_not_take_its_stream_is_cut_off() {
    let app = TestApp::start_with(|service| service.keep_alive = Duration::from_secs(1)).await;
    let (id, _, _) = finished_with_rematch(&app, 20).await;
    let request = format!("GET /v1/games/{id}/events HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\r\n");
    // Many times what the system keeps for a client that does not read.
    let requests = request.repeat(200);
    let address = app.address;
    let client = move || {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(address).expect("the server listens");
        stream.write_all(requests.as_bytes()).expect("the requests are taken");
        while begun.elapsed() < 4 * SOON && stream.write_all(b" ").is_ok() {
            thread::sleep(Duration::from_millis(500));
        }
        begun.elapsed()
    };
    let took = actix_web::web::block(client).await.expect("the client ends well");
    assert!(took < 4 * SOON, "{took:?}");
    // A client that was cut off resumes where it was.
    assert_eq!(Listener::at(&app, &id, 20, None).await.rest().await.len(), 6);
}

#[actix_web::test]
async fn a_change_through_another_server_is_sent_at_once() {
    const MOVES: u32 = 60;
    let app = TestApp::start().await;
    let (elsewhere, _) = app.second_server();
    let (id, ana) = game_of_one(&app).await;
    let mut stream = Listener::open(asking(&format!("http://{elsewhere}"), &id, "after=1", None)).await;
    let (mut late, mut seq, mut game, mut ply) = (0, 1, id.clone(), 0);
    for _ in 0..MOVES {
        let present = app.get_game(&game, None).await;
        if present.body["status"] != "active" {
            let new = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
            game = new["id"].as_str().expect("an id").to_owned();
            stream = Listener::open(asking(&format!("http://{elsewhere}"), &game, "after=1", None)).await;
            (seq, ply) = (1, 0);
            continue;
        }
        (seq, ply) = (seq + 1, ply + 1);
        let begun = Instant::now();
        let (played, heard) = join(app.play_move(&game, &ana, ply, some_move(&present.body)), stream.next()).await;
        assert_eq!((played.status.as_u16(), heard.expect("an event").id), (201, Some(seq)));
        late += usize::from(begun.elapsed() > Duration::from_millis(500));
    }
    // A poll every five seconds makes up for a lost notification.
    assert!(late < 6, "{late} of {MOVES} were late");
}

/// A client that follows a game through several servers, and goes to the next one whenever it is cut off.
async fn follow_through(bases: &[String], id: &str) -> (Vec<Heard>, usize) {
    let (mut heard, mut breaks) = (Vec::<Heard>::new(), 0);
    for base in bases.iter().cycle() {
        let last = heard.last().and_then(|event| event.id).unwrap_or(0);
        let request = asking(base, id, "", None).header("last-event-id", last.to_string());
        if request.try_clone().expect("it has no body").send().await.is_err() {
            continue;
        }
        let mut stream = Listener::open(request).await;
        while let Some(event) = stream.next().await {
            let is_last = event.kind == "finished";
            heard.push(event);
            if is_last {
                return (heard, breaks);
            }
        }
        breaks += usize::from(!stream.is_whole);
    }
    unreachable!("servers come round again")
}

#[actix_web::test]
async fn no_event_is_missed_when_one_of_three_servers_is_killed() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let mut servers: Vec<_> = (0..3).map(|_| Running::start(&app)).collect();
    let bases: Vec<String> = servers.iter().map(|server| server.base.clone()).collect();
    let clients = join_all((0..9).map(|n| {
        let mut bases = bases.clone();
        bases.rotate_left(n % 3);
        let id = id.clone();
        async move { follow_through(&bases, &id).await }
    }));
    let playing = async {
        let mut game = app.get_game(&id, None).await.body;
        while game["status"] == "active" {
            let ply = u32::try_from(game["ply"].as_u64().expect("a number")).expect("a small number") + 1;
            // Through one server after the other.
            let player = &servers[ply as usize % servers.len()];
            let played = player.play(&id, &ana, ply, some_move(&game)).await;
            assert_eq!(played.status, 201, "{played:?}");
            game = played.body["game"].clone();
            if ply == 8 {
                // SIGKILL: the server cannot end its streams.
                drop(servers.remove(1));
            }
        }
    };
    let (clients, ()) = join(clients, playing).await;
    let log: Vec<_> = event_pages(&app, &id, 100, None).await.into_iter().map(timeless).collect();
    assert!(log.len() > 20, "{}", log.len());
    let mut breaks = 0;
    for (heard, broken) in clients {
        let heard: Vec<_> = heard.into_iter().map(|event| timeless(event.data)).collect();
        assert_eq!(heard, log);
        breaks += broken;
    }
    assert!(breaks >= 3, "the killed server had three clients: {breaks}");
}

#[actix_web::test]
async fn when_too_many_wait_a_stream_does_not() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let other = GameId(Uuid::now_v7());
    let crowd: Vec<_> = (0..WAITERS_MAX).map_while(|_| app.hub.enter(Topic::Game(other), ANYONE)).collect();
    let mut stream = Listener::at(&app, &id, 0, None).await;
    assert_eq!((kinds(&stream.rest().await), stream.is_whole), (vec!["created"], true));
    drop(crowd);
    let mut stream = Listener::at(&app, &id, 0, None).await;
    assert_eq!(stream.next().await.expect("an event").kind, "created");
    assert_eq!(app.hub.waiters(), 1);
}

#[actix_web::test]
async fn five_thousand_streams_cost_less_than_100_mib() {
    const STREAMS: usize = 5000;
    let (granted, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, granted.max(most.min(16_384)), most).expect("this process opens as many files");
    let app = TestApp::start().await;
    let options = ["--rate-limits", "off", "--metrics-listen", "127.0.0.1:0"];
    let running = Running::start_with(&url(&app), &app.key, &options, &[]);
    let metrics = running.metrics.clone().expect("the metrics are served");
    // Fewer of one player than there may be; each of a game of its own, which costs more than many of one.
    let mut listeners = vec![];
    for _ in 0..STREAMS.div_ceil(STREAMS_OF_PLAYER_MAX) {
        let ana = app.guest("Ana").await;
        for _ in 0..STREAMS_OF_PLAYER_MAX / 10 {
            let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
            listeners.push((game["id"].as_str().expect("an id").to_owned(), ana.clone()));
        }
    }
    let ask = |(id, ana): &(String, Guest)| {
        let mut stream = TcpStream::connect(running.address()).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a time-out is set");
        let token = &ana.token;
        let head = format!(
            "GET /v1/games/{id}/events?after=1 HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\n\
             authorization: Bearer {token}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it is sent");
        stream
    };
    let is_open = |stream: &mut TcpStream| {
        let (mut text, mut some) = (vec![], [0; 2048]);
        while !text.windows(6).any(|window| window == b"retry:") {
            let count = stream.read(&mut some).expect("an answer");
            text.extend_from_slice(&some[..count]);
        }
    };
    // Connections are opened in groups, as large as the system lets wait to be accepted.
    let open_all = |count: usize| {
        let mut held: Vec<TcpStream> = Vec::with_capacity(count);
        while held.len() < count {
            let begun = held.len();
            held.extend(listeners.iter().cycle().skip(begun % listeners.len()).take((count - begun).min(50)).map(ask));
            held[begun..].iter_mut().for_each(is_open);
        }
        held
    };
    // The cost of the first requests is not that of the streams.
    drop(open_all(50));
    let none = "mancala_streams 0";
    until_line(&metrics, none).await;

    let before = running.resident_kib();
    let held = open_all(STREAMS);
    let cost = running.resident_kib().saturating_sub(before);
    println!("{STREAMS} streams cost {} MiB, {} bytes each", cost / 1024, cost * 1024 / STREAMS);
    assert!(cost < 100 * 1024, "{cost} KiB");
    assert_eq!(count(&send(Client::new().get(&metrics)).await.text, "mancala_streams"), STREAMS);
    drop(held);
    until_line(&metrics, none).await;
    assert_eq!(send(signed(running.get("/v1/me"), Some(&listeners[0].1))).await.status, 200);
}
