//! Bounds: how far lists scan, by which indexes, and how many games a player may have.

use mancala_server::{
    db::{
        self,
        games::{self, wakes},
        lists::{
            self, Filter, GameScope, Order, PlayerGames, Statuses,
            invitations::{self, Direction},
        },
        players::summary,
    },
    domain::{PlayerId, RUNNING_GAMES_MAX},
};
use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool, Row};
use uuid::Uuid;

use crate::support::{app::TestApp, calls::Guest, clock::now, games::walk};

/// Copies of a game with its log, each under an id that begins so.
async fn copy(app: &TestApp, id: &str, count: u32, prefix: &str) {
    let id_of = format!("('{prefix}-0000-7000-8000-' || lpad(n::text, 12, '0'))");
    for (table, column) in [("game", "id"), ("event", "game_id")] {
        let sql = format!(
            "insert into {table} select (jsonb_populate_record({table}, jsonb_build_object('{column}', {id_of}))).* \
             from {table}, generate_series(1, {count}) n where {column} = '{id}'"
        );
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&app.db).await.expect("it is copied");
    }
}

#[actix_web::test]
async fn a_rare_game_is_found_by_pages_that_scan_a_bounded_part() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "side": "south", "visibility": "unlisted",
        "opponent": {"type": "player", "player_id": bo.id}});
    let mut ids = vec![];
    for loser in [&bo, &ana] {
        let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
        app.join_game(&id, &bo).await;
        app.resign_game(&id, loser).await;
        ids.push(id);
    }
    // What Ana has lost lies before and after what she has won: 1,200 games newer than it, and 3 older.
    copy(&app, &ids[1], 1200, "f0000000").await;
    copy(&app, &ids[1], 3, "00000000").await;
    let with_bo = format!("opponent={}&", bo.id);
    for filters in ["player=me&result=won", "player=me&result=won&sort=finished_at"] {
        for filters in [filters.to_owned(), format!("{with_bo}{filters}")] {
            let first = app.list_games(&filters, Some(&ana)).await;
            assert_eq!((first.ids(), first.headers.contains_key("link")), (vec![], true), "{filters}");
            assert_eq!(walk(&app, &filters, Some(&ana)).await, [ids[0].clone()], "{filters}");
        }
    }
    // A stranger sees none of them, and needs two pages to learn that.
    let of_ana = format!("player={}", ana.id);
    assert_eq!(walk(&app, &of_ana, None).await, [] as [&str; 0]);
    let first = app.list_games(&of_ana, None).await;
    assert!(first.body["next_cursor"].is_string() && first.ids().is_empty());
    // What an index answers is on the first page.
    let lost = app.list_games("player=me&status=finished&limit=100", Some(&ana)).await;
    assert_eq!(lost.ids().len(), 100);
    assert_eq!(walk(&app, "player=me&result=lost&limit=100", Some(&ana)).await.len(), 1204);
}

#[actix_web::test]
async fn a_player_has_at_most_a_thousand_games_that_are_not_over() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let oneself = json!({"variant": "kalah", "opponent": {"type": "self"}});
    let active = app.created(&ana, &oneself).await["id"].as_str().expect("an id").to_owned();
    let open = app.created(&ana, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    copy(&app, &active, 600, "00000000").await;
    copy(&app, &open, RUNNING_GAMES_MAX - 603, "10000000").await;

    let of_bo = app.created(&bo, &json!({"variant": "kalah"})).await["id"].as_str().expect("an id").to_owned();
    let last = app.created(&ana, &oneself).await["id"].as_str().expect("an id").to_owned();
    let refused = app.create_game(&ana, &oneself).await;
    refused.is_problem(409, "too_many_games");
    assert!(refused.string("/detail").contains("1000"), "{refused:?}");
    app.join_game(&of_bo, &ana).await.is_problem(409, "too_many_games");
    // What is refused for another reason is refused for that.
    app.join_game(&open, &ana).await.is_problem(409, "own_game");
    app.create_game(&ana, &json!({"variant": "chess"})).await.is_problem(422, "validation_failed");
    // Others may still join hers: it was counted when it was created.
    assert_eq!(app.join_game(&open, &bo).await.status, 200);
    app.create_game(&ana, &oneself).await.is_problem(409, "too_many_games");
    app.abort_game(&last, &ana).await;
    assert_eq!(app.join_game(&of_bo, &ana).await.status, 200);
    app.create_game(&ana, &oneself).await.is_problem(409, "too_many_games");
    assert_eq!(app.create_game(&bo, &oneself).await.status, 201);
    assert_eq!(walk(&app, "turn=me&sort=updated_at&limit=100", Some(&ana)).await.len() / 100, 6);
}

/// Every query of a list with its generic plan, made in a database that is nearly empty.
async fn plans(app: &TestApp, ana: &Guest, bo: &Guest) -> Vec<(String, String)> {
    // A pool of a single connection, which keeps what it was asked.
    let pool = db::pool(app.options.clone(), 1);
    let id = |guest: &Guest| PlayerId(Uuid::try_parse(&guest.id).expect("an id"));
    let of = |opponent| GameScope::Players(PlayerGames { player: id(ana), opponent, visibility: None, to_move: false });
    let filter = |whose, order| Filter {
        reason: None,
        plies: (0, i32::MAX),
        imported: None,
        analysed: None,
        practice: None,
        whose,
        status: Statuses::Any,
        variant: None,
        preset: None,
        clock: None,
        open_to: None,
        ended: None,
        since: None,
        until: None,
        order,
        viewer: None,
    };
    for whose in [GameScope::Public, of(None), of(Some(id(bo)))] {
        for order in [Order::Created, Order::Finished, Order::Updated, Order::Deadline, Order::Turn] {
            lists::list(&pool, &filter(whose, order), None, 20).await.expect("a page");
        }
    }
    for direction in [Direction::Received, Direction::Sent] {
        invitations::list(&pool, id(ana), direction, None, 20).await.expect("a page");
    }
    games::count_running(&pool, id(ana)).await.expect("a count");
    summary::find(&pool, id(ana)).await.expect("a summary");
    prepared(&pool, "statement not like '%game.id = any%'").await
}

/// The statements about games that a pool has prepared, as far as a condition is true of them, with their plans.
async fn prepared(pool: &PgPool, condition: &str) -> Vec<(String, String)> {
    let mut plans = vec![];
    let prepared = format!(
        "select name, statement, cardinality(parameter_types) as parameters from pg_prepared_statements \
         where statement like '%from game%' and {condition}"
    );
    for row in sqlx::raw_sql(AssertSqlSafe(prepared)).fetch_all(pool).await.expect("statements are listed") {
        let (name, statement, parameters): (String, String, i32) = (row.get(0), row.get(1), row.get(2));
        // The plan is the same for all values.
        let nulls = vec!["null"; usize::try_from(parameters).expect("a count")].join(", ");
        let explain = AssertSqlSafe(format!("explain execute {name} ({nulls})"));
        let lines = sqlx::raw_sql(explain).fetch_all(pool).await.expect("it is planned");
        plans.push((statement, lines.iter().map(|line| line.get::<String, _>(0) + "\n").collect()));
    }
    plans
}

#[actix_web::test]
async fn every_list_is_planned_along_an_index_from_where_the_page_begins() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let planned = plans(&app, &ana, &bo).await;
    assert_eq!(planned.len(), 10);
    for (query, plan) in planned {
        let scans =
            plan.matches("Index Scan using game_").count() + plan.matches("Index Only Scan using game_").count();
        assert!(scans > 0 && !plan.contains("game_pkey") && !plan.contains("Seq Scan"), "{query}\n{plan}");
        let bounded = plan.matches("(id < $").count() + plan.matches("id) < ROW($").count();
        // What is sorted or counted is a player's active games, however they are ordered.
        assert!(bounded >= scans || query.contains("active"), "{query}\n{plan}");
    }
}

#[actix_web::test]
async fn games_that_may_be_out_of_time_are_found_by_an_index_from_its_start() {
    let app = TestApp::start().await;
    let pool = db::pool(app.options.clone(), 1);
    wakes::take(&pool, now(), now(), 10).await.expect("nothing is due");
    let planned = prepared(&pool, "statement like '%wake_at%'").await;
    let [(_, plan)] = &planned[..] else { panic!("{planned:?}") };
    assert!(plan.contains("Index Scan using game_wake_idx") && plan.contains("(wake_at < LEAST($1, now()))"), "{plan}");
    assert!(!plan.contains("Sort") && !plan.contains("Seq Scan on game"), "{plan}");
}
