//! Waiting for a change of a game (`Prefer: wait`), instead of polling.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use futures_util::future::{join, join_all};
use mancala_server::{
    domain::GameId,
    http::new_key,
    live::{self, Hub, Topic, WAITERS_MAX},
};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use reqwest::{Client, header};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    binary::{Running, url},
    calls::{Guest, send, signed},
    clock::{until, until_async},
    database::{count_rows, set_away, set_back},
    games::game_of_one,
    scrape::until_line,
};

/// A client that no limit but that of all waiters holds back.
const ANYONE: live::Client = live::Client { player: None, address: None };

/// "At once" on a busy machine, and the latest time at which a change by another server is seen. It is far from the 50
/// seconds that the tests ask to wait.
const SOON: Duration = Duration::from_secs(15);

/// How often a move races with the request that waits for it.
const RACES: usize = 300;

/// Asks for a game with a tag and a preference, and measures the time until the answer.
async fn ask(base: SocketAddr, id: &str, etag: &str, prefer: &str, guest: Option<&Guest>) -> (Answer, Duration) {
    let request = Client::new().get(format!("http://{base}/v1/games/{id}"));
    let request = request.header(header::IF_NONE_MATCH, etag).header("prefer", prefer);
    let begun = Instant::now();
    (send(signed(request, guest)).await, begun.elapsed())
}

/// Waits for a game at a server while something is done, which begins when the server knows of the wait.
async fn ask_while<T>(
    (base, hub): (SocketAddr, &Hub),
    (id, etag, prefer, guest): (&str, &str, &str, Option<&Guest>),
    change: impl Future<Output = T>,
) -> (Answer, Duration, T) {
    let changing = async {
        until("the request waits", || hub.waiters() == 1).await;
        change.await
    };
    let ((answer, took), changed) = join(ask(base, id, etag, prefer, guest), changing).await;
    (answer, took, changed)
}

/// The answer to a client that waits for a change at the server that makes it.
async fn woken(app: &TestApp, id: &str, guest: Option<&Guest>, change: impl Future<Output = Answer>) -> Answer {
    let etag = app.get_game(id, guest).await.headers["etag"].to_str().expect("text").to_owned();
    let (answer, took, changed) = ask_while((app.address, &app.hub), (id, &etag, "wait=50", guest), change).await;
    assert!(changed.status.is_success(), "{changed:?}");
    assert_eq!((answer.status.as_u16(), applied(&answer)), (200, Some("wait=50")));
    assert!(took < SOON, "{took:?}");
    answer
}

async fn etag(app: &TestApp, id: &str) -> String {
    app.get_game(id, None).await.headers["etag"].to_str().expect("text").to_owned()
}

fn applied(answer: &Answer) -> Option<&str> {
    answer.headers.get("preference-applied").map(|value| value.to_str().expect("text"))
}

#[actix_web::test]
async fn every_change_wakes_its_waiting_clients() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let id = game["id"].as_str().expect("an id");
    let joined = woken(&app, id, None, app.join_game(id, &bo)).await;
    let moved = woken(&app, id, Some(&bo), app.play_move(id, &ana, 1, "A")).await;
    let resigned = woken(&app, id, Some(&ana), app.resign_game(id, &bo)).await;
    for (answer, version, status) in [(joined, 2, "active"), (moved, 3, "active"), (resigned, 5, "finished")] {
        assert_eq!((&answer.body["version"], &answer.body["status"]), (&json!(version), &json!(status)));
        assert!(answer.headers["etag"].to_str().expect("text").starts_with(&format!("W/\"{version}-")));
        assert_eq!(answer.headers["vary"], "Authorization, Prefer, Accept-Encoding");
    }
    let game = app.created(&ana, &json!({"variant": "kalah"})).await;
    let id = game["id"].as_str().expect("an id");
    let aborted = woken(&app, id, None, app.abort_game(id, &ana)).await;
    assert_eq!(aborted.body["status"], "aborted");
    until("no client waits any more", || app.hub.waiters() == 0).await;
}

#[actix_web::test]
async fn if_nothing_happens_the_answer_is_304_when_the_time_is_over() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let etag = etag(&app, &id).await;
    let (answer, took) = ask(app.address, &id, &etag, "respond-async, wait=1", None).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str(), applied(&answer)), (304, "", Some("wait=1")));
    assert_eq!(answer.headers["etag"], etag);
    assert_eq!(answer.headers["vary"], "Authorization, Prefer, Accept-Encoding");
    assert!((Duration::from_secs(1)..SOON).contains(&took), "{took:?}");
}

#[actix_web::test]
async fn a_change_that_comes_with_a_preference_is_read_whole() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let create = app.request(reqwest::Method::POST, "/v1/games").header("prefer", "wait=5").bearer_auth(&ana.token);
    assert_eq!(send(create.json(&json!({"variant": "kalah"}))).await.status, 201);
}

#[actix_web::test]
async fn a_longer_wait_than_the_longest_is_cut() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    for (prefer, ply) in [("wait=51", 1), ("wait=99999999999999999999", 2), ("wait=\"3600\"; x", 3)] {
        let legal = app.get_game(&id, None).await.string("/legal_moves/0");
        let playing = app.play_move(&id, &ana, ply, &legal);
        let etag = etag(&app, &id).await;
        let (answer, _, _) = ask_while((app.address, &app.hub), (&id, &etag, prefer, None), playing).await;
        assert_eq!((answer.status.as_u16(), applied(&answer)), (200, Some("wait=50")), "{prefer}");
    }
}

#[actix_web::test]
async fn a_stale_client_or_one_without_a_wait_is_answered_at_once() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let present = etag(&app, &id).await;
    for (tag, prefer, status) in [
        ("nonsense", "wait=50", 200),
        ("", "wait=50", 200),
        // Names no state to wait from.
        ("*", "wait=50", 304),
        (&present, "wait=0", 304),
        (&present, "wait=-1", 304),
        (&present, "wait=x", 304),
        (&present, "wait=1e9", 304),
        (&present, "wait=", 304),
        (&present, "wait", 304),
        (&present, "wait=x, wait=50", 304),
        (&present, "return=minimal", 304),
    ] {
        let (answer, took) = ask(app.address, &id, tag, prefer, None).await;
        assert_eq!((answer.status.as_u16(), applied(&answer)), (status, None), "{tag} {prefer}");
        assert!(took < SOON, "{tag} {prefer} {took:?}");
    }
    // The server would have waited; but one of these is another version, and of the other what else is shown has changed.
    for tag in ["W/\"0-0000000000000000\"", "W/\"1-0000000000000000\""] {
        let (answer, took) = ask(app.address, &id, tag, "wait=50", None).await;
        assert_eq!((answer.status.as_u16(), applied(&answer)), (200, Some("wait=50")), "{tag}");
        assert!(took < SOON, "{tag} {took:?}");
    }
    let without_tag = app.request(reqwest::Method::GET, &format!("/v1/games/{id}")).header("prefer", "wait=50");
    let answer = send(without_tag).await;
    assert_eq!((answer.status.as_u16(), applied(&answer)), (200, None));
    assert_eq!(app.hub.waiters(), 0);
}

#[actix_web::test]
async fn a_game_that_is_hidden_from_a_client_cannot_be_waited_for() {
    let app = TestApp::start().await;
    let (ana, eve) = (app.guest("Ana").await, app.guest("Eve").await);
    let body = json!({"variant": "kalah", "visibility": "private", "opponent": {"type": "link"}});
    let game = app.created(&ana, &body).await;
    let id = game["id"].as_str().expect("an id");
    let known = app.get_game(id, Some(&ana)).await.headers["etag"].to_str().expect("text").to_owned();
    let unknown = Uuid::now_v7().to_string();
    for (id, reader) in [(id, Some(&eve)), (id, None), (&unknown, Some(&ana))] {
        let (answer, took) = ask(app.address, id, &known, "wait=50", reader).await;
        answer.is_problem(404, "not_found");
        assert!(took < SOON);
    }
    // A client that may see the game waits, and is woken.
    let body = json!({"join_code": game["join_code"]});
    let path = format!("/v1/games/{id}/join");
    let joining = app.post(&path, Some(&eve), &body);
    let answer = woken(&app, id, Some(&ana), joining).await;
    assert!(answer.body["seats"]["north"].is_object() && answer.body["seats"]["south"].is_object());
}

#[actix_web::test]
async fn a_move_right_before_or_after_a_waiting_request_is_not_missed() {
    let app = TestApp::start().await;
    let (mut id, mut ana) = game_of_one(&app).await;
    let mut late = 0;
    for round in 0..RACES {
        let mut game = app.get_game(&id, None).await;
        if game.body["status"] != "active" {
            (id, ana) = game_of_one(&app).await;
            game = app.get_game(&id, None).await;
        }
        let etag = game.headers["etag"].to_str().expect("text").to_owned();
        let (ply, legal) = (game.body["ply"].as_u64().expect("a number"), game.string("/legal_moves/0"));
        let playing = async {
            // Earlier and later than the request is registered.
            for _ in 0..round % 60 {
                actix_web::rt::task::yield_now().await;
            }
            app.play_move(&id, &ana, u32::try_from(ply).expect("a small number") + 1, &legal).await
        };
        let ((answer, took), played) = join(ask(app.address, &id, &etag, "wait=50", None), playing).await;
        assert_eq!((played.status.as_u16(), answer.status.as_u16()), (201, 200), "round {round}");
        assert!(answer.body["version"].as_u64() > game.body["version"].as_u64());
        assert!(took < SOON, "round {round}: {took:?}");
        late += usize::from(took > Duration::from_millis(500));
    }
    // Only the poll once a second would make up for a lost wake-up.
    assert!(late < RACES / 20, "{late} of {RACES} were late");
}

#[actix_web::test]
async fn a_change_through_another_server_is_noticed_too() {
    let app = TestApp::start().await;
    let (elsewhere, hub) = app.second_server();
    let (id, ana) = game_of_one(&app).await;
    for (ply, mv) in [(1, "A"), (2, "a"), (3, "B")] {
        let playing = app.play_move(&id, &ana, ply, mv);
        let etag = etag(&app, &id).await;
        let (answer, took, played) = ask_while((elsewhere, &hub), (&id, &etag, "wait=50", None), playing).await;
        assert_eq!(played.status, 201, "{played:?}");
        assert_eq!((answer.status.as_u16(), applied(&answer)), (200, Some("wait=50")));
        assert_eq!(answer.body["ply"], ply);
        assert!(took < SOON, "{took:?}");
    }
}

#[actix_web::test]
async fn an_absent_database_does_not_disturb_waiting_clients() {
    let app = TestApp::start().await;
    let (elsewhere, hub) = app.second_server();
    let (id, ana) = game_of_one(&app).await;
    let tag = etag(&app, &id).await;
    let mut superuser = app.superuser().await;
    let mut answered = None;
    // The database may go away before the waiting request has read the game, which is then a 503. Each attempt leaves more time.
    for attempt in 0..10 {
        let away = async {
            for _ in 0..attempt * 10 {
                app.get_game(&id, None).await;
            }
            set_away(&app, &mut superuser).await;
        };
        let (answer, took, ()) = ask_while((elsewhere, &hub), (&id, &tag, "wait=3", None), away).await;
        set_back(&app, &mut superuser).await;
        if answer.status != 503 {
            answered = Some((answer, took));
            break;
        }
    }
    let (answer, took) = answered.expect("the game was read at least once");
    assert_eq!((answer.status.as_u16(), applied(&answer)), (304, Some("wait=3")));
    assert!(took >= Duration::from_secs(3));

    let playing = app.play_move(&id, &ana, 1, "A");
    let (answer, took, played) = ask_while((elsewhere, &hub), (&id, &tag, "wait=50", None), playing).await;
    assert_eq!((played.status.as_u16(), answer.status.as_u16()), (201, 200));
    assert!(took < SOON, "{took:?}");
}

#[actix_web::test]
async fn a_waiting_client_holds_no_connection_to_the_database() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let etag = etag(&app, &id).await;
    // Many more than there are connections.
    let waiting = join_all((0..200).map(|_| ask(app.address, &id, &etag, "wait=50", None)));
    let working = async {
        until("all wait", || app.hub.waiters() == 200).await;
        let busy = "pg_stat_activity where datname = current_database() and state <> 'idle' \
                    and pid <> pg_backend_pid() and application_name like 'mancala-server %'";
        // The poll once a second may be in flight.
        until_async("no connection is busy", async || count_rows(&app, busy).await == 0).await;
        for _ in 0..20 {
            assert_eq!(app.created(&ana, &json!({"variant": "kalah"})).await["status"], "open");
        }
        assert_eq!(app.hub.waiters(), 200);
        app.play_move(&id, &ana, 1, "A").await
    };
    let (answers, played) = join(waiting, working).await;
    assert_eq!(played.status, 201);
    assert!(answers.iter().all(|(answer, _)| answer.status == 200 && answer.body["ply"] == 1));
}

#[actix_web::test]
async fn a_client_that_hangs_up_does_not_wait_any_more() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let etag = etag(&app, &id).await;
    let request = format!(
        "GET /v1/games/{id} HTTP/1.1\r\nhost: x\r\naccept: */*\r\nif-none-match: {etag}\r\nprefer: wait=50\r\n\r\n"
    );
    let streams: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(app.address).expect("the server listens");
            stream.write_all(request.as_bytes()).expect("it is sent");
            stream
        })
        .collect();
    until("all wait", || app.hub.waiters() == 20).await;
    drop(streams);
    until("no client waits any more", || app.hub.waiters() == 0).await;
}

#[actix_web::test]
async fn over_the_limit_a_request_is_answered_at_once_without_waiting() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let etag = etag(&app, &id).await;
    let other = GameId(Uuid::now_v7());
    let crowd: Vec<_> = (0..WAITERS_MAX).map_while(|_| app.hub.enter(Topic::Game(other), ANYONE)).collect();
    // Fewer than the maximum where the process may open few files.
    assert!(app.hub.enter(Topic::Game(other), ANYONE).is_none());
    let (answer, took) = ask(app.address, &id, &etag, "wait=50", None).await;
    assert_eq!((answer.status.as_u16(), applied(&answer)), (304, None));
    assert!(took < SOON);
    drop(crowd);
    let (answer, _) = ask(app.address, &id, &etag, "wait=1", None).await;
    assert_eq!((answer.status.as_u16(), applied(&answer)), (304, Some("wait=1")));
}

#[actix_web::test]
async fn a_drain_releases_all_waiting_clients_and_no_new_one_waits() {
    let app = TestApp::start().await;
    let (id, _) = game_of_one(&app).await;
    let etag = etag(&app, &id).await;
    let waiting = join_all((0..20).map(|_| ask(app.address, &id, &etag, "wait=50", None)));
    let releasing = async {
        until("all wait", || app.hub.waiters() == 20).await;
        app.hub.release_all();
    };
    let (mut answers, ()) = join(waiting, releasing).await;
    answers.push(ask(app.address, &id, &etag, "wait=50", None).await);
    for (answer, took) in answers {
        assert_eq!((answer.status.as_u16(), applied(&answer)), (304, None));
        assert!(took < SOON);
    }
    assert_eq!(app.hub.waiters(), 0);
}

#[actix_web::test]
async fn a_client_that_waits_in_a_loop_sees_every_move_of_a_game() {
    let app = TestApp::start().await;
    let (id, ana) = game_of_one(&app).await;
    let watching = async {
        let (mut etag, mut seen) = ("W/\"0-0\"".to_owned(), vec![]);
        loop {
            let (answer, _) = ask(app.address, &id, &etag, "wait=50", None).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            answer.headers["etag"].to_str().expect("text").clone_into(&mut etag);
            seen.push(answer.body["ply"].as_u64().expect("a number"));
            if answer.body["status"] != "active" {
                return (seen, answer.body);
            }
        }
    };
    let playing = async {
        let mut game: Value = app.get_game(&id, None).await.body;
        while game["status"] == "active" {
            let ply = u32::try_from(game["ply"].as_u64().expect("a number")).expect("a small number") + 1;
            let legal = game["legal_moves"][0].as_str().expect("a move").to_owned();
            game = app.play_move(&id, &ana, ply, &legal).await.body["game"].take();
        }
        game
    };
    let ((seen, last), end) = join(watching, playing).await;
    // Two moves may come between two polls. The game never goes back, and its end is seen.
    assert!(seen.is_sorted() && seen.len() > 1, "{seen:?}");
    assert_eq!((&last["position"], &last["result"]), (&end["position"], &end["result"]));
}

#[actix_web::test]
async fn five_thousand_waiting_clients_cost_less_than_100_mib() {
    const WAITERS: usize = 5000;
    let (granted, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, granted.max(most.min(16_384)), most).expect("this process opens as many files");
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let etag = app.get_game(&id, None).await.headers["etag"].to_str().expect("text").to_owned();
    let options = ["--rate-limits", "off", "--metrics-listen", "127.0.0.1:0"];
    let running = Running::start_with(&url(&app), &new_key(), &options, &[]);
    let metrics = running.metrics.clone().expect("the metrics are served");
    let connect = || {
        let stream = TcpStream::connect(running.address()).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a time-out is set");
        stream
    };
    let ask = |stream: &mut TcpStream, prefer: &str| {
        let head =
            format!("GET /v1/games/{id} HTTP/1.1\r\nhost: x\r\nif-none-match: {etag}\r\nprefer: {prefer}\r\n\r\n");
        stream.write_all(head.as_bytes()).expect("it is sent");
    };
    let answer = |stream: &mut TcpStream| {
        let (mut head, mut byte) = (vec![], [0]);
        while !head.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("an answer");
            head.push(byte[0]);
        }
        String::from_utf8_lossy(&head[..12]).into_owned()
    };
    // The cost of the first requests is not that of the waiting clients.
    let mut first: Vec<_> = (0..50).map(|_| connect()).collect();
    for stream in &mut first {
        ask(stream, "wait=0");
        assert_eq!(answer(stream), "HTTP/1.1 304");
    }
    drop(first);

    let before = running.resident_kib();
    let mut waiting = vec![];
    let mut other = connect();
    while waiting.len() < WAITERS {
        for _ in 0..50 {
            let mut stream = connect();
            ask(&mut stream, "wait=50");
            waiting.push(stream);
        }
        // The server answers in turn: by the time of this answer those before it wait, or nearly so.
        ask(&mut other, "wait=0");
        assert_eq!(answer(&mut other), "HTTP/1.1 304");
    }
    until_line(&metrics, &format!("mancala_waiters {WAITERS}")).await;
    let cost = running.resident_kib().saturating_sub(before);
    println!("{WAITERS} who wait cost {} MiB, {} bytes each", cost / 1024, cost * 1024 / WAITERS);
    assert!(cost < 100 * 1024, "{cost} KiB");

    drop(waiting);
    assert_eq!(running.play(&id, &south, 1, "A").await.status, 201);
}
