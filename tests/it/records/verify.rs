//! The `verify` command and its endpoint: each kind of damage is found and named by game and event.

use mancala_server::domain::GameId;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, PgConnection};
use uuid::Uuid;

use crate::support::{
    app::TestApp,
    binary::{server, url},
    calls::Guest,
    games::some_move,
};

/// A game that was played to its end.
async fn played(app: &TestApp, guest: &Guest) -> String {
    let terms = json!({"variant": "kalah", "options": {"pits": 2, "seeds": 2}, "opponent": {"type": "self"}});
    let mut game = app.created(guest, &terms).await;
    let id = game["id"].as_str().expect("an id").to_owned();
    for ply in 1.. {
        if game["status"] == "finished" {
            break;
        }
        let answer = app.play_move(&id, guest, ply, some_move(&game)).await;
        assert_eq!(answer.status, 201, "{answer:?}");
        game = answer.body["game"].clone();
    }
    id
}

async fn verified(app: &TestApp, id: &str) -> Value {
    let answer = app.get(&format!("/v1/games/{id}/verify"), None).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

/// Changes the tables as no server does.
async fn execute(superuser: &mut PgConnection, statements: &str) {
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(superuser).await.expect("it is done");
}

async fn superuser(app: &TestApp) -> PgConnection {
    app.options.clone().username("postgres").connect().await.expect("PostgreSQL runs")
}

/// What the command says, and its exit status.
fn command(app: &TestApp) -> (Option<i32>, String, String) {
    let output = server(&["verify", "--database-url", &url(app)]).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[actix_web::test]
async fn a_game_that_is_as_it_was_stored_is_sound_in_whatever_state_it_is() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let (id, south, north) = app.started(&json!({"variant": "oware"})).await;
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 201);
    app.offer(&id, &south, "takeback").await;
    assert_eq!(app.answer_offer(&id, &north, "takeback", "accept").await.status, 200);
    let resigned = app.started(&json!({"variant": "congkak"})).await;
    app.resign_game(&resigned.0, &resigned.1).await;
    // An agreement that is a move, and one that is none.
    let ended = app.started(&json!({"variant": "oware"})).await;
    for (ply, word) in [(1, "A"), (2, "b")] {
        let mover = if ply == 1 { &ended.1 } else { &ended.2 };
        assert_eq!(app.play_move(&ended.0, mover, ply, word).await.status, 201);
    }
    app.offer(&ended.0, &ended.2, "end").await;
    assert_eq!(app.answer_offer(&ended.0, &ended.1, "end", "accept").await.status, 200);
    assert_eq!(app.get_game(&ended.0, None).await.body["result"]["reason"], "agreement");
    let drawn = app.started(&json!({})).await;
    assert_eq!(app.play_move(&drawn.0, &drawn.1, 1, "A").await.status, 201);
    app.offer(&drawn.0, &drawn.1, "draw").await;
    assert_eq!(app.answer_offer(&drawn.0, &drawn.2, "draw", "accept").await.status, 200);
    let open = app.created(&bo, &json!({"variant": "kalah"})).await;
    for id in
        [played(&app, &ana).await, id, resigned.0, ended.0, drawn.0, open["id"].as_str().expect("an id").to_owned()]
    {
        let found = verified(&app, &id).await;
        assert_eq!((&found["is_sound"], &found["flaws"], &found["game_id"]), (&json!(true), &json!([]), &json!(id)));
        assert!(found["events"].as_u64().is_some_and(|events| events >= 1));
    }
    let (status, told, failure) = command(&app);
    assert_eq!((status, told.as_str(), failure.as_str()), (Some(0), "6 games are sound\n", ""));
    app.get(&format!("/v1/games/{}/verify", Uuid::now_v7()), None).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn damage_of_each_kind_is_found_and_named() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let id = played(&app, &ana).await;
    let mut superuser = superuser(&app).await;
    execute(
        &mut superuser,
        "create table kept_game as select * from game; create table kept_event as select * from event",
    )
    .await;
    let last = app.get(&format!("/v1/games/{id}"), None).await.body["version"].as_u64().expect("a number");
    let of = "where game_id = ";
    for (damage, seq, said) in [
        (
            format!("update event set position = '9,0/0,0 0-0 N - 1 1S' {of}'{id}' and seq = 2"),
            Value::Null,
            "event 2, is inconsistent",
        ),
        (
            format!(
                "update event set position = (select position from event {of}'{id}' and seq = 3) {of}'{id}' and seq = 2"
            ),
            json!(2),
            "the rules lead from the position before event 2",
        ),
        (format!("update event set move = 'a' {of}'{id}' and seq = 2"), json!(2), "the rules do not allow a, event 2"),
        (format!("update event set ply = 7 {of}'{id}' and seq = 3"), json!(3), "event 3 has ply 7"),
        (format!("delete from event {of}'{id}' and seq = 3"), json!(4), ""),
        (format!("delete from event {of}'{id}' and seq = 1"), Value::Null, ""),
        (
            format!("update event set at = at - interval '1 hour' {of}'{id}' and seq = 3"),
            json!(3),
            "event 3 is dated before",
        ),
        (format!("delete from event {of}'{id}' and seq = {last}"), json!(last - 1), "the rules have ended the game"),
        (format!("update event set kind = 'unheard of' {of}'{id}' and seq = 2"), Value::Null, ""),
        (format!("update game set ply = ply - 1 where id = '{id}'"), Value::Null, "position of"),
        (format!("update game set version = version + 1 where id = '{id}'"), Value::Null, "version of the stored game"),
        (
            format!("update game set updated_at = updated_at + interval '1 s' where id = '{id}'"),
            Value::Null,
            "updated_at of the stored game",
        ),
        (
            format!("update game set position = (select position from event {of}'{id}' and seq = 2) where id = '{id}'"),
            Value::Null,
            "",
        ),
        (
            format!("update game set analysed_at = updated_at where id = '{id}'"),
            Value::Null,
            "analysed_at of the stored game",
        ),
        (
            format!("update game set result_score_south = result_score_south + 1 where id = '{id}'"),
            Value::Null,
            "result of the stored game",
        ),
        (
            format!("update event set seat = 1 - seat {of}'{id}' and seq = 2"),
            json!(2),
            "event 2 was played from the other seat",
        ),
        (
            format!("update game set winner_seat = case winner_seat when 0 then 1 else 0 end where id = '{id}'"),
            Value::Null,
            "winner_seat of the stored game",
        ),
        (format!("update game set turn_seat = 1 where id = '{id}'"), Value::Null, "turn_seat of the stored game"),
        (format!("update game set wake_at = now() where id = '{id}'"), Value::Null, "wake_at of the stored game"),
        (
            format!("update game set aborted_at = finished_at where id = '{id}'"),
            Value::Null,
            "aborted_at of the stored game",
        ),
        // Rows that cannot be read.
        (format!("update event set detail = '{{}}' {of}'{id}' and seq = 1"), Value::Null, "Detail"),
        (format!("update game set position = 'garbage' where id = '{id}'"), Value::Null, "game.position"),
        (format!("update game set result_reason = 'zzz' where id = '{id}'"), Value::Null, "game.result"),
        (format!("update game set start = '[]' where id = '{id}'"), Value::Null, "StartText"),
    ] {
        execute(&mut superuser, &damage).await;
        let stored = mancala_server::db::records::verify::verify(&app.db, GameId(id.parse().expect("an id"))).await;
        let flaws: Vec<(Value, String)> = match stored {
            Ok(verified) => {
                let verified = verified.expect("the game is there");
                let unreadable = verified.unreadable.map(|detail| (Value::Null, detail));
                let flaws = verified.flaws.iter().map(|flaw| (json!(flaw.seq()), flaw.to_string()));
                flaws.chain(unreadable).collect()
            }
            Err(error) => vec![(Value::Null, error.to_string())],
        };
        assert!(!flaws.is_empty(), "{damage}");
        assert!(
            flaws.iter().any(|(at, detail)| (seq.is_null() || *at == seq) && detail.contains(said)),
            "{damage}: {flaws:?}"
        );
        let found = verified(&app, &id).await;
        assert_eq!(found["is_sound"], json!(false), "{damage}: {found}");
        if damage.contains("set move") {
            assert_eq!(found["flaws"][0]["seq"], seq);
        }
        let (status, told, failure) = command(&app);
        assert_eq!((status, told.contains(&id)), (Some(3), true), "{damage}: {told}");
        assert!(failure.contains("found in 1 game"), "{failure}");
        execute(
            &mut superuser,
            "delete from event; delete from game; insert into game select * from kept_game; insert into event select * from kept_event",
        )
        .await;
    }
    // A log without a game.
    let orphan = Uuid::now_v7();
    execute(
        &mut superuser,
        &format!(
            "insert into event select '{orphan}', at, seq, ply, seat, kind, move, position, detail \
        from event {of}'{id}' and seq = 1"
        ),
    )
    .await;
    let (status, told, _) = command(&app);
    assert_eq!((status, told), (Some(3), format!("game {orphan}: it has a log and no game\n")));
    execute(&mut superuser, &format!("delete from event {of}'{orphan}'; drop table kept_game, kept_event")).await;
    assert_eq!(command(&app).0, Some(0));
}
