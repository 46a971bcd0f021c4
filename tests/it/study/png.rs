//! Pictures as PNG, and what all pictures take: a width, a background, captions, a language, a ticket.

use reqwest::{Method, Response};
use roxmltree::Document;
use serde_json::{Value, json};

use crate::support::{
    answer::send_raw,
    app::{TestApp, limited},
    calls::{Guest, send, signed},
};

/// A game of two guests with a move, of this visibility.
async fn game_of(app: &TestApp, visibility: &str) -> (String, Guest, Guest) {
    let (ana, bo) = (app.guest("Ana").await, app.guest("Bo").await);
    let opponent = json!({"type": "player", "player_id": bo.id});
    let terms = json!({"variant": "kalah", "side": "south", "visibility": visibility, "opponent": opponent});
    let id = app.created(&ana, &terms).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &bo).await.status, 200);
    assert_eq!(app.play_move(&id, &ana, 1, "E").await.status, 201);
    (id, ana, bo)
}

/// The size that a PNG states.
#[track_caller]
fn size(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82"));
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    (number(16), number(20))
}

async fn png(app: &TestApp, path: &str) -> (Response, Vec<u8>) {
    let (response, bytes) = send_raw(app.request(Method::GET, path)).await;
    assert_eq!(response.status(), 200, "{path}: {}", String::from_utf8_lossy(&bytes));
    assert_eq!(response.headers()["content-type"], "image/png", "{path}");
    (response, bytes)
}

#[actix_web::test]
async fn every_picture_is_there_in_pixels_of_a_chosen_width() {
    let app = TestApp::start().await;
    let (id, ..) = game_of(&app, "public").await;
    let paths: [(String, u32); 3] = [
        (format!("/v1/games/{id}/board.png"), 424),
        (format!("/v1/games/{id}/graph.png"), 380),
        ("/v1/variants/oware/board.png".to_owned(), 424),
    ];
    for (path, height) in paths {
        for width in [16, 641] {
            let (response, bytes) = png(&app, &format!("{path}?width={width}")).await;
            assert_eq!(size(&bytes), (width, (width * height).div_ceil(640)), "{path}");
            assert!(!response.headers().contains_key("content-encoding"));
        }
        for (width, code) in [
            ("0", "out_of_range"),
            ("15", "out_of_range"),
            ("2049", "out_of_range"),
            ("1000000", "out_of_range"),
            ("99999999999", "out_of_range"),
            ("-1", "wrong_type"),
            ("1e3", "wrong_type"),
            ("", "wrong_type"),
        ] {
            let answer = app.get(&format!("{path}?width={width}"), None).await;
            answer.is_problem(422, "validation_failed");
            let error = &answer.body["errors"][0];
            assert_eq!((&error["pointer"], &error["code"]), (&json!("?width"), &json!(code)), "{path} {width}");
        }
    }
}

#[actix_web::test]
async fn a_png_is_960_pixels_wide_and_at_most_2048() {
    let app = TestApp::start().await;
    let path = "/v1/variants/oware/board.png";
    assert_eq!(size(&png(&app, path).await.1), (960, 636));
    assert_eq!(size(&png(&app, &format!("{path}?width=2048")).await.1), (2048, 1357));
}

#[actix_web::test]
async fn pixels_follow_the_ply_the_theme_and_the_words() {
    let app = TestApp::start().await;
    let (id, ..) = game_of(&app, "public").await;
    let mut seen = vec![];
    for query in [
        "",
        "&ply=0",
        "&theme=dark",
        "&side=north",
        "&mirror=true",
        "&lang=de",
        "&lang=fr",
        "&lang=es",
        "&caption=false",
        "&background=none",
        "&background=cfe8cf",
        "&background=%23cfe8d0",
    ] {
        let (response, bytes) = png(&app, &format!("/v1/games/{id}/board.png?width=160{query}")).await;
        seen.push((response.headers()["etag"].clone(), bytes));
    }
    // There is no viewer whose preference `auto` could follow.
    let same = ["&theme=light", "&theme=auto", "&lang=en", "&caption=true", "&background=theme", "&fbclid=1"];
    for query in same {
        assert_eq!(png(&app, &format!("/v1/games/{id}/board.png?width=160{query}")).await.1, seen[0].1, "{query}");
    }
    for (n, (tag, bytes)) in seen.iter().enumerate() {
        for (other_tag, other_bytes) in &seen[..n] {
            assert!(tag != other_tag && bytes != other_bytes, "{n}");
        }
    }
}

#[actix_web::test]
async fn a_png_that_the_client_has_is_neither_sent_nor_drawn_again() {
    let app = TestApp::start_with(limited).await;
    let (id, ana, _) = game_of(&app, "public").await;
    for (path, width, times) in [("board.png", 2048, 100), ("graph.png", 64, 10)] {
        let path = format!("/v1/games/{id}/{path}");
        let (response, bytes) = png(&app, &format!("{path}?width={width}")).await;
        let tag = response.headers()["etag"].clone();
        assert_eq!(response.headers()["cache-control"], "private, no-cache");
        assert_eq!(response.headers()["vary"], "Authorization, Prefer");
        assert_eq!(response.headers()["cross-origin-resource-policy"], "cross-origin");
        assert_eq!(response.headers()["content-length"], bytes.len().to_string());
        // More of the first than the budget for heavy work would allow.
        for _ in 0..times {
            let again = app.request(Method::GET, &format!("{path}?width={width}")).header("if-none-match", &tag);
            let again = send(signed(again, Some(&ana))).await;
            assert_eq!((again.status.as_u16(), again.text.as_str()), (304, ""));
            assert_eq!(again.headers["etag"], tag);
        }
        let other = send(app.request(Method::GET, &format!("{path}?width=16")).header("if-none-match", &tag)).await;
        assert_eq!(other.status, 200, "another width is another picture");
    }
    let opening = app.get("/v1/variants/kalah/board.png?width=16", None).await;
    assert_eq!(opening.headers["cache-control"], "public, max-age=300");
}

#[actix_web::test]
async fn a_client_that_refuses_png_is_refused() {
    let app = TestApp::start().await;
    let path = "/v1/variants/kalah/board.png?width=16";
    for (accept, status) in
        [("image/png", 200), ("image/*", 200), ("*/*", 200), ("image/svg+xml", 406), ("image/png;q=0, */*", 406)]
    {
        let answer = send(app.request(Method::GET, path).header("accept", accept)).await;
        assert_eq!(answer.status.as_u16(), status, "{accept}");
    }
}

#[actix_web::test]
async fn parameters_of_pictures_are_ignored_if_unknown_and_checked_if_known() {
    let app = TestApp::start().await;
    let (id, ..) = game_of(&app, "public").await;
    let of_game = [format!("/v1/games/{id}/board"), format!("/v1/games/{id}/graph")];
    for path in of_game.iter().map(String::as_str).chain(["/v1/variants/kalah/board"]) {
        for kind in ["svg", "png"] {
            let plain = app.get(&format!("{path}.{kind}"), None).await;
            let marked =
                app.get(&format!("{path}.{kind}?fbclid=a%20b&utm_source=x&utm_source=y&=&no_such"), None).await;
            assert_eq!((marked.status.as_u16(), &marked.text), (200, &plain.text), "{path}.{kind}");
            for (query, pointer, code) in [
                ("lang=it", "?lang", "not_one_of"),
                ("lang=EN", "?lang", "not_one_of"),
                ("theme=pink", "?theme", "not_one_of"),
                ("background=red", "?background", "wrong_format"),
                ("background=%23ff", "?background", "wrong_format"),
                ("background=url(a)", "?background", "wrong_format"),
                ("caption=no", "?caption", "wrong_type"),
                ("caption=", "?caption", "wrong_type"),
                ("lang=de&lang=fr", "?lang", "duplicate_field"),
            ] {
                let answer = app.get(&format!("{path}.{kind}?{query}"), None).await;
                answer.is_problem(422, "validation_failed");
                let error = &answer.body["errors"][0];
                assert_eq!((&error["pointer"], &error["code"]), (&json!(pointer), &json!(code)), "{query}");
            }
        }
    }
    let answer = app.get("/v1/variants/kalah/board.svg?lang=it", None).await;
    assert_eq!(answer.body["errors"][0]["values"], json!(["en", "de", "fr", "es"]));
}

#[actix_web::test]
async fn pictures_speak_four_languages_and_are_bare_on_request() {
    let app = TestApp::start().await;
    let (id, ..) = game_of(&app, "public").await;
    let text = |svg: &str, id: &str| {
        let document = Document::parse(svg).expect("well-formed XML");
        let element = document.descendants().find(|node| node.attribute("id") == Some(id));
        element.and_then(|element| element.text()).unwrap_or_default().to_owned()
    };
    for (language, title, last, graph) in [
        (
            "en",
            "Kalah: Ana (guest) against Bo (guest) after ply 1",
            "Bo (guest) to move.",
            "Bo (guest) was never ahead.",
        ),
        ("de", "Kalah: Ana (Gast) gegen Bo (Gast) nach Zug 1", "Bo (Gast) ist am Zug.", "Bo (Gast) lag nie vorn."),
        (
            "fr",
            "Kalah : Ana (invité) contre Bo (invité) après le coup 1",
            "Au tour de Bo (invité).",
            "Bo (invité) n’a jamais mené.",
        ),
        (
            "es",
            "Kalah: Ana (invitado) contra Bo (invitado) tras la jugada 1",
            "Le toca a Bo (invitado).",
            "Bo (invitado) nunca estuvo delante.",
        ),
    ] {
        let board = app.get(&format!("/v1/games/{id}/board.svg?lang={language}"), None).await.text;
        assert!(board.contains(&format!("xml:lang=\"{language}\"")), "{board}");
        assert_eq!(text(&board, "title"), title);
        assert!(text(&board, "desc").ends_with(last), "{board}");
        let course = app.get(&format!("/v1/games/{id}/graph.svg?lang={language}"), None).await.text;
        assert!(text(&course, "desc").contains(graph), "{course}");
    }
    // A reader's own language changes nothing, so that caches need not know it.
    let asked = app.request(Method::GET, &format!("/v1/games/{id}/board.svg")).header("accept-language", "de");
    assert!(send(asked).await.text.contains("xml:lang=\"en\""));
    for path in ["board.svg", "graph.svg"] {
        let bare = app.get(&format!("/v1/games/{id}/{path}?caption=false&background=none"), None).await.text;
        let document = Document::parse(&bare).expect("well-formed XML");
        let drawn = document.descendants().filter(|node| node.tag_name().name() == "text");
        let words: Vec<_> = drawn.flat_map(|node| node.descendants()).filter_map(|node| node.text()).collect();
        assert!(!words.is_empty() && words.iter().all(|word| !word.contains("Ana")), "{words:?}");
        assert!(text(&bare, "title").contains("Ana"), "a screen reader is told");
        assert!(!bare.contains("class=\"page\""), "{bare}");
        let coloured = app.get(&format!("/v1/games/{id}/{path}?background=FCF8F1"), None).await.text;
        assert!(coloured.contains("fill=\"#fcf8f1\"") && !coloured.contains("class=\"page\""), "{coloured}");
    }
}

/// A ticket of a guest, for a game or for all.
async fn ticket(app: &TestApp, guest: &Guest, body: &Value) -> String {
    let given = app.post("/v1/me/stream-tickets", Some(guest), body).await;
    assert_eq!(given.status, 201, "{given:?}");
    given.string("/ticket")
}

#[actix_web::test]
async fn a_ticket_shows_the_pictures_of_a_private_game_as_often_as_asked() {
    let app = TestApp::start().await;
    let (id, ana, bo) = game_of(&app, "private").await;
    let (other, ..) = game_of(&app, "private").await;
    let of_game = ticket(&app, &ana, &json!({"game_id": id})).await;
    let of_all = ticket(&app, &bo, &json!({})).await;
    let pictures = ["board.svg", "board.png", "graph.svg", "graph.png"];
    for picture in pictures {
        let path = format!("/v1/games/{id}/{picture}?width=64");
        app.get(&path, None).await.is_problem(404, "not_found");
        for ticket in [&of_game, &of_all] {
            for _ in 0..3 {
                let shown = app.get(&format!("{path}&ticket={ticket}"), None).await;
                assert_eq!(
                    (shown.status.as_u16(), &shown.headers["cache-control"]),
                    (200, &"private, no-cache".parse().expect("a value"))
                );
                assert_eq!(shown.headers["cross-origin-resource-policy"], "cross-origin");
                assert_eq!(shown.headers["referrer-policy"], "no-referrer");
            }
        }
        let path_of_other = format!("/v1/games/{other}/{picture}");
        app.get(&format!("{path_of_other}?ticket={of_game}"), None).await.is_problem(401, "invalid_token");
        app.get(&format!("{path_of_other}?ticket={of_all}"), None).await.is_problem(404, "not_found");
        for bad in ["", "x", ana.token.as_str()] {
            app.get(&format!("{path}&ticket={bad}"), None).await.is_problem(401, "invalid_token");
        }
        app.get(&format!("{path}&ticket={of_game}"), Some(&ana)).await.is_problem(422, "validation_failed");
    }
    // The ticket still admits to nothing else.
    app.get(&format!("/v1/games/{id}?ticket={of_game}"), None).await.is_problem(422, "validation_failed");
    app.get(&format!("/g/{id}?ticket={of_game}"), None).await.is_problem(404, "not_found");
    // The ticket ends with its player's sign-ins.
    assert_eq!(app.delete_me(&ana).await.status, 204);
    app.get(&format!("/v1/games/{id}/board.png?ticket={of_game}"), None).await.is_problem(401, "invalid_token");
}
