//! Erasure of a player: what is deleted, and what stays for the opponents.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures_util::future::{join, join_all};
use mancala_server::{
    db::{Writers, players},
    domain::PlayerId,
    jobs::erasure,
};
use reqwest::Method;
use serde_json::json;
use sqlx::AssertSqlSafe;
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
    database::count_rows,
};

const PASSWORD: &str = "correct horse";

#[actix_web::test]
async fn when_one_of_two_players_is_erased_the_other_keeps_the_game() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.account("Bo", PASSWORD).await);
    let refresh = app.sign_in("Ana", PASSWORD).await.string("/refresh_token");
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let finished = game["id"].as_str().expect("an id").to_owned();
    app.join_game(&finished, &bo).await;
    app.play_move(&finished, &ana, 1, "A").await;
    app.play_move(&finished, &bo, 2, "a").await;
    app.resign_game(&finished, &bo).await;
    let history = app.list_moves(&finished, "", None).await.body;
    let result = app.get_game(&finished, None).await.body["result"].clone();

    let active = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let active = active["id"].as_str().expect("an id");
    app.join_game(active, &bo).await;
    app.play_move(active, &ana, 1, "C").await;
    let open = app.created(&ana, &json!({"variant": "kalah"})).await;
    let open = open["id"].as_str().expect("an id");

    let invitation = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": ana.id}});
    let request = app.request(reqwest::Method::POST, "/v1/games").bearer_auth(&bo.token);
    let keyed = async || {
        send(request.try_clone().expect("it can be sent again").header("idempotency-key", "k").json(&invitation)).await
    };
    let invited = keyed().await.body;

    assert_eq!(app.delete_me(&ana).await.status, 204);

    assert_eq!(app.get_game(invited["id"].as_str().expect("an id"), None).await.body["status"], "aborted");
    // The name is also gone from answers stored for idempotency keys of others.
    assert!(!keyed().await.text.contains("Ana"));
    let after = app.get_game(&finished, Some(&bo)).await.body;
    assert_eq!(after["result"], result);
    assert_eq!(after["seats"]["south"], json!({"id": ana.id, "name": "Deleted player", "kind": "deleted"}));
    assert_eq!(app.list_moves(&finished, "", None).await.body, history);
    let won = app.get_game(active, None).await.body;
    assert_eq!((&won["status"], &won["result"]["winner_player_id"]), (&json!("finished"), &json!(bo.id)));
    assert_eq!(won["result"]["reason"], "resignation");
    assert_eq!(app.get_game(open, None).await.body["status"], "aborted");

    // Nothing of the account is left, and its name is free.
    app.refresh(&refresh).await.is_problem(401, "invalid_token");
    app.sign_in("Ana", PASSWORD).await.is_problem(401, "invalid_credentials");
    app.account("Ana", PASSWORD).await;
    let profile = app.get(&format!("/v1/players/{}", ana.id), None).await.body;
    assert_eq!((&profile["kind"], &profile["name"]), (&json!("deleted"), &json!("Deleted player")));
    let rows = "select (select count(*) from refresh_family where player_id = $1) \
                + (select count(*) from account where player_id = $1) \
                + (select count(*) from idempotency_key where player_id = $1)";
    let id = Uuid::try_parse(&ana.id).expect("an id");
    assert_eq!(sqlx::query_scalar::<_, i64>(rows).bind(id).fetch_one(&app.db).await.expect("a count"), 0);
}

#[actix_web::test]
async fn the_access_token_of_an_erased_player_changes_nothing() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let others = app.created(&bo, &json!({"variant": "kalah"})).await;
    assert_eq!(app.delete_me(&ana).await.status, 204);
    // The answer may have been lost.
    assert_eq!(app.delete_me(&ana).await.status, 204);
    app.get("/v1/me", Some(&ana)).await.is_problem(401, "invalid_token");
    app.patch("/v1/me", Some(&ana), &json!({"name": "Ana"})).await.is_problem(401, "invalid_token");
    app.create_game(&ana, &json!({"variant": "kalah"})).await.is_problem(401, "invalid_token");
    let id = others["id"].as_str().expect("an id");
    app.join_game(id, &ana).await.is_problem(401, "invalid_token");
    app.delete_me(&app.stranger()).await.is_problem(401, "invalid_token");
}

#[actix_web::test]
async fn an_erasure_that_was_interrupted_is_ended_by_the_job() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let open = app.created(&south, &json!({"variant": "kalah"})).await;
    // The server stops between the erasure and the ending of the games.
    let player = PlayerId(Uuid::try_parse(&south.id).expect("an id"));
    players::erase(&app.db, player, None, now()).await.expect("a row changes");
    assert_eq!(app.get_game(&id, None).await.body["status"], "active");
    let (writers, _) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    for _ in 0..2 {
        erasure::end_games(&app.db, &writers, now()).await.expect("games end");
        let game = app.get_game(&id, None).await.body;
        assert_eq!((&game["status"], &game["result"]["winner_player_id"]), (&json!("finished"), &json!(north.id)));
        assert_eq!(app.get_game(open["id"].as_str().expect("an id"), None).await.body["status"], "aborted");
    }
}

#[actix_web::test]
async fn the_guests_of_an_interrupted_erasure_are_erased_by_the_job() {
    let app = TestApp::start().await;
    let (guest, zelda) = (app.guest("Zelda as a guest").await, app.account("Zelda", "a long pass phrase").await);
    let merged = app.post("/v1/me/merge", Some(&zelda), &json!({"guest_token": guest.token})).await;
    assert_eq!(merged.status, 200, "{merged:?}");
    // The server stops between the erasure of the account and that of its guest.
    let player = PlayerId(Uuid::try_parse(&zelda.id).expect("an id"));
    assert!(players::erase(&app.db, player, None, now()).await.expect("a row changes").is_some());
    assert_eq!(rows_with(&app, &["zelda".to_owned()]).await.len(), 1);
    let (writers, _) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    for _ in 0..2 {
        erasure::end_games(&app.db, &writers, now()).await.expect("it is erased");
        assert_eq!(rows_with(&app, &["zelda".to_owned()]).await, Vec::<String>::new());
    }
}

/// A game of the importer, with the importer's own name in it.
const RECORD: &str = "[Variant \"kalah\"]\n[South \"Zelda Imported\"]\n[North \"Yorick Imported\"]\n\n1. CF a 2. A *\n";

async fn import(app: &TestApp, guest: &Guest, query: &str, key: &str) -> Answer {
    let request = app.request(Method::POST, &format!("/v1/games/import{query}")).header("content-type", "text/plain");
    send(signed(request.header("idempotency-key", key), Some(guest)).body(RECORD)).await
}

/// A creation with a key of its own, one of several kinds.
async fn create(app: &TestApp, guest: &Guest, game: &str, n: usize) -> Answer {
    let key = format!("zelda-key-{n}");
    let (path, body) = match n % 5 {
        0 => ("/v1/games".to_owned(), json!({"variant": "kalah"})),
        1 => ("/v1/webhooks".to_owned(), json!({"url": format!("https://zelda.example/{n}")})),
        2 => (format!("/v1/games/{game}/offers"), json!({"type": "draw"})),
        3 => return import(app, guest, "?visibility=private", &key).await,
        _ => {
            let text = json!({"text": format!("zelda's thought {n}")});
            return app.put(&format!("/v1/games/{game}/notes/0"), Some(guest), &text).await;
        }
    };
    let request = app.request(Method::POST, &path).header("idempotency-key", key);
    send(signed(request, Some(guest)).json(&body)).await
}

/// Bytes as PostgreSQL writes them.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// The rows of all tables, as text, that contain one of these words, or the bytes of one.
async fn rows_with(app: &TestApp, words: &[String]) -> Vec<String> {
    let tables = "select tablename::text from pg_tables where schemaname = 'public'";
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&app.db).await.expect("tables");
    assert!(tables.len() > 15, "{tables:?}");
    let mut found = vec![];
    for table in tables {
        let rows = format!("select '{table} ' || t::text from {table} t");
        let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_all(&app.db).await.expect("rows");
        found.extend(rows.into_iter().filter(|row| {
            let row = row.to_lowercase();
            words.iter().any(|word| {
                let bytes = hex(word.as_bytes());
                row.contains(word.as_str()) || row.contains(&bytes)
            })
        }));
    }
    found
}

#[actix_web::test]
async fn nothing_personal_of_an_erased_player_is_left_in_the_database() {
    let app = TestApp::start().await;
    let bo = app.guest("Bo").await;
    let zelda = app.account("Zelda Quux", PASSWORD).await;
    assert_eq!(app.sign_in("Zelda Quux", PASSWORD).await.status, 200);
    let game = app.started_between(&zelda, &bo, &json!({})).await;
    let finished = app.started_between(&bo, &zelda, &json!({})).await;
    assert_eq!(app.resign_game(&finished, &zelda).await.status, 200);
    let analysis = app.post(&format!("/v1/games/{finished}/analysis"), Some(&zelda), &json!({})).await;
    assert!(analysis.status.is_success(), "{analysis:?}");
    let words = ["zelda", "yorick imported", &zelda.token].map(str::to_owned);
    let mut games = vec![];
    for visibility in ["private", "unlisted", "public"] {
        let imported = import(&app, &zelda, &format!("?visibility={visibility}"), visibility).await;
        games.push(imported.string("/items/0/game_id"));
    }
    for n in 0..5 {
        assert!(create(&app, &zelda, &game, n).await.status.is_success(), "{n}");
    }
    let secret = create(&app, &zelda, &game, 1).await.string("/secret");
    let secret = BASE64_STANDARD.decode(secret.trim_start_matches("whsec_")).expect("base64");
    let secret = hex(&secret);
    let words = [&words[..], &[secret]].concat();
    let before = rows_with(&app, &words).await;
    assert!(before.len() >= 10, "{before:?}");
    // Creations run while the player is erased.
    let creations = join_all((5..105).map(|n| create(&app, &zelda, &game, n)));
    let (erased, answers) = join(app.delete_me(&zelda), creations).await;
    assert_eq!(erased.status, 204);
    let refused = |answer: &&Answer| answer.status == 401;
    assert!(answers.iter().filter(refused).count() > 0, "the erasure was in time for none");
    assert_eq!(rows_with(&app, &words).await, Vec::<String>::new());
    assert_eq!(rows_of(&app, &zelda).await, 0);
    // Private games are gone. Others stay, without names.
    app.get_game(&games[0], Some(&bo)).await.is_problem(404, "not_found");
    for id in &games[1..] {
        let game = app.get_game(id, Some(&bo)).await.body;
        assert_eq!(game["opponent"], json!({"type": "imported", "importer_id": null}));
        assert_eq!(game["seats"]["south"]["name"], "Deleted player");
        assert_eq!(app.get(&format!("/v1/games/{id}/verify"), None).await.body["flaws"], json!([]));
    }
    assert_eq!(count_rows(&app, "game where opponent = 'imported'").await, 2);
    assert_eq!(count_rows(&app, "player where importer_id is not null").await, 0);
}

/// How many rows a player has that are the player's alone.
async fn rows_of(app: &TestApp, guest: &Guest) -> i64 {
    let rows = "select (select count(*) from refresh_family where player_id = $1) \
                + (select count(*) from account where player_id = $1) + (select count(*) from note where player_id = $1) \
                + (select count(*) from analysis_request where player_id = $1) + (select count(*) from webhook where player_id = $1) \
                + (select count(*) from idempotency_key where player_id = $1)";
    let id = Uuid::try_parse(&guest.id).expect("an id");
    sqlx::query_scalar(rows).bind(id).fetch_one(&app.db).await.expect("a count")
}

#[actix_web::test]
async fn imports_of_an_interrupted_erasure_are_erased_by_the_job() {
    let app = TestApp::start().await;
    let zelda = app.account("Zelda", "a long pass phrase").await;
    for visibility in ["private", "public"] {
        assert_eq!(import(&app, &zelda, &format!("?visibility={visibility}"), visibility).await.status, 200);
    }
    let player = PlayerId(Uuid::try_parse(&zelda.id).expect("an id"));
    assert!(players::erase(&app.db, player, None, now()).await.expect("a row changes").is_some());
    assert_eq!(count_rows(&app, "game where opponent = 'imported'").await, 2);
    let (writers, _) = Writers::start(&app.options, 1, Writers::QUEUE_MAX);
    erasure::end_games(&app.db, &writers, now()).await.expect("they are erased");
    assert_eq!(count_rows(&app, "game where opponent = 'imported'").await, 1);
    assert_eq!(count_rows(&app, "player where importer_id is not null or kind = 'imported'").await, 0);
    assert_eq!(rows_with(&app, &["zelda".to_owned()]).await, Vec::<String>::new());
}
