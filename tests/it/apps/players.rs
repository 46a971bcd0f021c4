//! Players of apps: created by the app's own ids, and what they may do.

use futures_util::future::join_all;
use mancala_server::db::players::purge_guests;
use serde_json::{Value, json};
use time::Duration;

use crate::support::{app::TestApp, clock::now, database::count_rows};

#[actix_web::test]
async fn a_player_is_created_once_and_renamed_by_the_same_call() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let made = app.write_app_player(&acme, "auth0%7C7", "Ana").await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!((made.string("/external_id"), made.string("/player/name")), ("auth0|7".to_owned(), "Ana".to_owned()));
    assert_eq!(made.headers["location"], "/v1/apps/me/players/auth0|7");
    let again = app.write_app_player(&acme, "auth0|7", "Ana").await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &made.body));
    let renamed = app.write_app_player(&acme, "auth0|7", "Ana Maria").await;
    assert_eq!(renamed.status, 200);
    assert_eq!(
        (renamed.string("/player/id"), renamed.string("/player/name")),
        (made.string("/player/id"), "Ana Maria".to_owned())
    );
    assert_eq!(app.get("/v1/apps/me/players/auth0|7", Some(&acme)).await.body, renamed.body);
    // Others see a guest.
    let profile = app.get(&format!("/v1/players/{}", made.string("/player/id")), None).await;
    assert_eq!((profile.string("/name"), profile.string("/kind")), ("Ana Maria".to_owned(), "guest".to_owned()));
    let shown = app.get("/v1/apps/me", Some(&acme)).await;
    assert_eq!((shown.string("/id"), shown.string("/name")), (acme.id.clone(), "acme".to_owned()));
    assert_eq!(shown.body["kind"], "app");
}

#[actix_web::test]
async fn of_calls_at_once_for_one_id_one_creates_the_player() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let answers = join_all((0..16).map(|_| app.write_app_player(&acme, "7", "Ana"))).await;
    let made = answers.iter().filter(|answer| answer.status == 201).count();
    assert!(answers.iter().all(|answer| [200, 201].contains(&answer.status.as_u16())), "{answers:?}");
    assert!(answers.iter().all(|answer| answer.body == answers[0].body));
    assert_eq!(made, 1);
    assert_eq!(count_rows(&app, "player where kind = 'guest'").await, 1, "none is left without an app");
}

#[actix_web::test]
async fn what_is_no_external_id_or_name_is_refused_and_nothing_stored() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let long = "a".repeat(129);
    for id in ["a%20b", "a%2Fb", "a%252Fb", "a+b", "a%2Bb", "%C3%A4", "a%00b", "%FF", "a;b", "a'b", &long] {
        let answer = app.write_app_player(&acme, id, "Ana").await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "external_id", "{id}: {answer:?}");
        app.get(&format!("/v1/apps/me/players/{id}"), Some(&acme)).await.is_problem(422, "validation_failed");
        app.app_player_token(&acme, id).await.is_problem(422, "validation_failed");
        app.delete_app_player(&acme, id).await.is_problem(422, "validation_failed");
    }
    for name in ["", "admin", " Ana", "a\u{200b}b", &"a".repeat(33)] {
        let answer = app.write_app_player(&acme, "7", name).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "/name", "{name}");
    }
    let path = "/v1/apps/me/players/7";
    app.put(path, Some(&acme), &json!({})).await.is_problem(422, "validation_failed");
    app.put(path, Some(&acme), &json!({"name": "Ana", "id": 7})).await.is_problem(422, "validation_failed");
    app.get(path, Some(&acme)).await.is_problem(404, "not_found");
    app.app_player_token(&acme, "7").await.is_problem(404, "not_found");
    assert_eq!((count_rows(&app, "app_player").await, count_rows(&app, "player where kind = 'guest'").await), (0, 0));
    assert_eq!(app.write_app_player(&acme, &"a".repeat(128), "Ana").await.status, 201);
}

#[actix_web::test]
async fn an_app_lists_its_players_page_by_page() {
    let app = TestApp::start().await;
    let (acme, other) = (app.new_app("acme").await, app.new_app("other").await);
    for id in ["b", "A", "a", "7", "B"] {
        assert_eq!(app.write_app_player(&acme, id, "Ana").await.status, 201);
        assert_eq!(app.write_app_player(&other, &format!("{id}0"), "Bo").await.status, 201);
    }
    let first = app.get("/v1/apps/me/players?limit=3", Some(&acme)).await;
    assert_eq!(TestApp::external_ids(&first), ["7", "A", "B"]);
    let cursor = first.string("/next_cursor");
    let next = format!("/v1/apps/me/players?limit=3&cursor={cursor}");
    assert_eq!(first.headers["link"], format!("<{next}>; rel=\"next\""));
    let second = app.get(&next, Some(&acme)).await;
    assert_eq!(
        (TestApp::external_ids(&second), &second.body["next_cursor"]),
        (vec!["a".to_owned(), "b".to_owned()], &Value::Null)
    );
    app.get(&next, Some(&other)).await.is_problem(422, "validation_failed");
    for query in ["limit=0", "limit=101", "cursor=x"] {
        app.get(&format!("/v1/apps/me/players?{query}"), Some(&acme)).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn a_player_of_an_app_plays_with_everybody_and_stays_the_apps() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, bo) = (app.app_player(&acme, "7", "Ana").await, app.guest("Bo").await);
    let game = app.started_between(&ana, &bo, &json!({})).await;
    app.played(&game, &ana, 1, "A").await;
    // Whatever would let the player in without the app is refused.
    let account = app.account("Cleo", "correct horse").await;
    app.patch("/v1/me", Some(&ana), &json!({"password": "correct horse"})).await.is_problem(403, "forbidden");
    app.post("/v1/me/recovery-code", Some(&ana), &json!({})).await.is_problem(403, "forbidden");
    app.post("/v1/webhooks", Some(&ana), &json!({"url": "https://push.example/a"})).await.is_problem(403, "forbidden");
    let taken = app.post("/v1/me/merge", Some(&account), &json!({"guest_token": ana.token})).await;
    taken.is_problem(422, "validation_failed");
    assert_eq!(app.get("/v1/me", Some(&ana)).await.string("/kind"), "guest");
    assert_eq!(count_rows(&app, "merged_guest").await, 0);
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"name": "Anna"})).await.status, 200);
    assert_eq!(app.get("/v1/apps/me/players/7", Some(&acme)).await.string("/player/name"), "Anna");
    let token = app.app_player_token(&acme, "7").await;
    assert!(token.body.get("refresh_token").is_none() && token.body["expires_in"] == 900, "{token:?}");
    assert_eq!(token.headers["cache-control"], "no-store");
    let export = app.get("/v1/me/export", Some(&ana)).await;
    assert_eq!(export.body["app"], json!({"name": "acme", "external_id": "7"}));
    assert_eq!(app.get("/v1/me/export", Some(&bo)).await.body["app"], Value::Null);
    // The app itself is no player to play with.
    let invited = json!({"variant": "kalah", "opponent": {"type": "player", "player_id": acme.id}});
    app.create_game(&bo, &invited).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn an_erased_player_leaves_nothing_and_its_id_becomes_another() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let bo = app.guest("Bo").await;
    for by_app in [true, false] {
        let ana = app.app_player(&acme, "secret-7", "Anastasia").await;
        let game = app.started_between(&ana, &bo, &json!({})).await;
        let erased = if by_app { app.delete_app_player(&acme, "secret-7").await } else { app.delete_me(&ana).await };
        assert_eq!(erased.status, 204, "{erased:?}");
        assert_eq!(app.delete_app_player(&acme, "secret-7").await.status, 204, "sent again");
        app.get("/v1/me", Some(&ana)).await.is_problem(401, "invalid_token");
        app.get("/v1/apps/me/players/secret-7", Some(&acme)).await.is_problem(404, "not_found");
        app.app_player_token(&acme, "secret-7").await.is_problem(404, "not_found");
        let game = app.get_game(&game, Some(&bo)).await;
        assert_eq!(
            (game.string("/status"), game.string("/seats/south/kind")),
            ("finished".to_owned(), "deleted".to_owned())
        );
        assert_eq!(count_rows(&app, "app_player").await, 0);
        assert_eq!(count_rows(&app, "player where name = 'Anastasia'").await, 0);
        let again = app.app_player(&acme, "secret-7", "Anastasia").await;
        assert_ne!(again.id, ana.id);
        assert_eq!(app.delete_app_player(&acme, "secret-7").await.status, 204);
    }
}

#[actix_web::test]
async fn a_player_of_an_app_is_kept_without_games_and_calls() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, bo) = (app.app_player(&acme, "7", "Ana").await, app.guest("Bo").await);
    purge_guests(&app.db, now() + Duration::days(400), None, 100).await.expect("guests are purged");
    assert_eq!(app.get(&format!("/v1/players/{}", bo.id), None).await.status, 404);
    assert_eq!(app.get(&format!("/v1/players/{}", ana.id), None).await.status, 200);
}
