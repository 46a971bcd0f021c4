//! The pages of the documentation: their links lead somewhere, and they run under a strict policy.

use std::collections::{BTreeMap, BTreeSet};

use reqwest::{Method, header};
use serde_json::{Value, json};
use url::Url;

use crate::support::{
    answer::Answer,
    app::TestApp,
    calls::{Guest, send},
};

/// The pages from Markdown.
const PAGES: [&str; 5] = ["/docs/api", "/docs/asynchronous", "/docs/rules", "/docs/explorer", "/docs/clients"];

/// Files that the pages load.
const FILES: [&str; 5] = [
    "/docs/docs.css",
    "/docs/icon.svg",
    "/docs/swagger-ui.css",
    "/docs/swagger-ui-bundle.js",
    "/docs/swagger-initializer.js",
];

fn is_html(answer: &Answer) -> bool {
    answer
        .headers
        .get("content-type")
        .is_some_and(|value| value.to_str().is_ok_and(|text| text.starts_with("text/html")))
}

/// What a page links to or loads.
fn links(html: &str) -> Vec<String> {
    let tags = html.split('<').filter_map(|rest| rest.split('>').next());
    let link = |tag: &str| {
        let value = [" href=\"", " src=\""].into_iter().find_map(|name| tag.split(name).nth(1))?;
        Some(value.split('"').next()?.replace("&amp;", "&"))
    };
    tags.filter_map(link).collect()
}

/// The targets of the links in a text in Markdown.
fn markdown_links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[actix_web::test]
async fn every_link_of_every_page_leads_somewhere() {
    let app = TestApp::start().await;
    let base = Url::parse(&app.base()).expect("a URL");
    let (mut pages, mut left) = (BTreeMap::new(), vec![base.clone()]);
    let mut wanted = BTreeSet::new();
    while let Some(address) = left.pop() {
        let answer = app.get(&address[url::Position::BeforePath..url::Position::AfterQuery], None).await;
        assert_eq!(answer.status, 200, "{address}");
        let html = if is_html(&answer) { answer.text } else { String::new() };
        for link in links(&html) {
            let mut target = address.join(&link).unwrap_or_else(|error| panic!("{address} {link}: {error}"));
            if target.origin() != base.origin() {
                assert_eq!(target.scheme(), "https", "{address} {link}");
                continue;
            }
            if let Some(anchor) = target.fragment().map(str::to_owned) {
                target.set_fragment(None);
                wanted.insert((target.clone(), anchor, address.clone()));
            }
            if !pages.contains_key(&target) && !left.contains(&target) && target != address {
                left.push(target);
            }
        }
        pages.insert(address, html);
    }
    for path in PAGES.iter().chain(&FILES) {
        assert!(pages.contains_key(&base.join(path).expect("a URL")), "no page leads to {path}");
    }
    assert!(wanted.len() > 30, "{}", wanted.len());
    for (page, anchor, from) in &wanted {
        assert!(pages[page].contains(&format!(" id=\"{anchor}\"")), "{from} links to {page}#{anchor}");
    }
}

#[actix_web::test]
async fn the_links_of_the_document_lead_to_pages_and_operations() {
    let app = TestApp::start().await;
    let document = app.get("/openapi.json", None).await.body;
    let items =
        document["paths"].as_object().expect("paths").values().flat_map(|item| item.as_object().expect("an item"));
    let operations: BTreeSet<String> = items
        .map(|(_, operation)| {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            format!("#/{}/{}", text(&operation["tags"][0]), text(&operation["operationId"]))
        })
        .collect();
    let text = document.to_string();
    let mut paths = 0;
    for link in markdown_links(&text) {
        if link.starts_with('#') {
            assert!(operations.contains(link), "{link} is no operation");
        } else if link.starts_with('/') {
            let answer = app.get(link, None).await;
            assert_eq!(answer.status, 200, "{link}");
            paths += 1;
        }
    }
    assert!(paths >= 4, "{paths}");
}

#[actix_web::test]
async fn a_first_game_goes_as_the_introduction_says() {
    let app = TestApp::start().await;
    let document = app.get("/openapi.json", None).await.body;
    let introduction = document["info"]["description"].as_str().expect("an introduction");
    let spans = introduction.split('`').skip(1).step_by(2).filter(|span| span.starts_with('{'));
    let bodies: Vec<Value> = spans.map(|span| serde_json::from_str(span).expect("an example is JSON")).collect();
    let [player, game, first] = &bodies[..] else { panic!("three calls have a body: {bodies:?}") };
    let player = app.post("/v1/players", None, player).await;
    let ana = Guest { id: player.string("/player/id"), token: player.string("/access_token") };
    let game = app.post("/v1/games", Some(&ana), game).await;
    assert_eq!(game.status, 201, "{game:?}");
    let path = format!("/v1/games/{}", game.string("/id"));
    let played = app.post(&format!("{path}/moves"), Some(&ana), first).await;
    assert_eq!((played.status.as_u16(), &played.body["game"]["turn"]), (201, &json!("south")), "{played:?}");
    assert_eq!(app.get(&format!("{path}/board.svg"), Some(&ana)).await.status, 200);
}

#[actix_web::test]
async fn a_client_that_has_a_page_already_gets_no_body() {
    let app = TestApp::start().await;
    for path in PAGES.iter().chain(&FILES).chain(&["/docs/", "/openapi.json", "/openapi-3.0.json"]) {
        let page = app.get(path, None).await;
        assert_eq!(
            (page.status.as_u16(), page.headers["cache-control"].as_bytes()),
            (200, &b"public, max-age=300"[..])
        );
        let etag = page.headers.get("etag").unwrap_or_else(|| panic!("{path} has no tag")).clone();
        let again = send(app.request(Method::GET, path).header(header::IF_NONE_MATCH, &etag)).await;
        assert_eq!((again.status.as_u16(), again.text.as_str(), &again.headers["etag"]), (304, "", &etag), "{path}");
        let other = send(app.request(Method::GET, path).header(header::IF_NONE_MATCH, "W/\"0\"")).await;
        assert_eq!((other.status.as_u16(), other.text == page.text), (200, true), "{path}");
    }
    app.get("/docs/none", None).await.is_problem(404, "not_found");
    app.post("/docs/api", None, &json!({})).await.is_problem(405, "method_not_allowed");
}

#[actix_web::test]
async fn every_page_fits_a_phone_and_has_a_title_and_no_style_of_its_own() {
    let app = TestApp::start().await;
    let mut titles = BTreeSet::new();
    for path in PAGES.iter().chain(&["/docs/"]) {
        let page = app.get(path, None).await;
        assert!(is_html(&page), "{path}");
        let policy = page.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        let html = page.text;
        assert!(html.contains("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"), "{path}");
        assert!(!html.contains(" style=\"") && !html.contains("<style") && !html.contains("<script>"), "{path}");
        let title = html.split("<title>").nth(1).and_then(|rest| rest.split("</title>").next()).expect("a title");
        assert!(titles.insert(title.to_owned()), "{path}: another page is called {title}");
        assert_eq!(html.matches("aria-current").count(), 1, "{path}");
    }
    // The page of the document starts with the order of the operations.
    let script = app.get("/docs/swagger-initializer.js", None).await.text;
    assert!(script.contains("const order = [\"create_player\","), "{script}");
}
