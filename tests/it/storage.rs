//! What is stored, and how: every log replays to its row, and a move touches no index.

use futures_util::future::join_all;
use mancala_server::{
    db::games,
    domain::{Fact, Game, GameId, Seat},
    rules::{AnyPosition, Variant},
};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, PgPool};
use uuid::Uuid;

use crate::app::{Guest, TestApp};

/// Asserts of every game in a database that its row is the fold of its log, that the rules lead from each stored
/// position to the next, and that the log has neither gaps nor steps back in time. Every test ends with this.
pub async fn every_log_replays_to_its_row(db: &PgPool) -> usize {
    let ids: Vec<Uuid> = sqlx::query_scalar("select id from game").fetch_all(db).await.expect("games are listed");
    for id in &ids {
        let id = GameId(*id);
        let row = games::find_whole(db, id).await.expect("a row is a game").expect("the game is there").game;
        let log = games::log(db, id).await.expect("a log is events");
        assert_eq!(Game::replay(id, &log).expect("a log is a game"), row);
        assert!(log.is_sorted_by_key(|event| event.at));
        let mut position = AnyPosition::opening(&row.terms.options);
        let mut plies = 0;
        for event in &log {
            if let Fact::Moved(moved) = &event.fact {
                plies += 1;
                assert_eq!(moved.ply, plies);
                position = position.play(moved.mv).expect("the log has legal moves").0;
                assert_eq!(position.to_string(), moved.position.to_string());
            }
        }
        assert_eq!((plies, position.to_string()), (row.ply, row.position.to_string()));
        let seats = sqlx::query_as("select winner_seat, turn_seat from game where id = $1").bind(id.0);
        let seats: (Option<i16>, Option<i16>) = seats.fetch_one(db).await.expect("the game is there");
        let seat_at = |side| i16::from(row.seat_at(side) == Seat::Second);
        let winner = row.result.as_ref().and_then(|result| result.winner);
        assert_eq!(seats, (winner.map(seat_at), row.turn().map(seat_at)));
    }
    let orphans = "select count(*) from event where not exists (select from game where id = game_id)";
    let orphans: i64 = sqlx::query_scalar(orphans).fetch_one(db).await.expect("a count");
    assert_eq!(orphans, 0);
    ids.len()
}

/// Plays a game against oneself to its end by a rule of thumb that differs from game to game; gives the moves played.
async fn play_to_the_end(app: &TestApp, guest: &Guest, n: usize) -> i64 {
    let variant = Variant::ALL[n % Variant::ALL.len()].word();
    let game = app.created(guest, &json!({"variant": variant, "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id").to_owned();
    let mut legal = game["legal_moves"].clone();
    let mut ply = 0;
    while let Some(moves) = legal.as_array().filter(|moves| !moves.is_empty()) {
        ply += 1;
        let mv = moves[(n * 7 + ply * 3) % moves.len()].as_str().expect("a move");
        let played = app.play_move(&id, guest, u32::try_from(ply).expect("a short game"), mv).await;
        assert_eq!(played.status, 201, "{played:?}");
        legal = played.body["game"]["legal_moves"].clone();
    }
    i64::try_from(ply).expect("a short game")
}

#[actix_web::test]
async fn nearly_every_move_is_a_heap_only_update() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let (app, ana) = (&app, &ana);
    let mut moves = 0;
    for round in 0..4 {
        moves += join_all((0..16).map(|n| play_to_the_end(app, ana, round * 16 + n))).await.iter().sum::<i64>();
    }
    // The last move of a game also ends it, which the lists' indexes are told.
    let last_moves = 64;
    assert!(moves > 2000, "{moves} moves");
    // Sessions report what they did within a second, or when they end.
    let end = "select pg_terminate_backend(pid) from pg_stat_activity \
               where datname = $1 and backend_type = 'client backend'";
    let ended = sqlx::query(end).bind(app.options.get_database()).execute(&mut app.superuser().await).await;
    ended.expect("the others end");
    let mut connection = app.options.connect().await.expect("PostgreSQL runs");
    let counts = "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'game'";
    let (updates, heap_only) = loop {
        let (updates, heap_only): (i64, i64) = sqlx::query_as(counts).fetch_one(&mut connection).await.expect("counts");
        if updates >= moves {
            break (updates, heap_only);
        }
    };
    assert_eq!(updates, moves);
    println!("{heap_only} of {updates} updates were heap-only");
    assert!(heap_only * 100 >= (updates - last_moves) * 95, "{heap_only} of {updates}");
}

#[actix_web::test]
async fn a_migration_fills_in_what_older_games_lack() {
    let app = TestApp::start().await;
    for (swap, resign) in [(false, false), (false, true), (true, false), (true, true)] {
        let (id, south, north) = app.started(&json!({"options": {"pie": true}})).await;
        app.play_move(&id, &south, 1, "A").await;
        if swap {
            assert_eq!(app.play_move(&id, &north, 2, "swap").await.status, 201);
        }
        for loser in resign.then_some([&south, &north]).into_iter().flatten() {
            app.resign_game(&id, loser).await;
        }
    }
    sqlx::raw_sql("update game set winner_seat = null, turn_seat = null").execute(&app.db).await.expect("it is older");
    let statements = include_str!("../../migrations/0006_lists.sql").split(";\n").map(|statement| {
        let code = statement.lines().filter(|line| !line.starts_with("--"));
        code.collect::<Vec<_>>().join("\n")
    });
    let updates: Vec<_> = statements.filter(|statement| statement.trim_start().starts_with("update game")).collect();
    assert_eq!(updates.len(), 2);
    for update in updates {
        sqlx::raw_sql(AssertSqlSafe(update)).execute(&app.db).await.expect("it is filled in");
    }
    // That it is right is checked of every game, here as in every test.
    assert_eq!(every_log_replays_to_its_row(&app.db).await, 4);
}

#[actix_web::test]
async fn a_log_is_as_it_was_written() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"options": {"pie": true}})).await;
    app.play_move(&id, &south, 1, "A").await;
    app.play_move(&id, &north, 2, "swap").await;
    app.resign_game(&id, &north).await;
    let log: Vec<Value> = sqlx::query_scalar(
        "select jsonb_build_array(seq, kind, ply, seat, move, position, detail) from event where game_id = $1 order by seq",
    )
    .bind(Uuid::try_parse(&id).expect("an id"))
    .fetch_all(&app.db)
    .await
    .expect("the log is read");
    insta::assert_json_snapshot!(log, { "[][6].player_id" => "[player]" });
}

#[actix_web::test]
async fn plies_that_were_played_after_the_game_was_read_are_left_out() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "north"})).await;
    let id = game["id"].as_str().expect("an id");
    let read = || games::find_whole(&app.db, GameId(Uuid::try_parse(id).expect("an id")));
    let open = read().await.expect("a game").expect("it is there").game;
    app.join_game(id, &bo).await;
    app.play_move(id, &bo, 1, "C").await;
    let after_one = read().await.expect("a game").expect("it is there").game;
    app.play_move(id, &bo, 2, "A").await;
    assert_eq!(games::plies(&app.db, &open, 0, 10).await.expect("plies"), []);
    assert_eq!(games::plies(&app.db, &after_one, 0, 10).await.expect("plies").len(), 1);
    assert_eq!(games::plies(&app.db, &after_one, 1, 10).await.expect("plies"), []);
}
