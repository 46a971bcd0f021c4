//! Notes: they are stored as written, shown to their writer alone, and deleted with their player.

use mancala_server::{
    db::{
        players,
        study::notes::{self, NOTES_MAX, Note, Written},
    },
    domain::{GameId, NoteText, PlayerId},
    jobs::{erasure, purge},
};
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;
use uuid::Uuid;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::now,
};

async fn write(app: &TestApp, guest: &Guest, game: &str, ply: &str, text: &str) -> Answer {
    app.put(&format!("/v1/games/{game}/notes/{ply}"), Some(guest), &json!({ "text": text })).await
}

async fn delete(app: &TestApp, guest: &Guest, game: &str, ply: &str) -> Answer {
    send(signed(app.request(Method::DELETE, &format!("/v1/games/{game}/notes/{ply}")), Some(guest))).await
}

/// The plies and texts of a player's notes on a game.
async fn texts(app: &TestApp, guest: &Guest, game: &str) -> Vec<(u64, String)> {
    let page = app.get(&format!("/v1/games/{game}/notes?limit=100"), Some(guest)).await;
    let items = page.body["items"].as_array().unwrap_or_else(|| panic!("{page:?}"));
    let text = |note: &Value| note["text"].as_str().expect("a text").to_owned();
    items.iter().map(|note| (note["ply"].as_u64().expect("a ply"), text(note))).collect()
}

async fn count(app: &TestApp) -> i64 {
    sqlx::query_scalar("select count(*) from note").fetch_one(&app.db).await.expect("a count")
}

fn id_of(guest: &Guest) -> PlayerId {
    PlayerId(Uuid::try_parse(&guest.id).expect("an id"))
}

#[actix_web::test]
async fn a_note_is_kept_as_it_was_written_until_it_is_written_anew_or_deleted() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.play_move(&id, &south, 1, "A").await;
    let text = "F was better:\n\tit feeds nobody \u{1f469}\u{200d}\u{1f467}";
    let added = write(&app, &south, &id, "1", text).await;
    assert_eq!(added.status, 201, "{added:?}");
    assert_eq!(added.headers["cache-control"], "private, no-cache");
    assert_eq!(
        (&added.body["game_id"], &added.body["ply"], &added.body["text"]),
        (&json!(id), &json!(1), &json!(text))
    );
    // The same text again, also from a process with an older clock, does not even change the time.
    sqlx::query("update note set updated_at = '2020-01-01Z'").execute(&app.db).await.expect("a row");
    let again = write(&app, &south, &id, "1", text).await;
    assert_eq!((again.status.as_u16(), &again.body["updated_at"]), (200, &json!("2020-01-01T00:00:00.000Z")));
    let replaced = write(&app, &south, &id, "1", "No, it was not.").await;
    assert_eq!((replaced.status.as_u16(), &replaced.body["text"]), (200, &json!("No, it was not.")));
    assert_ne!(replaced.body["updated_at"], "2020-01-01T00:00:00.000Z");
    assert_eq!(write(&app, &south, &id, "0", "Begin with C.").await.status, 201);
    let page = app.get(&format!("/v1/games/{id}/notes"), Some(&south)).await;
    assert_eq!(page.headers["cache-control"], "private, no-cache");
    assert_eq!((&page.body["items"][1], &page.body["next_cursor"]), (&replaced.body, &Value::Null));
    // The opponent has notes of their own.
    assert_eq!(texts(&app, &north, &id).await, []);
    assert_eq!(write(&app, &north, &id, "1", "Good for me.").await.status, 201);
    for _ in 0..2 {
        assert_eq!(delete(&app, &south, &id, "1").await.status, 204);
        assert_eq!(texts(&app, &south, &id).await, [(0, "Begin with C.".to_owned())]);
        assert_eq!(texts(&app, &north, &id).await, [(1, "Good for me.".to_owned())]);
    }
}

#[actix_web::test]
async fn of_several_who_write_the_same_new_note_at_once_one_adds_it() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    for ply in ["0", "1"] {
        app.play_move(&id, &south, 1, "A").await;
        let answers = (0..8).map(async |n| write(&app, &south, &id, ply, &format!("note {n}")).await.status.as_u16());
        let mut statuses = futures_util::future::join_all(answers).await;
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
    }
}

#[actix_web::test]
async fn notes_are_listed_page_by_page_in_the_order_of_plies() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id");
    for ply in 1..=4 {
        let game = app.get_game(id, Some(&ana)).await.body;
        let mv = game["legal_moves"][0].as_str().expect("a move").to_owned();
        assert_eq!(app.play_move(id, &ana, ply, &mv).await.status, 201);
    }
    for ply in ["3", "0", "4", "1", "2"] {
        assert_eq!(write(&app, &ana, id, ply, ply).await.status, 201);
    }
    let path = format!("/v1/games/{id}/notes");
    let (mut next, mut plies) = (format!("{path}?limit=2"), vec![]);
    for _ in 0..3 {
        let page = app.get(&next, Some(&ana)).await;
        plies.extend(page.body["items"].as_array().expect("items").iter().map(|note| note["ply"].clone()));
        let Some(link) = page.headers.get("link") else { break };
        let link = link.to_str().expect("text");
        link[1..link.find('>').expect("a link ends")].clone_into(&mut next);
    }
    assert_eq!(plies, [0, 1, 2, 3, 4]);
    let after = app.get(&format!("{path}?after=2"), Some(&ana)).await;
    assert_eq!((&after.body["items"][0]["ply"], &after.body["items"].as_array().map(Vec::len)), (&json!(3), &Some(2)));
    assert_eq!(app.get(&format!("{path}?after=4294967295"), Some(&ana)).await.body["items"], json!([]));
    let cursor = app.get(&format!("{path}?limit=2"), Some(&ana)).await.string("/next_cursor");
    for query in ["limit=0", "limit=101", "after=-1", "ply=1", "cursor=x", &format!("after=1&cursor={cursor}")] {
        app.get(&format!("{path}?{query}"), Some(&ana)).await.is_problem(422, "validation_failed");
    }
    // A cursor is its caller's own.
    let bo = app.guest("Bo").await;
    app.get(&format!("{path}?cursor={cursor}"), Some(&bo)).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn only_players_that_may_see_a_game_may_write_notes_on_it() {
    let app = TestApp::start().await;
    let eve = app.guest("Eve").await;
    for (visibility, status) in [("public", 201), ("unlisted", 201), ("private", 404)] {
        let options = json!({"visibility": visibility, "opponent": {"type": "self"}});
        let ana = app.guest("Ana").await;
        let mut body = json!({"variant": "kalah"});
        for (name, value) in options.as_object().expect("options") {
            body[name] = value.clone();
        }
        let game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id");
        assert_eq!(write(&app, &ana, id, "0", "mine").await.status, 201);
        assert_eq!(write(&app, &eve, id, "0", "hers").await.status, status, "{visibility}");
        let path = format!("/v1/games/{id}/notes");
        if status == 404 {
            app.get(&path, Some(&eve)).await.is_problem(404, "not_found");
            delete(&app, &eve, id, "0").await.is_problem(404, "not_found");
        } else {
            assert_eq!(texts(&app, &eve, id).await, [(0, "hers".to_owned())]);
        }
        assert_eq!(texts(&app, &ana, id).await, [(0, "mine".to_owned())]);
        app.get(&path, None).await.is_problem(401, "unauthenticated");
        app.put(&format!("{path}/0"), None, &json!({"text": "x"})).await.is_problem(401, "unauthenticated");
    }
    let nowhere = "0199aaaa-0000-7000-8000-000000000000";
    write(&app, &eve, nowhere, "0", "x").await.is_problem(404, "not_found");
    app.get(&format!("/v1/games/{nowhere}/notes"), Some(&eve)).await.is_problem(404, "not_found");
    assert_eq!(count(&app).await, 5);
}

#[actix_web::test]
async fn a_game_has_the_plies_that_were_played() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    for ply in ["1", "-1", "x", "4294967295", "4294967296", "1.0"] {
        write(&app, &south, &id, ply, "x").await.is_problem(404, "not_found");
        delete(&app, &south, &id, ply).await.is_problem(404, "not_found");
    }
    app.play_move(&id, &south, 1, "A").await;
    assert_eq!(write(&app, &south, &id, "1", "x").await.status, 201);
    assert_eq!(count(&app).await, 1);
}

#[actix_web::test]
async fn what_is_no_note_is_refused_and_nothing_is_stored() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let longest = "\u{1d11e}".repeat(4000);
    assert_eq!(write(&app, &south, &id, "0", &longest).await.body["text"], json!(longest));
    // The same text is accepted in its longest form on the wire.
    let escaped = format!(r#"{{"text": "{}"}}"#, r"\ud834\udd1e".repeat(4000));
    let request = app.request(Method::PUT, &format!("/v1/games/{id}/notes/0")).bearer_auth(&south.token);
    let answer = send(request.header("content-type", "application/json").body(escaped)).await;
    assert_eq!((answer.status.as_u16(), &answer.body["text"]), (200, &json!(longest)));
    for text in ["", "nul\0", "\u{1b}[31m", "two\r\nlines", "\u{85}", &"x".repeat(4001), &"x".repeat(60_000)] {
        let answer = write(&app, &south, &id, "0", text).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], "/text");
    }
    write(&app, &south, &id, "0", &"x".repeat(1 << 20)).await.is_problem(413, "payload_too_large");
    let path = format!("/v1/games/{id}/notes/0");
    for body in [json!({}), json!({"text": null}), json!({"text": 1}), json!({"text": "x", "ply": 1}), json!(["x"])] {
        app.put(&path, Some(&south), &body).await.is_problem(422, "validation_failed");
    }
    assert_eq!(texts(&app, &south, &id).await, [(0, longest)]);
}

#[actix_web::test]
async fn a_player_has_so_many_notes_and_no_more() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let fill = "insert into note select $1, gen_random_uuid(), 1, 'x', now() from generate_series(1, $2)";
    let fill = sqlx::query(fill).bind(id_of(&south).0).bind(i32::try_from(NOTES_MAX - 1).expect("a number"));
    fill.execute(&app.db).await.expect("rows");
    assert_eq!(write(&app, &south, &id, "0", "the last").await.status, 201);
    app.play_move(&id, &south, 1, "A").await;
    write(&app, &south, &id, "1", "one too many").await.is_problem(409, "too_many_notes");
    // Existing notes can still be changed, other players are not limited, and a deletion makes room.
    assert_eq!(write(&app, &south, &id, "0", "changed").await.status, 200);
    assert_eq!(write(&app, &north, &id, "1", "the first").await.status, 201);
    assert_eq!(delete(&app, &south, &id, "0").await.status, 204);
    assert_eq!(write(&app, &south, &id, "1", "fits").await.status, 201);
}

#[actix_web::test]
async fn an_export_has_all_notes_of_the_caller_and_no_others() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let (other, _, _) = app.started(&json!({})).await;
    app.play_move(&id, &south, 1, "A").await;
    let mut written = vec![];
    for (game, ply) in [(&id, "0"), (&id, "1"), (&other, "0")] {
        written.push(write(&app, &south, game, ply, "my \"secret\"").await.body);
    }
    write(&app, &north, &id, "1", "not yours").await;
    let export = app.get("/v1/me/export", Some(&south)).await;
    assert_eq!(export.body["notes"], json!(written), "{}", export.text);
    assert_eq!(export.body["games"].as_array().map(Vec::len), Some(1));
    assert!(!export.text.contains("not yours"));
    // More than are in memory at once.
    let fill = "insert into note select $1, gen_random_uuid(), 1, 'x', now() from generate_series(1, 250)";
    sqlx::query(fill).bind(id_of(&south).0).execute(&app.db).await.expect("rows");
    let export = app.get("/v1/me/export", Some(&south)).await;
    let mut ids: Vec<_> = export.body["notes"].as_array().expect("notes").iter().map(|note| &note["game_id"]).collect();
    assert_eq!(ids.len(), 253);
    ids.dedup();
    assert_eq!(ids.len(), 252);
    assert_eq!(export.body["games"].as_array().map(Vec::len), Some(1));
}

#[actix_web::test]
async fn notes_go_with_their_player_and_stay_when_others_go() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    write(&app, &south, &id, "0", "mine").await;
    write(&app, &north, &id, "0", "theirs").await;
    assert_eq!(app.delete_me(&south).await.status, 204);
    assert_eq!(count(&app).await, 1);
    assert_eq!(texts(&app, &north, &id).await, [(0, "theirs".to_owned())]);
    // The last access token is void.
    write(&app, &south, &id, "0", "once more").await.is_problem(401, "invalid_token");
    delete(&app, &south, &id, "0").await.is_problem(401, "invalid_token");
    let page = app.get(&format!("/v1/games/{id}/notes"), Some(&south)).await;
    page.is_problem(401, "invalid_token");
    let note = Note {
        game: GameId(Uuid::try_parse(&id).expect("an id")),
        ply: 0,
        text: NoteText::from_stored("too late".to_owned()),
        updated_at: now(),
    };
    let late = notes::write(&app.db, id_of(&south), note).await.expect("a statement");
    assert_eq!(late, Written::NoPlayer);
    assert_eq!(count(&app).await, 1);
    // The job finds a note that was being written while its player was erased.
    let stored = sqlx::query("insert into note values ($1, $2, 0, 'left', now())");
    stored.bind(id_of(&south).0).bind(Uuid::now_v7()).execute(&app.db).await.expect("a row");
    erasure::end_games(&app.db, &app.writers, now()).await.expect("a round");
    assert_eq!(texts(&app, &north, &id).await, [(0, "theirs".to_owned())]);
    assert_eq!(count(&app).await, 1);
}

#[actix_web::test]
async fn an_unused_guest_goes_and_the_notes_before_bit_by_bit() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let ana = app.guest("Ana").await;
    write(&app, &ana, &id, "0", "seen from outside").await;
    write(&app, &south, &id, "0", "mine").await;
    let fill = "insert into note select $1, gen_random_uuid(), 1, 'x', now() from generate_series(1, 1500)";
    sqlx::query(fill).bind(id_of(&ana).0).execute(&app.db).await.expect("rows");
    let settings = purge::Settings { guest_retention: Some(Duration::days(90)) };
    let mut guests = purge::Guests::default();
    for (days, left) in [(89, 1502), (91, 502), (93, 1), (95, 1)] {
        purge::run(&app.db, settings, &mut guests, now() + Duration::days(days)).await.expect("a round");
        assert_eq!(count(&app).await, left, "{days}");
    }
    assert_eq!(players::find(&app.db, id_of(&ana)).await.expect("a query").map(|own| own.player.id), None);
    assert_eq!(texts(&app, &south, &id).await, [(0, "mine".to_owned())]);
}
