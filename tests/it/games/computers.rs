//! Games against the computer, and games from a stored position. A computer's turn is played once, even if its worker dies.

use mancala_server::{
    db::games::computer_turns::{self, ComputerTurn},
    jobs::computers,
};
use serde_json::{Value, json};

use super::computer_limits::as_if_new;
use crate::support::{
    app::TestApp,
    binary::{self, Running},
    calls::Guest,
    clock::{now, until, until_seen},
    job::Job,
    scrape::count,
};

/// Plays for the computer on the database of a test, until it is told to stop.
pub fn player(app: &TestApp) -> Job {
    let (pool, writers, metrics) =
        (mancala_server::db::pool(app.options.clone(), 1), app.writers.clone(), app.metrics.clone());
    Job::start(|stopping| computers::run(pool, writers, metrics, stopping))
}

pub fn against(level: u8, side: &str) -> Value {
    json!({"variant": "kalah", "side": side, "opponent": {"type": "computer", "level": level}})
}

/// The game once this is so.
pub async fn game_once(app: &TestApp, id: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    until_seen("the game is so", async || app.get_game(id, None).await.body, is_so).await
}

pub fn is_turn_of(side: &str) -> impl Fn(&Value) -> bool {
    let side = json!(side);
    move |game| game["turn"] == side || game["status"] == "finished"
}

async fn turns(app: &TestApp) -> i64 {
    sqlx::query_scalar("select count(*) from computer_turn").fetch_one(&app.db).await.expect("a count")
}

/// Plays the first legal move until the game is over; says how it ended.
pub async fn play_out(app: &TestApp, id: &str, guest: &Guest, side: &str) -> Value {
    loop {
        let game = game_once(app, id, is_turn_of(side)).await;
        if game["status"] == "finished" {
            return game;
        }
        let (ply, word) = (game["ply"].as_u64().expect("a number"), game["legal_moves"][0].as_str().expect("a move"));
        assert_eq!(app.play_move(id, guest, u32::try_from(ply + 1).expect("a ply"), word).await.status, 201);
    }
}

#[actix_web::test]
async fn a_whole_game_is_played_against_the_computer() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let playing = player(&app);
    let created = app.created(&ana, &against(2, "north")).await;
    assert_eq!(
        (&created["status"], &created["opponent"]),
        (&json!("active"), &json!({"type": "computer", "level": 2}))
    );
    assert_eq!(
        (&created["seats"]["south"]["kind"], &created["seats"]["south"]["name"]),
        (&json!("computer"), &json!("Computer 2"))
    );
    let id = created["id"].as_str().expect("an id");
    let game = play_out(&app, id, &ana, "north").await;
    assert_eq!(
        game["result"]["score"]["south"].as_u64().expect("a score")
            + game["result"]["score"]["north"].as_u64().expect("a score"),
        48
    );
    let verified = app.get(&format!("/v1/games/{id}/verify"), None).await;
    assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
    playing.end().await;
    assert_eq!(turns(&app).await, 0);
    let moves = app.list_moves(id, "limit=100", None).await.body["items"].as_array().expect("moves").clone();
    let computers = moves.iter().filter(|ply| ply["side"] == "south").count();
    assert_eq!(count(&app.metrics.text(), "mancala_computer_turn_duration_seconds_count"), computers);
}

#[actix_web::test]
async fn a_player_with_many_games_does_not_delay_other_players() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.account("Ana", "correct horse").await, app.account("Bo", "correct horse").await);
    let mut games = vec![];
    for (player, side) in [(&ana, "north"), (&ana, "north"), (&ana, "south"), (&bo, "south"), (&ana, "north")] {
        let id = app.created(player, &against(8, side)).await["id"].as_str().expect("an id").to_owned();
        if side == "south" {
            assert_eq!(app.play_move(&id, player, 1, "A").await.status, 201);
        }
        games.push(id);
    }
    let take = async || {
        let until = now() + time::Duration::minutes(1);
        computer_turns::take(&app.db, now(), until).await.expect("a database").expect("a turn")
    };
    let nth = |turn: ComputerTurn| games.iter().position(|id| *id == turn.game.0.to_string()).expect("it is known");
    as_if_new(&app).await;
    // Ana's first, then Bo's, though two more of hers wait for longer.
    let first = take().await;
    assert_eq!((nth(first), nth(take().await)), (0, 3));
    // Cleo has just come: the first of her turns comes before the rest of Ana's, the second after the next of Ana's.
    let cleo = app.account("Cleo", "correct horse").await;
    for _ in 0..2 {
        games.push(app.created(&cleo, &against(8, "north")).await["id"].as_str().expect("an id").to_owned());
    }
    computer_turns::end(&app.db, first).await.expect("a database");
    as_if_new(&app).await;
    let nth = |turn: ComputerTurn| games.iter().position(|id| *id == turn.game.0.to_string()).expect("it is known");
    assert_eq!([nth(take().await), nth(take().await), nth(take().await)], [5, 1, 6]);
    // Then what is left of Ana's.
    assert_eq!([nth(take().await), nth(take().await)], [2, 4]);
}

#[actix_web::test]
async fn an_unreadable_game_does_not_delay_others() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let broken = app.created(&ana, &against(1, "north")).await["id"].as_str().expect("an id").to_owned();
    let position: String = sqlx::query_scalar("select position from game where id = $1::uuid")
        .bind(&broken)
        .fetch_one(&app.db)
        .await
        .expect("a row");
    sqlx::query("update game set position = 'garbage'").execute(&app.db).await.expect("it is done");
    let id = app.created(&bo, &against(1, "north")).await["id"].as_str().expect("an id").to_owned();
    let playing = player(&app);
    game_once(&app, &id, is_turn_of("north")).await;
    assert_eq!(turns(&app).await, 1);
    // Once the row is repaired, the turn is played.
    sqlx::query("update game set position = $1 where id = $2::uuid")
        .bind(position)
        .bind(&broken)
        .execute(&app.db)
        .await
        .expect("it is done");
    sqlx::query("update computer_turn set taken_until = now()").execute(&app.db).await.expect("it is done");
    game_once(&app, &broken, is_turn_of("north")).await;
    playing.end().await;
}

#[actix_web::test]
async fn a_computers_turn_stays_queued_until_it_is_played_once() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = app.created(&ana, &against(1, "south")).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    assert_eq!(turns(&app).await, 1);
    // The lease of a dead worker expires.
    let leased_until = now() + time::Duration::milliseconds(100);
    let taken = computer_turns::take(&app.db, now(), leased_until).await.expect("a database").expect("a turn");
    assert_eq!((taken.game.0.to_string(), taken.version), (id.clone(), 2));
    assert_eq!(computer_turns::take(&app.db, now(), leased_until).await.expect("a database"), None);
    until("the lease expires", || now() > leased_until).await;
    // Several think about the same turn; one plays.
    let players: Vec<_> = (0..3).map(|_| player(&app)).collect();
    let game = game_once(&app, &id, is_turn_of("south")).await;
    for player in players {
        player.end().await;
    }
    let moves = app.list_moves(&id, "", None).await.body["items"].as_array().expect("moves").clone();
    assert_eq!(json!(moves.len()), game["ply"]);
    assert!(moves[1..].iter().all(|ply| ply["side"] == "north"), "{moves:?}");
    assert_eq!(turns(&app).await, 0);
    // The turn that the dead worker had leased is over; a later turn is not lost.
    assert_eq!(
        app.play_move(
            &id,
            &ana,
            u32::try_from(moves.len() + 1).expect("a ply"),
            game["legal_moves"][0].as_str().expect("a move")
        )
        .await
        .status,
        201
    );
    computer_turns::end(&app.db, taken).await.expect("a database");
    let waits = turns(&app).await == 1;
    let extra = app.get_game(&id, None).await.body["turn"] == "south";
    assert!(waits != extra);
}

#[actix_web::test]
async fn no_client_plays_for_the_computer_and_it_answers_no_offers() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let mut body = against(1, "north");
    body["visibility"] = json!("public");
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    app.play_move(&id, &ana, 1, "A").await.is_problem(409, "not_your_turn");
    app.play_move(&id, &bo, 1, "A").await.is_problem(403, "not_seated");
    app.join_game(&id, &bo).await.is_problem(409, "seat_taken");
    app.offer(&id, &ana, "draw").await.is_problem(409, "offer_not_possible");
    let playing = player(&app);
    game_once(&app, &id, is_turn_of("north")).await;
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    playing.end().await;
    assert_eq!(app.list_games("opponent_type=computer", None).await.ids(), [id]);
    for level in [json!(0), json!(9), json!(-1), json!("strong"), json!(null)] {
        let body = json!({"variant": "kalah", "opponent": {"type": "computer", "level": level}});
        app.create_game(&ana, &body).await.is_problem(422, "validation_failed");
    }
    let body = json!({"variant": "kalah", "opponent": {"type": "computer"}});
    app.create_game(&ana, &body).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_server_plays_what_another_left_when_it_was_killed() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = app.created(&ana, &against(3, "north")).await["id"].as_str().expect("an id").to_owned();
    let server = Running::start(&app);
    game_once(&app, &id, is_turn_of("north")).await;
    drop(server);
    let game = app.get_game(&id, None).await.body;
    let (ply, word) = (game["ply"].as_u64().expect("a number"), game["legal_moves"][0].as_str().expect("a move"));
    assert_eq!(app.play_move(&id, &ana, u32::try_from(ply + 1).expect("a ply"), word).await.status, 201);
    let _server = Running::start(&app);
    game_once(&app, &id, is_turn_of("north")).await;
}

#[actix_web::test]
async fn a_game_goes_on_from_any_ply_of_another() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let body = json!({"variant": "kalah", "side": "south", "options": {"seeds": 3, "pie": true}});
    let id = app.created(&ana, &body).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 1, "B").await.status, 201);
    assert_eq!(app.play_move(&id, &bo, 2, "swap").await.status, 201);
    let from = |ply: u32, more: Value| {
        let mut body = json!({"from": {"game_id": id, "ply": ply}, "opponent": {"type": "self"}});
        for (name, value) in more.as_object().expect("an object") {
            body[name] = value.clone();
        }
        body
    };
    for ply in 0..=2 {
        let created = app.created(&ana, &from(ply, json!({}))).await;
        let position = app.get(&format!("/v1/games/{id}/positions/{ply}"), None).await.body;
        assert_eq!((&created["position"], &created["options"]["seeds"]), (&position["position"], &json!(3)));
        assert_eq!(created["start"], json!({"position": position["position"], "game_id": id, "ply": ply}));
        let again = created["id"].as_str().expect("an id");
        assert_eq!(
            app.get(&format!("/v1/games/{again}/positions/0"), None).await.body["position"],
            position["position"]
        );
        let word = created["legal_moves"][0].as_str().expect("a move");
        assert_eq!(app.play_move(again, &ana, 1, word).await.status, 201);
        assert_eq!(app.get(&format!("/v1/games/{again}/verify"), None).await.body["flaws"], json!([]));
        let text = app.get(&format!("/v1/games/{again}/export?format=text"), None).await.text;
        assert_eq!(text.contains("[Start "), ply > 0, "{text}");
    }
    // A requested side holds also where the players of the other game had swapped.
    let created = app.created(&bo, &from(2, json!({"side": "south", "opponent": {"type": "open"}}))).await;
    assert_eq!(created["seats"]["south"]["name"], "Bo");
    for (body, pointer) in [
        (from(3, json!({})), "/from/ply"),
        (from(1, json!({"variant": "kalah"})), "/variant"),
        (from(1, json!({"options": {"seeds": 4}})), "/options"),
        (from(1, json!({"from": {"game_id": bo.id, "ply": 0}})), "/from/game_id"),
        (from(1, json!({"from": {"game_id": "x", "ply": 0}})), "/from/game_id"),
        (from(1, json!({"opponent": {"type": "computer", "level": 8}})), "/from/game_id"),
        (json!({}), "/variant"),
    ] {
        let answer = app.create_game(&bo, &body).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{body} {answer:?}");
    }
    // A game with oneself in between does not help either.
    let between = app.created(&bo, &from(1, json!({}))).await["id"].clone();
    let helped = json!({"from": {"game_id": between, "ply": 0}, "opponent": {"type": "computer", "level": 8}});
    app.create_game(&bo, &helped).await.is_problem(422, "validation_failed");
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    let helped = from(1, json!({"opponent": {"type": "computer", "level": 8}}));
    assert_eq!(app.create_game(&bo, &helped).await.status, 201);
}

#[test]
fn the_command_says_what_a_position_is_worth() {
    let solve = |arguments: &[&str]| {
        let output = binary::server(&[&["solve"], arguments].concat()).output().expect("the binary runs");
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    let (status, said) = solve(&["kalah", "--options", "pits=4;seeds=2", "--table-mib", "16"]);
    assert_eq!((status, said.contains("value +6 seeds")), (Some(0), true), "{said}");
    assert!(["A ", "B ", "C ", "D +6"].iter().all(|mv| said.contains(&format!("\n{mv}"))), "{said}");
    for wrong in [
        &["chess"][..],
        &["kalah", "--preset", "none"],
        &["kalah", "--options", "pits=0"],
        &["kalah", "--position", "0,0/0,1 0-0 S - 0 1S"],
        &["kalah", "--table-mib", "0"],
    ] {
        assert_eq!(solve(wrong).0, Some(2), "{wrong:?}");
    }
}
