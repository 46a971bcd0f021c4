//! Packing goes on whatever fails, readers see one state of the explorer, and what deletions leave is tidy.

use std::{collections::HashMap, sync::Arc};

use mancala_server::{
    db::{
        records::deletion,
        study::{
            chunk::encode,
            entries::newest,
            rebuild::{loading, reading, state, swap},
        },
    },
    domain::{PlayerId, PositionKey},
    jobs::explorer,
    metrics::Metrics,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    study::{
        by_hand::{Everything, packed},
        explorer::{explore, explored, resigned},
        explorer_packing::pack,
        explorer_removal::imported_by_chance,
        rebuild::{go_on, read_some},
    },
    support::{
        app::TestApp,
        clock::{until_async, until_seen},
    },
};

/// The key of the opening of Kalah.
const OPENING: i64 = 0x100c_a454_399f_a86a;

/// Entries of games that each came to one position, in the order of both.
const ENTRIES: &str = "insert into explored_game (position, game_id)
    select n * 7919000000000, lpad(to_hex(n), 32, '0')::uuid from generate_series($1::bigint, $2, $3) n";

async fn store_entries(app: &TestApp, first: i64, last: i64, step: i64) {
    sqlx::query(ENTRIES).bind(first).bind(last).bind(step).execute(&app.db).await.expect("rows");
}

async fn execute(app: &TestApp, statements: &'static str) {
    sqlx::raw_sql(statements).execute(&app.db).await.expect("it is done");
}

async fn count(app: &TestApp, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(&app.db).await.expect("a count")
}

async fn rows(app: &TestApp) -> i64 {
    count(app, "select count(*) from explored_game").await
}

/// Waits until there are so many rows at most.
async fn until_rows(app: &TestApp, most: i64) {
    until_seen("the rows are packed", async || rows(app).await, |rows: &i64| *rows <= most).await;
}

/// The job of a server.
fn job(app: &TestApp) -> (CancellationToken, JoinHandle<()>) {
    let (pool, stopping) = (mancala_server::db::pool(app.options.clone(), 1), CancellationToken::new());
    (stopping.clone(), tokio::spawn(explorer::run(pool, Arc::new(Metrics::new(0)), stopping)))
}

#[actix_web::test]
async fn a_failure_of_packing_is_retried_without_new_games() {
    let app = TestApp::start().await;
    store_entries(&app, 1, 6000, 1).await;
    execute(
        &app,
        "create sequence attempts;
        create function no() returns trigger language plpgsql as $$ begin perform nextval('attempts'); raise 'no'; end $$;
        create trigger no before insert on explored_chunk for each statement execute function no()",
    )
    .await;
    let (stopping, job) = job(&app);
    let attempts = "select last_value + is_called::integer from attempts";
    until_async("packing has failed", async || count(&app, attempts).await >= 2).await;
    execute(&app, "drop trigger no on explored_chunk").await;
    until_rows(&app, 2047).await;
    stopping.cancel();
    job.await.expect("it ends");
}

#[actix_web::test]
async fn a_damaged_chunk_keeps_no_other_from_being_packed() {
    let app = TestApp::start().await;
    store_entries(&app, 1, 24_000, 2).await;
    pack(&app).await;
    let chunks = count(&app, "select count(*) from explored_chunk").await;
    assert!(chunks > 30, "{chunks}");
    let least = "select position / 7919000000000 from explored_chunk order by position offset 3 limit 1";
    let least = count(&app, least).await;
    let damage = "update explored_chunk set entries = '\\x0101' where position = $1 * 7919000000000";
    sqlx::query(damage).bind(least).execute(&app.db).await.expect("a chunk");
    store_entries(&app, 2, 24_000, 2).await;
    let (stopping, job) = job(&app);
    // The entries of the damaged chunk stay.
    until_rows(&app, 2047).await;
    stopping.cancel();
    job.await.expect("it ends");
    let id = |n: i64| Uuid::from_u128(u128::from(n.cast_unsigned()));
    let listed = async |n: i64| {
        newest(&app.db, PositionKey((n * 7_919_000_000_000).cast_unsigned()), Uuid::nil(), Uuid::max(), 10).await
    };
    for n in [1, 2, least - 1, 15_000, 15_001] {
        assert_eq!(listed(n).await.expect("a database"), [id(n)]);
    }
    // Damage shows where it is. A reindex mends it.
    assert!(rows(&app).await > 0);
    assert!(listed(least + 2).await.expect_err("it is damaged").is_data_error());
}

#[actix_web::test]
async fn deletions_leave_no_empty_chunks_and_pass_damaged_ones() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let games = imported_by_chance(&app, ana, 300).await;
    explore(&app).await;
    pack(&app).await;
    let chunks = count(&app, "select count(*) from explored_chunk").await;
    assert!(chunks > 3, "{chunks}");
    execute(
        &app,
        "update explored_chunk set entries = '\\x0101' where position = (
            select position from explored_chunk order by position offset 1 limit 1
        )",
    )
    .await;
    let mut deleted = 0;
    loop {
        let some = deletion::delete_some(&app.db, ana).await.expect("a database");
        if some.is_empty() {
            break;
        }
        deleted += some.len();
    }
    assert_eq!(deleted, games.len());
    let left = count(&app, "select count(*) from explored_chunk").await;
    assert_eq!(
        (left, count(&app, "select count(*) from explored_number").await),
        (2, 0),
        "the first one and the damaged one"
    );
}

#[actix_web::test]
async fn a_rebuild_goes_on_after_deletions_before_its_exchange() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let imported = imported_by_chance(&app, ana, 120).await;
    let building = state::begin(&app.db).await.expect("a database");
    let (mut after, mut number) = (None, 0);
    while let Some(last) = read_some(&app, &building, after, number).await {
        (after, number) = (Some(last), number + 1);
    }
    reading::finish(&app.db, &building).await.expect("a database").expect("it is ours");
    for part in loading::parts(&app.db).await.expect("a database") {
        let mut sorted = loading::fetch(&app.db, part).await.expect("a database");
        sorted.sort();
        let moves = loading::load_moves(&app.db, &building, &sorted, 100, async |_| {}).await;
        moves.expect("a database").expect("it is ours");
        let games = loading::load_games(&app.db, &building, &sorted, 100, async |_| {}).await;
        games.expect("a database").expect("it is ours");
    }
    let kept = &imported[119..];
    for (game, _) in &imported[..119] {
        assert!(deletion::delete(&app.db, ana, *game).await.expect("a database"));
    }
    swap::prepare(&app.db, &building).await.expect("a database").expect("it is ours");
    // Interrupted when the deleted games were taken out, before the exchange.
    let building = state::take_over(&app.db).await.expect("a database").expect("one was interrupted");
    go_on(&app, &building).await.expect("it is built");
    explore(&app).await;
    let mut expected = Everything::default();
    for (game, chance) in kept.iter().filter(|(_, chance)| chance.counts()) {
        expected.count(game.0, &chance.line, chance.winner, chance.lead);
    }
    assert_eq!(Everything::sampled(&app).await.without_examples(), expected.without_examples());
}

#[actix_web::test]
async fn a_reader_sees_one_state_of_the_numbers_and_the_chunks() {
    let app = TestApp::start().await;
    store_entries(&app, 1, 100, 1).await;
    pack(&app).await;
    // Between the two reads numbers are given to other games, as deletions and a reindex do.
    let mut other = app.db.begin().await.expect("a transaction");
    sqlx::raw_sql("lock table explored_number in access exclusive mode").execute(&mut *other).await.expect("a lock");
    let pool = mancala_server::db::pool(app.options.clone(), 1);
    let position = PositionKey((7 * 7_919_000_000_000_i64).cast_unsigned());
    let reading = tokio::spawn(async move { newest(&pool, position, Uuid::nil(), Uuid::max(), 10).await });
    let waiting = "select count(*) from pg_locks where not granted and relation = 'explored_number'::regclass";
    until_async("the reader waits", async || count(&app, waiting).await == 1).await;
    sqlx::raw_sql("update explored_number set number = -number; update explored_number set number = 101 + number")
        .execute(&mut *other)
        .await
        .expect("it is done");
    other.commit().await.expect("it ends");
    assert_eq!(reading.await.expect("it ends").expect("a database"), [Uuid::from_u128(7)]);
}

#[actix_web::test]
async fn a_position_divided_into_chunks_may_become_rare_again() {
    let app = TestApp::start().await;
    let mut games = [resigned(&app, "C").await, resigned(&app, "C").await];
    games.sort();
    explore(&app).await;
    pack(&app).await;
    // The opening as deletions leave it where it had many games: one in the first chunk, none in the next, one in the last.
    let numbers: HashMap<Uuid, i32> = sqlx::query_as("select game_id, number from explored_number")
        .fetch_all(&app.db)
        .await
        .expect("rows")
        .into_iter()
        .collect();
    let entries = packed(&app).await;
    let at = |wanted: &dyn Fn(&(i64, Uuid)) -> bool| {
        let numbered = entries.iter().filter(|entry| wanted(entry));
        numbered.map(|(position, game)| (*position, numbers[game].cast_unsigned())).collect::<Vec<_>>()
    };
    let [first, last] = [0, 1].map(|n: usize| Uuid::try_parse(&games[n]).expect("an id"));
    let between = Uuid::from_u128(first.as_u128() + 1);
    execute(&app, "delete from explored_chunk").await;
    for (position, game, entries) in [
        (i64::MIN, Uuid::nil(), at(&|entry| entry.0 < OPENING)),
        (OPENING, Uuid::nil(), at(&|entry| *entry == (OPENING, first))),
        (OPENING, between, vec![]),
        (OPENING, last, at(&|entry| *entry >= (OPENING, last))),
    ] {
        sqlx::query("insert into explored_chunk values ($1, $2, $3)")
            .bind(position)
            .bind(game)
            .bind(encode(position, &entries))
            .execute(&app.db)
            .await
            .expect("a row");
    }
    assert_eq!(packed(&app).await, entries);
    for games in 2..=4 {
        let known = explored(&app, "variant=kalah").await;
        assert_eq!((known["games"].as_u64(), known["moves"][0]["games"].as_u64()), (Some(games), Some(games)));
        let listed = newest(&app.db, PositionKey(OPENING.cast_unsigned()), Uuid::nil(), Uuid::max(), 10).await;
        assert_eq!(listed.expect("a database").len() as u64, games);
        // Further games are packed into them.
        resigned(&app, "C").await;
        explore(&app).await;
        pack(&app).await;
    }
}
