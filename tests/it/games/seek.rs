//! Pairing: players that seek a game join each other's.

use std::{cell::RefCell, collections::BTreeMap};

use futures_util::future::join_all;
use mancala_server::{
    db::games::{
        self,
        seek::{self, READ_MAX, Seek, Sought},
    },
    domain::{Action, Command, Game, GameId, JoinContext, PlayerId, Seat},
};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::{TestApp, never_refilled},
    calls::{Guest, send, signed},
    clock::now,
    copies::{copy_open_game, delete_copies},
};

/// How many players seek at the same moment.
const SEEKERS: usize = 64;

async fn seek(app: &TestApp, guest: &Guest, body: &Value) -> Answer {
    app.post("/v1/games/seek", Some(guest), body).await
}

async fn seek_with_key(app: &TestApp, guest: &Guest, key: &str, body: &Value) -> Answer {
    let request = signed(app.request(Method::POST, "/v1/games/seek"), Some(guest));
    send(request.header("idempotency-key", key).json(body)).await
}

async fn count(app: &TestApp, status: &str) -> i64 {
    let found = sqlx::query_scalar("select count(*) from game where status = $1").bind(status).fetch_one(&app.db).await;
    found.expect("games are counted")
}

#[actix_web::test]
async fn of_players_that_seek_at_once_on_two_servers_half_as_many_games_begin() {
    let app = TestApp::start().await;
    let (second, _) = app.second_server();
    let guests = join_all((0..SEEKERS).map(|_| app.guest("Ana"))).await;
    let addresses = [app.address, second];
    let answers = join_all(guests.iter().enumerate().map(|(n, guest)| {
        let request = reqwest::Client::new().post(format!("http://{}/v1/games/seek", addresses[n % 2]));
        send(request.bearer_auth(&guest.token).json(&json!({"variant": "kalah"})))
    }))
    .await;
    let half = i64::try_from(SEEKERS / 2).expect("a small number");
    assert_eq!((count(&app, "active").await, count(&app, "open").await), (half, 0));
    let mut games = BTreeMap::<String, Vec<u16>>::new();
    for answer in &answers {
        games.entry(answer.string("/id")).or_default().push(answer.status.as_u16());
    }
    // Each game was opened by one and joined by one other.
    assert!(games.len() == SEEKERS / 2 && games.values().all(|statuses| statuses.iter().sum::<u16>() == 401));
    for answer in answers.iter().filter(|answer| answer.status == 200) {
        let seats = &answer.body["seats"];
        assert!(answer.body["status"] == "active" && seats["south"]["id"] != seats["north"]["id"], "{answer:?}");
    }
}

#[actix_web::test]
async fn a_seek_joins_the_oldest_game_that_fits_and_no_other() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let clock = json!({"type": "per_move", "move_s": 3600});
    let mut fits = vec![];
    for body in [
        json!({"variant": "oware"}),
        json!({"variant": "kalah", "preset": "bga"}),
        json!({"variant": "kalah", "options": {"seeds": 5}, "clock": clock}),
        json!({"variant": "kalah", "opponent": {"type": "link"}}),
        json!({"variant": "kalah", "visibility": "unlisted"}),
        json!({"variant": "kalah", "opponent": {"type": "self"}}),
        json!({"variant": "kalah", "side": "south"}),
        json!({"variant": "kalah", "side": "north"}),
    ] {
        fits.push(app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned());
    }
    // The south side is free in the last one only; without a side the older one comes first.
    let south = seek(&app, &bo, &json!({"variant": "kalah", "side": "south"})).await;
    assert_eq!((south.status.as_u16(), south.string("/id")), (200, fits[7].clone()));
    assert_eq!(south.string("/seats/south/id"), bo.id);
    assert_eq!(seek(&app, &bo, &json!({"variant": "kalah"})).await.string("/id"), fits[6]);
    assert_eq!(seek(&app, &bo, &json!({"variant": "kalah", "preset": "bga"})).await.string("/id"), fits[1]);
    assert_eq!(seek(&app, &bo, &json!({"variant": "oware"})).await.string("/id"), fits[0]);
    let slow = json!({"variant": "kalah", "options": {"seeds": 5}, "clock": clock});
    let other = json!({"variant": "kalah", "options": {"seeds": 5}});
    assert_eq!(seek(&app, &bo, &other).await.status, 201);
    assert_eq!(seek(&app, &bo, &slow).await.string("/id"), fits[2]);
    let opened = seek(&app, &bo, &json!({"variant": "kalah"})).await;
    assert_eq!((opened.status.as_u16(), &opened.body["status"]), (201, &json!("open")));
    assert_eq!(opened.headers["location"], format!("/v1/games/{}", opened.string("/id")));
    // A game that has expired is not joined.
    let expired = "update game set expires_at = now() - interval '1 minute' where id = $1::uuid";
    sqlx::query(expired).bind(opened.string("/id")).execute(&app.db).await.expect("it expires");
    let later = seek(&app, &ana, &json!({"variant": "kalah"})).await;
    assert_eq!(later.status, 201);
    let restored = "update game set expires_at = wake_at where id = $1::uuid";
    sqlx::query(restored).bind(opened.string("/id")).execute(&app.db).await.expect("it is as its log says");
}

#[actix_web::test]
async fn a_seek_tries_the_next_game_if_the_oldest_is_refused_but_not_all() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut ids = vec![];
    for _ in 0..8 {
        let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
        ids.push(GameId(Uuid::try_parse(game["id"].as_str().expect("an id")).expect("a UUID")));
    }
    let terms = games::find(&app.db, ids[0]).await.expect("it is read").expect("it is there").game.terms().clone();
    let player = PlayerId(Uuid::try_parse(&bo.id).expect("a UUID"));
    let (game, created) = Game::create(GameId(Uuid::now_v7()), terms, player, time::Duration::days(1), now());
    let wanted =
        Seek { player, game: &game, created: &created, creator_seats: &Seat::ALL, is_counted: false, now: now() };
    // Games that may be joined, and games that are tried.
    for (joinable, expected) in [(&ids[2..3], &ids[..3]), (&ids[7..], &[ids[0], ids[1], ids[3], ids[4], ids[5]][..])] {
        let tried = RefCell::new(vec![]);
        let join = |fit: &Game| {
            tried.borrow_mut().push(fit.id());
            let context = JoinContext { running_games: 0, is_blocked: false };
            let action = Action::Join { join_code: None, context };
            let decided = fit.decide(&Command { player, if_version: None, action }, now());
            let events = decided.ok().filter(|_| joinable.contains(&fit.id()))?.events;
            let mut game = fit.clone();
            events.iter().try_for_each(|event| game.apply(event)).expect("it can be joined");
            Some((game, events))
        };
        let sought =
            seek::seek(&app.db, app.writers.announcer(), &wanted, join, |_| None).await.expect("the database answers");
        assert_eq!(*tried.borrow(), expected);
        match sought {
            Sought::Joined(joined) => assert_eq!(joined.id(), ids[2]),
            Sought::Opened => assert!(!joinable.contains(&ids[2])),
            other => panic!("{other:?}"),
        }
    }
}

#[actix_web::test]
async fn a_player_that_seeks_again_still_waits_in_the_same_game() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah"});
    let first = seek(&app, &ana, &body).await;
    let again = seek(&app, &ana, &body).await;
    assert_eq!((first.status.as_u16(), again.status.as_u16()), (201, 200));
    assert_eq!(first.body, again.body);
    let oware = json!({"variant": "oware"});
    let all = join_all((0..8).map(|_| seek(&app, &ana, &oware))).await;
    assert!(all.iter().all(|answer| answer.body["id"] == all[0].body["id"]));
    // Another side is another game.
    let side = if first.body["seats"]["south"].is_null() { "south" } else { "north" };
    assert_ne!(seek(&app, &ana, &json!({"variant": "kalah", "side": side})).await.body["id"], first.body["id"]);
    assert_eq!(seek(&app, &bo, &body).await.body["id"], first.body["id"]);
}

#[actix_web::test]
async fn a_seek_under_a_key_is_answered_with_its_game_as_it_is() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah"});
    let opened = seek_with_key(&app, &ana, "one", &body).await;
    assert_eq!(opened.status, 201);
    assert_eq!(seek_with_key(&app, &bo, "one", &body).await.status, 200, "each player has keys of its own");
    for (guest, status) in [(&ana, "active"), (&bo, "active")] {
        let again = seek_with_key(&app, guest, "one", &body).await;
        assert_eq!((&again.body["id"], &again.body["status"]), (&opened.body["id"], &json!(status)));
        assert_eq!(again.headers["idempotent-replayed"], "true");
    }
    seek_with_key(&app, &ana, "one", &json!({"variant": "oware"})).await.is_problem(422, "idempotency_key_reused");
    assert_eq!((count(&app, "active").await, count(&app, "open").await), (1, 0));
    let racing = join_all((0..8).map(|_| seek_with_key(&app, &ana, "two", &body))).await;
    assert!(racing.iter().all(|answer| answer.status.is_success() && answer.body["id"] == racing[0].body["id"]));
}

#[actix_web::test]
async fn a_seek_that_fits_no_game_is_refused_and_stores_nothing() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for (body, pointer) in [
        (json!({}), "/variant"),
        (json!({"variant": "chess"}), "/variant"),
        (json!({"variant": "kalah", "options": {"seeds": 1_000}}), "/options/seeds"),
        (json!({"variant": "congkak", "options": {"max_rounds": 3}}), "/options/max_rounds"),
        (json!({"variant": "kalah", "opponent": {"type": "self"}}), "/opponent/type"),
        (json!({"variant": "kalah", "opponent": {"type": "link"}}), "/opponent/type"),
        (json!({"variant": "kalah", "visibility": "private"}), "/visibility"),
        (json!({"variant": "kalah", "visibility": "unlisted"}), "/visibility"),
        (json!({"from": {"game_id": ana.id, "ply": 0}}), "/from"),
        (json!({"variant": "kalah", "start": {"position": "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S"}}), "/start"),
        (json!({"variant": "kalah", "clock": {"type": "per_move", "move_s": 1}}), "/clock/move_s"),
    ] {
        let refused = seek(&app, &ana, &body).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{body}");
    }
    app.post("/v1/games/seek", None, &json!({"variant": "kalah"})).await.is_problem(401, "unauthenticated");
    seek(&app, &app.stranger(), &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    assert_eq!(count(&app, "open").await, 0);
}

#[actix_web::test]
async fn a_seek_is_charged_as_several_calls() {
    let app = TestApp::start_with(never_refilled).await;
    let ana = app.guest("Ana").await;
    for _ in 0..60 {
        assert!(seek(&app, &ana, &json!({"variant": "kalah"})).await.status.is_success());
    }
    seek(&app, &ana, &json!({"variant": "kalah"})).await.is_problem(429, "rate_limited");
}

#[actix_web::test]
async fn a_seek_reads_a_bound_of_games_from_both_ends() {
    let app = TestApp::start().await;
    let (bad, eve) = (app.guest("Bad").await, app.guest("Eve").await);
    let open = json!({"variant": "kalah", "opponent": {"type": "open"}, "visibility": "public", "side": "south"});
    let blocked = app.created(&bad, &open).await["id"].as_str().expect("an id").to_owned();
    copy_open_game(&app, &blocked, READ_MAX).await;
    let seeker = async |name: &str| {
        let guest = app.guest(name).await;
        let path = format!("/v1/me/blocks/{}", bad.id);
        assert!(send(signed(app.request(Method::PUT, &path), Some(&guest))).await.status.is_success());
        guest
    };
    // All of the oldest are forbidden, and the newest is not.
    let newest = app.created(&eve, &open).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(seek(&app, &seeker("Ana").await, &json!({"variant": "kalah"})).await.string("/id"), newest);
    let between = app.created(&eve, &open).await["id"].as_str().expect("an id").to_owned();
    let copied = "insert into game select (jsonb_populate_record(game, jsonb_build_object('id', \
        'f' || lpad(to_hex(n), 7, '0') || '-0000-7000-8000-000000000000'))).* \
        from game, generate_series(1, $2) as n where game.id = $1::uuid";
    sqlx::query(copied).bind(&blocked).bind(READ_MAX).execute(&app.db).await.expect("newer ones are stored");
    let opened = seek(&app, &seeker("Bo").await, &json!({"variant": "kalah"})).await;
    assert_eq!(
        (opened.status.as_u16(), opened.string("/status")),
        (201, "open".to_owned()),
        "{between} is past both bounds"
    );
    delete_copies(&app).await;
}
