//! Clocks: time for each turn, banks, deadlines, and the settling of games whose time has run out.

use futures_util::future::{join, join_all};
use mancala_server::{db::Writers, jobs::deadlines};
use serde_json::{Value, json};
use time::{Duration, OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::{
    records::archive::{archive_all, events, execute, restore_all},
    support::{
        app::TestApp,
        calls::{Guest, send, signed},
        clock::now,
    },
};

const HOUR_S: i64 = 3600;

fn per_move(seconds: i64) -> Value {
    json!({"clock": {"type": "per_move", "move_s": seconds}})
}

fn bank() -> Value {
    json!({"clock": {"type": "bank", "bank_s": 1000, "increment_s": 10, "max_s": 1005}})
}

/// The moment at a JSON pointer.
fn at(game: &Value, pointer: &str) -> OffsetDateTime {
    let text =
        game.pointer(pointer).and_then(Value::as_str).unwrap_or_else(|| panic!("no moment at {pointer}: {game}"));
    OffsetDateTime::parse(text, &Rfc3339).expect("a moment")
}

/// What the job that settles games does in one round.
async fn settle(app: &TestApp) {
    let writers = Writers::start(&app.options, 1, Writers::QUEUE_MAX).0;
    let hub = app.hub.clone();
    writers.observe(move |change| hub.stored(change));
    deadlines::settle_due(&app.db, &writers, now()).await.expect("it settles");
}

#[actix_web::test]
async fn each_turn_has_its_time_and_an_extra_move_no_more() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&per_move(HOUR_S)).await;
    let begun = app.get_game(&id, Some(&south)).await.body;
    assert_eq!(begun["clock"]["move_s"], HOUR_S);
    let first = at(&begun, "/clock/deadline");
    assert_eq!(first, at(&begun, "/started_at") + Duration::seconds(HOUR_S));
    // C ends in the store: South moves again, in the same turn.
    let extra = app.played(&id, &south, 1, "C").await;
    assert_eq!((&extra["turn"], at(&extra, "/clock/deadline")), (&json!("south"), first));
    let next = app.played(&id, &south, 2, "A").await;
    let second = at(&next, "/last_move/at") + Duration::seconds(HOUR_S);
    assert_eq!((&next["turn"], at(&next, "/clock/deadline")), (&json!("north"), second));
    let over = app.resign_game(&id, &north).await.body;
    assert_eq!(over["clock"], json!({"type": "per_move", "move_s": HOUR_S, "deadline": null}));
}

#[actix_web::test]
async fn a_bank_pays_for_all_turns_and_is_filled_up_to_its_most() {
    let mut app = TestApp::start().await;
    let (id, south, north) = app.started(&bank()).await;
    app.let_pass(&id, 100).await;
    let game = app.played(&id, &south, 1, "A").await;
    let south_s = game["clock"]["bank_s"]["south"].as_i64().expect("seconds");
    assert!((900..=910).contains(&south_s), "{game}");
    assert_eq!(game["clock"]["bank_s"]["north"], 1000);
    assert_eq!(at(&game, "/clock/deadline"), at(&game, "/last_move/at") + Duration::seconds(1000));
    let game = app.played(&id, &north, 2, "a").await;
    assert_eq!(game["clock"]["bank_s"]["north"], 1005);
    let left = at(&game, "/clock/deadline") - at(&game, "/last_move/at");
    assert_eq!(left.whole_seconds(), south_s);
    assert_eq!((&game["clock"]["increment_s"], &game["clock"]["max_s"]), (&json!(10), &json!(1005)));
}

/// South plays and takes it back, so many times. The seconds of South's bank after each takeback.
async fn taken_back(app: &TestApp, (id, south, north): &(String, Guest, Guest), times: u32) -> Vec<i64> {
    let mut banks = vec![];
    for round in 0..times {
        app.played(id, south, 2 * round + 1, "A").await;
        assert_eq!(app.offer(id, south, "takeback").await.status, 201);
        let game = app.answer_offer(id, north, "takeback", "accept").await.body;
        banks.push(game["clock"]["bank_s"]["south"].as_i64().expect("seconds"));
    }
    banks
}

#[actix_web::test]
async fn takebacks_add_no_time_but_in_games_of_before() {
    let app = TestApp::start().await;
    let clock = json!({"clock": {"type": "bank", "bank_s": 1000, "increment_s": 50}});
    let has_no_flaw = async |id: &str| {
        let verified = app.get(&format!("/v1/games/{id}/verify"), None).await;
        assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
    };
    let marked = async |id: &str| {
        let marked = "select detail ->> 'returns_increments' from event where seq = 1 and game_id = $1::uuid";
        let marked = sqlx::query_scalar::<_, Option<String>>(marked).bind(id).fetch_one(&app.db);
        marked.await.expect("a row").is_some()
    };
    let new = app.started(&clock).await;
    let banks = taken_back(&app, &new, 3).await;
    assert!(banks.iter().all(|bank| (980..=1000).contains(bank)), "{banks:?}");
    assert!(marked(&new.0).await);
    has_no_flaw(&new.0).await;
    // Servers of the release before may come again, so that games are created as they do it.
    execute(&app, "update archive_state set had_players = true").await;
    let old = app.started(&clock).await;
    let banks = taken_back(&app, &old, 3).await;
    assert!((1130..=1150).contains(&banks[2]), "{banks:?}");
    assert!(!marked(&old.0).await);
    let takebacks = "select move from event where kind = 'moved' and move like 'takeback %' and game_id = $1::uuid";
    let takebacks = sqlx::query_scalar::<_, String>(takebacks).bind(&old.0).fetch_all(&app.db).await.expect("rows");
    assert_eq!(takebacks, ["takeback 0"; 3]);
    has_no_flaw(&old.0).await;
    for (id, south, _) in [&new, &old] {
        app.resign_game(id, south).await;
    }
    let rows = events(&app).await;
    assert_eq!(archive_all(&app).await.games, 2);
    has_no_flaw(&new.0).await;
    has_no_flaw(&old.0).await;
    restore_all(&app).await;
    assert_eq!(events(&app).await, rows);
    // The first archive keeps those servers away.
    let next = app.started(&clock).await;
    assert!(marked(&next.0).await);
    let rematch = app.offer(&old.0, &old.1, "rematch").await;
    assert!(rematch.status.is_success(), "{rematch:?}");
    let rematch = app.answer_offer(&old.0, &old.2, "rematch", "accept").await.string("/rematch_game_id");
    assert!(marked(&rematch).await);
}

#[actix_web::test]
async fn a_move_after_the_deadline_loses_even_if_the_timeout_is_not_stored() {
    let mut app = TestApp::start().await;
    for clock in [per_move(60), bank()] {
        let (id, south, north) = app.started(&clock).await;
        app.played(&id, &south, 1, "A").await;
        app.played(&id, &north, 2, "a").await;
        app.let_pass(&id, 1100).await;
        let late = app.play_move(&id, &south, 3, "B").await;
        late.is_problem(409, "game_over");
        let game = &late.body["game"];
        assert_eq!((&game["status"], &game["result"]["winner"]), (&json!("finished"), &json!("north")));
        assert_eq!((&game["result"]["reason"], &game["ply"]), (&json!("timeout"), &json!(2)));
        assert_eq!(game["clock"]["deadline"], json!(null));
        assert!(at(game, "/finished_at") < now() - Duration::seconds(1));
        // A move that was played in time is still known when it is sent again.
        assert_eq!(app.play_move(&id, &north, 2, "a").await.status, 200);
        app.resign_game(&id, &south).await.is_problem(409, "game_over");
    }
}

#[actix_web::test]
async fn a_read_of_a_game_after_its_deadline_shows_how_it_ended() {
    let mut app = TestApp::start().await;
    let (id, south, north) = app.started(&per_move(60)).await;
    app.played(&id, &south, 1, "A").await;
    app.played(&id, &north, 2, "a").await;
    app.let_pass(&id, 100).await;
    let readers = join_all([None, Some(&south), Some(&north)].map(|reader| app.get_game(&id, reader))).await;
    for seen in readers {
        assert_eq!((seen.status.as_u16(), &seen.body["result"]["reason"]), (200, &json!("timeout")));
        // Two events: the timeout, and the end of the game.
        assert_eq!(seen.body["version"], 6);
    }
}

#[actix_web::test]
async fn a_first_move_that_is_not_made_in_time_ends_the_game_without_a_result() {
    let mut app = TestApp::start().await;
    let (id, south, _) = app.started(&per_move(60)).await;
    app.let_pass(&id, 100).await;
    app.play_move(&id, &south, 1, "A").await.is_problem(409, "game_over");
    let (id, south, north) = app.started(&per_move(60)).await;
    app.played(&id, &south, 1, "A").await;
    app.let_pass(&id, 100).await;
    let seen = app.get_game(&id, Some(&north)).await.body;
    assert_eq!((&seen["status"], &seen["result"]), (&json!("aborted"), &json!(null)));
}

#[actix_web::test]
async fn unread_games_are_settled_once_by_any_process_and_others_put_off() {
    let mut app = TestApp::start().await;
    let mut late = vec![];
    for n in 0..12 {
        let (id, south, north) = app.started(&per_move(60)).await;
        app.played(&id, &south, 1, "A").await;
        app.played(&id, &north, 2, "a").await;
        if n % 3 > 0 {
            app.let_pass(&id, 100).await;
            late.push(id);
        } else {
            // This game was due, and a move has come since.
            let put = sqlx::query("update game set wake_at = deadline - interval '10 minutes' where id = $1");
            put.bind(Uuid::try_parse(&id).expect("an id")).execute(&app.db).await.expect("it is put");
        }
    }
    join(settle(&app), settle(&app)).await;
    let query = "select id, version, wake_at is not distinct from deadline from game where result_reason = 'timeout'
                 union all select id, version, wake_at = deadline from game where result_reason is null";
    let rows: Vec<(Uuid, i32, bool)> = sqlx::query_as(query).fetch_all(&app.db).await.expect("games");
    assert_eq!(rows.len(), 12);
    for (id, version, is_put_off) in rows {
        let is_late = late.contains(&id.to_string());
        assert_eq!((version, is_put_off), (if is_late { 6 } else { 4 }, true), "{id}");
    }
}

#[actix_web::test]
async fn an_unreadable_game_does_not_keep_others_from_being_settled() {
    let mut app = TestApp::start().await;
    let mut ids = vec![];
    for _ in 0..4 {
        let (id, south, north) = app.started(&per_move(60)).await;
        app.played(&id, &south, 1, "A").await;
        app.played(&id, &north, 2, "a").await;
        app.let_pass(&id, 100).await;
        ids.push(Uuid::try_parse(&id).expect("an id"));
    }
    let put = async |position: &str| {
        let put = sqlx::query("update game set position = $2 where id = $1").bind(ids[0]).bind(position);
        put.execute(&app.db).await.expect("it is put");
    };
    let position: String = sqlx::query_scalar("select position from game where id = $1")
        .bind(ids[0])
        .fetch_one(&app.db)
        .await
        .expect("it");
    put("garbage").await;
    settle(&app).await;
    let settled = "select count(*) from game where result_reason = 'timeout'";
    assert_eq!(sqlx::query_scalar::<_, i64>(settled).fetch_one(&app.db).await.expect("a count"), 3);
    // Every test ends with the replay of all logs.
    put(&position).await;
}

#[actix_web::test]
async fn a_waiting_client_gets_the_timeout() {
    let mut app = TestApp::start().await;
    let (id, south, north) = app.started(&per_move(60)).await;
    app.played(&id, &south, 1, "A").await;
    app.played(&id, &north, 2, "a").await;
    app.let_pass(&id, 55).await;
    let seen = app.get_game(&id, Some(&north)).await;
    let tag = seen.headers["etag"].clone();
    let waiting = signed(app.request(reqwest::Method::GET, &format!("/v1/games/{id}")), Some(&north));
    let waiting = send(waiting.header("if-none-match", tag).header("prefer", "wait=30"));
    let settling = async {
        crate::support::clock::until("a client waits", || app.hub.waiters() == 1).await;
        let deadline = at(&seen.body, "/clock/deadline");
        crate::support::clock::until("time runs out", || now() > deadline).await;
        settle(&app).await;
    };
    let (woken, ()) = join(waiting, settling).await;
    assert_eq!((woken.status.as_u16(), &woken.body["result"]["reason"]), (200, &json!("timeout")));
}

#[actix_web::test]
async fn an_open_game_says_when_it_ends_and_then_it_does() {
    let mut app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for by_job in [true, false] {
        let game = app.created(&ana, &json!({"variant": "oware"})).await;
        assert_eq!(at(&game, "/expires_at"), at(&game, "/created_at") + Duration::days(14));
        let id = game["id"].as_str().expect("an id").to_owned();
        app.let_pass(&id, 14 * 24 * 3600 + 1).await;
        if by_job {
            settle(&app).await;
        }
        app.join_game(&id, &bo).await.is_problem(409, "game_over");
        let seen = app.get_game(&id, None).await.body;
        assert_eq!((&seen["status"], &seen["expires_at"]), (&json!("aborted"), &json!(null)));
    }
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(app.get_game(&id, Some(&south)).await.body["expires_at"], json!(null));
}

#[actix_web::test]
async fn a_clock_that_makes_no_sense_is_refused_and_says_why() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let refused = [
        (json!({"type": "per_move", "move_s": 59}), "/clock/move_s"),
        (json!({"type": "per_move", "move_s": 2_592_001}), "/clock/move_s"),
        (json!({"type": "bank", "bank_s": 1}), "/clock/bank_s"),
        (json!({"type": "bank", "bank_s": 100, "increment_s": 2_592_001}), "/clock/increment_s"),
        (json!({"type": "bank", "bank_s": 100, "max_s": 99}), "/clock/max_s"),
    ];
    for (clock, pointer) in refused {
        let answer = app.create_game(&ana, &json!({"variant": "kalah", "clock": clock})).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.string("/errors/0/pointer"), pointer);
    }
    for clock in [
        json!({"type": "per_move"}),
        json!({"type": "per_move", "move_s": -60}),
        json!({"type": "per_move", "move_s": 60.5}),
        json!({"type": "per_move", "move_s": 60, "bank_s": 60}),
        json!({"type": "sundial"}),
    ] {
        app.create_game(&ana, &json!({"variant": "kalah", "clock": clock})).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn a_players_games_can_be_listed_by_deadline_the_nearest_first() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut ids = vec![];
    for clock in [
        json!({"type": "unlimited"}),
        per_move(9000)["clock"].clone(),
        bank()["clock"].clone(),
        per_move(600)["clock"].clone(),
    ] {
        let game = app.created(&ana, &json!({"variant": "kalah", "clock": clock})).await;
        let id = game["id"].as_str().expect("an id").to_owned();
        app.join_game(&id, &bo).await;
        ids.push(id);
    }
    let sorted = [3, 2, 1, 0].map(|n| ids[n].clone());
    let list = "status=active&player=me&sort=deadline";
    assert_eq!(app.list_games(list, Some(&ana)).await.ids(), sorted);
    let mut found = vec![];
    let mut next = format!("/v1/games?{list}&limit=1");
    loop {
        let page = app.get(&next, Some(&ana)).await;
        found.extend(page.ids());
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        next = format!("/v1/games?{list}&limit=1&cursor={cursor}");
    }
    assert_eq!(found, sorted);
}

#[actix_web::test]
async fn the_inbox_has_ones_own_turn_first_each_by_deadline() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let clocks = [json!({"type": "unlimited"}), per_move(9000)["clock"].clone(), per_move(600)["clock"].clone()];
    let mut ids = vec![];
    for side in ["north", "south"] {
        for clock in &clocks {
            let game = app.created(&ana, &json!({"variant": "kalah", "side": side, "clock": clock})).await;
            ids.push(game["id"].as_str().expect("an id").to_owned());
            app.join_game(&ids[ids.len() - 1], &bo).await;
        }
    }
    let mut found = vec![];
    let mut cursor = String::new();
    loop {
        let page = app.list_games(&format!("player=me&status=active&sort=turn&limit=1{cursor}"), Some(&ana)).await;
        found.extend(page.ids());
        let Some(next) = page.body["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, [5, 4, 3, 2, 1, 0].map(|n| ids[n].clone()));
}
