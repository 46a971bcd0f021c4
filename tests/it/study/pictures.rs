//! Pictures: they show the board, in shapes and in words, and hold nothing that a browser runs or loads.

use std::collections::BTreeMap;

use reqwest::Method;
use roxmltree::Document;
use serde_json::{Value, json};

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send, signed},
};

/// What a browser could run, or load from elsewhere.
const ACTIVE: [&str; 6] = ["script", "foreignObject", "image", "a", "animate", "set"];

/// The picture of an answer: well-formed, described, and passive.
#[track_caller]
fn picture(answer: &Answer) -> Document<'_> {
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["content-type"], "image/svg+xml; charset=utf-8");
    assert!(answer.text.len() < 60 * 1024, "{}", answer.text.len());
    let document = Document::parse(&answer.text).expect("well-formed XML");
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("role")), ("svg", Some("img")));
    assert_eq!(root.attribute("aria-labelledby"), Some("title desc"));
    assert!(!text_of(&document, "title").is_empty() && !text_of(&document, "desc").is_empty());
    for node in root.descendants().filter(roxmltree::Node::is_element) {
        assert!(!ACTIVE.contains(&node.tag_name().name()), "{node:?}");
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"), "{attribute:?}");
            assert!(attribute.name() != "href" || attribute.value().starts_with('#'), "{attribute:?}");
        }
    }
    document
}

/// The text of the element with an id.
fn text_of(document: &Document, id: &str) -> String {
    let element = document.descendants().find(|node| node.attribute("id") == Some(id));
    element.and_then(|element| element.text()).unwrap_or_default().to_owned()
}

/// All texts of a class.
fn texts(document: &Document, class: &str) -> Vec<String> {
    let has = |node: &roxmltree::Node| {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|known| known == class))
    };
    document.descendants().filter(has).map(|node| node.text().unwrap_or_default().to_owned()).collect()
}

/// The count that stands at each place, and how many seeds lie there.
fn counts(document: &Document) -> BTreeMap<String, (String, usize)> {
    let places = document.descendants().filter_map(|node| Some((node.attribute("data-place")?.to_owned(), node)));
    let shown = |node: roxmltree::Node| {
        let count = node.children().find(|child| child.attribute("class") == Some("count"));
        let seeds = node.children().filter(|child| child.tag_name().name() == "use").count();
        (count.and_then(|count| count.text()).unwrap_or_default().to_owned(), seeds)
    };
    places.map(|(place, node)| (place, shown(node))).collect()
}

/// Places by what the last move did there.
fn marked(document: &Document, class: &str) -> Vec<String> {
    let marks = document.descendants().filter(|node| node.attribute("class") == Some(class));
    marks.filter_map(|mark| Some(mark.parent()?.attribute("data-place")?.to_owned())).collect()
}

/// Asserts that a picture shows what a board of the API says.
#[track_caller]
fn shows(document: &Document, board: &Value) {
    let counts = counts(document);
    for (side, first) in [("south", 'A'), ("north", 'a')] {
        let pits = board[side]["pits"].as_array().expect("pits");
        for (letter, seeds) in (first..).zip(pits) {
            let drawn = seeds.as_u64().expect("a count").min(24);
            let (count, seen) = &counts[&letter.to_string()];
            assert_eq!((count, *seen as u64), (&seeds.to_string(), drawn), "{letter}");
        }
        match board[side].get("reserve") {
            None => assert_eq!(counts[&format!("{side}_store")].0, board[side]["store"].to_string()),
            Some(reserve) => assert_eq!(counts[&format!("{side}_reserve")].0, reserve.to_string()),
        }
    }
}

async fn board(app: &TestApp, id: &str, query: &str, guest: Option<&Guest>) -> Answer {
    app.get(&format!("/v1/games/{id}/board.svg{query}"), guest).await
}

async fn position(app: &TestApp, variant: &str, query: &[(&str, &str)]) -> Answer {
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    app.get(&format!("/v1/variants/{variant}/board.svg?{query}"), None).await
}

async fn game_of(app: &TestApp, names: [&str; 2], terms: Value) -> (String, Guest, Guest) {
    let (south, north) = (app.guest(names[0]).await, app.guest(names[1]).await);
    let mut body = json!({"variant": "kalah", "side": "south"});
    body.as_object_mut().expect("an object").extend(terms.as_object().expect("terms").clone());
    let id = app.created(&south, &body).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &north).await.status, 200);
    (id, south, north)
}

#[actix_web::test]
async fn four_rows_are_drawn_with_reserves_houses_and_a_blocked_pit() {
    let app = TestApp::start().await;
    let (id, ana, _) = game_of(&app, ["Ana", "Bo"], json!({"variant": "bao"})).await;
    let game = app.played(&id, &ana, 1, "FU").await;
    let answer = board(&app, &id, "", None).await;
    let shown = picture(&answer);
    shows(&shown, &game["board"]);
    assert_eq!(marked(&shown, "house"), ["e", "E"]);
    assert_eq!(
        (marked(&shown, "lifted"), marked(&shown, "sown")),
        (vec!["F".to_owned()], ["G", "H", "I"].map(str::to_owned).into())
    );
    assert_eq!(
        text_of(&shown, "desc"),
        "South, Ana (guest), at the bottom: A 0, B 0, C 0, D 0, E 6 house, F 0, G 3, H 1, I 1, J 0, K 0, L 0, M 0, N 0, \
         O 0, P 0, reserve 21. North, Bo (guest), at the top: a 0, b 0, c 0, d 0, e 6 house, f 2, g 2, h 0, i 0, j 0, \
         k 0, l 0, m 0, n 0, o 0, p 0, reserve 22. Last move: FU by Ana (guest). Bo (guest) to move."
    );
    let x = |document: &Document, place: &str| {
        let group = document.descendants().find(|node| node.attribute("data-place") == Some(place)).expect("a place");
        let hole = group.children().find(|child| child.attribute("class") == Some("hole")).expect("a hollow");
        hole.attribute("x").and_then(|x| x.parse::<i32>().ok()).expect("a number")
    };
    assert!(x(&shown, "A") < x(&shown, "H") && x(&shown, "A") == x(&shown, "h") && x(&shown, "A") == x(&shown, "P"));
    let blocked = "0,0,0,0,2,0,3,0,0,0,0,0,0,0,0,27/0,0,3t,2,0,0,0,0,0,0,0,0,0,0,0,27 0-0 N - 9 1S";
    let answer = position(&app, "bao", &[("position", blocked)]).await;
    let shown = picture(&answer);
    assert_eq!((marked(&shown, "cross"), marked(&shown, "house")), (vec!["c".to_owned()], vec![]));
    assert!(text_of(&shown, "desc").contains("c 3 blocked"));
    // Omweso has A at its owner's right, and shows what is in the hand.
    let choice = "0,0,0,0,2,1,1,0,0,0,0,0,20,0,0,0/2,0,1,0,0,0,0,0,0,0,33,0,0,2,0,0 0-0 S eH2 1 1S";
    for (language, sentence) in
        [("en", "The turn may go on from H with 2 seeds."), ("de", "Der Zug kann von H mit 2 Samen weitergehen.")]
    {
        let answer = position(&app, "omweso", &[("position", choice), ("lang", language)]).await;
        let shown = picture(&answer);
        assert!(text_of(&shown, "desc").contains(sentence), "{}", text_of(&shown, "desc"));
        assert!(x(&shown, "A") > x(&shown, "H"));
    }
    let png = app.get("/v1/variants/omweso/board.png", None).await;
    assert_eq!((png.status.as_u16(), &png.headers["content-type"]), (200, &"image/png".parse().expect("a type")));
}

#[actix_web::test]
async fn a_board_is_drawn_as_it_is_and_as_it_was_after_any_ply() {
    let app = TestApp::start().await;
    let (id, ana, bo) = game_of(&app, ["Ana", "Bo"], json!({})).await;
    for (ply, guest, word) in [(1, &ana, "E"), (2, &bo, "c"), (3, &bo, "a"), (4, &ana, "A")] {
        assert_eq!(app.play_move(&id, guest, ply, word).await.status, 201);
    }
    let opening = board(&app, &id, "?ply=0", None).await;
    assert_eq!(text_of(&picture(&opening), "title"), "Kalah: Ana (guest) against Bo (guest), the opening");
    for ply in 0..=4 {
        let answer = board(&app, &id, &format!("?ply={ply}"), None).await;
        shows(&picture(&answer), &app.get(&format!("/v1/games/{id}/positions/{ply}"), None).await.body["board"]);
    }
    let now = board(&app, &id, "", None).await;
    assert_eq!(now.text, board(&app, &id, "?ply=4", None).await.text);
    let shown = picture(&now);
    assert_eq!(text_of(&shown, "title"), "Kalah: Ana (guest) against Bo (guest) after ply 4");
    assert_eq!(
        text_of(&shown, "desc"),
        "South, Ana (guest), at the bottom: A 0, B 5, C 5, D 5, E 0, F 5, store 8. \
         North, Bo (guest), at the top: a 0, b 0, c 1, d 6, e 6, f 6, store 1. \
         Last move: A by Ana (guest), 7 seeds captured from E, b. Bo (guest) to move."
    );
    assert_eq!(texts(&shown, "name"), ["Bo (guest)", "Ana (guest)"]);
    assert_eq!(texts(&shown, "role"), ["to move"]);
    assert_eq!(texts(&shown, "caption"), ["Kalah · ply 4 · last move A"]);
    assert_eq!(marked(&shown, "lifted"), ["A"]);
    assert_eq!(marked(&shown, "captured"), ["b", "E"]);
    assert_eq!(marked(&shown, "sown"), ["B", "C", "D", "south_store"]);
}

#[actix_web::test]
async fn a_board_is_seen_from_either_side_in_a_mirror_and_in_each_theme() {
    let app = TestApp::start().await;
    let (id, ana, _) = game_of(&app, ["Ana", "Bo"], json!({"options": {"pits": 4}})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "B").await.status, 201);
    let expected = app.get_game(&id, None).await.body["board"].clone();
    let mut seen = vec![];
    for side in ["south", "north"] {
        for mirror in ["true", "false"] {
            for theme in ["light", "dark", "auto"] {
                let query = format!("?side={side}&mirror={mirror}&theme={theme}");
                let answer = board(&app, &id, &query, None).await;
                let shown = picture(&answer);
                shows(&shown, &expected);
                let names = if side == "south" { ["Bo (guest)", "Ana (guest)"] } else { ["Ana (guest)", "Bo (guest)"] };
                assert_eq!(texts(&shown, "name"), names, "{query}");
                assert_eq!(answer.text.contains("prefers-color-scheme"), theme == "auto");
                seen.push(answer.text);
            }
        }
    }
    assert!(seen.contains(&board(&app, &id, "", None).await.text));
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 12);
}

#[actix_web::test]
async fn a_picture_shows_any_players_name_as_text() {
    let app = TestApp::start().await;
    let names = ["</text><script>alert(1)</script>", "\"' onload='x' ]]> &amp; <!-- あ"];
    let (id, ana, _) = game_of(&app, names, json!({})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "C").await.status, 201);
    for path in ["board.svg", "graph.svg"] {
        let answer = app.get(&format!("/v1/games/{id}/{path}"), None).await;
        let title = text_of(&picture(&answer), "title");
        assert!(names.iter().all(|name| title.contains(name)), "{path}: {title}");
    }
    // A name is whole, or cut where its place ends; the mark is always whole. North's stands first.
    let cut = |shown: &str, name: &str| {
        let kept = shown.strip_suffix(" (guest)").unwrap_or_else(|| panic!("{shown} is not marked"));
        let beginning = kept.strip_suffix('…');
        assert!(kept == name || beginning.is_some_and(|beginning| name.starts_with(beginning)), "{shown}");
        beginning.map(|beginning| beginning.chars().count())
    };
    let answer = board(&app, &id, "", None).await;
    let shown = texts(&picture(&answer), "name");
    assert_eq!(shown.len(), 2);
    for (shown, name) in shown.iter().zip(names.iter().rev()) {
        assert!(cut(shown, name).is_none_or(|kept| kept >= 20), "{shown}");
    }
    let long = ["あ".repeat(32), "W".repeat(32)];
    let (id, ..) = game_of(&app, [&long[0], &long[1]], json!({})).await;
    let answer = board(&app, &id, "", None).await;
    let shown = picture(&answer);
    let names = texts(&shown, "name");
    assert_eq!(names.len(), 2);
    for (shown, name) in names.iter().zip(long.iter().rev()) {
        assert!(cut(shown, name).is_some_and(|kept| (8..32).contains(&kept)), "{shown}");
    }
    assert!(text_of(&shown, "desc").contains(&long[0]));
}

#[actix_web::test]
async fn a_picture_tells_how_a_game_stands_beside_the_board() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    let open = app.created(&ana, &json!({"variant": "oware", "side": "south"})).await;
    let open = open["id"].as_str().expect("an id");
    let answer = board(&app, open, "", None).await;
    assert_eq!(texts(&picture(&answer), "role"), ["free seat"]);
    assert!(text_of(&picture(&answer), "desc").ends_with("store 0. Waits for an opponent."));
    assert_eq!(app.abort_game(open, &ana).await.status, 200);
    let answer = board(&app, open, "", None).await;
    assert!(text_of(&picture(&answer), "desc").ends_with("The game ended without a result."));

    let (id, ana, bo) = game_of(&app, ["Ana", "Bo"], json!({"options": {"pie": true}})).await;
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    assert_eq!(app.play_move(&id, &bo, 2, "swap").await.status, 201);
    let answer = board(&app, &id, "?ply=1", None).await;
    assert_eq!(texts(&picture(&answer), "name"), ["Bo (guest)", "Ana (guest)"]);
    app.offer(&id, &bo, "takeback").await;
    assert_eq!(app.answer_offer(&id, &ana, "takeback", "accept").await.status, 200);
    let answer = board(&app, &id, "", None).await;
    assert_eq!(texts(&picture(&answer), "name"), ["Bo (guest)", "Ana (guest)"]);
    assert!(texts(&picture(&answer), "caption")[0].ends_with("last move takeback"));
    assert_eq!(app.play_move(&id, &bo, 4, "swap").await.status, 201);
    assert_eq!(app.resign_game(&id, &bo).await.status, 200);
    let answer = board(&app, &id, "", None).await;
    let shown = picture(&answer);
    // Bo sits South now, and has given up.
    assert_eq!(
        (texts(&shown, "name"), texts(&shown, "role")),
        (vec!["Ana (guest)".into(), "Bo (guest)".into()], vec!["won".into()])
    );
    let desc = text_of(&shown, "desc");
    assert!(
        desc.contains("Last move: swap by Bo (guest).") && desc.ends_with("Ana (guest) won (resignation)."),
        "{desc}"
    );
    // At that ply the game had no winner.
    let answer = board(&app, &id, "?ply=4", None).await;
    assert_eq!(texts(&picture(&answer), "role"), ["to move"]);
}

#[actix_web::test]
async fn any_position_is_drawn_without_a_game() {
    let app = TestApp::start().await;
    for variant in ["kalah", "oware", "congkak", "toguz_kumalak", "bestemshe"] {
        let answer = position(&app, variant, &[]).await;
        let line = app.post(&format!("/v1/variants/{variant}/play"), None, &json!({"moves": []})).await.body;
        shows(&picture(&answer), &line["board"]);
        assert!(text_of(&picture(&answer), "title").ends_with(", the opening"));
        assert_eq!(answer.headers["cache-control"], "public, max-age=300");
    }
    for pits in 1..=12 {
        let answer = position(&app, "kalah", &[("options", &format!("pits={pits};seeds=12"))]).await;
        let counts = counts(&picture(&answer));
        assert_eq!(counts.len(), 2 * pits + 2);
        assert_eq!(counts["A"], ("12".to_owned(), 12));
    }
    // The fullest pit and the fullest store that there can be.
    let row = ["0"; 11].join(",");
    let text = format!("144,{row}/{row},1 0-143 S - 70 1S");
    let answer = position(&app, "kalah", &[("options", "pits=12;seeds=12"), ("position", &text)]).await;
    let counts = counts(&picture(&answer));
    assert_eq!((&counts["A"], &counts["north_store"]), (&("144".to_owned(), 24), &("143".to_owned(), 60)));
}

#[actix_web::test]
async fn burnt_pits_are_closed() {
    let app = TestApp::start().await;
    let text = "x,4,6,7,7,4,1/11,3,4,1,0,14,0 14-22 S - 53 3S";
    let answer = position(&app, "congkak", &[("preset", "match"), ("position", text)]).await;
    let shown = picture(&answer);
    assert_eq!(marked(&shown, "lid"), ["A"]);
    assert_eq!(counts(&shown)["A"], ("–".to_owned(), 0));
    assert_eq!(texts(&shown, "caption"), ["Congkak · round 3 · ply 53"]);
    let desc = text_of(&shown, "desc");
    assert!(desc.starts_with("South, at the bottom: A burnt, B 4,") && desc.contains("Round 3."), "{desc}");
}

#[actix_web::test]
async fn a_tuzdyk_is_marked() {
    let app = TestApp::start().await;
    let text = "0,0,0,1,t,1,0,0,0/0,t,0,0,0,0,0,0,9 75-76 N - 41 1S";
    let answer = position(&app, "toguz_kumalak", &[("position", text)]).await;
    let shown = picture(&answer);
    assert_eq!(marked(&shown, "edge"), ["b", "E"]);
    assert_eq!(counts(&shown)["E"], ("0".to_owned(), 0));
    let desc = text_of(&shown, "desc");
    assert!(desc.contains("D 1, E tuzdyk, F 1") && desc.contains("a 0, b tuzdyk, c 0"), "{desc}");
}

#[actix_web::test]
async fn what_cannot_be_drawn_is_refused_where_it_is_wrong() {
    let app = TestApp::start().await;
    let (id, ..) = game_of(&app, ["Ana", "Bo"], json!({})).await;
    let wrong_total = "4,4,4,4,4,4/4,4,4,4,4,4 1-0 S - 0 1S";
    let wrong_pits = "4,4,4,4,4/4,4,4,4,4 4-4 S - 0 1S";
    for (query, pointer) in [
        (vec![("theme", "pink")], "?theme"),
        (vec![("side", "east")], "?side"),
        (vec![("mirror", "yes")], "?mirror"),
        (vec![("position", "")], "?position"),
        (vec![("position", wrong_total)], "?position"),
        (vec![("position", wrong_pits)], "?position"),
        (vec![("position", wrong_pits), ("options", "pits=7")], "?position"),
        (vec![("preset", "none")], "?preset"),
        (vec![("options", "seeds")], "?options"),
        (vec![("options", "seeds=99")], "?options"),
        (vec![("options", "wings=2")], "?options"),
        (vec![("options", &*"x".repeat(501))], "?options"),
    ] {
        let answer = position(&app, "kalah", &query).await;
        answer.is_problem(422, "validation_failed");
        assert_eq!(answer.string("/errors/0/pointer"), pointer, "{query:?}");
    }
    position(&app, "chess", &[]).await.is_problem(404, "not_found");
    // A line that starts there is refused in the same words.
    let line = app.post("/v1/variants/kalah/play", None, &json!({"position": wrong_total, "moves": []})).await;
    let drawn = position(&app, "kalah", &[("position", wrong_total)]).await;
    assert_eq!(line.string("/errors/0/detail"), drawn.string("/errors/0/detail"));
    for (query, status, code) in [
        ("?ply=1", 404, "not_found"),
        ("?ply=4294967295", 404, "not_found"),
        ("?ply=4294967296", 422, "validation_failed"),
        ("?ply=-1", 422, "validation_failed"),
        ("?theme=", 422, "validation_failed"),
        ("?side=South", 422, "validation_failed"),
        ("?mirror=1", 422, "validation_failed"),
        ("?theme=dark&theme=light", 422, "validation_failed"),
    ] {
        board(&app, &id, query, None).await.is_problem(status, code);
    }
    board(&app, "0199aaaa-0000-7000-8000-000000000000", "", None).await.is_problem(404, "not_found");
    board(&app, "kalah", "", None).await.is_problem(404, "not_found");
}

#[actix_web::test]
async fn a_private_game_is_drawn_for_its_players_only() {
    let app = TestApp::start().await;
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let terms =
        json!({"variant": "kalah", "visibility": "private", "opponent": {"type": "player", "player_id": bo.id}});
    let id = app.created(&ana, &terms).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    for path in ["board.svg", "board.svg?ply=0", "graph.svg"] {
        let path = format!("/v1/games/{id}/{path}");
        app.get(&path, None).await.is_problem(404, "not_found");
        app.get(&path, Some(&app.guest("Carla").await)).await.is_problem(404, "not_found");
        let answer = app.get(&path, Some(&bo)).await;
        picture(&answer);
        assert_eq!(answer.headers["cache-control"], "private, no-cache");
    }
}

#[actix_web::test]
async fn a_picture_that_the_client_has_is_not_sent_again() {
    let app = TestApp::start().await;
    let (id, ana, _) = game_of(&app, ["Ana", "Bo"], json!({})).await;
    let ask = async |path: &str, tag: &str| {
        send(app.request(Method::GET, path).header("if-none-match", tag).header("accept", "image/svg+xml")).await
    };
    for path in [format!("/v1/games/{id}/board.svg"), format!("/v1/games/{id}/graph.svg")] {
        let first = app.get(&path, None).await;
        let tag = first.headers["etag"].to_str().expect("a tag").to_owned();
        assert!(first.headers["vary"].to_str().is_ok_and(|vary| vary.starts_with("Authorization")));
        let policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";
        assert_eq!(first.headers["content-security-policy"], policy);
        assert_eq!(first.headers["x-content-type-options"], "nosniff");
        let again = ask(&path, &tag).await;
        assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""));
        assert_eq!(again.headers["etag"], first.headers["etag"]);
        assert_eq!(ask(&path, "\"other\"").await.text, first.text);
        let head = send(app.request(Method::HEAD, &path)).await;
        assert_eq!((head.status.as_u16(), &head.headers["etag"]), (200, &first.headers["etag"]));
    }
    let path = format!("/v1/games/{id}/board.svg?ply=0");
    let tag = app.get(&path, None).await.headers["etag"].to_str().expect("a tag").to_owned();
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    assert_eq!(ask(&path, &tag).await.status, 304);
    // Names are in it, and may change.
    assert_eq!(app.patch("/v1/me", Some(&ana), &json!({"name": "Anna"})).await.status, 200);
    let renamed = ask(&path, &tag).await;
    assert_eq!(texts(&picture(&renamed), "name"), ["Bo (guest)", "Anna (guest)"]);
    let opening = position(&app, "kalah", &[]).await;
    let tag = opening.headers["etag"].to_str().expect("a tag");
    assert_eq!(ask("/v1/variants/kalah/board.svg", tag).await.status, 304);
}

#[actix_web::test]
async fn a_client_that_refuses_pictures_is_refused() {
    let app = TestApp::start().await;
    let path = "/v1/variants/kalah/board.svg";
    for (accept, status) in [
        ("image/svg+xml", 200),
        ("image/avif,image/webp,image/svg+xml,image/*,*/*;q=0.8", 200),
        ("image/*", 200),
        ("*/*", 200),
        ("image/png", 406),
        ("image/png, image/svg+xml;q=0.1", 200),
        ("application/json", 406),
        ("image/svg+xml;q=0, */*", 406),
    ] {
        let answer = send(app.request(Method::GET, path).header("accept", accept)).await;
        assert_eq!(answer.status.as_u16(), status, "{accept}");
        if status == 406 {
            answer.is_problem(406, "not_acceptable");
        }
    }
    // A client that accepts only other types is refused.
    let json = send(app.request(Method::GET, "/v1/variants/kalah").header("accept", "image/svg+xml")).await;
    json.is_problem(406, "not_acceptable");
}

#[actix_web::test]
async fn a_graph_has_every_ply_and_says_who_was_ahead() {
    let app = TestApp::start().await;
    let (id, ana, bo) = game_of(&app, ["Ana", "Bo"], json!({})).await;
    let path = format!("/v1/games/{id}/graph.svg");
    let begun = app.get(&path, None).await;
    assert_eq!(
        text_of(&picture(&begun), "desc"),
        "After ply 0: Ana (guest) has 0 seeds, Bo (guest) 0. Ana (guest) was never ahead. Bo (guest) was never ahead."
    );
    for (ply, guest, word) in [(1, &ana, "E"), (2, &bo, "c"), (3, &bo, "a"), (4, &ana, "A"), (5, &bo, "c")] {
        assert_eq!(app.play_move(&id, guest, ply, word).await.status, 201);
    }
    let mut seen = vec![];
    for query in ["", "?theme=light", "?theme=dark", "?side=north"] {
        let answer = signed(app.request(Method::GET, &format!("{path}{query}")), Some(&bo));
        let answer = send(answer).await;
        let shown = picture(&answer);
        assert_eq!(text_of(&shown, "title"), "Kalah: Ana (guest) against Bo (guest), seeds ahead by ply");
        assert_eq!(
            text_of(&shown, "desc"),
            "After ply 5: Ana (guest) has 8 seeds, Bo (guest) 1. Ana (guest) was ahead by 7 at most, after ply 4. Bo (guest) was never ahead."
        );
        let line = shown.descendants().find(|node| node.attribute("class") == Some("line")).expect("a line");
        assert_eq!(line.attribute("d").expect("a path").matches(' ').count(), 6);
        assert_eq!(texts(&shown, "tick"), ["0", "1", "2", "3", "4", "5"]);
        seen.push(answer.text);
    }
    seen.dedup();
    assert_eq!(seen.len(), 4);
}
