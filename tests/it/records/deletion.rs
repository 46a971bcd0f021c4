//! Imported games are deleted by their importer, with everything that refers to them; played games never are.

use std::time::Duration;

use futures_util::future::join;
use mancala_server::{
    db::{
        pool,
        records::{
            deletion,
            import::{self as stored, Stored},
            usage::{self, ImportTotal, Importer},
        },
        study::{
            analyses,
            notes::{self, Note, Written},
        },
    },
    domain::{ANALYSIS_EDITION, Analysis, GameId, Import, PlayerId, Visibility},
    rules::notation::Record,
};
use reqwest::{Client, Method, header};
use serde_json::json;
use uuid::Uuid;

use crate::{
    records::import::{WHOLE, import, whole_game},
    study::explorer::{explore, explored},
    support::{
        answer::Answer,
        app::TestApp,
        calls::{Guest, send, signed},
        clock::{now, until},
        listener::Listener,
    },
};

const PASSWORD: &str = "correct horse";

async fn delete(app: &TestApp, path: &str, guest: Option<&Guest>) -> Answer {
    send(signed(app.request(Method::DELETE, path), guest)).await
}

/// The rows of each table that a game, or what refers to it, stands in.
async fn rows(app: &TestApp) -> Vec<(&'static str, i64)> {
    let mut counts = vec![];
    for (table, query) in [
        ("game", "select count(*) from game"),
        ("event", "select count(*) from event"),
        ("note", "select count(*) from note"),
        ("analysis", "select count(*) from analysis"),
        ("analysis_request", "select count(*) from analysis_request"),
        ("unexplored_game", "select count(*) from unexplored_game"),
        ("explored_game", "select count(*) from explored_game"),
        ("explored_move", "select count(*) from explored_move"),
        ("player", "select count(*) from player where kind = 'imported'"),
    ] {
        let count: i64 = sqlx::query_scalar(query).fetch_one(&app.db).await.expect("a count");
        if count > 0 {
            counts.push((table, count));
        }
    }
    counts
}

#[actix_web::test]
async fn a_deleted_game_is_gone_with_all_that_refers_to_it() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.guest("Bo").await);
    let record = whole_game("kalah", "", "Cleo").to_string();
    let id = import(&app, &ana, "?visibility=public", "text/plain", record).await.string("/items/0/game_id");
    let game = GameId(Uuid::try_parse(&id).expect("an id"));
    explore(&app).await;
    assert_eq!(explored(&app, "variant=kalah&imported=true").await["games"], 1);
    let noted = app.put(&format!("/v1/games/{id}/notes/1"), Some(&bo), &json!({"text": "good"})).await;
    assert_eq!(noted.status, 201, "{noted:?}");
    assert_eq!(app.post(&format!("/v1/games/{id}/analysis"), Some(&bo), &json!({})).await.status, 202);
    let analysis = Analysis { ply: 1, edition: ANALYSIS_EDITION, at: now(), plies: vec![] };
    analyses::store(&app.db, game, &analysis).await.expect("a database");
    let tables: Vec<_> = rows(&app).await.into_iter().map(|(table, _)| table).collect();
    assert_eq!(tables, ["game", "event", "note", "analysis", "analysis_request", "explored_game", "player"]);
    // Another server has the game in its cache, with its whole past.
    let (other, _) = app.second_server();
    let at_other = async |path: &str| send(Client::new().get(format!("http://{other}/v1/games/{id}{path}"))).await;
    for path in ["", "/moves", "/positions/3"] {
        for answer in [at_other(path).await, app.get(&format!("/v1/games/{id}{path}"), None).await] {
            assert_eq!((answer.status.as_u16(), &answer.headers["cache-control"]), (200, &private()), "{path}");
        }
    }
    let deleted = delete(&app, &format!("/v1/games/{id}"), Some(&ana)).await;
    assert_eq!((deleted.status.as_u16(), deleted.text.as_str()), (204, ""), "{deleted:?}");
    // First what a cached game could answer without the database.
    for path in ["/moves", "/positions/3", "", "/events", "/export", "/verify", "/analysis", "/board.svg"] {
        at_other(path).await.is_problem(404, "not_found");
        app.get(&format!("/v1/games/{id}{path}"), None).await.is_problem(404, "not_found");
    }
    delete(&app, &format!("/v1/games/{id}"), Some(&ana)).await.is_problem(404, "not_found");
    assert_eq!(rows(&app).await, []);
    assert_eq!(explored(&app, "variant=kalah&imported=true").await["games"], 0);
    let page = app.get("/v1/me/imports", Some(&ana)).await;
    assert_eq!(
        (page.ids().len(), &page.body["usage"]["games"], &page.body["usage"]["plies"]),
        (0, &json!(0), &json!(0))
    );
    // What was on its way to the game when it was deleted finds none.
    analyses::store(&app.db, game, &analysis).await.expect("a database");
    let note = Note { game, ply: 1, text: "late".parse().expect("a note"), updated_at: now() };
    let written = notes::write(&app.db, player(&bo), note).await.expect("a database");
    assert_eq!(written, Written::NoGame);
    assert_eq!(rows(&app).await, []);
}

fn private() -> header::HeaderValue {
    header::HeaderValue::from_static("private, no-cache")
}

fn player(guest: &Guest) -> PlayerId {
    PlayerId(Uuid::try_parse(&guest.id).expect("an id"))
}

#[actix_web::test]
async fn only_the_importer_deletes_a_game_and_a_played_one_stays() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.account("Bo", PASSWORD).await);
    let public = import(&app, &ana, "?visibility=public", "text/plain", WHOLE).await.string("/items/0/game_id");
    let private = import(&app, &ana, "", "text/plain", WHOLE).await.string("/items/0/game_id");
    delete(&app, &format!("/v1/games/{public}"), Some(&bo)).await.is_problem(403, "forbidden");
    delete(&app, &format!("/v1/games/{private}"), Some(&bo)).await.is_problem(404, "not_found");
    delete(&app, &format!("/v1/games/{public}"), None).await.is_problem(401, "unauthenticated");
    assert!(
        !deletion::delete(&app.db, player(&bo), GameId(Uuid::try_parse(&public).expect("an id"))).await.expect("ok")
    );
    let played = app.started_between(&ana, &bo, &json!({})).await;
    assert_eq!(app.resign_game(&played, &bo).await.status, 200);
    delete(&app, &format!("/v1/games/{played}"), Some(&ana)).await.is_problem(403, "forbidden");
    delete(&app, &format!("/v1/games/{}", Uuid::nil()), Some(&ana)).await.is_problem(404, "not_found");
    // A game that goes on from a deleted one keeps its start.
    let from = json!({"from": {"game_id": public, "ply": 2}, "opponent": {"type": "self"}});
    let later = app.created(&ana, &from).await;
    assert_eq!(delete(&app, &format!("/v1/games/{public}"), Some(&ana)).await.status, 204);
    let id = later["id"].as_str().expect("an id");
    assert_eq!(app.get_game(id, Some(&ana)).await.body["start"], later["start"]);
    assert_eq!(app.get(&format!("/v1/games/{id}/verify"), Some(&ana)).await.body["flaws"], json!([]));
    app.get_game(&private, Some(&ana)).await;
    assert_eq!(app.get_game(&played, None).await.status, 200);
}

#[actix_web::test]
async fn all_imports_are_listed_and_deleted_in_batches() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", PASSWORD).await, app.guest("Bo").await);
    let game = "[Variant \"kalah\"]\n[South \"Cleo\"]\n1. A *\n";
    assert_eq!(import(&app, &ana, "", "text/plain", game.repeat(600)).await.body["imported"], 600);
    assert_eq!(import(&app, &bo, "", "text/plain", game).await.body["imported"], 1);
    let played = app.started_between(&ana, &bo, &json!({})).await;
    // All pages, each after the one before.
    let (mut ids, mut path) = (vec![], "/v1/me/imports?limit=100".to_owned());
    loop {
        let page = app.get(&path, Some(&ana)).await;
        ids.extend(page.ids());
        assert_eq!(page.body["usage"]["games"], 600);
        let Some(link) = page.headers.get("link") else { break };
        let link = link.to_str().expect("text");
        link[1..link.find('>').expect("a link ends")].clone_into(&mut path);
    }
    assert_eq!(ids, walked(&app, "importer=me&limit=100", &ana).await);
    assert_eq!(ids.len(), 600);
    app.get("/v1/me/imports?cursor=x", Some(&ana)).await.is_problem(422, "validation_failed");
    app.get("/v1/me/imports", None).await.is_problem(401, "unauthenticated");
    for (deleted, remaining) in [(500, 100), (100, 0), (0, 0)] {
        let answer = delete(&app, "/v1/me/imports", Some(&ana)).await;
        assert_eq!((answer.status.as_u16(), answer.body), (200, json!({"deleted": deleted, "remaining": remaining})));
    }
    assert_eq!(app.get("/v1/me/imports", Some(&ana)).await.ids(), Vec::<String>::new());
    assert_eq!(app.get("/v1/me/imports", Some(&bo)).await.ids().len(), 1);
    assert_eq!(app.get_game(&played, Some(&ana)).await.status, 200);
    let names: i64 = sqlx::query_scalar("select count(*) from player where kind = 'imported'")
        .fetch_one(&app.db)
        .await
        .expect("a count");
    assert_eq!(names, 2, "those of the other importer");
    delete(&app, "/v1/me/imports", None).await.is_problem(401, "unauthenticated");
}

async fn walked(app: &TestApp, query: &str, guest: &Guest) -> Vec<String> {
    crate::support::games::walk(app, query, Some(guest)).await
}

#[actix_web::test]
async fn requests_that_wait_for_a_deleted_game_end() {
    let app = TestApp::start().await;
    let ana = app.account("Ana", PASSWORD).await;
    let record = whole_game("kalah", "", "Cleo").to_string();
    let id = import(&app, &ana, "", "text/plain", record).await.string("/items/0/game_id");
    let etag = app.get_game(&id, Some(&ana)).await.headers["etag"].clone();
    let waiting = signed(app.request(Method::GET, &format!("/v1/games/{id}")), Some(&ana));
    let waiting =
        waiting.header(header::IF_NONE_MATCH, etag).header("prefer", "wait=50").timeout(Duration::from_secs(45));
    let mut stream = Listener::at(&app, &id, 0, Some(&ana)).await;
    let deleting = async {
        until("both wait", || app.hub.waiters() == 2).await;
        // At another server: this one learns of it by a notification, or by its poll.
        let (other, _) = app.second_server();
        let request = Client::new().delete(format!("http://{other}/v1/games/{id}"));
        send(signed(request, Some(&ana))).await
    };
    let (answer, deleted) = join(send(waiting), deleting).await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    answer.is_problem(404, "not_found");
    while stream.next().await.is_some() {}
    until("none waits", || app.hub.waiters() == 0).await;
}

#[actix_web::test]
async fn imports_and_deletions_at_once_leave_players_and_counts_right() {
    let app = TestApp::start().await;
    let ana = player(&app.account("Ana", PASSWORD).await);
    let importer = Importer { player: ana, quota: ImportTotal { games: 1000, plies: 100_000 } };
    let record: Record = whole_game("kalah", "", "Cleo");
    let pools = [pool(app.options.clone(), 1), pool(app.options.clone(), 1)];
    let importing = async {
        let mut done = 0;
        while done < 40 {
            let imports = vec![Import::of_record(&record, now()); 2];
            let played =
                stored::play(&pools[0], imports, Some(ana), Visibility::Public, now()).await.expect("a database");
            let played: Vec<_> = played.into_iter().map(|game| game.expect("it can have been played")).collect();
            match stored::store(&pools[0], &played, Some(importer), None, now()).await.expect("a database") {
                Stored::Whole => done += 1,
                Stored::PlayersChanged => {}
                other => panic!("{other:?}"),
            }
        }
    };
    let deleting = async {
        let mut deleted = 0;
        while deleted < 60 {
            deleted += deletion::delete_some(&pools[1], ana).await.expect("a database").len();
        }
        deleted
    };
    let ((), deleted) = join(importing, deleting).await;
    let used = usage::find(&app.db, ana).await.expect("a database");
    let plies = u32::try_from(record.moves().len()).expect("a short game");
    let left = u32::try_from(80 - deleted).expect("no more are deleted than there were");
    assert_eq!(used, ImportTotal { games: left, plies: left * plies });
    assert_eq!(count_listed(&app, ana).await, left as usize);
}

/// The games that a player imported, by the list of them.
async fn count_listed(app: &TestApp, importer: PlayerId) -> usize {
    let ids: Vec<Uuid> =
        sqlx::query_scalar("select id from game where invited_player_id = $1 and opponent = 'imported'")
            .bind(importer.0)
            .fetch_all(&app.db)
            .await
            .expect("ids");
    ids.len()
}
