//! The explorer's index: each game counts once, and as it is counted by hand.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

use futures_util::future::join;
use mancala_server::{
    db::{
        DbError, games,
        records::import,
        study::{
            explorer_index,
            rebuild::{reading, state::begin, swap},
        },
    },
    domain::{BySeat, Exploration, GameId, Import, ImportedPly, PlyAction, PositionKey, Reason, Visibility},
    jobs::{explorer, lasting::Pace},
    metrics::Metrics,
    rules::{AnyOptions, AnyPosition, Side, Variant},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::{
    study::{
        by_hand::{BEGUN, Everything, RULES, column, packed, store_by_chance},
        explorer::{counts, encoded, explore, explored, impatient, play_on, resigned, waiting},
        rebuild::build_anew,
    },
    support::{
        app::TestApp,
        binary::{self, Running},
        calls::Guest,
        clock::{now, until_async},
        games::walk,
    },
};

#[actix_web::test]
async fn what_is_known_is_what_counting_by_hand_gives_in_all_variants() {
    let app = TestApp::start().await;
    let expected = store_by_chance(&app, 1, 600).await;
    explore(&app).await;
    // Most entries are packed, and the others are rows.
    let rows: i64 = sqlx::query_scalar("select count(*) from explored_game").fetch_one(&app.db).await.expect("a count");
    assert!(rows > 0 && packed(&app).await.len() >= 2048);
    let stored = Everything::sampled(&app).await;
    // Some games came to a position twice, and played something else there.
    let visits =
        |position| expected.rows.range((position, true, String::new())..).take_while(move |row| row.0.0 == position);
    let came_again = expected
        .games
        .iter()
        .filter(|(position, games)| visits(**position).map(|(_, row)| row.games).sum::<u64>() > games.len() as u64);
    assert!(expected.rows.len() > 2000 && came_again.count() > 0, "{}", expected.rows.len());
    assert_eq!(stored, expected);
    assert_eq!(waiting(&app).await, 0);
    // And the endpoint answers so, for each opening and its moves.
    for (variant, preset, overrides) in RULES {
        let options = AnyOptions::parse(variant, preset, overrides).expect("options");
        let mut position = AnyPosition::opening(&options);
        while !position.legal_moves().is_empty() && position.plies() < 4 {
            let rules = format!("variant={variant}&preset={preset}&options={}", encoded(overrides));
            let query = format!("{rules}&position={}", encoded(&position.to_string()));
            let told = explored(&app, &format!("{query}&imported=true")).await;
            let column = column(&position);
            let games = expected.games.get(&column).cloned().unwrap_or_default();
            assert_eq!((&told["games"], told["key"].as_str()), (&json!(games.len()), Some(&*format!("{column:016x}"))));
            let mut best = 0;
            for mv in position.legal_moves() {
                let row = expected.rows.get(&(column, true, mv.to_string())).cloned().unwrap_or_default();
                let [games, south, north] = [row.games, row.south_wins, row.north_wins];
                assert_eq!(counts(&told, &mv.to_string()), [games, south, games - south - north, north]);
                best = best.max(row.games);
            }
            assert_eq!(
                (told["moves"].as_array().map(Vec::len), &told["moves"][0]["games"]),
                (Some(position.legal_moves().len()), &json!(best))
            );
            // The games themselves, page by page, the newest first.
            let listed = walk(&app, &format!("{query}&limit=7"), None).await;
            assert_eq!(listed, games.iter().rev().map(Uuid::to_string).collect::<Vec<_>>());
            position = position.play(position.legal_moves()[0]).expect("a legal move").0;
        }
    }
}

#[actix_web::test]
async fn each_game_counts_once_with_many_workers_and_after_a_kill() {
    let app = TestApp::start().await;
    let expected = store_by_chance(&app, 2, 150).await;
    let left = waiting(&app).await;
    // Killed before the commit: nothing has happened.
    let break_off = "create function no() returns trigger language plpgsql as $$ begin raise 'no'; end $$;
        create trigger no before delete on unexplored_game for each statement execute function no()";
    sqlx::raw_sql(break_off).execute(&app.db).await.expect("it is made");
    assert!(matches!(explorer_index::explore(&app.db, now(), 50).await, Err(DbError::Failed(_))));
    assert_eq!((waiting(&app).await, Everything::stored(&app).await), (left, Everything::default()));
    sqlx::raw_sql("drop trigger no on unexplored_game; drop function no").execute(&app.db).await.expect("it is gone");
    // While one process explores, no other does: here for as long as a transaction lasts that has done nothing yet.
    let mut other = app.db.begin().await.expect("a transaction");
    sqlx::raw_sql("select pg_advisory_xact_lock(7311717606064547186)")
        .execute(&mut *other)
        .await
        .expect("it is locked");
    assert!(explorer_index::explore(&app.db, now(), 50).await.expect("a database").is_none());
    other.rollback().await.expect("it ends");
    let first =
        explorer_index::explore(&app.db, now(), 20).await.expect("a database").expect("no other process explores");
    assert_eq!((first.games, first.is_full), (20, true));
    // Several at once, each over connections of its own, and once more.
    let pool = mancala_server::db::pool(app.options.clone(), 2);
    let (patience, pace) = (impatient(), Pace::new(None));
    let there = explorer::explore_all(&pool, &patience, pace, |_| {});
    assert_eq!(join(explorer::explore_all(&app.db, &patience, pace, |_| {}), there).await.0.ok(), Some(()));
    explore(&app).await;
    assert_eq!(Everything::sampled(&app).await, expected);
}

#[actix_web::test]
async fn filling_it_anew_gives_the_same_and_counts_what_was_there_before() {
    let app = TestApp::start().await;
    let mut expected = store_by_chance(&app, 3, 120).await;
    // After an upgrade no game is queued.
    sqlx::raw_sql("delete from unexplored_game").execute(&app.db).await.expect("rows go");
    explore(&app).await;
    assert_eq!(Everything::stored(&app).await, Everything::default());
    let server = Running::start(&app);
    for _ in 0..2 {
        let url = binary::url(&app);
        let output = binary::server(&["reindex", "--database-url", &url]).output().expect("the program runs");
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((output.status.code(), told.contains(" games were counted in ")), (Some(0), true), "{output:?}");
        assert_eq!(waiting(&app).await, 0);
        assert_eq!(Everything::sampled(&app).await, expected);
        // More games end; the server counts them by itself, or leaves them to the next command.
        let more = store_by_chance(&app, 4, 10).await;
        expected.add(&more);
    }
    until_async("the server counts what is left", async || waiting(&app).await == 0).await;
    drop(server);
    assert_eq!(Everything::sampled(&app).await, expected);
}

#[actix_web::test]
async fn appends_and_the_reindex_queue_the_games_that_count() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut expected = BTreeSet::new();
    for visibility in Visibility::ALL {
        for (opponent, north) in [("self", &ana), ("link", &bo)] {
            for (end, plies) in [("open", 0), ("active", 20), ("aborted", 0), ("finished", 19), ("finished", 20)] {
                let body = json!({"variant": "kalah", "visibility": visibility.as_str(), "opponent": {"type": opponent},
                    "side": "south"});
                let body = if opponent == "self" { json_without(body, "side") } else { body };
                let game = app.created(&ana, &body).await;
                let id = game["id"].as_str().expect("an id").to_owned();
                if opponent == "link" && end != "open" {
                    let code = json!({"join_code": game["join_code"]});
                    assert_eq!(app.post(&format!("/v1/games/{id}/join"), Some(&bo), &code).await.status, 200);
                }
                play_on(&app, &id, plies, &ana, north).await;
                match end {
                    "aborted" => assert_eq!(app.abort_game(&id, &ana).await.status, 200),
                    "finished" => assert_eq!(app.resign_game(&id, &ana).await.status, 200),
                    _ => {}
                }
                let id = Uuid::try_parse(&id).expect("an id");
                let game = games::find_whole(&app.db, GameId(id)).await.expect("a database").expect("a game").game;
                if Exploration::counts_game(&game) {
                    expected.insert(id);
                }
            }
        }
    }
    let practice = imported_practice(&app, &app.account("Dee", "correct horse").await).await;
    let game = games::find_whole(&app.db, practice).await.expect("a database").expect("a game").game;
    assert_eq!((game.ply(), Exploration::counts_game(&game)), (6, false));
    assert_eq!((expected.len(), queued(&app).await), (1, expected.clone()));
    sqlx::raw_sql("delete from unexplored_game").execute(&app.db).await.expect("rows go");
    let listed = reading::list(&app.db, None, 100).await.expect("a database");
    assert_eq!(listed.into_iter().map(|listed| listed.game.0).collect::<BTreeSet<_>>(), expected);
    // A rebuild that has read none of them queues them.
    let building = begin(&app.db).await.expect("a database");
    assert_eq!(building.games, 1);
    assert_eq!(swap::swap(&app.db, &building, now()).await.expect("a database"), Some(()));
    assert_eq!(queued(&app).await, expected);
    // A server of an older release queues others as well: they leave the queue uncounted.
    sqlx::raw_sql("insert into unexplored_game (game_id) select id from game where result_reason is not null on conflict do nothing")
        .execute(&app.db)
        .await
        .expect("rows come");
    explore(&app).await;
    assert_eq!((waiting(&app).await, explored(&app, "variant=kalah").await["games"].as_u64()), (0, Some(1)));
}

/// A public game of six plies that is marked as practice.
async fn imported_practice(app: &TestApp, importer: &Guest) -> GameId {
    let result = json!({"winner": "south", "reason": "resignation"});
    let moves: Vec<_> = ["C", "A", "f", "B", "a", "C"].map(|mv| json!({ "move": mv })).to_vec();
    let game = json!({"game": {"variant": "kalah", "practice": true, "result": result}, "moves": moves});
    let imported = app.post("/v1/games/import?visibility=public", Some(importer), &game).await;
    assert_eq!(imported.body["imported"], 1, "{imported:?}");
    GameId(Uuid::try_parse(&imported.string("/items/0/game_id")).expect("an id"))
}

fn json_without(mut body: Value, name: &str) -> Value {
    body.as_object_mut().expect("an object").remove(name);
    body
}

/// The games that wait for being counted.
async fn queued(app: &TestApp) -> BTreeSet<Uuid> {
    let ids = sqlx::query_scalar("select game_id from unexplored_game").fetch_all(&app.db).await.expect("rows");
    ids.into_iter().collect()
}

#[actix_web::test]
async fn a_running_server_learns_of_a_game_that_has_ended() {
    let app = TestApp::start().await;
    let stopping = CancellationToken::new();
    let job = tokio::spawn(explorer::run(
        mancala_server::db::pool(app.options.clone(), 1),
        Arc::new(Metrics::new(0)),
        stopping.clone(),
    ));
    resigned(&app, "C").await;
    until_async("the game counts", async || explored(&app, "variant=kalah").await["games"] == 1).await;
    stopping.cancel();
    job.await.expect("it ends");
}

#[actix_web::test]
async fn an_unreadable_game_does_not_keep_others_from_counting() {
    let app = TestApp::start().await;
    let mut ids = vec![];
    for damage in [
        "update event set position = '9/9 0-0 N - 1 1S' where game_id = $1 and kind = 'moved'",
        "update event set ply = null where game_id = $1 and kind = 'moved'",
        "update event set seat = seat where game_id = $1",
    ] {
        let id = resigned(&app, "C").await;
        let game = Uuid::try_parse(&id).expect("an id");
        sqlx::query("create table if not exists kept as select * from event limit 0")
            .execute(&app.db)
            .await
            .expect("a table");
        sqlx::query("insert into kept select * from event where game_id = $1")
            .bind(game)
            .execute(&app.db)
            .await
            .expect("rows");
        sqlx::query(damage).bind(game).execute(&app.db).await.expect("it is done");
        ids.push(id);
    }
    let first =
        explorer_index::explore(&app.db, now(), 50).await.expect("a database").expect("no other process explores");
    let unreadable: Vec<_> = first.unreadable.iter().map(|(game, _)| game.0.to_string()).collect();
    assert_eq!((first.games, &unreadable[..]), (1, &ids[..2]));
    assert!(first.unreadable.iter().all(|(_, error)| matches!(error, DbError::Inconsistent { .. })));
    // They stay queued, and are retried a day later.
    let again =
        explorer_index::explore(&app.db, now(), 50).await.expect("a database").expect("no other process explores");
    assert_eq!((again.games, again.unreadable.len(), waiting(&app).await), (0, 0, 2));
    // The command that fills it anew names them.
    let output = binary::server(&["reindex", "--database-url", &binary::url(&app)]).output().expect("the program runs");
    let [told, failure] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!((output.status.code(), failure.contains("2 games cannot be read")), (Some(3), true), "{failure}");
    assert!(ids[..2].iter().all(|id| told.contains(&format!("game {id}: event."))), "{told}");
    assert!(told.contains("1 game was counted"), "{told}");
    let mend = "delete from event; insert into event select * from kept; drop table kept";
    sqlx::raw_sql(mend).execute(&app.db).await.expect("it is mended");
    let later = now() + Duration::days(2);
    let later =
        explorer_index::explore(&app.db, later, 50).await.expect("a database").expect("no other process explores");
    assert_eq!((later.games, later.unreadable.len()), (2, 0));
    assert_eq!(explored(&app, "variant=kalah").await["games"], 3);
}

#[actix_web::test]
async fn local_games_come_before_imports_and_long_games_in_small_batches() {
    let app = TestApp::start().await;
    // This game is as long as imported games may be, and older than anything that was played here.
    let mv = |word: &str| ImportedPly::of(PlyAction::Move(word.parse().expect("a move")), BEGUN);
    let mut plies: Vec<_> = ["A", "a", "B", "b"].map(mv).into();
    while plies.len() < 1_999 {
        plies.push(mv("C"));
        plies.push(ImportedPly::of(PlyAction::Takeback { to_ply: 4, increments: BySeat::default() }, BEGUN));
    }
    let long = Import {
        options: AnyOptions::parse(Variant::Oware, "standard", "").expect("options"),
        start: None,
        names: BySeat { first: "Ana".to_owned(), second: "Bo".to_owned() },
        begun_at: BEGUN,
        plies,
        ended_at: None,
        ending: Some((Some(Side::South), Some(Reason::Resignation))),
        score: None,
        is_practice: false,
    };
    let played = import::play(&app.db, vec![long; 12], None, Visibility::Public, now()).await.expect("a database");
    let played: Vec<_> = played.into_iter().map(|game| game.expect("it can have been played")).collect();
    import::store(&app.db, &played, None, None, now()).await.expect("they are stored");
    resigned(&app, "C").await;
    let of_one =
        explorer_index::explore(&app.db, now(), 1).await.expect("a database").expect("no other process explores");
    assert_eq!((of_one.games, explored(&app, "variant=kalah").await["games"].as_u64()), (1, Some(1)));
    let first =
        explorer_index::explore(&app.db, now(), 50).await.expect("a database").expect("no other process explores");
    assert_eq!((first.games, first.is_full, waiting(&app).await), (10, true, 2));
    explore(&app).await;
    assert_eq!(explored(&app, "variant=oware&imported=true").await["games"], 12);
}

#[actix_web::test]
async fn a_game_with_which_counting_fails_is_put_off_alone() {
    let app = TestApp::start().await;
    let expected = store_by_chance(&app, 5, 30).await;
    explore(&app).await;
    // A counted game is queued again, as no server does, before one that has just ended.
    let again = "insert into unexplored_game (game_id) select game_id from explored_game limit 1";
    sqlx::raw_sql(again).execute(&app.db).await.expect("it is done");
    resigned(&app, "C").await;
    let first =
        explorer_index::explore(&app.db, now(), 50).await.expect("a database").expect("no other process explores");
    assert_eq!((first.games, first.unreadable.len()), (0, 1));
    assert!(matches!(&first.unreadable[0].1, DbError::Constraint { .. }));
    explore(&app).await;
    assert_eq!(explorer_index::count_waiting(&app.db).await.expect("a database"), (1, 1));
    assert_eq!(explored(&app, "variant=kalah").await["games"], 1);
    // Filled anew, all is well.
    build_anew(&app).await;
    assert_eq!(Everything::sampled(&app).await.games.len(), expected.games.len() + 21);
}

#[test]
fn the_keys_of_the_documentation_are_those_that_are_made() {
    let document = include_str!("../../../docs/explorer.md");
    let mut keys = HashMap::new();
    for line in document.lines().filter(|line| line.starts_with("| ") && line.contains("` |")) {
        let cells: Vec<_> = line.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, variant, preset, overrides, position, text, key, _] = cells[..] else { panic!("{line}") };
        let options = AnyOptions::parse(variant.parse().expect("a variant"), preset, overrides).expect("options");
        let position = AnyPosition::parse(&options, position).expect("a position");
        assert_eq!(PositionKey::from(&position).to_string(), key, "{line}");
        assert_eq!(format!("{:016x}", column(&position)), key, "{line}");
        let hashed = u64::from_be_bytes(Sha256::digest(text)[..8].try_into().expect("eight bytes"));
        assert_eq!(format!("{hashed:016x}"), key, "{line}");
        keys.insert(key, text);
    }
    assert_eq!(keys.len(), 8);
}
