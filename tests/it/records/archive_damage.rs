//! Archives that cannot be read, and games with which the job fails: the others are not affected.

use mancala_server::{
    db::records::erase_imports,
    domain::PlayerId,
    jobs::archive::{Scan, run},
};
use serde_json::{Value, json};
use time::Duration;
use uuid::Uuid;

use super::{
    archive::{archive_all, execute, play},
    import::{WHOLE, import},
};
use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
    games::timeless,
};

/// A game that ended after some plies.
async fn resigned(app: &TestApp, south: &Guest, north: &Guest) -> String {
    let id = app.started_between(south, north, &json!({})).await;
    play(app, &id, south, north, 5).await;
    app.resign_game(&id, south).await;
    id
}

/// The job's next round, in the far future; whether it succeeded.
async fn round(app: &TestApp, scan: &mut Scan) -> bool {
    let later = now() + Duration::days(8);
    run(&app.db, &app.metrics, Some(Duration::WEEK), scan, later).await.is_ok()
}

fn items(body: &Value) -> Vec<Value> {
    body["items"].as_array().expect("items").clone()
}

#[actix_web::test]
async fn an_unreadable_archive_fails_its_game_alone() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let place = app.get("/v1/me/events", Some(&ana)).await.string("/last_event_id");
    let (damaged, sound) = (resigned(&app, &ana, &bo).await, resigned(&app, &ana, &bo).await);
    // From a server that has no game in its cache.
    let get = async |path: &str| {
        let server = app.second_server().0;
        send(signed(reqwest::Client::new().get(format!("http://{server}/v1{path}")), Some(&ana))).await
    };
    let lists = ["/games?limit=10".to_owned(), format!("/games?player={}&status=finished", ana.id)];
    let mut before = vec![];
    for list in &lists {
        before.push(items(&get(list).await.body).into_iter().map(timeless).collect::<Vec<_>>());
    }
    assert_eq!(archive_all(&app).await.games, 2);
    execute(&app, format!("update archived_log set log = '\\x01' where game_id = '{damaged}'")).await;
    for (list, mut before) in lists.iter().zip(before) {
        let listed = get(list).await;
        assert_eq!(listed.status, 200, "{listed:?}");
        let game = before.iter_mut().find(|game| game["id"] == damaged.as_str()).expect("it is listed");
        game["last_move"] = Value::Null;
        assert_eq!(items(&listed.body).into_iter().map(timeless).collect::<Vec<_>>(), before);
    }
    assert_eq!(get(&format!("/games/{damaged}")).await.status, 200);
    assert_eq!(get(&format!("/games/{damaged}/events")).await.status, 500);
    let events = get(&format!("/me/events?after={place}&limit=100")).await;
    assert_eq!(events.status, 200, "{events:?}");
    let events = items(&events.body);
    assert!(!events.is_empty() && events.iter().all(|event| event["game_id"] == sound.as_str()), "{events:?}");
    // Changed bytes that still are a log: a last ply that does not lead to the game's position is not shown.
    let mut unseen = 0;
    for place in (5..60).step_by(5) {
        let flip = "set_byte(log, $1, get_byte(log, $1) # 85)".replace("$1", &place.to_string());
        let change = format!("update archived_log set log = {flip} where game_id = '{sound}'");
        execute(&app, change.clone()).await;
        let listed = get(&lists[0]).await;
        assert_eq!((listed.status.as_u16(), items(&listed.body).len()), (200, 2), "byte {place}: {listed:?}");
        let game = items(&listed.body).into_iter().find(|game| game["id"] == sound.as_str()).expect("it is listed");
        let last = &game["last_move"];
        assert!(last.is_null() || last["position"] == game["position"], "byte {place}: {game}");
        unseen += u32::from(last.is_null());
        execute(&app, change).await;
    }
    assert!(unseen > 0, "no change was noticed");
    execute(&app, "truncate event, game, archived_log cascade").await;
}

#[actix_web::test]
async fn an_event_that_cannot_be_played_fails_its_game_alone() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let place = app.get("/v1/me/events", Some(&ana)).await.string("/last_event_id");
    let (damaged, sound) = (resigned(&app, &ana, &bo).await, resigned(&app, &ana, &bo).await);
    let before = app.get(&format!("/v1/games/{damaged}/positions/1"), None).await;
    let (server, _) = app.second_server();
    let get = async |path: &str| {
        send(signed(reqwest::Client::new().get(format!("http://{server}/v1{path}")), Some(&ana))).await
    };
    execute(&app, format!("update event set move = 'x' where game_id = '{damaged}' and ply = 3")).await;
    let events = get(&format!("/me/events?after={place}&limit=100")).await;
    assert_eq!(events.status, 200, "{events:?}");
    let events = items(&events.body);
    assert!(!events.is_empty() && events.iter().all(|event| event["game_id"] == sound.as_str()), "{events:?}");
    // The plies before it are whole.
    assert_eq!(get(&format!("/games/{damaged}/positions/1")).await.body, before.body);
    assert_eq!(get(&format!("/games/{damaged}/moves")).await.status, 500);
    execute(&app, "truncate event, game, archived_log cascade").await;
}

#[actix_web::test]
async fn verification_compares_the_columns_of_an_archive_with_its_log() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let id = resigned(&app, &ana, &bo).await;
    assert_eq!(archive_all(&app).await.games, 1);
    let flaws = async || items(&json!({"items": app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"]}));
    assert_eq!(flaws().await, [] as [Value; 0]);
    for (column, damage, repair) in [
        ("events", "events - 1", "events + 1"),
        ("last_at", "last_at + interval '1 second'", "last_at - interval '1 second'"),
    ] {
        execute(&app, format!("update archived_log set {column} = {damage}")).await;
        let found = flaws().await;
        assert!(found.len() == 1 && found[0].to_string().contains(column), "{column}: {found:?}");
        execute(&app, format!("update archived_log set {column} = {repair}")).await;
    }
    assert_eq!(flaws().await, [] as [Value; 0]);
}

#[actix_web::test]
async fn a_damaged_row_and_a_failure_that_lasts_leave_other_games_alone() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (damaged, busy) = (resigned(&app, &ana, &bo).await, resigned(&app, &ana, &bo).await);
    resigned(&app, &ana, &bo).await;
    execute(&app, "update archive_state set migrated_at = now() - interval '1 year'").await;
    // PostgreSQL finds damage in one game, and a deadlock in another, each time.
    execute(
        &app,
        format!(
            "create function fail() returns trigger language plpgsql as $$ begin
                if new.game_id = '{damaged}' then raise 'damaged' using errcode = 'data_corrupted'; end if;
                if new.game_id = '{busy}' then raise 'busy' using errcode = 'deadlock_detected'; end if;
                return new;
            end $$;
            create trigger fail before insert on archived_log for each row execute function fail()"
        ),
    )
    .await;
    let mut scan = Scan::default();
    assert!(!round(&app, &mut scan).await, "a deadlock is retried with all others first");
    let mut rounds = 1;
    while !round(&app, &mut scan).await {
        rounds += 1;
        assert!(rounds < 5, "the job does not go on");
    }
    assert_eq!(count_rows(&app, "archived_log").await, 1);
    let put_off = sqlx::query_scalar::<_, String>("select game_id::text from unarchived_game").fetch_all(&app.db).await;
    assert_eq!(put_off.expect("rows"), [damaged], "what may pass is not put off for a day");
    // The next scan finds it.
    execute(&app, "drop trigger fail on archived_log").await;
    assert!(round(&app, &mut Scan::default()).await);
    assert_eq!(count_rows(&app, "archived_log").await, 2);
}

#[actix_web::test]
async fn an_erasure_takes_few_long_imports_at_once() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", "correct horse").await;
    for _ in 0..3 {
        assert!(import(&app, &ana, "?visibility=private", "text/plain", WHOLE).await.status.is_success());
    }
    assert_eq!(archive_all(&app).await.games, 3);
    execute(&app, "update game set version = 3000").await;
    let ana = PlayerId(Uuid::try_parse(&ana.id).expect("an id"));
    for games in [1, 1, 1, 0] {
        assert_eq!(erase_imports(&app.db, ana, 100).await.expect("a database"), games);
    }
}
