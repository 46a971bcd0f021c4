//! The keys of apps: made by the command, rotated and disabled, and what becomes of the tokens of an app's players.

use futures_util::future::join;
use mancala_server::db::apps;
use serde_json::json;

use crate::support::{
    answer::Answer,
    app::{TestApp, limited},
    apps::{app_name, new_key, until_refused},
    binary::{server, url},
    calls::Guest,
    clock::now,
    database::{count_rows, until_lock_wait},
};

#[actix_web::test]
async fn disabling_an_app_voids_its_key_and_the_tokens_of_its_players() {
    let mut app = TestApp::start().await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    let (ana, eve) = (app.app_player(&acme, "7", "Ana").await, app.app_player(&other, "7", "Eve").await);
    assert!(apps::disable(&app.db, &app_name("acme"), now()).await.expect("it is disabled"));
    app.app_player_token(&acme, "7").await.is_problem(403, "forbidden");
    app.write_app_player(&acme, "8", "Bo").await.is_problem(403, "forbidden");
    assert_eq!(count_rows(&app, "app_player where external_id = '8'").await, 0);
    for _ in 0..2 {
        until_refused(&app, &ana).await;
        assert_eq!(app.get("/v1/games?player=me", Some(&eve)).await.status, 200, "another app's player");
        app.address = app.second_server().0;
    }
    assert!(apps::enable(&app.db, &app_name("acme")).await.expect("it is enabled"));
    until_refused(&app, &ana).await;
    let token = app.app_player_token(&acme, "7").await.string("/access_token");
    assert_eq!(app.get("/v1/me", Some(&Guest { token, ..ana })).await.status, 200);
}

#[actix_web::test]
async fn another_key_voids_the_former_one_and_the_tokens_of_the_players() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let ana = app.app_player(&acme, "7", "Ana").await;
    let (key, hash) = new_key();
    assert!(apps::change_key(&app.db, &app_name("acme"), &hash, now()).await.expect("it has another key"));
    app.app_player_token(&acme, "7").await.is_problem(401, "invalid_token");
    app.get("/v1/apps/me", Some(&acme)).await.is_problem(401, "invalid_token");
    until_refused(&app, &ana).await;
    let acme = Guest { token: key, ..acme };
    let token = app.app_player_token(&acme, "7").await.string("/access_token");
    assert_eq!(app.get("/v1/me", Some(&Guest { token, ..ana })).await.status, 200);
    assert!(!apps::change_key(&app.db, &app_name("none"), &hash, now()).await.expect("there is none"));
}

#[actix_web::test]
async fn all_players_of_a_large_app_lose_their_tokens() {
    let app = TestApp::start().await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    for (of, count) in [(&acme, 2500), (&other, 3)] {
        sqlx::query(
            "with made as (
                insert into player (id, kind, name, created_at)
                select gen_random_uuid(), 'guest', 'Player ' || n, now() from generate_series(1, $2) as n returning id, name
            )
            insert into app_player (app_id, external_id, player_id, created_at) select $1::uuid, name, id, now() from made",
        )
        .bind(of.id.parse::<uuid::Uuid>().expect("an id"))
        .bind(count)
        .execute(&app.db)
        .await
        .expect("players are stored");
    }
    assert!(apps::disable(&app.db, &app_name("acme"), now()).await.expect("it is disabled"));
    assert_eq!(
        count_rows(&app, "app_player join player on player.id = player_id where credentials_version = 1").await,
        2500
    );
    assert_eq!(
        count_rows(&app, "app_player join player on player.id = player_id where credentials_version = 0").await,
        3
    );
    assert_eq!(count_rows(&app, "revoked_credentials").await, 2501, "the players, and the app itself");
}

#[actix_web::test]
async fn the_command_makes_lists_rotates_disables_and_enables_apps() {
    let app = TestApp::start().await;
    let database = url(&app);
    let run = |arguments: &[&str]| {
        let arguments = [&["--database-url", &database, "app"], arguments].concat();
        let output = server(&arguments).output().expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let made = |arguments: &[&str]| {
        let (status, key, line) = run(arguments);
        assert_eq!((status, line.as_str()), (Some(0), ""), "{arguments:?}");
        Guest { id: String::new(), token: key.trim_end().to_owned() }
    };
    let acme = made(&["create", "acme"]);
    assert!(acme.token.starts_with("mapp_") && acme.token.len() == 48, "{}", acme.token);
    assert_eq!(app.write_app_player(&acme, "7", "Ana").await.status, 201);
    let rotated = made(&["rotate", "acme"]);
    app.get("/v1/apps/me", Some(&acme)).await.is_problem(401, "invalid_token");
    assert_eq!(app.get("/v1/apps/me/players/7", Some(&rotated)).await.status, 200);
    made(&["disable", "acme"]);
    app.get("/v1/apps/me", Some(&rotated)).await.is_problem(403, "forbidden");
    let listed = run(&["list"]).1;
    assert!(listed.starts_with("acme ") && listed.ends_with(" disabled\n") && listed.lines().count() == 1, "{listed}");
    assert!(!listed.contains("mapp_"));
    made(&["enable", "acme"]);
    assert_eq!(app.get("/v1/apps/me", Some(&rotated)).await.status, 200);
    for (arguments, status, line) in [
        (&["create", "acme"][..], 1, "there is an app of this name"),
        (&["rotate", "none"], 1, "there is no such app"),
        (&["disable", "none"], 1, "there is no such app"),
        (&["enable", "none"], 1, "there is no such app"),
        (&["create"], 2, "<NAME> is missing"),
        (&["create", "a b"], 2, "letters and digits"),
        (&["list", "acme"], 2, "unknown argument"),
        (&["remove", "acme"], 2, "unknown argument"),
    ] {
        let (found, output, error) = run(arguments);
        assert_eq!((found, output.as_str()), (Some(status), ""), "{arguments:?}");
        assert!(error.contains(line) && error.lines().count() == 1, "{arguments:?}: {error}");
    }
    let stored: String = sqlx::query_scalar("select app::text from app").fetch_one(&app.db).await.expect("an app");
    assert!(!stored.contains(&rotated.token));
}

#[actix_web::test]
async fn the_calls_of_an_app_have_a_quota_of_their_own() {
    let app = TestApp::start_with(limited).await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    let left = async |key: &Guest| {
        let answer = app.get("/v1/apps/me", Some(key)).await;
        assert_eq!(answer.headers["ratelimit-policy"], "\"app\";q=3000;w=30");
        let text = answer.headers["ratelimit"].to_str().expect("text").to_owned();
        let left = text.split(";r=").nth(1).and_then(|rest| rest.split(';').next()).expect("what is left");
        left.parse::<u32>().expect("a number")
    };
    let mut least = left(&acme).await;
    for _ in 0..50 {
        least = least.min(left(&acme).await);
    }
    assert!(least < 2999, "{least}");
    assert!(left(&other).await > least);
    // A wrong key counts by its address only.
    let unknown = Guest { id: String::new(), token: new_key().0 };
    let refused = app.get("/v1/apps/me", Some(&unknown)).await;
    refused.is_problem(401, "invalid_token");
    let shown = |answer: &Answer, name: &str| answer.headers[name].to_str().expect("text").to_owned();
    assert!(shown(&refused, "ratelimit-policy").starts_with("\"address\""));
    assert!(shown(&refused, "ratelimit").contains(";r=999;"), "the app's calls are not the address's: {refused:?}");
    // What costs more counts by the app as well.
    let made = app.post("/v1/webhooks", Some(&acme), &json!({"url": "https://push.example/a"})).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert!(shown(&made, "ratelimit-policy").starts_with("\"app\""), "{made:?}");
    assert_eq!(app.post("/v1/players", None, &json!({})).await.status, 201);
}

#[actix_web::test]
async fn a_key_that_becomes_void_during_a_call_is_refused_as_void() {
    let app = TestApp::start().await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    for of in [&acme, &other] {
        app.app_player(of, "7", "Ana").await;
    }
    for (of, change, status, code) in [
        (&acme, "update app set key_hash = '\\x00' where name = 'acme'", 401, "invalid_token"),
        (&other, "update app set disabled_at = now() where name = 'other'", 403, "forbidden"),
    ] {
        let mut changing = app.db.begin().await.expect("a transaction");
        // The call finds the app, and waits before it finds the player.
        sqlx::raw_sql("lock table app_player in access exclusive mode").execute(&mut *changing).await.expect("a lock");
        let commit = async {
            until_lock_wait(&app).await;
            sqlx::raw_sql(change).execute(&mut *changing).await.expect("it is changed");
            changing.commit().await.expect("it is committed");
        };
        let (answer, ()) = join(app.app_player_token(of, "7"), commit).await;
        answer.is_problem(status, code);
    }
}
