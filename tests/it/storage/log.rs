//! Stored games: every log replays to its row, and a move touches no index and no other game.

use std::{
    fs::{self, DirEntry},
    io,
    path::Path,
};

use futures_util::future::join_all;
use mancala_server::{db::games, domain::GameId, rules::Variant};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use uuid::Uuid;

use crate::support::{app::TestApp, calls::Guest, cluster::Cluster, replay::every_log_replays_to_its_row};

/// Plays a game against oneself to its end by a rule of thumb that differs from game to game; gives the moves played.
async fn play_to_the_end(app: &TestApp, guest: &Guest, n: usize) -> i64 {
    let variant = Variant::ALL[n % Variant::ALL.len()].word();
    let clock = match n % 4 {
        0 => json!({"type": "per_move", "move_s": 600}),
        1 => json!({"type": "bank", "bank_s": 600, "increment_s": 5}),
        _ => json!({"type": "unlimited"}),
    };
    let game = app.created(guest, &json!({"variant": variant, "opponent": {"type": "self"}, "clock": clock})).await;
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
    // The room of old row versions is used again once no transaction of the whole cluster is older. Transactions of
    // other tests last as long as they like.
    let cluster = Cluster::start("heap-only");
    let app = TestApp::start_on(&cluster, |_| {}).await;
    let ana = app.guest("Ana").await;
    let (app, ana) = (&app, &ana);
    let mut moves = 0;
    for round in 0..4 {
        moves += join_all((0..16).map(|n| play_to_the_end(app, ana, round * 16 + n))).await.iter().sum::<i64>();
    }
    // The last move of a game also ends it, which changes the lists' indexes.
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
    assert!(heap_only * 100 >= (updates - last_moves) * 99, "{heap_only} of {updates}");
}

/// The statement of a function of `mancala-db`, as it is written there. A macro that joins statements has the text in `.sqlx`.
fn statement_of(file: &str, function: &str) -> String {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/db/src").join(file);
    let source = fs::read_to_string(source).expect("a source is text");
    let (_, rest) = source.split_once(&format!(" fn {function}(")).unwrap_or_else(|| panic!("{function} is in {file}"));
    let body = rest.split("\n}\n").next().expect("a function ends");
    let (_, quoted) = body.split_once("query").expect("it has a statement");
    let raw = quoted.split_once("r#\"").and_then(|(_, text)| text.split_once("\"#"));
    let plain = || quoted.split('"').nth(1).expect("the statement is quoted");
    let text = raw.map_or_else(plain, |(text, _)| text).to_owned();
    if quoted.starts_with("_logs!") { joined_statement(&text) } else { text }
}

/// The only statement with this part.
fn joined_statement(part: &str) -> String {
    let files = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".sqlx")).expect("the queries are committed");
    let query = |file: io::Result<DirEntry>| {
        let text = fs::read_to_string(file.expect("an entry").path()).expect("a query is text");
        let query: Value = serde_json::from_str(&text).expect("a query is JSON");
        query["query"].as_str().filter(|query| query.contains(part)).map(str::to_owned)
    };
    let mut found: Vec<_> = files.filter_map(query).collect();
    assert_eq!(found.len(), 1, "{part}");
    found.remove(0)
}

/// The parts of the plan that PostgreSQL keeps for a statement, on a connection as the service has them.
async fn plan_of(connection: &mut PgConnection, statement: &str) -> Vec<Value> {
    let last = (1..100).rev().find(|n| statement.contains(&format!("${n}"))).expect("it has parameters");
    let values = vec!["null"; last].join(", ");
    let prepare = format!("prepare asked as {statement}");
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await.expect("it is a statement");
    let explain = format!("explain (format json) execute asked ({values})");
    let plan = sqlx::query_scalar::<_, Value>(AssertSqlSafe(explain)).persistent(false);
    let plan = plan.fetch_one(&mut *connection).await.expect("it has a plan");
    sqlx::raw_sql("deallocate asked").execute(connection).await.expect("it was prepared");
    let mut parts = vec![plan[0]["Plan"].clone()];
    let mut next = 0;
    while let Some(part) = parts.get(next) {
        let below = part["Plans"].as_array().cloned().unwrap_or_default();
        parts.extend(below);
        next += 1;
    }
    parts
}

/// Asserts that a plan finds games and their events by the game's id alone, and joins them by nothing else; says how often.
fn finds_games_by_id(plan: &[Value]) -> usize {
    let mut found = 0;
    for part in plan {
        let text = |name: &str| part[name].as_str().unwrap_or_default();
        let (kind, index, condition) = (text("Node Type"), text("Index Name"), text("Index Cond"));
        let by_id = match (text("Relation Name"), kind) {
            ("game" | "event", "ModifyTable") => true,
            ("game", "Index Scan" | "Index Only Scan") => index == "game_pkey" && condition.contains("(id = "),
            ("event", "Index Scan" | "Index Only Scan") => index == "event_pkey" && condition.contains("(game_id = "),
            ("game" | "event", _) => false,
            _ => {
                let joins = !kind.contains("Join") && [text("Hash Cond"), text("Merge Cond")] == ["", ""];
                let filter = text("Join Filter");
                let by_game = ["game_id = ", ".game_id)"].iter().any(|side| filter.contains(side));
                assert!(joins && (by_game || !filter.contains(" = ")), "{part:#}");
                continue;
            }
        };
        assert!(by_id, "{part:#}");
        found += 1;
    }
    found
}

#[actix_web::test]
async fn every_statement_of_a_move_finds_games_by_id_in_full_tables_too() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    // The connection is of the service's own kind, with its settings.
    let mut connection = app.db.acquire().await.expect("PostgreSQL runs");
    let fill = "begin;
        insert into game select (jsonb_populate_record(game, jsonb_build_object('id', gen_random_uuid()))).*
            from game, generate_series(1, 5000);
        insert into event select game.id, event.at, event.seq, event.ply, event.seat, event.kind, event.move,
            event.position, event.detail from game, event where not exists (select from event where game_id = game.id);
        analyze game; analyze event";
    for filling in ["begin", fill] {
        sqlx::raw_sql(filling).execute(&mut *connection).await.expect("there are more games");
        for (file, function, expected) in [
            // The row that is found, and changed, and the events.
            ("games/append.rs", "store", 3),
            ("games/append.rs", "unlocked", 1),
            ("games/lookups.rs", "find", 1),
            ("games/insert.rs", "insert", 2),
            ("games/plies.rs", "plies", 1),
            ("games/find.rs", "versions", 1),
        ] {
            let plan = plan_of(&mut connection, &statement_of(file, function)).await;
            assert_eq!(finds_games_by_id(&plan), expected, "{file} {function}: {plan:#?}");
        }
        sqlx::raw_sql("rollback").execute(&mut *connection).await.expect("they are gone");
    }
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
    let statements = include_str!("../../../migrations/0006_lists.sql").split(";\n").map(|statement| {
        let code = statement.lines().filter(|line| !line.starts_with("--"));
        code.collect::<Vec<_>>().join("\n")
    });
    let updates: Vec<_> = statements.filter(|statement| statement.trim_start().starts_with("update game")).collect();
    assert_eq!(updates.len(), 2);
    for update in updates {
        sqlx::raw_sql(AssertSqlSafe(update)).execute(&app.db).await.expect("it is filled in");
    }
    // The replay at the end of every test checks that it is right.
    assert_eq!(every_log_replays_to_its_row(&app.db).await, 4);
}

#[actix_web::test]
async fn a_log_is_as_it_was_written() {
    let app = TestApp::start().await;
    let clock = json!({"type": "bank", "bank_s": 600, "increment_s": 5});
    let (id, south, north) = app.started(&json!({"options": {"pie": true}, "clock": clock})).await;
    app.play_move(&id, &south, 1, "A").await;
    app.play_move(&id, &north, 2, "swap").await;
    for (kind, answered_by, answer) in [
        ("draw", &south, "withdraw"),
        ("draw", &north, "decline"),
        ("pause", &north, "accept"),
        ("pause", &north, "withdraw"),
        ("takeback", &north, "accept"),
    ] {
        app.offer(&id, &south, kind).await;
        assert_eq!(app.answer_offer(&id, answered_by, kind, answer).await.status, 200, "{kind} {answer}");
    }
    app.resign_game(&id, &north).await;
    app.offer(&id, &south, "rematch").await;
    app.answer_offer(&id, &north, "rematch", "accept").await;
    let log: Vec<Value> = sqlx::query_scalar(
        "select jsonb_build_array(seq, kind, ply, seat, move, position, detail) from event where game_id = $1 order by seq",
    )
    .bind(Uuid::try_parse(&id).expect("an id"))
    .fetch_all(&app.db)
    .await
    .expect("the log is read");
    insta::assert_json_snapshot!(log, {
        "[][6].player_id" => "[player]", "[][6].expires_at" => "[time]", "[][6].rematch_game_id" => "[game]",
    });
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
