//! The explorer built anew: the same counts, wherever a process is interrupted, and whatever happens meanwhile.

use core::time::Duration;
use std::time::Instant;

use futures_util::future::join;
use mancala_server::{
    db::{
        records::deletion,
        study::{
            explorer_index,
            rebuild::{
                loading,
                reading::{self, Batch},
                state::{Rebuild, begin, take_over},
                swap,
            },
        },
    },
    domain::{GameId, PlayerId},
    jobs::{
        lasting::{Pace, Patience},
        rebuild::{RebuildError, rebuild},
    },
};
use sqlx::AssertSqlSafe;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    study::{
        by_hand::{Everything, store_by_chance},
        explorer::{explore, explored, impatient, resigned, waiting},
        explorer_removal::imported_by_chance,
    },
    support::{app::TestApp, clock::now},
};

/// Builds the explorer anew, and counts what was queued meanwhile.
pub async fn build_anew(app: &TestApp) {
    let building = begin(&app.db).await.expect("a database");
    go_on(app, &building).await.expect("it is built");
    explore(app).await;
}

/// Goes on with a rebuild to its end.
pub async fn go_on(app: &TestApp, building: &Rebuild) -> Result<u64, RebuildError> {
    rebuild(&app.db, &impatient(), Pace::new(None), building, |advance| assert!(advance.unreadable.is_empty())).await
}

/// Reads and stores the next games of a rebuild as its batch of this number; returns the last of them, if there were any.
pub async fn read_some(app: &TestApp, building: &Rebuild, after: Option<GameId>, number: i32) -> Option<GameId> {
    let listed = reading::list(&app.db, after, 40).await.expect("a database");
    let last = listed.last()?.game;
    let ids: Vec<_> = listed.iter().map(|listed| listed.game.0).collect();
    let mut batch = Batch::default();
    batch.add(reading::read(&app.db, &ids).await.expect("a database"), last);
    batch.sort();
    // The second time as if the first answer had been lost.
    for _ in 0..2 {
        assert_eq!(batch.store(&app.db, building, number).await.expect("a database"), Some(()));
    }
    Some(last)
}

/// Whether the tables of rebuilds are empty.
async fn is_tidy(app: &TestApp) -> bool {
    let mut rows = 0;
    for table in [
        "explored_move_next",
        "explored_game_next",
        "explored_chunk_next",
        "explored_number_next",
        "explorer_rebuild_game",
        "explorer_rebuild_visits",
    ] {
        let count = AssertSqlSafe(format!("select count(*) from {table}"));
        rows += sqlx::query_scalar::<_, i64>(count).fetch_one(&app.db).await.expect("a count");
    }
    rows == 0
}

#[actix_web::test]
async fn a_rebuild_gives_what_counting_one_by_one_gives() {
    let app = TestApp::start().await;
    let expected = store_by_chance(&app, 11, 300).await;
    explore(&app).await;
    assert_eq!(Everything::sampled(&app).await, expected);
    for _ in 0..2 {
        let building = begin(&app.db).await.expect("a database");
        let mut halves = 0;
        let on_advance = |advance: mancala_server::jobs::rebuild::Advance| halves += advance.half_games;
        let pace = Pace::new(std::num::NonZero::new(2_000));
        let games = rebuild(&app.db, &impatient(), pace, &building, on_advance).await.expect("it is built");
        assert_eq!((building.games, halves), (games, 2 * games));
        assert_eq!(waiting(&app).await, 0);
        assert_eq!(Everything::sampled(&app).await, expected);
        assert!(is_tidy(&app).await);
        assert!(take_over(&app.db).await.expect("a database").is_none(), "nothing is left to do");
    }
}

#[actix_web::test]
async fn an_interrupted_rebuild_goes_on_and_its_former_process_stores_nothing() {
    let app = TestApp::start().await;
    let expected = store_by_chance(&app, 12, 300).await;
    explore(&app).await;
    let first = begin(&app.db).await.expect("a database");
    let last = read_some(&app, &first, None, 0).await;
    let last = read_some(&app, &first, last, 1).await;
    // Interrupted while games are read.
    let second = take_over(&app.db).await.expect("a database").expect("one was interrupted");
    assert_eq!((second.read, second.batches, second.last, second.is_read), (80, 2, last, false));
    assert_eq!(Batch::default().store(&app.db, &first, 2).await.expect("a database"), None);
    assert_eq!(reading::finish(&app.db, &first).await.expect("a database"), None);
    let (mut after, mut number) = (last, 2);
    while let Some(last) = read_some(&app, &second, after, number).await {
        (after, number) = (Some(last), number + 1);
    }
    // Interrupted when no game was left for the last batch.
    assert_eq!(Batch::default().store(&app.db, &second, number).await.expect("a database"), Some(()));
    let second = take_over(&app.db).await.expect("a database").expect("one was interrupted");
    assert_eq!((second.read, second.last, second.is_read), (second.games, after, false));
    reading::finish(&app.db, &second).await.expect("a database").expect("it is ours");
    // Interrupted when one table was loaded and the other one was not.
    let part = loading::parts(&app.db).await.expect("a database")[0];
    let mut sorted = loading::fetch(&app.db, part).await.expect("a database");
    sorted.sort();
    for _ in 0..2 {
        loading::load_moves(&app.db, &second, &sorted, 100, async |_| {})
            .await
            .expect("a database")
            .expect("it is ours");
    }
    let third = take_over(&app.db).await.expect("a database").expect("one was interrupted");
    assert_eq!((third.read, third.is_read), (third.games, true));
    assert_eq!(loading::load_games(&app.db, &second, &sorted, 100, async |_| {}).await.expect("a database"), None);
    assert!(matches!(go_on(&app, &second).await, Err(RebuildError::TakenOver)));
    assert_eq!(swap::swap(&app.db, &second, now()).await.expect("a database"), None);
    assert_eq!(go_on(&app, &third).await.expect("it is built"), third.games);
    assert_eq!(Everything::sampled(&app).await, expected);
    // The answer was lost, and the exchange is asked for again.
    assert_eq!(swap::swap(&app.db, &third, now()).await.expect("a database"), Some(()));
    assert_eq!((Everything::sampled(&app).await, waiting(&app).await), (expected, 0));
}

#[actix_web::test]
async fn what_ends_and_what_is_deleted_during_a_rebuild_is_counted_and_is_not() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    let imported = imported_by_chance(&app, ana, 120).await;
    // Some of them are counted, others wait.
    explorer_index::explore(&app.db, now(), 60).await.expect("a database").expect("no other process explores");
    let building = begin(&app.db).await.expect("a database");
    let (mut after, mut number) = (None, 0);
    while let Some(last) = read_some(&app, &building, after, number).await {
        (after, number) = (Some(last), number + 1);
    }
    reading::finish(&app.db, &building).await.expect("a database").expect("it is ours");
    for (game, _) in imported.iter().step_by(3) {
        assert!(deletion::delete(&app.db, ana, *game).await.expect("a database"));
    }
    // A game that ends is counted into the former explorer at once, and another one waits.
    let counted = resigned(&app, "C").await;
    explore(&app).await;
    resigned(&app, "C").await;
    assert_eq!(explored(&app, "variant=kalah").await["games"], 1);
    let building = take_over(&app.db).await.expect("a database").expect("one was interrupted");
    go_on(&app, &building).await.expect("it is built");
    assert_eq!((waiting(&app).await, explored(&app, "variant=kalah").await["games"].as_u64()), (2, Some(0)));
    explore(&app).await;
    let built = Everything::stored(&app).await;
    assert_eq!(explored(&app, "variant=kalah").await["games"], 2);
    assert!(built.games.values().any(|games| games.iter().any(|game| game.to_string() == counted)));
    let mut expected = Everything::default();
    for (n, (game, chance)) in imported.iter().enumerate() {
        if n % 3 != 0 && chance.counts() {
            expected.count(game.0, &chance.line, chance.winner, chance.lead);
        }
    }
    // Examples and the last time are those of some of the games.
    assert_eq!(built.imported().without_examples(), expected.without_examples());
    // Built once more, nothing of the deleted games is left.
    let expected = Everything::sampled(&app).await.without_examples();
    build_anew(&app).await;
    let stored = Everything::sampled(&app).await;
    let gone: Vec<_> = imported.iter().step_by(3).map(|(game, _)| game.0).collect();
    assert!(stored.rows.values().all(|row| row.sample_game_ids.iter().all(|id| !gone.contains(id))));
    assert_eq!(stored.without_examples(), expected);
}

#[actix_web::test]
async fn readers_see_the_former_explorer_until_the_new_one_is_whole() {
    let app = TestApp::start().await;
    resigned(&app, "C").await;
    explore(&app).await;
    let more = "insert into explored_move values
        (x'100ca454399fa86a'::bigint, 'C', 7, 7, 0, 7, 0, 0, now(), '{}')";
    sqlx::raw_sql(more).execute(&app.db).await.expect("a row");
    let mut backup = app.db.begin().await.expect("a transaction");
    sqlx::raw_sql("select count(*) from explored_move").execute(&mut *backup).await.expect("it reads");
    let (pool, done) = (mancala_server::db::pool(app.options.clone(), 1), CancellationToken::new());
    let building = begin(&pool).await.expect("a database");
    let build = async {
        let patience = Patience::new(Duration::from_mins(1), |_| {});
        rebuild(&pool, &patience, Pace::new(None), &building, |_| {}).await.expect("it is built");
        done.cancel();
    };
    let read = async {
        for _ in 0..30 {
            assert_eq!(explored(&app, "variant=kalah").await["games"], 7);
        }
        assert!(!done.is_cancelled());
        backup.rollback().await.expect("it ends");
    };
    let begun = Instant::now();
    join(build, read).await;
    assert!(begun.elapsed() < Duration::from_secs(50), "it went on when the reader had ended");
    assert_eq!(explored(&app, "variant=kalah").await["games"], 1);
    resigned(&app, "C").await;
    explore(&app).await;
    assert_eq!(explored(&app, "variant=kalah").await["games"], 2);
}

#[actix_web::test]
async fn the_new_tables_are_named_and_granted_as_the_former_ones() {
    let app = TestApp::start().await;
    resigned(&app, "C").await;
    let names = "select string_agg(relname, ' ' order by relname) from pg_class where relname like 'explored%'";
    let before: String = sqlx::query_scalar(names).fetch_one(&app.db).await.expect("names");
    sqlx::raw_sql("grant select on explored_move to public").execute(&app.db).await.expect("it is granted");
    build_anew(&app).await;
    let to_public =
        "select count(*) from pg_class, aclexplode(relacl) where oid = 'explored_move'::regclass and grantee = 0";
    let to_public: i64 = sqlx::query_scalar(to_public).fetch_one(&app.db).await.expect("rights");
    assert_eq!(to_public, 1);
    let after: String = sqlx::query_scalar(names).fetch_one(&app.db).await.expect("names");
    assert_eq!(after, before);
    assert_eq!(explored(&app, "variant=kalah").await["games"], 1);
}
