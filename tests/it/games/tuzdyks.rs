//! Toguz Kumalak and Bestemshe: what a client sees of a tuzdyk, and of a draw by repetition.

use serde_json::{Value, json};

use crate::support::{app::TestApp, calls::Guest};

/// A game of one player from a position, or the opening.
async fn game_of(app: &TestApp, variant: &str, preset: &str, position: Option<&str>) -> (Value, Guest) {
    let ana = app.guest("Ana").await;
    let mut body = json!({"variant": variant, "preset": preset, "opponent": {"type": "self"}});
    if let Some(position) = position {
        body["start"] = json!({"position": position});
    }
    (app.created(&ana, &body).await, ana)
}

fn id(game: &Value) -> &str {
    game["id"].as_str().expect("an id")
}

#[actix_web::test]
async fn a_tuzdyk_has_an_effect_and_a_mark_on_the_board() {
    let app = TestApp::start().await;
    let start = "0,0,0,0,0,0,0,0,2/2,0,0,0,0,0,0,0,5 76-77 S - 0 1S";
    let (game, ana) = game_of(&app, "toguz_kumalak", "standard", Some(start)).await;
    assert_eq!(["south", "north"].map(|side| game["board"][side].get("tuzdyk")), [Some(&Value::Null); 2]);
    let played = app.play_move(id(&game), &ana, 1, "I").await.body;
    let effects = played["move"]["effects"].as_array().expect("effects");
    assert_eq!(
        effects[3..],
        [
            json!({"type": "capture", "from": ["a"], "seeds": 3, "to": "south_store"}),
            json!({"type": "tuzdyk", "pit": "a", "side": "south"}),
        ]
    );
    let board = &played["game"]["board"];
    assert_eq!((&board["south"]["tuzdyk"], &board["north"]["tuzdyk"]), (&json!("a"), &Value::Null));
    assert_eq!((&board["south"]["store"], &board["north"]["pits"][0]), (&json!(79), &json!(0)));
    assert_eq!(played["game"]["position"], "0,0,0,0,0,0,0,0,1/t,0,0,0,0,0,0,0,5 79-77 N - 1 1S");
    for variant in ["kalah", "bestemshe"] {
        let (game, _) = game_of(&app, variant, "standard", None).await;
        assert!(game["board"]["south"].get("tuzdyk").is_none(), "{game}");
    }
}

#[actix_web::test]
async fn a_draw_by_repetition_fills_both_stores() {
    let app = TestApp::start().await;
    let start = "1,0,0,0,1/0,0,0,0,0 25-23 S - 0 1S";
    let (game, ana) = game_of(&app, "bestemshe", "solved", Some(start)).await;
    let mut last = Value::Null;
    for (ply, word) in (1..).zip("E a A b B c C d D e".split(' ')) {
        last = app.play_move(id(&game), &ana, ply, word).await.body;
    }
    let effects = last["move"]["effects"].as_array().expect("effects");
    assert_eq!(
        effects[2..],
        [
            json!({"type": "level", "south": 0, "north": 2, "odd": null}),
            json!({"type": "game_over", "reason": "repetition"}),
        ]
    );
    let result = &last["game"]["result"];
    assert_eq!((&result["winner"], &result["score"]), (&Value::Null, &json!({"south": 25, "north": 25})));
}
