//! An app whose players play only within it: what begins between them and others, and what each side finds of the other.

use mancala_server::db::{
    apps::{self, Changes},
    games::seek::READ_MAX,
};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    apps::app_name,
    calls::{Guest, send, signed},
    copies::{copy_open_game, delete_copies},
};

async fn close(app: &TestApp, name: &str, plays_within: bool) {
    let changes = Changes { plays_within: Some(plays_within), ..Changes::default() };
    assert!(apps::update(&app.db, &app_name(name), changes).await.expect("a database"));
}

fn open() -> Value {
    json!({"variant": "kalah", "opponent": {"type": "open"}, "visibility": "public"})
}

async fn opened(app: &TestApp, guest: &Guest) -> String {
    app.created(guest, &open()).await["id"].as_str().expect("an id").to_owned()
}

async fn lobby(app: &TestApp, reader: Option<&Guest>) -> Vec<String> {
    let mut ids = app.list_games("status=open&opponent_type=open", reader).await.ids();
    ids.sort();
    ids
}

async fn invite(app: &TestApp, from: &Guest, to: &Guest) -> Answer {
    let opponent = json!({"type": "player", "player_id": to.id});
    app.create_game(from, &json!({"variant": "kalah", "opponent": opponent})).await
}

async fn befriend(app: &TestApp, from: &Guest, to: &Guest) -> Answer {
    send(signed(app.request(Method::PUT, &format!("/v1/me/friends/{}", to.id)), Some(from))).await
}

/// Two players of a closed app, one of another closed app, one of an open app, and a guest.
struct People {
    ana: Guest,
    bo: Guest,
    others: Vec<Guest>,
}

async fn people(app: &TestApp) -> People {
    let (acme, closed, open) = (app.new_app("acme").await, app.new_app("closed").await, app.new_app("open").await);
    let people = People {
        ana: app.app_player(&acme, "a", "Ana").await,
        bo: app.app_player(&acme, "b", "Bo").await,
        others: vec![
            app.app_player(&closed, "a", "Cleo").await,
            app.app_player(&open, "a", "Dan").await,
            app.guest("Eve").await,
        ],
    };
    for name in ["acme", "closed"] {
        close(app, name, true).await;
    }
    people
}

#[actix_web::test]
async fn no_game_begins_between_players_of_the_app_and_others() {
    let app = TestApp::start().await;
    let People { ana, bo, others } = people(&app).await;
    let game = opened(&app, &ana).await;
    for other in &others {
        app.join_game(&game, other).await.is_problem(404, "not_found");
        let theirs = opened(&app, other).await;
        app.join_game(&theirs, &ana).await.is_problem(404, "not_found");
        let by_link = app.created(other, &json!({"variant": "kalah", "opponent": {"type": "link"}})).await;
        let path = format!("/v1/games/{}/join", by_link["id"].as_str().expect("an id"));
        let code = json!({"join_code": by_link["join_code"]});
        app.post(&path, Some(&ana), &code).await.is_problem(403, "forbidden");
        invite(&app, other, &ana).await.is_problem(422, "validation_failed");
        invite(&app, &ana, other).await.is_problem(422, "validation_failed");
        befriend(&app, &ana, other).await.is_problem(403, "forbidden");
        befriend(&app, other, &ana).await.is_problem(403, "forbidden");
    }
    // An app that plays with everyone, and guests, play with each other.
    assert_eq!(invite(&app, &others[1], &others[2]).await.status, 201);
    assert_eq!(invite(&app, &ana, &bo).await.status, 201);
    assert_eq!(befriend(&app, &ana, &bo).await.status, 200);
    assert_eq!(app.join_game(&game, &bo).await.status, 200);
    let computer = json!({"variant": "kalah", "side": "south", "opponent": {"type": "computer", "level": 1}});
    app.created(&ana, &computer).await;
}

#[actix_web::test]
async fn neither_side_finds_the_open_games_of_the_other() {
    let app = TestApp::start().await;
    let People { ana, bo, others } = people(&app).await;
    let mut theirs = vec![];
    for other in &others {
        theirs.push(opened(&app, other).await);
    }
    // The newest, so that a seek that leaves out no other finds one of theirs.
    let game = opened(&app, &ana).await;
    assert_eq!(lobby(&app, Some(&bo)).await, [&*game]);
    assert_eq!(lobby(&app, Some(&others[0])).await, [] as [&str; 0], "its own game is left out");
    assert_eq!(lobby(&app, Some(&others[1])).await, [&*theirs[2]]);
    assert_eq!(lobby(&app, Some(&others[2])).await, [&*theirs[1]]);
    assert_eq!(lobby(&app, None).await.len(), 4, "those who only watch see public games");
    let seek = async |guest: &Guest| app.post("/v1/games/seek", Some(guest), &json!({"variant": "kalah"})).await;
    assert_eq!(seek(&bo).await.string("/id"), game);
    let eve = app.guest("Eve").await;
    let found = seek(&eve).await.string("/id");
    assert!([&theirs[1], &theirs[2]].contains(&&found), "{found}");
    // The game of the closed app is the only one left for its players, and has waited for another of them.
    let waiting = seek(&ana).await;
    assert_eq!((waiting.string("/status"), waiting.status.as_u16()), ("open".to_owned(), 201));
    assert_ne!(seek(&others[0]).await.string("/id"), waiting.string("/id"));
}

#[actix_web::test]
async fn what_has_begun_before_the_app_is_closed_is_played_on() {
    let app = TestApp::start().await;
    let acme = app.new_app("acme").await;
    let (ana, eve) = (app.app_player(&acme, "a", "Ana").await, app.account("Eve", "correct horse").await);
    let findable = app.patch("/v1/me", Some(&eve), &json!({"is_findable": true})).await;
    assert_eq!(findable.status, 200, "{findable:?}");
    let id = app.started_between(&ana, &eve, &json!({})).await;
    let names = async |path: &str, guest: &Guest| {
        let answer = app.get(path, Some(guest)).await;
        answer.body["items"].as_array().unwrap_or_else(|| panic!("{answer:?}")).len()
    };
    let by_name = json!({"variant": "kalah", "opponent": {"type": "player", "name": "Eve"}});
    for (closed, count) in [(false, 1), (true, 0), (false, 1)] {
        close(&app, "acme", closed).await;
        assert_eq!(names("/v1/me/opponents", &ana).await, count);
        assert_eq!(names("/v1/me/opponents", &eve).await, count);
        assert_eq!(names("/v1/players?name_prefix=eve", &ana).await, count);
        assert_eq!(app.create_game(&ana, &by_name).await.status, if closed { 422 } else { 201 });
        assert_eq!(app.get(&format!("/v1/players/{}", eve.id), Some(&ana)).await.status, 200);
    }
    let invited = app.created(&ana, &by_name).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(befriend(&app, &ana, &eve).await.status, 200);
    close(&app, "acme", true).await;
    app.join_game(&invited, &eve).await.is_problem(404, "not_found");
    assert_eq!(befriend(&app, &ana, &eve).await.status, 200, "what was asked before is repeated");
    befriend(&app, &eve, &ana).await.is_problem(403, "forbidden");
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    app.offer(&id, &eve, "draw").await.is_problem(409, "offer_not_possible");
    assert_eq!(app.resign_game(&id, &eve).await.status, 200);
    app.offer(&id, &ana, "rematch").await.is_problem(409, "offer_not_possible");
}

#[actix_web::test]
async fn games_of_others_hide_no_game_of_a_closed_app() {
    let app = TestApp::start().await;
    let (acme, eve) = (app.new_app("acme").await, app.guest("Eve").await);
    let (ana, bo) = (app.app_player(&acme, "a", "Ana").await, app.app_player(&acme, "b", "Bo").await);
    // More than a seek or a page of the lobby reads, on both sides of the game of the app.
    let older = opened(&app, &eve).await;
    copy_open_game(&app, &older, 2 * READ_MAX).await;
    let before = opened(&app, &ana).await;
    close(&app, "acme", true).await;
    let after = opened(&app, &ana).await;
    make_newest(&app).await;
    assert_eq!(lobby(&app, Some(&bo)).await, [&*before, &*after]);
    let newest_first = async |query: &str| {
        let query = format!("status=open&opponent_type=open&limit=1{query}");
        app.get(&format!("/v1/games?{query}"), Some(&bo)).await
    };
    let page = newest_first("").await;
    assert_eq!(page.ids(), [&*after]);
    let cursor = page.body["next_cursor"].as_str().expect("a second page").to_owned();
    let last = newest_first(&format!("&cursor={cursor}")).await;
    assert_eq!((last.ids(), &last.body["next_cursor"]), (vec![before.clone()], &Value::Null));
    assert_eq!(newest_first("&variant=oware").await.ids(), [] as [&str; 0]);
    let seek = async |guest: &Guest| app.post("/v1/games/seek", Some(guest), &json!({"variant": "kalah"})).await;
    for game in [&before, &after] {
        assert_eq!(&seek(&bo).await.string("/id"), game);
    }
    opened(&app, &ana).await;
    close(&app, "acme", false).await;
    let rows = "select count(*) from game where within_app_id is not null and started_at is null";
    assert_eq!(sqlx::query_scalar::<_, i64>(rows).fetch_one(&app.db).await.expect("a count"), 0);
    delete_copies(&app).await;
}

/// Makes half of the copies the newest games.
async fn make_newest(app: &TestApp) {
    let moved = "update game set id = ('ffff0000-0000-7000-8000-0000' || left(id::text, 8))::uuid \
        where id in (select id from game where id::text like '%-7000-8000-000000000000' order by id limit $1)";
    let moved = sqlx::query(moved).bind(READ_MAX).execute(&app.db).await.expect("they are moved");
    assert_eq!(i64::try_from(moved.rows_affected()), Ok(READ_MAX));
}
