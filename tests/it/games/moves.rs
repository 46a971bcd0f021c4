//! Moves: playing them, and reading the history.

use reqwest::{Method, header};
use serde_json::{Value, json};

use crate::support::{
    app::TestApp,
    calls::{Guest, send, signed},
};

/// A game against oneself.
async fn alone(app: &TestApp, options: Value) -> (String, Guest) {
    let ana = app.guest("Ana").await;
    let body = json!({"variant": "kalah", "opponent": {"type": "self"}, "options": options});
    let game = app.created(&ana, &body).await;
    (game["id"].as_str().expect("an id").to_owned(), ana)
}

#[actix_web::test]
async fn a_move_is_answered_frame_by_frame_with_the_game_after_it() {
    let app = TestApp::start().await;
    let (id, south, _) = app.started(&json!({})).await;
    let played = app.play_move(&id, &south, 1, "C").await;
    assert_eq!(played.status, 201);
    // The effects come once: beside the game.
    let mut game = app.get_game(&id, Some(&south)).await.body;
    assert_eq!(game["last_move"], played.body["move"]);
    game["last_move"]["effects"] = json!([]);
    assert_eq!(played.body["game"], game);
    insta::assert_json_snapshot!(played.body["move"], {
        ".player_id" => "[player]", ".at" => "[time]", ".elapsed_ms" => "[time]",
    });
}

#[actix_web::test]
async fn a_move_sent_again_is_played_once() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let first = app.play_move(&id, &south, 1, "C").await;
    let again = app.play_move(&id, &south, 1, "C").await;
    assert_eq!((again.status.as_u16(), &again.body), (200, &first.body));
    // The repetition is recognized also after the game went on, and whatever version the client names.
    app.play_move(&id, &south, 2, "A").await;
    app.play_move(&id, &north, 3, "a").await;
    let request = app.request(Method::POST, &format!("/v1/games/{id}/moves")).header(header::IF_MATCH, "\"2\"");
    let late = send(signed(request, Some(&south)).json(&json!({"ply": 1, "move": "C"}))).await;
    assert_eq!((late.status.as_u16(), &late.body["move"]), (200, &first.body["move"]));
    assert_eq!(late.body["game"]["ply"], 3);
    assert_eq!(app.list_moves(&id, "", None).await.body["items"].as_array().map(Vec::len), Some(3));
}

#[actix_web::test]
async fn a_history_has_the_board_of_each_ply_on_request() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    let mut games = vec![app.played(&id, &south, 1, "C").await, app.played(&id, &south, 2, "A").await];
    games.push(app.played(&id, &north, 3, "a").await);
    for _ in 0..2 {
        let plies = app.list_moves(&id, "include=board", None).await.body["items"].clone();
        for (ply, game) in plies.as_array().expect("plies").iter().zip(&games) {
            for field in ["board", "turn", "legal_moves"] {
                assert_eq!(ply[field], game[field], "{field}");
            }
        }
        let plain = app.list_moves(&id, "", None).await.body["items"].clone();
        assert!(
            plain
                .as_array()
                .is_some_and(|plies| plies.len() == 3 && plies.iter().all(|ply| ply.get("board").is_none()))
        );
        // A game that is over answers alike, from its cached history.
        app.resign_game(&id, &south).await;
    }
    let first = app.list_moves(&id, "include=board&limit=1", None).await;
    assert!(first.headers["link"].to_str().expect("text").contains("limit=1&include=board&cursor="), "{first:?}");
    assert_eq!(first.body["items"][0]["turn"], "south");
    app.list_moves(&id, "include=boards", None).await.is_problem(422, "validation_failed");
}

#[actix_web::test]
async fn a_stale_ply_is_answered_with_all_that_the_client_has_not_seen() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({})).await;
    for (ply, mv) in [(1, "C"), (2, "A")] {
        app.play_move(&id, &south, ply, mv).await;
    }
    // Another move under a used number, the opponent's number, and a number that is not yet due.
    for (guest, ply, mv, unseen) in [(&south, 1, "D", 2), (&south, 2, "B", 1), (&north, 1, "C", 2), (&north, 9, "a", 0)]
    {
        let stale = app.play_move(&id, guest, ply, mv).await;
        stale.is_problem(409, "stale_ply");
        assert_eq!(stale.body["game"]["ply"], 2);
        let moves = stale.body["moves"].as_array().expect("moves");
        assert_eq!(moves.len(), unseen, "{stale:?}");
        assert!(moves.iter().zip(u64::from(ply)..).all(|(mv, ply)| mv["ply"] == ply));
    }
}

#[actix_web::test]
async fn moves_are_refused_in_the_order_of_the_contract() {
    let app = TestApp::start().await;
    let eve = app.guest("Eve").await;
    let waiting = app.created(&app.guest("Ana").await, &json!({"variant": "kalah"})).await;
    app.play_move(waiting["id"].as_str().expect("an id"), &eve, 1, "Z").await.is_problem(403, "not_seated");

    let (id, south, north) = app.started(&json!({})).await;
    app.play_move(&id, &eve, 1, "A").await.is_problem(403, "not_seated");
    let with_version = |guest: &Guest, tag: &str, body: Value| {
        let request = app.request(Method::POST, &format!("/v1/games/{id}/moves")).header(header::IF_MATCH, tag);
        send(signed(request, Some(guest)).json(&body))
    };
    with_version(&north, "\"1\"", json!({"ply": 5, "move": "Z"})).await.is_problem(412, "precondition_failed");
    with_version(&north, "\"2\"", json!({"ply": 5, "move": "Z"})).await.is_problem(409, "stale_ply");
    with_version(&north, "\"2\"", json!({"ply": 1, "move": "Z"})).await.is_problem(409, "not_your_turn");
    with_version(&south, "\"2\"", json!({"ply": 1, "move": "Z"})).await.is_problem(422, "illegal_move");
    assert_eq!(with_version(&south, "W/\"2-abc\"", json!({"ply": 1, "move": "A"})).await.status, 201);
    app.resign_game(&id, &south).await;
    with_version(&south, "\"3\"", json!({"ply": 5, "move": "Z"})).await.is_problem(412, "precondition_failed");
    let over = app.play_move(&id, &south, 5, "Z").await;
    over.is_problem(409, "game_over");
    assert_eq!(over.body["game"]["status"], "finished");
    // The ply that is there is found even in a finished game.
    assert_eq!(app.play_move(&id, &south, 1, "A").await.status, 200);
}

#[actix_web::test]
async fn nothing_is_played_before_the_opponent_is_there() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let game = app.created(&ana, &json!({"variant": "kalah", "side": "south"})).await;
    let refused = app.play_move(game["id"].as_str().expect("an id"), &ana, 1, "A").await;
    refused.is_problem(409, "game_not_started");
    assert_eq!((&refused.body["game"], &refused.body["moves"]), (&game, &json!([])));
}

#[actix_web::test]
async fn what_the_rules_forbid_is_refused_with_what_they_allow() {
    let app = TestApp::start().await;
    let (id, ana) = alone(&app, json!({})).await;
    app.play_move(&id, &ana, 1, "C").await;
    for (mv, reason) in [
        ("C", "empty_pit"),
        ("a", "not_your_pit"),
        ("G", "no_such_pit"),
        ("pass", "no_pass"),
        ("swap", "no_swap"),
        ("Z", "not_a_move"),
        ("M", "not_a_move"),
        ("AU", "not_a_move"),
        ("A3", "not_a_move"),
        ("", "not_a_move"),
        ("AA", "not_a_move"),
        (" A", "not_a_move"),
        ("🙂", "not_a_move"),
        ("agree", "not_a_move"),
    ] {
        let refused = app.play_move(&id, &ana, 2, mv).await;
        refused.is_problem(422, "illegal_move");
        assert_eq!(refused.body["reason"], reason, "{mv}");
        assert_eq!(refused.body["legal_moves"], json!(["A", "B", "D", "E", "F"]));
    }
    assert_eq!(app.get_game(&id, None).await.body["version"], 2);
}

#[actix_web::test]
async fn a_move_that_is_no_move_request_is_refused_by_field() {
    let app = TestApp::start().await;
    let (id, ana) = alone(&app, json!({})).await;
    for (body, pointer) in [
        (json!({"ply": 0, "move": "A"}), "/ply"),
        (json!({"ply": -1, "move": "A"}), "/ply"),
        (json!({"ply": 1_099_511_627_776_u64, "move": "A"}), "/ply"),
        (json!({"ply": 4_294_967_295_u64, "move": "A"}), "/ply"),
        (json!({"ply": 1.5, "move": "A"}), "/ply"),
        (json!({"ply": "1", "move": "A"}), "/ply"),
        (json!({"ply": null, "move": "A"}), "/ply"),
        (json!({"move": "A"}), "/ply"),
        (json!({"ply": 1}), "/move"),
        (json!({"ply": 1, "move": 1}), "/move"),
        (json!({"ply": 1, "move": ["A"]}), "/move"),
        (json!({"ply": 1, "move": "A", "fast": true}), "/fast"),
        (json!([1, "A"]), ""),
    ] {
        let answer = app.post(&format!("/v1/games/{id}/moves"), Some(&ana), &body).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.body["errors"][0]["pointer"], pointer, "{body}");
    }
    assert_eq!(app.get_game(&id, None).await.body["version"], 1);
}

#[actix_web::test]
async fn a_swap_exchanges_the_people_and_leaves_the_board() {
    let app = TestApp::start().await;
    let (id, south, north) = app.started(&json!({"options": {"pie": true}})).await;
    let before = app.play_move(&id, &south, 1, "A").await.body["game"].clone();
    assert_eq!(before["legal_moves"], json!(["a", "b", "c", "d", "e", "f", "swap"]));
    let swapped = app.play_move(&id, &north, 2, "swap").await;
    assert_eq!(swapped.status, 201);
    assert_eq!(swapped.body["move"]["effects"], json!([{"type": "swap"}]));
    assert_eq!(swapped.body["move"]["player_id"], north.id);
    let game = &swapped.body["game"];
    assert_eq!((&game["board"], &game["turn"]), (&before["board"], &json!("north")));
    assert_eq!((&game["seats"]["south"]["id"], &game["seats"]["north"]["id"]), (&json!(north.id), &json!(south.id)));
    // The repeated swap is known, although its player now sits on the other side.
    assert_eq!(app.play_move(&id, &north, 2, "swap").await.status, 200);
    app.play_move(&id, &north, 3, "a").await.is_problem(409, "not_your_turn");
    let next = app.play_move(&id, &south, 3, "a").await;
    assert_eq!((next.status.as_u16(), &next.body["move"]["side"]), (201, &json!("north")));
    // Results are of the people as they sit now.
    let resigned = app.resign_game(&id, &north).await;
    assert_eq!(resigned.body["result"]["winner"], "north");
    assert_eq!(resigned.body["result"]["winner_player_id"], south.id);
}

#[actix_web::test]
async fn an_extra_move_can_be_declined_where_it_is_optional() {
    let app = TestApp::start().await;
    let (id, ana) = alone(&app, json!({"extra_turn": "optional"})).await;
    let extra = app.play_move(&id, &ana, 1, "C").await;
    assert_eq!(extra.body["game"]["legal_moves"], json!(["A", "B", "D", "E", "F", "pass"]));
    let passed = app.play_move(&id, &ana, 2, "pass").await;
    assert_eq!(passed.body["move"]["effects"], json!([{"type": "pass"}]));
    assert_eq!(passed.body["game"]["turn"], "north");
}

#[actix_web::test]
async fn the_history_is_read_in_pages_and_every_position_is_there() {
    let app = TestApp::start().await;
    let (id, ana) = alone(&app, json!({})).await;
    let line = ["C", "F", "a", "A", "b", "B", "A", "d"];
    for (ply, mv) in (1..).zip(line) {
        let played = app.play_move(&id, &ana, ply, mv).await;
        assert_eq!(played.status, 201, "{mv} {played:?}");
    }
    let all = app.list_moves(&id, "limit=100", None).await;
    let all = all.body["items"].as_array().expect("items");
    assert_eq!(all.iter().map(|mv| mv["move"].as_str().expect("a move")).collect::<Vec<_>>(), line);
    for after in 0..=line.len() {
        let rest = app.list_moves(&id, &format!("after={after}"), None).await.body;
        assert_eq!(rest["items"].as_array().expect("items")[..], all[after..]);
        assert_eq!(rest["next_cursor"], Value::Null);
    }
    assert_eq!(app.list_moves(&id, "after=4294967295", None).await.body["items"], json!([]));

    let mut seen = vec![];
    let mut path = format!("/v1/games/{id}/moves?limit=3");
    loop {
        let page = app.get(&path, None).await;
        seen.extend(page.body["items"].as_array().expect("items").iter().cloned());
        let Some(cursor) = page.body["next_cursor"].as_str() else { break };
        let link = page.headers["link"].to_str().expect("text");
        assert!(link.contains(cursor));
        path = link[1..link.find('>').expect("a link ends")].to_owned();
    }
    assert_eq!(seen, *all);

    let mut times = vec![];
    for (ply, mv) in (1..).zip(all) {
        let position = app.get(&format!("/v1/games/{id}/positions/{ply}"), None).await.body;
        assert_eq!((&position["ply"], &position["position"]), (&json!(ply), &mv["position"]));
        times.push(mv["at"].as_str().expect("a time").to_owned());
    }
    assert!(times.is_sorted());
    let opening = app.get(&format!("/v1/games/{id}/positions/0"), None).await.body;
    assert_eq!(opening["position"], "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S - 0 1S");
    for ply in ["9", "-1", "x", "4294967296", "2147483648"] {
        app.get(&format!("/v1/games/{id}/positions/{ply}"), None).await.is_problem(404, "not_found");
    }
}

#[actix_web::test]
async fn a_page_of_the_history_is_asked_for_in_one_way() {
    let app = TestApp::start().await;
    let (id, ana) = alone(&app, json!({})).await;
    let (other, bo) = alone(&app, json!({})).await;
    for (id, guest) in [(&id, &ana), (&other, &bo)] {
        app.play_move(id, guest, 1, "C").await;
        app.play_move(id, guest, 2, "A").await;
    }
    let cursor = app.list_moves(&id, "limit=1", None).await.string("/next_cursor");
    assert_eq!(app.list_moves(&id, &format!("cursor={cursor}"), None).await.body["items"][0]["ply"], 2);
    for (id, query) in [
        (&id, format!("after=1&cursor={cursor}")),
        (&other, format!("cursor={cursor}")),
        (&id, "cursor=x".to_owned()),
        (&id, "limit=0".to_owned()),
        (&id, "limit=101".to_owned()),
        (&id, "after=-1".to_owned()),
        (&id, "before=3".to_owned()),
    ] {
        app.list_moves(id, &query, None).await.is_problem(422, "validation_failed");
    }
}

#[actix_web::test]
async fn only_moves_of_finished_public_games_may_be_cached_for_ever() {
    let app = TestApp::start().await;
    for (visibility, finished) in [("public", true), ("public", false), ("unlisted", true), ("private", true)] {
        let ana = app.guest("Ana").await;
        let body = json!({"variant": "kalah", "opponent": {"type": "self"}, "visibility": visibility});
        let game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id");
        app.play_move(id, &ana, 1, "C").await;
        if finished {
            app.resign_game(id, &ana).await;
        }
        let for_ever = visibility == "public" && finished;
        let expected = if for_ever { "public, max-age=31536000, immutable" } else { "private, no-cache" };
        for path in ["moves", "positions/1"] {
            let answer = app.get(&format!("/v1/games/{id}/{path}"), Some(&ana)).await;
            assert_eq!(answer.headers["cache-control"], expected, "{visibility} {finished} {path}");
            assert_eq!(answer.headers["vary"], "Authorization, Prefer");
        }
        // An answer that shows players' names is never cached.
        assert_eq!(app.get_game(id, Some(&ana)).await.headers["cache-control"], "private, no-cache");
    }
}

/// The history page by page: by cursors, and by `after`.
async fn pages(app: &TestApp, id: &str, limit: usize, reader: Option<&Guest>) -> [Vec<Value>; 2] {
    let items = |page: &Value| page["items"].as_array().expect("items").clone();
    let (mut by_cursor, mut by_ply) = (vec![], vec![]);
    let mut query = format!("limit={limit}");
    loop {
        let page = app.list_moves(id, &query, reader).await.body;
        by_cursor.extend(items(&page));
        let rest = app.list_moves(id, &format!("limit={limit}&after={}", by_ply.len()), reader).await.body;
        by_ply.extend(items(&rest));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        query = format!("limit={limit}&cursor={cursor}");
    }
    [by_cursor, by_ply]
}

#[actix_web::test]
async fn the_history_of_a_finished_game_reads_the_same_in_every_way() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for visibility in ["public", "private"] {
        let body = json!({"variant": "oware", "opponent": {"type": "self"}, "visibility": visibility});
        let game = app.created(&ana, &body).await;
        let id = game["id"].as_str().expect("an id");
        for (ply, mv) in (1..).zip(["C", "f", "A", "b", "F", "d", "B"]) {
            assert_eq!(app.play_move(id, &ana, ply, mv).await.status, 201);
        }
        let live = app.list_moves(id, "limit=100", Some(&ana)).await.body;
        let live = live["items"].as_array().expect("items");
        assert_eq!(live.len(), 7);
        assert_eq!(app.resign_game(id, &ana).await.status, 200);
        for limit in [100, 7, 6, 3, 1, 100] {
            assert_eq!(pages(&app, id, limit, Some(&ana)).await, [live.clone(), live.clone()], "{limit} a page");
        }
        assert_eq!(
            app.list_moves(id, "after=4294967295", Some(&ana)).await.body,
            json!({"items": [], "next_cursor": null})
        );
        let seen_by_others = app.list_moves(id, "limit=100", None).await;
        if visibility == "public" {
            assert_eq!(seen_by_others.body["items"].as_array(), Some(live));
        } else {
            seen_by_others.is_problem(404, "not_found");
            app.get(&format!("/v1/games/{id}/positions/1"), None).await.is_problem(404, "not_found");
        }
    }
}
