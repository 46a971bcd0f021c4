//! The page of a game: what people and previews of links see, and what stays hidden.

use mancala_server::http::Page;
use reqwest::Method;
use serde_json::json;

use crate::{
    games::practice::practice,
    records::import::{WHOLE, import},
    support::{
        answer::Answer,
        app::TestApp,
        calls::{Guest, send, signed},
    },
};

/// How a browser asks for a page.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn page(app: &TestApp, id: &str) -> Answer {
    send(app.request(Method::GET, &format!("/g/{id}")).header("accept", BROWSER)).await
}

async fn game_of(app: &TestApp, names: [&str; 2], visibility: &str) -> (String, Guest, Guest) {
    let (south, north) = (app.guest(names[0]).await, app.guest(names[1]).await);
    let opponent = json!({"type": "player", "player_id": north.id});
    let terms = json!({"variant": "kalah", "side": "south", "visibility": visibility, "opponent": opponent});
    let id = app.created(&south, &terms).await["id"].as_str().expect("an id").to_owned();
    assert_eq!(app.join_game(&id, &north).await.status, 200);
    (id, south, north)
}

/// The content of a tag of the head.
#[track_caller]
fn meta<'a>(page: &'a str, name: &str) -> &'a str {
    let begin = format!("\"{name}\" content=\"");
    let mut after = page.split(&begin).skip(1);
    let (one, more) = (after.next().unwrap_or_else(|| panic!("no {name}: {page}")), after.next());
    assert!(more.is_none(), "{name} twice: {page}");
    one.split('"').next().expect("it ends")
}

#[track_caller]
fn title(page: &str) -> &str {
    page.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).expect("a title")
}

#[actix_web::test]
async fn a_page_says_who_plays_and_how_it_stands() {
    let app = TestApp::start().await;
    for visibility in ["public", "unlisted"] {
        let (id, ana, bo) = game_of(&app, ["Ana", "Bo"], visibility).await;
        let moves = "E c a A c B C b E F".split(' ');
        for (ply, word) in (1..).zip(moves) {
            let guest = if word.chars().all(char::is_uppercase) { &ana } else { &bo };
            assert_eq!(app.play_move(&id, guest, ply, word).await.status, 201);
            if ply == 4 {
                let shown = page(&app, &id).await;
                assert_eq!(title(&shown.text), "Ana – Bo, Kalah, 8–1");
                assert_eq!(meta(&shown.text, "og:description"), "Kalah, 4 plies. Bo (guest) to move.");
                assert!(meta(&shown.text, "og:image").ends_with("/board.png?width=1200&#38;ply=4"), "{}", shown.text);
            }
        }
        let shown = page(&app, &id).await;
        assert_eq!(
            (shown.status.as_u16(), &shown.headers["content-type"]),
            (200, &"text/html; charset=utf-8".parse().expect("a value"))
        );
        assert_eq!(title(&shown.text), "Ana – Bo, Kalah, 20–28");
        assert_eq!(meta(&shown.text, "og:title"), "Ana – Bo, Kalah, 20–28");
        assert_eq!(
            meta(&shown.text, "og:description"),
            "Kalah, 10 plies. The game is over. Bo (guest) won (side empty)."
        );
        assert_eq!(meta(&shown.text, "twitter:card"), "summary_large_image");
        let base = app.base();
        assert_eq!(meta(&shown.text, "og:url"), format!("{base}/g/{id}"));
        let image = meta(&shown.text, "og:image").replace("&#38;", "&");
        assert_eq!(image, format!("{base}/v1/games/{id}/board.png?width=1200"));
        let picture = app.get(image.strip_prefix(&base).expect("it is here"), None).await;
        assert_eq!(
            (picture.status.as_u16(), &picture.headers["content-type"]),
            (200, &"image/png".parse().expect("a value"))
        );
        assert!(shown.text.contains("<bdi>Ana</bdi> (guest)") && shown.text.contains("<link rel=\"alternate\""));
        // All it leads to is there.
        let links = shown
            .text
            .split(" href=\"../")
            .chain(shown.text.split(" src=\"../"))
            .filter(|rest| rest.starts_with("v1/"));
        let links: Vec<_> = links.filter_map(|rest| rest.split('"').next()).collect();
        assert!(links.len() >= 5, "{links:?}");
        for link in links {
            assert_eq!(app.get(&format!("/{link}"), None).await.status, 200, "{link}");
        }
    }
}

/// Where the page leads people, and with which words.
#[track_caller]
fn lead(page: &str) -> Option<(&str, &str)> {
    let (address, rest) = page.split("<a class=\"board\" href=\"..").nth(1)?.split_once('"')?;
    let words = rest.split("class=\"button\">").nth(1).and_then(|rest| rest.split('<').next());
    Some((address, words.unwrap_or_else(|| panic!("no words: {page}"))))
}

#[actix_web::test]
async fn a_page_leads_to_the_board_and_after_the_end_to_the_review() {
    let app = TestApp::start().await;
    let (id, ana, bo) = game_of(&app, ["Ana", "Bo"], "public").await;
    let running = page(&app, &id).await;
    assert_eq!(lead(&running.text), Some((format!("/games/{id}").as_str(), "Go to the board")));
    for (ply, (player, word)) in (1..).zip([(&ana, "E"), (&bo, "c")]) {
        assert_eq!(app.play_move(&id, player, ply, word).await.status, 201);
    }
    assert_eq!(app.resign_game(&id, &ana).await.status, 200);
    let finished = page(&app, &id).await;
    assert_eq!(lead(&finished.text), Some((format!("/review/{id}").as_str(), "Review the game")));
    for shown in [&running, &finished] {
        let (address, _) = lead(&shown.text).expect("a link");
        assert_eq!(send(app.request(Method::GET, address).header("accept", BROWSER)).await.status, 200, "{address}");
        // Robots read on: nothing sends them to another document.
        assert!(!shown.text.contains("http-equiv") && meta(&shown.text, "og:url").ends_with(&format!("/g/{id}")));
    }
    // An open game can be joined at its board. There is nothing to review in one that ended before a move.
    let open = app.created(&ana, &json!({"variant": "oware", "visibility": "public"})).await;
    let open = open["id"].as_str().expect("an id");
    let board = format!("/games/{open}");
    assert_eq!(lead(&page(&app, open).await.text), Some((board.as_str(), "Go to the board")));
    assert_eq!(app.post(&format!("/v1/games/{open}/abort"), Some(&ana), &json!({})).await.status, 200);
    assert_eq!(lead(&page(&app, open).await.text), Some((board.as_str(), "Go to the board")));
}

#[actix_web::test]
async fn a_server_without_the_web_page_leads_nowhere() {
    let app = TestApp::start_with(|service| service.page = Page::Off).await;
    let (id, ..) = game_of(&app, ["Ana", "Bo"], "public").await;
    let shown = page(&app, &id).await;
    assert_eq!(lead(&shown.text), None);
    let missing = page(&app, "none").await;
    for text in [&shown.text, &missing.text] {
        assert!(!text.contains("class=\"button\"") && !text.contains("<header>"), "{text}");
    }
    assert!(shown.text.contains("/board.svg\" width=") && meta(&shown.text, "og:title").starts_with("Ana – Bo"));
}

#[actix_web::test]
async fn a_page_is_in_the_language_of_the_reader() {
    let app = TestApp::start().await;
    let (id, ..) = game_of(&app, ["Ana", "Bo"], "public").await;
    let mut tags = vec![];
    for (accepted, language, description, words) in [
        ("de-AT, en;q=0.5", "de", "Kalah, 0 Züge. Ana (Gast) ist am Zug.", "Zum Brett"),
        ("fr", "fr", "Kalah, 0 coup. Au tour de Ana (invité).", "Voir le plateau"),
        ("ja, es;q=0.7, en;q=0.5", "es", "Kalah, 0 jugadas. Le toca a Ana (invitado).", "Ver el tablero"),
        ("ja", "en", "Kalah, 0 plies. Ana (guest) to move.", "Go to the board"),
    ] {
        let request = app.request(Method::GET, &format!("/g/{id}")).header("accept", BROWSER);
        let shown = send(request.header("accept-language", accepted)).await;
        assert!(shown.text.contains(&format!("<html lang=\"{language}\"")), "{}", shown.text);
        for name in ["description", "og:description"] {
            assert_eq!(meta(&shown.text, name), description);
        }
        assert_eq!(lead(&shown.text).map(|(_, words)| words), Some(words));
        let suffix = if language == "en" { String::new() } else { format!("&#38;lang={language}") };
        let image = meta(&shown.text, "og:image").to_owned();
        assert!(image.ends_with(&format!("/board.png?width=1200&#38;ply=0{suffix}")), "{image}");
        let vary: Vec<_> = shown.headers.get_all("vary").iter().filter_map(|value| value.to_str().ok()).collect();
        assert!(vary.join(", ").contains("Accept-Language"), "{vary:?}");
        tags.push(shown.headers["etag"].clone());
        let links = shown.text.split(" href=\"../").chain(shown.text.split(" src=\"../"));
        for link in links.filter(|rest| rest.starts_with("v1/")).filter_map(|rest| rest.split('"').next()) {
            assert_eq!(app.get(&format!("/{link}"), None).await.status, 200, "{link}");
        }
    }
    tags.dedup();
    assert_eq!(tags.len(), 4, "{tags:?}");
}

#[actix_web::test]
async fn a_page_of_practice_says_that_it_is_practice() {
    let app = TestApp::start().await;
    let ana = app.guest("Ana").await;
    for is_practice in [true, false] {
        let mut terms = practice(1, "south");
        terms["visibility"] = json!("public");
        terms["practice"] = json!(is_practice);
        let id = app.created(&ana, &terms).await["id"].as_str().expect("an id").to_owned();
        let shown = page(&app, &id).await;
        let kind = if is_practice { "Kalah, practice" } else { "Kalah" };
        for name in ["description", "og:description"] {
            let said = meta(&shown.text, name);
            assert_eq!(said, format!("{kind}, 0 plies. Ana (guest) to move."));
        }
        assert_eq!(shown.text.contains("<li>practice</li>"), is_practice, "{}", shown.text);
    }
}

#[actix_web::test]
async fn a_page_runs_nothing_and_is_revalidated() {
    let app = TestApp::start().await;
    let (id, ana, _) = game_of(&app, ["Ana", "Bo"], "public").await;
    let shown = page(&app, &id).await;
    let policy = shown.headers["content-security-policy"].to_str().expect("text");
    assert!(policy.starts_with("default-src 'none'; img-src 'self';") && !policy.contains("script"), "{policy}");
    assert!(
        !shown.text.contains("<script") && !shown.text.contains(" on") && !shown.text.contains("javascript:"),
        "{}",
        shown.text
    );
    assert_eq!(shown.headers["cache-control"], "private, no-cache");
    let tag = shown.headers["etag"].clone();
    let ask = async || {
        let request = app.request(Method::GET, &format!("/g/{id}?fbclid=1&utm_source=chat")).header("accept", BROWSER);
        send(request.header("if-none-match", &tag)).await
    };
    let unchanged = ask().await;
    assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str(), &unchanged.headers["etag"]), (304, "", &tag));
    assert_eq!(app.play_move(&id, &ana, 1, "A").await.status, 201);
    let changed = ask().await;
    assert_eq!(changed.status, 200);
    assert_ne!(changed.headers["etag"], tag);
    // A path of another method, as everywhere.
    app.post(&format!("/g/{id}"), None, &json!({})).await.is_problem(405, "method_not_allowed");
}

#[actix_web::test]
async fn what_is_hidden_and_what_is_not_there_look_alike() {
    let app = TestApp::start().await;
    let (private, ana, _) = game_of(&app, ["Ana", "Bo"], "private").await;
    // An imported game is deleted, and its page with it. What guests import is private.
    let cleo = app.account("Cleo", "correct horse").await;
    let erased = import(&app, &cleo, "?visibility=public", "text/plain", WHOLE).await.string("/items/0/game_id");
    assert_eq!(page(&app, &erased).await.status, 200);
    let deletion = app.request(Method::DELETE, &format!("/v1/games/{erased}"));
    assert_eq!(send(signed(deletion, Some(&cleo))).await.status, 204);
    let unknown = "0199aaaa-0000-7000-8000-000000000000".to_owned();
    let ids: Vec<_> = [private.clone(), unknown, "kalah".to_owned(), erased].into();
    let mut pages = vec![];
    for id in &ids {
        let shown = page(&app, id).await;
        assert_eq!(
            (shown.status.as_u16(), &shown.headers["content-type"]),
            (404, &"text/html; charset=utf-8".parse().expect("a value"))
        );
        assert_eq!(shown.headers["cache-control"], "no-store");
        let request_id = shown.headers["x-request-id"].to_str().expect("text");
        assert!(shown.text.contains(request_id) && shown.text.contains("not_found"), "{}", shown.text);
        pages.push(shown.text.replace(request_id, ""));
        // A program gets a problem in the usual form.
        let problem = app.get(&format!("/g/{id}"), None).await;
        problem.is_problem(404, "not_found");
    }
    pages.dedup();
    assert_eq!(pages.len(), 1, "{pages:?}");
    assert!(pages[0].contains("<main>\n<h1>This game does not exist, or it is private</h1>"), "{}", pages[0]);
    for (language, told, rules, home) in [
        ("en", "does not exist", "Rules", "Home"),
        ("de", "Dieses Spiel gibt es nicht", "Regeln", "Startseite"),
        ("fr", "n’existe pas", "Règles", "Accueil"),
        ("es", "no existe", "Reglas", "Inicio"),
    ] {
        let request = app.request(Method::GET, &format!("/g/{private}")).header("accept", BROWSER);
        let shown = send(request.header("accept-language", language)).await;
        let menu = format!("<a href=\"/rules\">{rules}</a>");
        let way_on = format!("<a class=\"button\" href=\"/\">{home}</a>");
        for expected in [&format!("<html lang=\"{language}\">"), told, &menu, &way_on] {
            assert!(shown.text.contains(expected), "{expected}: {}", shown.text);
        }
        // What only the operator needs stands at the end.
        let request_id = shown.headers["x-request-id"].to_str().expect("text");
        assert!(shown.text.find(request_id) > shown.text.find("<footer>"), "{}", shown.text);
    }
    // A token makes no difference: what a link shows, it shows to everyone.
    let own = send(app.request(Method::GET, &format!("/g/{private}")).bearer_auth(&ana.token)).await;
    own.is_problem(404, "not_found");
}

#[actix_web::test]
async fn names_stand_in_a_page_as_text_of_any_direction() {
    let app = TestApp::start().await;
    let names = ["\"><script>alert(1)</script>", "סבתא' & <b>"];
    let (id, ..) = game_of(&app, names, "public").await;
    let shown = page(&app, &id).await;
    assert!(!shown.text.contains("<script") && !shown.text.contains("<b>"), "{}", shown.text);
    assert!(shown.text.contains("<bdi>&#34;&#62;&#60;script&#62;alert(1)&#60;/script&#62;</bdi>"), "{}", shown.text);
    // Where no element can stand, marks of Unicode keep the order.
    assert!(
        title(&shown.text).contains("\u{2068}סבתא&#39; &#38; &#60;b&#62;\u{2069}, Kalah"),
        "{}",
        title(&shown.text)
    );
    assert!(shown.text.contains("<bdi>סבתא&#39; &#38; &#60;b&#62;</bdi>"), "{}", shown.text);
}
