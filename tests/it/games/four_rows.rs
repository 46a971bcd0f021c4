//! Games with four rows: choices inside a turn, arranging, and why a move is refused.

use serde_json::{Value, json};

use super::computers::{against, play_out, player};
use crate::support::{
    app::TestApp,
    calls::{Guest, send},
};

/// A is played into the house, which works: the turn stops at a choice. North has lost its house.
const AT_THE_HOUSE: &str = "1,0,0,0,6n,0,0,0,0,0,0,15,0,0,0,0/1,0,0,0,0,0,0,5,0,0,0,16,0,0,0,0 10-10 S - 0 1S";

/// A game of one player from a position, or the opening.
async fn game_of(app: &TestApp, variant: &str, preset: &str, position: Option<&str>) -> (String, Guest) {
    let ana = app.guest("Ana").await;
    let mut body = json!({"variant": variant, "preset": preset, "opponent": {"type": "self"}});
    if let Some(position) = position {
        body["start"] = json!({"position": position});
    }
    let game = app.created(&ana, &body).await;
    (game["id"].as_str().expect("an id").to_owned(), ana)
}

#[actix_web::test]
async fn a_turn_of_bao_waits_at_the_house_and_goes_on_or_stops() {
    let app = TestApp::start().await;
    for (word, houses) in [("EU", [false, false]), ("pass", [true, false])] {
        let (id, ana) = game_of(&app, "bao", "standard", Some(AT_THE_HOUSE)).await;
        let played = app.play_move(&id, &ana, 1, "AU").await;
        let game = &played.body["game"];
        assert_eq!((&game["turn"], &game["legal_moves"]), (&json!("south"), &json!(["EU", "pass"])));
        assert_eq!(game["board"]["pending"], json!({"pit": "E", "seeds": 0}));
        let south = &game["board"]["south"];
        assert_eq!((&south["store"], &south["house"], &south["blocked"]), (&json!(0), &json!(true), &json!(null)));
        assert_eq!(south["reserve"], 9);
        assert_eq!(
            played.body["move"]["effects"].as_array().and_then(|effects| effects.last()),
            Some(&json!({"type": "extra_turn"}))
        );
        let refused = app.play_move(&id, &ana, 2, "EV").await;
        refused.is_problem(422, "illegal_move");
        assert_eq!(
            (&refused.body["reason"], &refused.body["legal_moves"]),
            (&json!("must_continue"), &json!(["EU", "pass"]))
        );
        let game = app.played(&id, &ana, 2, word).await;
        assert_eq!(game["turn"], "north");
        assert!(game["board"].get("pending").is_none(), "{game}");
        assert_eq!(["south", "north"].map(|side| game["board"][side]["house"].as_bool()), houses.map(Some), "{word}");
    }
}

#[actix_web::test]
async fn a_player_who_resigns_inside_a_turn_has_the_seeds_in_the_hand() {
    let app = TestApp::start().await;
    let start = "0,0,0,0,1,0,0,3,0,0,0,0,20,0,0,0/2,0,1,1,0,0,0,0,0,0,33,0,1,2,0,0 0-0 S - 0 1S";
    let (id, ana) = game_of(&app, "omweso", "standard", Some(start)).await;
    let game = app.played(&id, &ana, 1, "HV").await;
    assert_eq!(game["board"]["pending"], json!({"pit": "H", "seeds": 2}));
    let ended = app.resign_game(&id, &ana).await.body;
    assert_eq!(ended["result"]["score"], json!({"south": 26, "north": 38}), "{ended}");
    let verified = app.get(&format!("/v1/games/{id}/verify"), Some(&ana)).await;
    assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
}

#[actix_web::test]
async fn seeds_of_omweso_are_arranged_in_one_request_a_side() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"variant": "omweso", "preset": "arrange"})).await;
    let opened = app.get_game(&id, None).await.body;
    assert_eq!(opened["legal_moves"].as_array().map(Vec::len), Some(33));
    assert_eq!((&opened["board"]["south"]["reserve"], opened["board"]["south"].get("house")), (&json!(32), None));
    let turn = |first: char, last: char, seeds: u8| -> Value {
        (first..=last).map(|pit| format!("{pit}{seeds}")).collect::<Vec<_>>().into()
    };
    let moves = format!("/v1/games/{id}/moves");
    let played = app.post(&moves, Some(&south), &json!({"ply": 1, "moves": turn('A', 'O', 2)})).await;
    assert_eq!(played.status, 201, "{played:?}");
    let refused = app.play_move(&id, &north, 16, "b2").await;
    assert_eq!((refused.status.as_u16(), refused.string("/reason").as_str()), (422, "out_of_order"));
    let played = app.post(&moves, Some(&north), &json!({"ply": 16, "moves": turn('a', 'h', 4)})).await;
    assert_eq!(played.status, 201, "{played:?}");
    let game = &played.body["game"];
    assert_eq!((&game["turn"], &game["board"]["north"]["reserve"]), (&json!("south"), &json!(0)));
    assert_eq!(game["position"], "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2/4,4,4,4,4,4,4,4,0,0,0,0,0,0,0,0 0-0 S - 23 1S");
}

#[actix_web::test]
async fn a_catch_in_the_hand_is_shown_until_its_way_is_chosen() {
    let app = TestApp::start().await;
    let start = "0,0,0,0,1,0,0,3,0,0,0,0,20,0,0,0/2,0,1,1,0,0,0,0,0,0,33,0,1,2,0,0 0-0 S - 0 1S";
    let (id, ana) = game_of(&app, "omweso", "standard", Some(start)).await;
    let game = app.played(&id, &ana, 1, "HV").await;
    assert_eq!(game["board"]["pending"], json!({"pit": "H", "seeds": 2}));
    assert_eq!(game["legal_moves"], json!(["H", "HV"]));
    let game = app.played(&id, &ana, 2, "HV").await;
    assert!(game["board"].get("pending").is_none() && game["turn"] == "north", "{game}");
    // A side without stores has its seeds in pits and reserve as score.
    assert_eq!(app.resign_game(&id, &ana).await.body["result"]["score"], json!({"south": 29, "north": 35}));
}

#[actix_web::test]
async fn a_move_that_the_rules_of_four_rows_forbid_stores_nothing() {
    let app = TestApp::start().await;
    let (id, ana) = game_of(&app, "bao", "standard", None).await;
    let before = app.get_game(&id, None).await.body;
    for (word, reason) in [
        ("F", "wrong_form"),
        ("F3", "wrong_form"),
        ("fu", "not_your_pit"),
        ("PU", "empty_pit"),
        ("EU", "house_kept"),
        ("pass", "no_pass"),
        ("swap", "no_swap"),
        ("QU", "not_a_move"),
        ("Fu", "not_a_move"),
    ] {
        let refused = app.play_move(&id, &ana, 1, word).await;
        refused.is_problem(422, "illegal_move");
        assert_eq!(refused.string("/reason"), reason, "{word}: {refused:?}");
        assert_eq!(refused.body["legal_moves"], json!(["FU", "FV", "GU", "GV"]), "{word}");
    }
    let (kalah, bo) = game_of(&app, "kalah", "standard", None).await;
    for word in ["CU", "C7"] {
        assert_eq!(app.play_move(&kalah, &bo, 1, word).await.string("/reason"), "not_a_move");
    }
    assert_eq!(app.get_game(&id, None).await.body, before);
}

#[actix_web::test]
async fn a_position_that_no_game_of_four_rows_has_is_refused() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for (variant, text, why) in [
        ("bao", "0,0,0,0,6n,2,2/0,0,0,0,6n,2,2 22-22 S - 0 1S", "two lists of 16 seed counts"),
        ("bao", &AT_THE_HOUSE.replace("10-10", "10-11"), "64 in all, not 65"),
        ("bao", &AT_THE_HOUSE.replace("1,0,0,0,6n", "1,0,0,0n,6"), "only be at E"),
        ("bao", &AT_THE_HOUSE.replace(" - ", " eAU "), "flags e"),
        ("omweso", AT_THE_HOUSE, "mark n"),
        ("kalah", AT_THE_HOUSE, "two lists of 1 to 12 seed counts"),
    ] {
        let body = json!({"variant": variant, "opponent": {"type": "self"}, "start": {"position": text}});
        let refused = app.create_game(&ana, &body).await;
        refused.is_problem(422, "validation_failed");
        assert!(refused.string("/detail").contains(why), "{variant} {text}: {refused:?}");
        let line = json!({"position": text, "moves": []});
        app.post(&format!("/v1/variants/{variant}/play"), None, &line).await.is_problem(422, "validation_failed");
    }
    let listed = send(app.request(reqwest::Method::GET, "/v1/games?status=active")).await;
    assert_eq!(listed.body["items"], json!([]));
}

#[actix_web::test]
async fn a_computer_plays_games_of_four_rows_to_their_end() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let playing = player(&app);
    for (variant, preset) in [("bao", "kujifunza"), ("omweso", "standard")] {
        let mut terms = against(2, "south");
        (terms["variant"], terms["preset"]) = (json!(variant), json!(preset));
        let id = app.created(&ana, &terms).await["id"].as_str().expect("an id").to_owned();
        let game = play_out(&app, &id, &ana, "south").await;
        assert_eq!(game["status"], "finished", "{game}");
        let verified = app.get(&format!("/v1/games/{id}/verify"), None).await;
        assert_eq!(verified.body["flaws"], json!([]), "{verified:?}");
    }
    playing.end().await;
}
