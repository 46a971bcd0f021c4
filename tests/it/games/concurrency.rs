//! Races: many requests about one game at once.

use std::collections::BTreeMap;

use futures_util::future::{join_all, join3};
use serde_json::{Value, json};

use crate::support::{answer::Answer, app::TestApp, calls::send};

/// How many requests race; each client has connections of its own.
const RACERS: usize = 64;

fn count(answers: &[Answer]) -> BTreeMap<u16, usize> {
    answers.iter().fold(BTreeMap::new(), |mut counts, answer| {
        *counts.entry(answer.status.as_u16()).or_default() += 1;
        counts
    })
}

/// The same number of requests for one ply, with these moves in turn, each over a connection of its own.
async fn race(app: &TestApp, id: &str, token: &str, ply: u32, moves: &[&str]) -> Vec<Answer> {
    let address = app.address;
    join_all((0..RACERS).map(|n| {
        let request = reqwest::Client::new()
            .post(format!("http://{address}/v1/games/{id}/moves"))
            .bearer_auth(token)
            .json(&json!({"ply": ply, "move": moves[n % moves.len()]}));
        send(request)
    }))
    .await
}

#[actix_web::test]
async fn of_many_racing_for_one_ply_exactly_one_plays() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id");
    for ply in 1..=5 {
        let legal = app.get_game(id, None).await.body["legal_moves"].clone();
        let legal: Vec<&str> = legal.as_array().expect("moves").iter().filter_map(Value::as_str).collect();
        let answers = race(&app, id, &ana.token, ply, &legal).await;
        let history = app.list_moves(id, "limit=100", None).await.body;
        let played = &history["items"][ply as usize - 1];
        assert_eq!(history["items"].as_array().map(Vec::len), Some(ply as usize));
        for (n, answer) in answers.iter().enumerate() {
            match answer.status.as_u16() {
                // The first request and its repetitions are all answered with the move in the log.
                200 | 201 => assert_eq!(
                    (&answer.body["move"], legal[n % legal.len()]),
                    (played, played["move"].as_str().expect("a move"))
                ),
                _ => {
                    answer.is_problem(409, "stale_ply");
                    assert_ne!(Some(legal[n % legal.len()]), played["move"].as_str());
                    assert_eq!(answer.body["moves"], json!([played]));
                }
            }
        }
        let same = (0..RACERS).filter(|n| Some(legal[n % legal.len()]) == played["move"].as_str()).count();
        let expected = BTreeMap::from([(201, 1), (200, same - 1), (409, RACERS - same)]);
        assert_eq!(count(&answers), expected);
    }
}

#[actix_web::test]
async fn one_move_sent_many_times_at_once_is_played_once() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let answers = race(&app, &id, &south.token, 1, &["A"]).await;
    assert_eq!(count(&answers), BTreeMap::from([(201, 1), (200, RACERS - 1)]));
    let answers = race(&app, &id, &south.token, 2, &["B"]).await;
    assert_eq!(count(&answers), BTreeMap::from([(409, RACERS)]));
    assert!(answers.iter().all(|answer| answer.body["code"] == "not_your_turn"));
    assert_eq!(app.play_move(&id, &north, 2, "a").await.status, 201);
    assert_eq!(app.get_game(&id, None).await.body["version"], 4);
}

#[actix_web::test]
async fn of_two_who_join_at_once_one_gets_the_seat() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        let ana = app.guest("Ana").await;
        let (bo, eve) = (app.guest("Bo").await, app.guest("Eve").await);
        let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
        let id = game["id"].as_str().expect("an id");
        let answers = join_all([&bo, &eve].map(|guest| app.join_game(id, guest))).await;
        let (won, lost) = if answers[0].status == 200 { (0, 1) } else { (1, 0) };
        assert_eq!(answers[won].status, 200);
        answers[lost].is_problem(409, "seat_taken");
        let seated = &answers[lost].body["game"]["seats"]["north"]["id"];
        assert_eq!(*seated, json!([&bo, &eve][won].id));
    }
}

#[actix_web::test]
async fn a_join_an_abort_and_a_resignation_at_once_leave_one_story() {
    let app = TestApp::start().await;
    for _ in 0..10 {
        let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
        let game = app.created(&ana, &json!({"variant": "kalah"})).await;
        let id = game["id"].as_str().expect("an id");
        let (joined, aborted, resigned) =
            join3(app.join_game(id, &bo), app.abort_game(id, &ana), app.resign_game(id, &ana)).await;
        let end = app.get_game(id, None).await.body;
        for answer in [&joined, &aborted, &resigned] {
            assert!([200, 409].contains(&answer.status.as_u16()), "{answer:?}");
        }
        // Every change that was answered with success is in the log.
        match end["status"].as_str() {
            Some("aborted") => assert!(aborted.status == 200 && resigned.status == 409),
            Some("finished") => assert!(joined.status == 200 && resigned.status == 200 && aborted.status == 409),
            status => panic!("{status:?}: neither abort nor resignation took effect"),
        }
    }
}

#[actix_web::test]
async fn several_clients_that_play_one_game_together_leave_one_gapless_history() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    let id = game["id"].as_str().expect("an id");
    let (app, ana) = (&app, &ana);
    let played: usize = join_all((0..6).map(|n: usize| async move {
        let mut played = 0;
        loop {
            let game = app.get_game(id, None).await.body;
            let Some(legal) = game["legal_moves"].as_array().filter(|legal| !legal.is_empty()) else { break played };
            let mv = legal[n % legal.len()].as_str().expect("a move");
            let ply = u32::try_from(game["ply"].as_u64().expect("a number")).expect("a small number") + 1;
            played += usize::from(app.play_move(id, ana, ply, mv).await.status == 201);
        }
    }))
    .await
    .into_iter()
    .sum();
    let history = app.list_moves(id, "limit=100", None).await.body;
    let history = history["items"].as_array().expect("items");
    assert_eq!(history.len(), played);
    assert!(history.iter().zip(1..).all(|(mv, ply)| mv["ply"] == ply));
}
