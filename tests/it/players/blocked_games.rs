//! What a block forbids between two players, whichever of them calls; and that games which have begun are played on.

use std::time::Duration;

use futures_util::future::{join, join_all};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
    clock::until_async,
    database::{count_rows, until_lock_wait},
    games::walk,
};

const KALAH: &str = "kalah";

async fn block(app: &TestApp, blocker: &Guest, player: &Guest) {
    let made = send(signed(app.request(Method::PUT, &format!("/v1/me/blocks/{}", player.id)), Some(blocker))).await;
    assert_eq!(made.status, 204, "{made:?}");
}

async fn unblock(app: &TestApp, blocker: &Guest, player: &Guest) {
    let path = format!("/v1/me/blocks/{}", player.id);
    assert_eq!(send(signed(app.request(Method::DELETE, &path), Some(blocker))).await.status, 204);
}

async fn seek(app: &TestApp, guest: &Guest) -> Answer {
    app.post("/v1/games/seek", Some(guest), &json!({"variant": KALAH})).await
}

fn invitation(guest: &Guest) -> Value {
    json!({"variant": KALAH, "side": "south", "opponent": {"type": "player", "player_id": guest.id}})
}

async fn created(app: &TestApp, guest: &Guest, opponent: &Value, visibility: &str) -> (String, Value) {
    let body = json!({"variant": KALAH, "opponent": opponent, "visibility": visibility});
    let game = app.created(guest, &body).await;
    (game["id"].as_str().expect("an id").to_owned(), game["join_code"].clone())
}

async fn join_with(app: &TestApp, id: &str, guest: &Guest, join_code: &Value) -> Answer {
    let body = if join_code.is_null() { json!({}) } else { json!({"join_code": join_code}) };
    app.post(&format!("/v1/games/{id}/join"), Some(guest), &body).await
}

/// What a client sees of a failure.
fn told(answer: &Answer) -> (u16, Value, Value) {
    (answer.status.as_u16(), answer.body["code"].clone(), answer.body["detail"].clone())
}

/// Two players of whom the first has blocked the second, as both pairs of a caller and the other.
async fn both_ways(app: &TestApp) -> [(Guest, Guest); 2] {
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    block(app, &ana, &bo).await;
    [(ana.clone(), bo.clone()), (bo, ana)]
}

#[actix_web::test]
async fn neither_invites_the_other_and_the_answer_is_that_of_no_player() {
    let app = TestApp::start().await;
    let gone = app.guest("Gone").await;
    app.delete_me(&gone).await;
    let pairs = both_ways(&app).await;
    for (caller, other) in &pairs {
        let refused = app.create_game(caller, &invitation(other)).await;
        refused.is_problem(422, "validation_failed");
        assert_eq!(told(&refused), told(&app.create_game(caller, &invitation(&gone)).await));
        assert_eq!(app.list_invitations("direction=sent", caller).await.ids(), [] as [&str; 0]);
    }
    let (ana, bo) = &pairs[0];
    assert_eq!(app.create_game(&app.guest("Eve").await, &invitation(bo)).await.status, 201);
    unblock(&app, ana, bo).await;
    assert_eq!(app.create_game(bo, &invitation(ana)).await.status, 201);
}

#[actix_web::test]
async fn a_block_ends_the_invitations_that_wait_between_the_two() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let mut ended = vec![];
    for (from, to) in [(&ana, &bo), (&bo, &ana), (&bo, &ana)] {
        ended.push(app.created(from, &invitation(to)).await["id"].as_str().expect("an id").to_owned());
    }
    let mut kept = vec![];
    for (from, to) in [(&ana, &eve), (&eve, &ana), (&bo, &eve), (&eve, &bo)] {
        kept.push(app.created(from, &invitation(to)).await["id"].as_str().expect("an id").to_owned());
    }
    let active = app.created(&ana, &invitation(&bo)).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&active, &bo).await.status, 200);
    block(&app, &ana, &bo).await;
    let status = async |id: &String| app.get_game(id, None).await.string("/status");
    for id in &ended {
        assert_eq!(status(id).await, "aborted");
        app.join_game(id, &bo).await.is_problem(409, if *id == ended[0] { "game_over" } else { "own_game" });
    }
    for id in &kept {
        assert_eq!(status(id).await, "open");
    }
    assert_eq!(status(&active).await, "active");
    assert_eq!(app.play_move(&active, &ana, 1, "A").await.status, 201);
    assert_eq!(app.list_invitations("", &ana).await.ids(), [kept[1].clone()]);
    assert_eq!(app.get("/v1/me/summary", Some(&ana)).await.body["invitations"], 1);
}

#[actix_web::test]
async fn neither_joins_an_open_game_of_the_other() {
    let app = TestApp::start().await;
    let unknown = app.join_game("0199aaaa-0000-7000-8000-000000000000", &app.guest("Eve").await).await;
    for (caller, other) in both_ways(&app).await {
        let (open, _) = created(&app, &other, &json!({"type": "open"}), "public").await;
        let (by_link, code) = created(&app, &other, &json!({"type": "link"}), "unlisted").await;
        let (private, private_code) = created(&app, &other, &json!({"type": "link"}), "private").await;
        // The answers are those to a game of others, and to a wrong code.
        assert_eq!(told(&app.join_game(&open, &caller).await), told(&unknown));
        let with_code = join_with(&app, &by_link, &caller, &code).await;
        with_code.is_problem(403, "forbidden");
        assert_eq!(told(&with_code), told(&join_with(&app, &by_link, &caller, &json!("wrong")).await));
        let unseen = join_with(&app, &private, &caller, &private_code).await;
        assert_eq!(told(&unseen), told(&join_with(&app, &private, &caller, &json!("wrong")).await));
        assert_eq!(told(&unseen), told(&unknown));
        let eve = app.guest("Eve").await;
        for (id, code) in [(&open, &Value::Null), (&by_link, &code), (&private, &private_code)] {
            assert_eq!(app.get_game(id, Some(&other)).await.body["status"], "open");
            assert_eq!(join_with(&app, id, &eve, code).await.status, 200);
        }
        // A game that has begun is answered as to all others.
        let late = app.join_game(&open, &caller).await;
        late.is_problem(409, "seat_taken");
        assert_eq!(app.get_game(&open, Some(&caller)).await.body["id"], open);
    }
}

#[actix_web::test]
async fn a_game_that_was_joined_before_is_played_on() {
    let app = TestApp::start().await;
    let (id, ana, bo) = app.started(&json!({})).await;
    block(&app, &ana, &bo).await;
    // Joining again is a repetition.
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&id, &bo, 2, "a").await.status, 201);
    for guest in [&ana, &bo] {
        assert_eq!(app.list_games("player=me&status=active", Some(guest)).await.ids(), [id.as_str()]);
        assert_eq!(app.get_game(&id, Some(guest)).await.status, 200);
    }
    assert_eq!(app.resign_game(&id, &bo).await.body["status"], "finished");
}

#[actix_web::test]
async fn neither_finds_the_open_games_of_the_other_in_lists() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let active = app.started_between(&ana, &bo, &json!({})).await;
    let mut open = vec![];
    for guest in [&ana, &bo, &eve] {
        open.push(created(&app, guest, &json!({"type": "open"}), "public").await.0);
    }
    block(&app, &ana, &bo).await;
    let seen = async |query: &str, guest: Option<&Guest>| {
        let found = walk(&app, query, guest).await;
        (open.iter().map(|id| found.contains(id)).collect::<Vec<_>>(), found.contains(&active))
    };
    for query in ["status=open", "", "status=open,active", "limit=1", "status=open&variant=kalah&limit=1"] {
        let has_active = !query.contains("status=open") || query.contains("active");
        // Callers that see all of it read the same page at the same moment.
        let (of_ana, of_bo) = join(seen(query, Some(&ana)), seen(query, Some(&bo))).await;
        let (of_eve, of_all) = join(seen(query, Some(&eve)), seen(query, None)).await;
        assert_eq!(of_ana, (vec![true, false, true], has_active), "{query}");
        assert_eq!(of_bo, (vec![false, true, true], has_active), "{query}");
        assert_eq!((&of_eve, &of_all), (&(vec![true; 3], has_active), &(vec![true; 3], has_active)), "{query}");
    }
    let lobby = "status=open&opponent_type=open";
    assert_eq!(seen(lobby, Some(&ana)).await.0, [false, false, true]);
    assert_eq!(seen(lobby, Some(&bo)).await.0, [false, false, true]);
    for (guest, hidden) in [(Some(&ana), 1), (Some(&bo), 0), (Some(&eve), 3), (None, 3)] {
        let export = app.get("/v1/games/export?status=open", guest).await;
        assert_eq!(export.text.lines().count(), if hidden < 3 { 2 } else { 3 });
        assert!(open.iter().enumerate().all(|(n, id)| export.text.contains(id) != (n == hidden)), "{export:?}");
    }
    for (guest, other) in [(&ana, &bo), (&bo, &ana)] {
        assert_eq!(seen(&format!("player={}", other.id), Some(guest)).await, (vec![false; 3], true));
    }
    unblock(&app, &ana, &bo).await;
    assert_eq!(seen(lobby, Some(&bo)).await.0, [true, false, true]);
}

#[actix_web::test]
async fn readers_of_one_page_at_once_see_each_what_is_theirs() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    let (open, _) = created(&app, &ana, &json!({"type": "open"}), "public").await;
    block(&app, &bo, &ana).await;
    let readers: Vec<_> = (0..60).map(|n| [Some(&bo), Some(&eve), None][n % 3]).collect();
    let pages = join_all(readers.iter().map(|reader| app.list_games("status=open", *reader))).await;
    for (reader, page) in readers.iter().zip(&pages) {
        let is_hidden = reader.is_some_and(|reader| reader.id == bo.id);
        assert_eq!(page.ids().contains(&open), !is_hidden, "{reader:?}");
    }
}

#[actix_web::test]
async fn seeks_pair_no_two_players_with_a_block_between_them() {
    let app = TestApp::start().await;
    for (first, second) in both_ways(&app).await {
        let waiting = seek(&app, &first).await;
        assert_eq!(waiting.status, 201);
        let opened = seek(&app, &second).await;
        assert_eq!((opened.status.as_u16(), &opened.body["status"]), (201, &json!("open")));
        // Each still waits in its own, and a third player joins the older one.
        assert_eq!(seek(&app, &first).await.body["id"], waiting.body["id"]);
        let eve = app.guest("Eve").await;
        assert_eq!(seek(&app, &eve).await.body["id"], waiting.body["id"]);
        app.abort_game(&opened.string("/id"), &second).await;
    }
}

#[actix_web::test]
async fn a_seek_passes_many_games_of_a_blocked_player() {
    let app = TestApp::start().await;
    let (ana, bo, eve) = (app.guest("Ana").await, app.guest("Bo").await, app.guest("Eve").await);
    block(&app, &ana, &bo).await;
    for _ in 0..8 {
        created(&app, &ana, &json!({"type": "open"}), "public").await;
    }
    let (fits, _) = created(&app, &eve, &json!({"type": "open"}), "public").await;
    assert_eq!(seek(&app, &bo).await.string("/id"), fits);
}

#[actix_web::test]
async fn of_seeks_and_a_block_at_once_none_is_broken() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        let seeks = join(seek(&app, &ana), seek(&app, &bo));
        let ((one, other), ()) = join(seeks, block(&app, &bo, &ana)).await;
        assert!(one.status.is_success() && other.status.is_success(), "{one:?} {other:?}");
        // Paired before the block, or not at all.
        let is_paired = one.body["id"] == other.body["id"];
        let (again, others) = join(seek(&app, &ana), seek(&app, &bo)).await;
        assert_ne!(again.body["id"], others.body["id"]);
        for (guest, answer) in [(&ana, &again), (&bo, &others)] {
            assert_eq!(answer.status, if is_paired { 201 } else { 200 }, "{answer:?}");
            assert_eq!(app.abort_game(&answer.string("/id"), guest).await.status, 200);
        }
    }
}

#[actix_web::test]
async fn of_an_invitation_and_a_block_at_once_no_invitation_is_left() {
    let app = TestApp::start().await;
    for n in 0..20 {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        let (from, to) = if n % 2 == 0 { (&ana, &bo) } else { (&bo, &ana) };
        let (made, ()) = join(app.create_game(from, &invitation(to)), block(&app, &ana, &bo)).await;
        assert!([201, 422].contains(&made.status.as_u16()), "{made:?}");
        assert_eq!(app.list_invitations("", to).await.ids(), [] as [&str; 0]);
    }
}

#[actix_web::test]
async fn of_a_join_and_a_block_at_once_one_comes_first() {
    let app = TestApp::start().await;
    for n in 0..10 {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        let opponent = if n % 2 == 0 { json!({"type": "open"}) } else { invitation(&bo)["opponent"].clone() };
        let (id, _) = created(&app, &ana, &opponent, "public").await;
        let (joined, ()) = join(app.join_game(&id, &bo), block(&app, &ana, &bo)).await;
        let status = app.get_game(&id, None).await.string("/status");
        match joined.status.as_u16() {
            200 => assert_eq!(status, "active"),
            404 | 409 => assert_eq!(status, if n % 2 == 0 { "open" } else { "aborted" }),
            _ => panic!("{joined:?}"),
        }
    }
}

#[actix_web::test]
async fn an_invitation_that_is_joined_while_it_is_ended_is_played() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (id, _) = created(&app, &ana, &invitation(&bo)["opponent"], "public").await;
    // The join is under way, and the block finds the invitation as it still is.
    let mut held = app.db.begin().await.expect("a transaction begins");
    let lock = "select version from game where id = $1::uuid for update";
    sqlx::query(lock).bind(&id).execute(&mut *held).await.expect("the game is locked");
    let release = async {
        until_lock_wait(&app).await;
        let releasing = async {
            until_async("the block is stored", async || count_rows(&app, "player_block").await > 0).await;
            // Time for its append to come behind that of the join. With too little, the test would only find less; with too much, the join gives
            // up its wait for the lock.
            tokio::time::sleep(Duration::from_millis(100)).await;
            held.rollback().await.expect("the lock goes");
        };
        join(block(&app, &ana, &bo), releasing).await
    };
    let (joined, _) = join(app.join_game(&id, &bo), release).await;
    assert_eq!(joined.status, 200, "{joined:?}");
    assert_eq!(app.get_game(&id, None).await.body["status"], "active");
}
