//! Archived logs: what is appended, changed or deleted later, and nothing is lost in between.

use futures_util::future::{join, join_all};
use mancala_server::{
    db::{
        pool,
        records::archive::{Archived, archive, lower_mark, restore, scan},
    },
    domain::GameId,
    jobs::archive::{Scan, run},
};
use reqwest::Method;
use serde_json::json;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use time::Duration;
use uuid::Uuid;

use crate::{
    records::import::{WHOLE, import, whole_game},
    study::explorer::{explore, explored},
    support::{
        answer::Answer,
        app::TestApp,
        binary::{server, url},
        calls::{Guest, send, signed},
        clock::{now, until_async},
        database::count_rows,
        games::{some_move, timeless},
    },
};

const PASSWORD: &str = "correct horse";

/// Archives all games that are over, however short ago.
pub async fn archive_all(app: &TestApp) -> Archived {
    let (mut all, mut after, before) = (Archived::default(), None, now() + Duration::DAY);
    loop {
        let found = scan(&app.db, after, before, now(), 7).await.expect("a database");
        let archived = archive(&app.db, &found.ready, before, now()).await.expect("a database");
        all.games += archived.games;
        all.put_off.extend(archived.put_off);
        after = found.next;
        if after.is_none() {
            return all;
        }
    }
}

/// Puts all archived logs back.
pub async fn restore_all(app: &TestApp) {
    let mut after = None;
    loop {
        let restored = restore(&app.db, after, 7).await.expect("a database");
        assert_eq!(restored.unreadable, []);
        after = restored.next;
        if after.is_none() {
            return;
        }
    }
}

/// All rows of `event` as text, in their order.
pub async fn events(app: &TestApp) -> Vec<String> {
    let rows = sqlx::query_scalar("select event::text from event order by game_id, seq");
    rows.fetch_all(&app.db).await.expect("rows")
}

/// Executes statements as the database's superuser.
pub async fn execute(app: &TestApp, statements: impl Into<String>) {
    let mut superuser = app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs");
    sqlx::raw_sql(AssertSqlSafe(statements.into())).execute(&mut superuser).await.expect("it is done");
}

fn game_id(id: &str) -> GameId {
    GameId(Uuid::try_parse(id).expect("an id"))
}

/// Plays some moves in turn.
pub async fn play(app: &TestApp, id: &str, south: &Guest, north: &Guest, plies: u32) {
    let first = app.get_game(id, Some(south)).await.body["ply"].as_u64().expect("a number");
    let first = u32::try_from(first).expect("a small number");
    for ply in first + 1..=first + plies {
        let game = app.get_game(id, Some(south)).await;
        if game.string("/status") != "active" {
            return;
        }
        let mover = if game.string("/turn") == "south" { south } else { north };
        assert_eq!(app.play_move(id, mover, ply, some_move(&game.body)).await.status, 201);
    }
}

#[actix_web::test]
async fn what_is_appended_to_an_archived_game_stands_behind_it() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    play(&app, &id, &south, &north, 7).await;
    app.resign_game(&id, &south).await;
    let items = |answer: Answer| {
        let items = answer.body["items"].as_array().expect("items").clone();
        items.into_iter().map(timeless).collect::<Vec<_>>()
    };
    let before = items(app.get(&format!("/v1/games/{id}/events"), None).await);
    assert_eq!(archive_all(&app).await.games, 1);
    let count = before.len();
    for step in 0..3 {
        let offered = match step {
            0 => app.offer(&id, &north, "rematch").await,
            1 => app.answer_offer(&id, &south, "rematch", "decline").await,
            _ => app.offer(&id, &south, "rematch").await,
        };
        assert!(offered.status.is_success(), "{offered:?}");
        assert_eq!(count_rows(&app, "event").await, 1);
        for server in [app.address, app.second_server().0] {
            let get = async |path: &str| {
                send(reqwest::Client::new().get(format!("http://{server}/v1/games/{id}{path}"))).await
            };
            let events = items(get("/events").await);
            assert_eq!((events.len(), &events[..count]), (count + step + 1, &before[..]));
            let tail = items(get(&format!("/events?after={}", count + step)).await);
            assert_eq!(tail[..], events[count + step..]);
            assert_eq!(get("").await.body["version"], json!(count + step + 1));
            assert_eq!(get("/moves?limit=100").await.body["items"].as_array().map(Vec::len), Some(7));
            assert_eq!(get("/verify").await.body["flaws"], json!([]));
        }
        // And is folded in with it later.
        assert_eq!(archive_all(&app).await.games, 1);
        assert_eq!(count_rows(&app, "event").await, 0);
    }
    // A game goes on from a ply of it.
    let from = json!({"from": {"game_id": id, "ply": 4}, "opponent": {"type": "self"}});
    let position = app.get(&format!("/v1/games/{id}/positions/4"), None).await.body["board"].clone();
    assert_eq!(app.created(&south, &from).await["board"], position);
    let accepted = app.answer_offer(&id, &north, "rematch", "accept").await;
    assert!(accepted.status.is_success(), "{accepted:?}");
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
}

#[actix_web::test]
async fn an_archived_import_is_deleted_whole() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let record = whole_game("kalah", "", "Cleo").to_string();
    let imported = import(&app, &ana, "?visibility=public", "text/plain", record).await;
    let id = imported.string("/items/0/game_id");
    explore(&app).await;
    assert_eq!(archive_all(&app).await.games, 1);
    let deleted = send(signed(app.request(Method::DELETE, &format!("/v1/games/{id}")), Some(&ana))).await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    for table in ["game", "event", "archived_log", "explored_game", "explored_move"] {
        assert_eq!(count_rows(&app, table).await, 0, "{table}");
    }
    assert_eq!(explored(&app, "variant=kalah&imported=true").await["games"], 0);
}

#[actix_web::test]
async fn an_erased_importer_leaves_archived_games_without_a_name() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let public = import(&app, &ana, "?visibility=public", "text/plain", WHOLE).await.string("/items/0/game_id");
    let private = import(&app, &ana, "?visibility=private", "text/plain", WHOLE).await.string("/items/0/game_id");
    assert_eq!(archive_all(&app).await.games, 2);
    assert_eq!(app.delete_me(&ana).await.status, 204);
    mancala_server::jobs::erasure::end_games(&app.db, &app.writers, now()).await.expect("a database");
    app.get_game(&private, None).await.is_problem(404, "not_found");
    assert_eq!(count_rows(&app, "archived_log").await, 1);
    let (other, _) = app.second_server();
    let get =
        async |path: &str| send(reqwest::Client::new().get(format!("http://{other}/v1/games/{public}{path}"))).await;
    let logged = get("/events").await;
    assert!(logged.status == 200 && !logged.text.contains(&ana.id), "{logged:?}");
    assert_eq!(get("/verify").await.body["flaws"], json!([]));
    restore_all(&app).await;
    assert_eq!(count_rows(&app, "event where detail ? 'invited_player_id'").await, 0);
}

#[actix_web::test]
async fn a_merged_guest_leaves_archived_games_to_the_account() {
    let app = TestApp::start().await;
    let (guest, bo) = (app.guest("Ana as a guest").await, app.guest("Bo").await);
    let ana = app.account("Ana", PASSWORD).await;
    let seated = app.started_between(&guest, &bo, &json!({})).await;
    play(&app, &seated, &guest, &bo, 4).await;
    app.resign_game(&seated, &bo).await;
    let imported = import(&app, &guest, "?visibility=unlisted", "text/plain", WHOLE).await.string("/items/0/game_id");
    assert_eq!(archive_all(&app).await.games, 2);
    let merged = app.post("/v1/me/merge", Some(&ana), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    let (other, _) = app.second_server();
    let get = async |path: String| send(reqwest::Client::new().get(format!("http://{other}/v1/games/{path}"))).await;
    assert_eq!(get(seated.clone()).await.string("/seats/south/id"), ana.id);
    assert_eq!(get(imported.clone()).await.string("/opponent/importer_id"), ana.id);
    for id in [&seated, &imported] {
        assert_eq!(get(format!("{id}/verify")).await.body["flaws"], json!([]), "{id}");
    }
    let events = get(format!("{seated}/events")).await;
    assert_eq!(events.body["items"].as_array().and_then(|items| items.last()).expect("events")["type"], "reseated");
    assert_eq!(archive_all(&app).await.games, 1);
    assert_eq!(get(format!("{seated}/verify")).await.body["flaws"], json!([]));
}

#[actix_web::test]
async fn processes_that_archive_at_once_archive_each_game_once() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut ids = vec![];
    for _ in 0..30 {
        let id = app.started_between(&ana, &bo, &json!({})).await;
        play(&app, &id, &ana, &bo, 3).await;
        app.resign_game(&id, &ana).await;
        ids.push(game_id(&id));
    }
    let rows = events(&app).await;
    let (before, pools) = (now() + Duration::DAY, [(); 3].map(|()| pool(app.options.clone(), 1)));
    let working = pools.iter().map(async |pool| {
        let mut games = 0;
        for chunk in ids.chunks(4) {
            games += archive(pool, chunk, before, now()).await.expect("a database").games;
        }
        games
    });
    // Meanwhile players offer rematches.
    let offering = async {
        for id in &ids {
            assert!(app.offer(&id.0.to_string(), &bo, "rematch").await.status.is_success());
        }
    };
    let (games, ()) = join(join_all(working), offering).await;
    assert!(games.iter().sum::<u32>() >= 1, "{games:?}");
    archive_all(&app).await;
    assert_eq!((count_rows(&app, "archived_log").await, count_rows(&app, "event").await), (30, 0));
    for id in &ids {
        let verified = app.get(&format!("/v1/games/{}/verify", id.0), None).await;
        assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
    }
    restore_all(&app).await;
    let restored = events(&app).await;
    assert_eq!(restored.len(), rows.len() + 30);
    assert!(rows.iter().all(|row| restored.contains(row)));
}

#[actix_web::test]
async fn an_archive_that_breaks_off_leaves_the_log_as_it_was() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    app.resign_game(&id, &south).await;
    let (rows, before) = (events(&app).await, now() + Duration::DAY);
    // The connection is cut between the archive and the deletion of the rows.
    execute(
        &app,
        "create function cut() returns trigger language plpgsql security definer as \
         'begin perform pg_terminate_backend(pg_backend_pid()); return old; end'; \
         create trigger cut before delete on event for each row execute function cut()",
    )
    .await;
    let broken = archive(&app.db, &[game_id(&id)], before, now()).await;
    assert!(broken.is_err(), "{broken:?}");
    assert_eq!((events(&app).await, count_rows(&app, "archived_log").await), (rows, 0));
    assert_eq!(count_rows(&app, "archive_state where least_migration_before is not null").await, 0);
    execute(&app, "drop trigger cut on event").await;
    assert_eq!(archive_all(&app).await.games, 1);
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
}

#[actix_web::test]
async fn a_locked_or_changed_or_running_game_is_left_alone() {
    let app = TestApp::start().await;
    let (locked, south, _) = app.started(&json!({})).await;
    app.resign_game(&locked, &south).await;
    let (running, ..) = app.started(&json!({})).await;
    let before = now() + Duration::DAY;
    let ids = [game_id(&locked), game_id(&running)];
    let mut other = app.db.begin().await.expect("a transaction");
    sqlx::query("select from game where id = $1 for update").bind(ids[0].0).execute(&mut *other).await.expect("a lock");
    assert_eq!(archive(&app.db, &ids, before, now()).await.expect("a database").games, 0);
    other.rollback().await.expect("it ends");
    assert_eq!(archive(&app.db, &ids, now() - Duration::HOUR, now()).await.expect("a database").games, 0);
    assert_eq!(archive(&app.db, &ids, before, now()).await.expect("a database").games, 1);
    assert_eq!(count_rows(&app, "event where seq = 1").await, 1);
}

#[actix_web::test]
async fn a_log_that_does_not_come_back_is_put_off_and_stays() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut ids = vec![];
    for _ in 0..6 {
        let id = app.started_between(&ana, &bo, &json!({})).await;
        play(&app, &id, &ana, &bo, 3).await;
        app.resign_game(&id, &ana).await;
        ids.push(id);
    }
    // Each log is damaged in its way. Five have no position, a move in another form, a gap, a step back in time, or a
    // kind of event of a later release. The last is sound: an older release has written less into its first event.
    for (id, damage) in ids.iter().zip([
        "update event set position = 'none' where seq = 4",
        "update event set move = 'takeback 007' where seq = 4",
        "delete from event where seq = 4",
        "update event set at = at - interval '1 day' where seq = 4",
        "update event set kind = 'praised' where seq = 4",
        "update event set detail = detail - 'expires_at' where seq = 1",
    ]) {
        execute(&app, format!("{damage} and game_id = '{id}'")).await;
    }
    let rows = events(&app).await;
    let archived = archive_all(&app).await;
    let put_off: Vec<_> = archived.put_off.iter().map(|(game, _)| game.0.to_string()).collect();
    assert_eq!((archived.games, put_off), (1, ids[..5].to_vec()), "{:?}", archived.put_off);
    assert_eq!(count_rows(&app, "unarchived_game").await, 5);
    // They are not tried again for a day.
    let again = archive_all(&app).await;
    assert_eq!((again.games, again.put_off), (0, vec![]));
    restore_all(&app).await;
    assert_eq!(events(&app).await, rows);
    execute(&app, "truncate event, game, unarchived_game cascade").await;
}

#[actix_web::test]
async fn the_job_waits_for_the_end_of_the_update_and_counts() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    app.resign_game(&id, &south).await;
    let later = now() + Duration::days(8);
    let run = async |age, at| run(&app.db, &app.metrics, age, &mut Scan::default(), at).await.expect("a database");
    execute(&app, "update archive_state set migrated_at = now() + interval '8 days'").await;
    run(Some(Duration::WEEK), later).await;
    assert_eq!(count_rows(&app, "archived_log").await, 0);
    execute(&app, "update archive_state set migrated_at = now()").await;
    run(None, later).await;
    run(Some(Duration::days(9)), later).await;
    assert_eq!(count_rows(&app, "archived_log").await, 0);
    // As long as an update takes, whatever that is: a server of 0.3.0 would find no moves.
    let former = app.options.clone().application_name("mancala-server").connect().await.expect("PostgreSQL runs");
    run(Some(Duration::WEEK), later).await;
    assert_eq!(count_rows(&app, "archived_log").await, 0);
    former.close().await.expect("the connection closes");
    let of_former = "pg_stat_activity where application_name = 'mancala-server' and datname = current_database()";
    until_async("the former server is gone", async || count_rows(&app, of_former).await == 0).await;
    run(Some(Duration::WEEK), later).await;
    assert_eq!(count_rows(&app, "archived_log").await, 1);
    let metrics = app.metrics.text();
    assert!(metrics.contains("mancala_games_archived_total 1\n"), "{metrics}");
    assert!(metrics.contains("mancala_archive_failures_total 0\n"), "{metrics}");
}

#[actix_web::test]
async fn the_first_archive_excludes_older_binaries_until_all_is_put_back() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    app.resign_game(&id, &south).await;
    let mark = async || {
        let mark = sqlx::query_scalar::<_, i64>("select least_migration from schema_compatibility");
        mark.fetch_one(&app.db).await.expect("a mark")
    };
    let before = mark().await;
    assert!(before < 34);
    archive_all(&app).await;
    assert_eq!(mark().await, 34);
    assert!(!lower_mark(&app.db).await.expect("a database"));
    assert_eq!(mark().await, 34);
    restore_all(&app).await;
    assert!(lower_mark(&app.db).await.expect("a database"));
    assert_eq!(mark().await, before);
    // A later migration's mark stays.
    archive_all(&app).await;
    execute(&app, "update schema_compatibility set least_migration = 99").await;
    restore_all(&app).await;
    assert!(lower_mark(&app.db).await.expect("a database"));
    assert_eq!(mark().await, 99);
}

#[actix_web::test]
async fn the_commands_archive_all_and_put_all_back() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    for _ in 0..3 {
        let id = app.started_between(&ana, &bo, &json!({})).await;
        app.resign_game(&id, &ana).await;
    }
    let damaged = app.started_between(&ana, &bo, &json!({})).await;
    app.resign_game(&damaged, &ana).await;
    execute(&app, format!("update event set kind = 'praised' where seq = 3 and game_id = '{damaged}'")).await;
    let rows = events(&app).await;
    let said = |arguments: &[&str]| {
        let url = url(&app);
        let all = [arguments, &["--database-url", &url]].concat();
        let output = server(&all).output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (status, text) = said(&["archive"]);
    assert!(status == Some(0) && text.starts_with("0 games were archived in "), "{text}");
    let (status, text) = said(&["archive", "--older-than-days", "0"]);
    assert!(status == Some(3) && text.contains("3 games were archived in ") && text.contains(&damaged), "{text}");
    assert_eq!(count_rows(&app, "archived_log").await, 3);
    let (status, text) = said(&["unarchive"]);
    assert!(status == Some(0) && text.starts_with("3 games were put back in "), "{text}");
    assert_eq!(events(&app).await, rows);
    execute(&app, "truncate event, game, unarchived_game cascade").await;
}
