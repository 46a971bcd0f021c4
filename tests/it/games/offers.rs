//! Offers between the two players of a game: draws, takebacks, pauses and rematches.

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
};

/// The kinds and sides of the offers that wait.
fn waiting(game: &Value) -> Vec<(&str, &str)> {
    let offers = game["offers"].as_array().unwrap_or_else(|| panic!("no offers: {game}"));
    let word = |offer, field| Value::get(offer, field).and_then(Value::as_str).expect("a word");
    offers.iter().map(|offer| (word(offer, "type"), word(offer, "side"))).collect()
}

/// A game that South has resigned.
async fn finished(app: &TestApp) -> (String, Guest, Guest) {
    let (id, south, north) = app.started(&json!({})).await;
    assert_eq!(app.resign_game(&id, &south).await.status, 200);
    (id, south, north)
}

async fn offer_under(app: &TestApp, id: &str, guest: &Guest, kind: &str, key: &str) -> Answer {
    let request = app.request(reqwest::Method::POST, &format!("/v1/games/{id}/offers"));
    send(signed(request, Some(guest)).header("idempotency-key", key).json(&json!({ "type": kind }))).await
}

#[actix_web::test]
async fn a_draw_that_is_offered_and_accepted_ends_the_game_without_a_winner() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let offered = app.offer(&id, &south, "draw").await;
    assert_eq!((offered.status.as_u16(), waiting(&offered.body)), (201, vec![("draw", "south")]));
    assert_eq!(offered.headers["location"], format!("/v1/games/{id}"));
    assert_eq!(offered.body["offers"][0]["player_id"], south.id);
    let again = app.offer(&id, &south, "draw").await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &offered.body));
    assert_eq!(app.get_game(&id, Some(&north)).await.body["offers"], offered.body["offers"]);
    for _ in 0..2 {
        let accepted = app.answer_offer(&id, &north, "draw", "accept").await;
        assert_eq!((accepted.status.as_u16(), &accepted.body["status"]), (200, &json!("finished")));
        let result = &accepted.body["result"];
        assert_eq!((&result["winner"], &result["reason"]), (&json!(null), &json!("agreement")));
        assert_eq!((waiting(&accepted.body), &accepted.body["version"]), (vec![], &json!(4)));
    }
}

#[actix_web::test]
async fn a_draw_that_both_offer_at_once_is_agreed() {
    let app = TestApp::start().await;
    for _ in 0..5 {
        let (id, south, north) = app.started(&json!({})).await;
        let (first, second) = join(app.offer(&id, &south, "draw"), app.offer(&id, &north, "draw")).await;
        assert_eq!((first.status, second.status), (reqwest::StatusCode::CREATED, reqwest::StatusCode::CREATED));
        let game = app.get_game(&id, None).await.body;
        assert_eq!((&game["result"]["reason"], &game["version"]), (&json!("agreement"), &json!(4)));
    }
}

#[actix_web::test]
async fn an_offer_is_declined_by_a_word_or_by_a_move_and_withdrawn_by_its_maker() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.offer(&id, &north, "draw").await;
    let declined = app.answer_offer(&id, &south, "draw", "decline").await;
    assert_eq!((declined.status.as_u16(), waiting(&declined.body)), (200, vec![]));
    app.offer(&id, &north, "draw").await;
    let moved = app.play_move(&id, &south, 1, "A").await;
    assert_eq!((moved.status.as_u16(), waiting(&moved.body["game"])), (201, vec![]));
    // Created, joined, offered, declined, offered, moved, declined.
    assert_eq!(moved.body["game"]["version"], 7);
    app.answer_offer(&id, &south, "draw", "accept").await.is_problem(409, "no_such_offer");
    app.offer(&id, &south, "draw").await;
    let withdrawn = app.answer_offer(&id, &south, "draw", "withdraw").await;
    assert_eq!((withdrawn.status.as_u16(), waiting(&withdrawn.body)), (200, vec![]));
    // The own move does not take back the own offer.
    app.offer(&id, &north, "draw").await;
    app.played(&id, &north, 2, "a").await;
    assert_eq!(waiting(&app.get_game(&id, None).await.body), [("draw", "north")]);
}

#[actix_web::test]
async fn an_agreed_end_of_oware_gives_each_the_own_row() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"variant": "oware"})).await;
    // Four seeds go over to North's row.
    app.played(&id, &south, 1, "F").await;
    app.offer(&id, &south, "end").await;
    let ended = app.answer_offer(&id, &north, "end", "accept").await;
    assert_eq!((ended.status.as_u16(), &ended.body["result"]["reason"]), (200, &json!("agreement")));
    assert_eq!(ended.body["result"]["score"], json!({"south": 20, "north": 28}));
    assert_eq!((&ended.body["result"]["winner"], &ended.body["last_move"]["move"]), (&json!("north"), &json!("agree")));
    let (kalah, south, _) = app.started(&json!({})).await;
    app.offer(&kalah, &south, "end").await.is_problem(409, "offer_not_possible");
}

#[actix_web::test]
async fn a_takeback_is_a_ply_and_all_that_was_ever_played_can_be_read() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.offer(&id, &south, "takeback").await.is_problem(409, "offer_not_possible");
    let opening = app.get_game(&id, None).await.body;
    for (guest, ply, mv) in [(&south, 1, "C"), (&south, 2, "A"), (&north, 3, "f")] {
        app.played(&id, guest, ply, mv).await;
    }
    let offered = app.offer(&id, &south, "takeback").await;
    assert_eq!((offered.status.as_u16(), &offered.body["offers"][0]["to_ply"]), (201, &json!(0)));
    app.offer(&id, &north, "takeback").await.is_problem(409, "offer_pending");
    for _ in 0..2 {
        let back = app.answer_offer(&id, &north, "takeback", "accept").await;
        assert_eq!((back.status.as_u16(), &back.body["ply"], waiting(&back.body)), (200, &json!(4), vec![]));
        assert_eq!((&back.body["board"], &back.body["turn"]), (&opening["board"], &json!("south")));
        let last = &back.body["last_move"];
        assert_eq!((&last["move"], &last["player_id"]), (&json!("takeback"), &json!(south.id)));
        assert_eq!(last["effects"], json!([{"type": "takeback", "to_ply": 0}]));
    }
    // What was taken back is in the log for ever, and sending it again plays nothing.
    assert_eq!(app.play_move(&id, &south, 2, "A").await.status, 200);
    assert_eq!(app.get(&format!("/v1/games/{id}/positions/4"), None).await.body["board"], opening["board"]);
    app.played(&id, &south, 5, "B").await;
    let history = app.list_moves(&id, "", None).await.body;
    let words: Vec<_> = history["items"].as_array().expect("moves").iter().map(|mv| &mv["move"]).collect();
    assert_eq!(words, ["C", "A", "f", "takeback", "B"]);
    // North moves, and takes back what North has just played.
    app.played(&id, &north, 6, "a").await;
    assert_eq!(app.offer(&id, &north, "takeback").await.body["offers"][0]["to_ply"], 5);
    app.answer_offer(&id, &south, "takeback", "accept").await;
    assert_eq!(app.get_game(&id, None).await.body["turn"], "north");
    app.played(&id, &north, 8, "b").await;
}

#[actix_web::test]
async fn a_move_that_a_takeback_overtakes_is_not_played() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    app.played(&id, &south, 1, "A").await;
    app.offer(&id, &south, "takeback").await;
    let (accepted, moved) =
        join(app.answer_offer(&id, &north, "takeback", "accept"), app.play_move(&id, &north, 2, "a")).await;
    if accepted.status == 200 {
        moved.is_problem(409, "stale_ply");
    } else {
        accepted.is_problem(409, "no_such_offer");
        assert_eq!(moved.status, 201);
    }
}

#[actix_web::test]
async fn owares_repetitions_are_counted_anew_after_a_takeback() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"variant": "oware", "options": {"repetition": 2}})).await;
    app.played(&id, &south, 1, "A").await;
    app.played(&id, &north, 2, "a").await;
    app.offer(&id, &north, "takeback").await;
    assert_eq!(app.answer_offer(&id, &south, "takeback", "accept").await.status, 200);
    app.played(&id, &north, 4, "b").await;
    let (address, _) = app.second_server();
    let url = format!("http://{address}/v1/games/{id}/moves");
    let there = signed(reqwest::Client::new().post(url), Some(&south)).json(&json!({"ply": 5, "move": "B"}));
    assert_eq!(send(there).await.status, 201);
}

#[actix_web::test]
async fn while_a_game_is_paused_no_time_runs_until_either_goes_on() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"clock": {"type": "per_move", "move_s": 3600}})).await;
    app.offer(&id, &north, "pause").await;
    let paused = app.answer_offer(&id, &south, "pause", "accept").await.body;
    assert_eq!((&paused["clock"]["deadline"], paused["clock"]["paused_at"].is_string()), (&json!(null), true));
    assert!((3590..=3600).contains(&paused["clock"]["left_s"].as_i64().expect("seconds")), "{paused}");
    let wakes: Option<time::OffsetDateTime> =
        sqlx::query_scalar("select wake_at from game").fetch_one(&app.db).await.expect("a game");
    assert_eq!(wakes, None);
    assert_eq!(app.answer_offer(&id, &south, "pause", "accept").await.status, 200);
    assert_eq!(app.offer(&id, &south, "pause").await.status, 200);
    app.played(&id, &south, 1, "A").await;
    assert_eq!(app.get_game(&id, None).await.body["clock"]["deadline"], json!(null));
    let resumed = app.answer_offer(&id, &south, "pause", "withdraw").await;
    assert_eq!(resumed.status, 200);
    assert!(resumed.body["clock"]["deadline"].is_string() && resumed.body["clock"]["paused_at"].is_null());
    app.answer_offer(&id, &south, "pause", "withdraw").await.is_problem(409, "no_such_offer");
    let (unlimited, south, _) = app.started(&json!({})).await;
    app.offer(&unlimited, &south, "pause").await.is_problem(409, "offer_not_possible");
}

#[actix_web::test]
async fn a_rematch_accepted_many_times_begins_one_game_with_sides_swapped() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"options": {"seeds": 5}, "visibility": "unlisted"})).await;
    app.offer(&id, &south, "rematch").await.is_problem(409, "offer_not_possible");
    app.resign_game(&id, &south).await;
    // The other is away: the offer waits.
    assert_eq!(waiting(&app.offer(&id, &south, "rematch").await.body), [("rematch", "south")]);
    let accepted = join_all((0..5).map(|_| app.answer_offer(&id, &north, "rematch", "accept"))).await;
    let new = accepted[0].string("/rematch_game_id");
    for answer in &accepted {
        assert_eq!((answer.status.as_u16(), answer.string("/rematch_game_id")), (200, new.clone()));
        assert_eq!(waiting(&answer.body), []);
    }
    let game = app.get_game(&new, Some(&south)).await.body;
    assert_eq!((&game["status"], &game["options"]["seeds"]), (&json!("active"), &json!(5)));
    assert_eq!((&game["seats"]["north"]["id"], &game["seats"]["south"]["id"]), (&json!(south.id), &json!(north.id)));
    assert_eq!(game["visibility"], "unlisted");
    app.played(&new, &north, 1, "A").await;
    let games: i64 = sqlx::query_scalar("select count(*) from game").fetch_one(&app.db).await.expect("a count");
    assert_eq!(games, 2);
    // The rematch is agreed: nothing is offered any more.
    assert_eq!(app.offer(&id, &north, "rematch").await.status, 200);
}

#[actix_web::test]
async fn a_rematch_that_both_offer_at_once_is_one_game() {
    let app = TestApp::start().await;
    for _ in 0..5 {
        let (id, south, north) = finished(&app).await;
        join(app.offer(&id, &south, "rematch"), app.offer(&id, &north, "rematch")).await;
        let new = app.get_game(&id, None).await.string("/rematch_game_id");
        assert_eq!(app.get_game(&new, None).await.body["status"], "active");
    }
    let games: i64 = sqlx::query_scalar("select count(*) from game").fetch_one(&app.db).await.expect("a count");
    assert_eq!(games, 10);
}

#[actix_web::test]
async fn an_erased_player_is_not_offered_a_rematch() {
    let app = TestApp::start().await;
    let (id, south, north) = finished(&app).await;
    app.offer(&id, &south, "rematch").await;
    app.delete_me(&south).await;
    app.answer_offer(&id, &north, "rematch", "accept").await.is_problem(409, "offer_not_possible");
    app.offer(&id, &north, "rematch").await.is_problem(409, "offer_not_possible");
    assert_eq!(app.answer_offer(&id, &north, "rematch", "decline").await.status, 200);
}

#[actix_web::test]
async fn a_sign_in_from_before_a_password_change_begins_no_rematch() {
    let app = TestApp::start().await;
    let (id, south, north) = finished(&app).await;
    app.offer(&id, &south, "rematch").await;
    let changed = app.patch("/v1/me", Some(&north), &json!({"name": "North Star", "password": "correct horse"})).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    app.answer_offer(&id, &north, "rematch", "accept").await.is_problem(401, "invalid_token");
    assert_eq!(app.get_game(&id, None).await.body["rematch_game_id"], json!(null));
}

#[actix_web::test]
async fn a_takeback_pays_no_increment() {
    let app = TestApp::start().await;
    let clock = json!({"type": "bank", "bank_s": 1000, "increment_s": 100, "max_s": 2000});
    let (id, south, north) = app.started(&json!({ "clock": clock })).await;
    app.played(&id, &south, 1, "C").await;
    for _ in 0..3 {
        app.offer(&id, &south, "takeback").await;
        assert_eq!(app.answer_offer(&id, &north, "takeback", "accept").await.status, 200);
        let game = app.get_game(&id, None).await.body;
        let bank_s = &game["clock"]["bank_s"];
        assert!(bank_s["south"].as_i64() <= Some(1000) && bank_s["north"] == 1000, "{game}");
        let ply = u32::try_from(game["ply"].as_u64().expect("a number")).expect("a short game");
        app.played(&id, &south, ply + 1, "C").await;
    }
}

#[actix_web::test]
async fn an_offer_under_a_key_is_made_once() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let offered = offer_under(&app, &id, &south, "draw", "k1").await;
    assert_eq!((offered.status.as_u16(), waiting(&offered.body)), (201, vec![("draw", "south")]));
    app.answer_offer(&id, &north, "draw", "decline").await;
    let again = offer_under(&app, &id, &south, "draw", "k1").await;
    assert_eq!(
        (again.status.as_u16(), &again.headers["idempotent-replayed"]),
        (201, &"true".parse().expect("a value"))
    );
    // The game is shown as it is now: the first answer is not stored, because names may be erased.
    let present = app.get_game(&id, Some(&south)).await;
    assert_eq!((&again.body, &again.headers["etag"]), (&present.body, &present.headers["etag"]));
    assert_eq!(waiting(&present.body), []);
    offer_under(&app, &id, &south, "takeback", "k1").await.is_problem(422, "idempotency_key_reused");
    let (other, _, _) = app.started(&json!({})).await;
    offer_under(&app, &other, &south, "draw", "k1").await.is_problem(422, "idempotency_key_reused");
    // The player of the other seat has keys of their own.
    assert_eq!(offer_under(&app, &id, &north, "draw", "k1").await.status, 201);
    let racing = join_all((0..6).map(|_| offer_under(&app, &id, &south, "draw", "k2"))).await;
    assert!(racing.iter().all(|answer| answer.status == 201 && answer.body == racing[0].body), "{racing:?}");
    assert_eq!(racing[0].body["status"], "finished");
}

#[actix_web::test]
async fn an_offer_needs_two_players_an_active_game_and_a_known_kind() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let eve = app.guest("Eve").await;
    for kind in ["draw", "end", "takeback", "pause", "rematch"] {
        app.offer(&id, &eve, kind).await.is_problem(403, "not_seated");
        for answer in ["accept", "decline", "withdraw"] {
            app.answer_offer(&id, &eve, kind, answer).await.is_problem(403, "not_seated");
            app.answer_offer(&id, &south, kind, answer).await.is_problem(409, "no_such_offer");
        }
    }
    app.offer(&id, &south, "cake").await.is_problem(422, "validation_failed");
    app.post(&format!("/v1/games/{id}/offers"), Some(&south), &json!({})).await.is_problem(422, "validation_failed");
    let more = json!({"type": "draw", "why": "tired"});
    app.post(&format!("/v1/games/{id}/offers"), Some(&south), &more).await.is_problem(422, "validation_failed");
    app.answer_offer(&id, &south, "cake", "accept").await.is_problem(404, "not_found");
    app.answer_offer(&id, &south, "draw", "eat").await.is_problem(404, "not_found");
    app.post(&format!("/v1/games/{id}/offers"), None, &json!({"type": "draw"}))
        .await
        .is_problem(401, "unauthenticated");
    let stale = app.request(reqwest::Method::POST, &format!("/v1/games/{id}/offers"));
    let stale = signed(stale, Some(&south)).header("if-match", "\"1\"").json(&json!({"type": "draw"}));
    send(stale).await.is_problem(412, "precondition_failed");
    // A player cannot accept or decline their own offer, or withdraw the opponent's.
    app.offer(&id, &south, "draw").await;
    app.answer_offer(&id, &south, "draw", "accept").await.is_problem(409, "no_such_offer");
    app.answer_offer(&id, &south, "draw", "decline").await.is_problem(409, "no_such_offer");
    app.answer_offer(&id, &north, "draw", "withdraw").await.is_problem(409, "no_such_offer");
    assert_eq!(waiting(&app.get_game(&id, None).await.body), [("draw", "south")]);
    app.resign_game(&id, &south).await;
    for kind in ["draw", "end", "takeback", "pause"] {
        let late = app.offer(&id, &north, kind).await;
        late.is_problem(409, "game_over");
        assert_eq!(late.body["game"]["status"], "finished");
    }
    let open = app.created(&south, &json!({"variant": "kalah"})).await;
    app.offer(open["id"].as_str().expect("an id"), &south, "draw").await.is_problem(409, "game_not_started");
    let alone = app.created(&south, &json!({"variant": "kalah", "opponent": {"type": "self"}})).await;
    app.offer(alone["id"].as_str().expect("an id"), &south, "draw").await.is_problem(409, "offer_not_possible");
    let invited =
        json!({"variant": "kalah", "visibility": "private", "opponent": {"type": "player", "player_id": north.id}});
    let private = app.created(&south, &invited).await;
    let private = private["id"].as_str().expect("an id");
    app.offer(private, &eve, "draw").await.is_problem(404, "not_found");
}
