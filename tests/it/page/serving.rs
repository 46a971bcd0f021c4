//! The page and its files, as a browser gets them.

use std::io::Read;

use flate2::read::GzDecoder;
use mancala_server::http::Page;
use reqwest::{Method, StatusCode, header};
use serde_json::json;

use crate::support::{
    answer::{Answer, send_raw},
    app::TestApp,
    calls::send,
};

/// An address of each kind that the page has.
const ADDRESSES: [&str; 11] = [
    "/",
    "/?fbclid=1",
    "/new",
    "/lobby",
    "/account",
    "/settings",
    "/rules",
    "/rules/oware",
    "/games",
    "/games/0199a000-0000-7000-8000-000000000000",
    "/review/nonsense",
];

/// The files that the document names. Links to views of the page name none.
fn files(document: &Answer) -> Vec<String> {
    let tags = document.text.split('<').filter(|tag| tag.starts_with("link ") || tag.starts_with("script "));
    tags.flat_map(|tag| tag.split('"')).filter(|part| part.starts_with('/')).map(ToOwned::to_owned).collect()
}

#[actix_web::test]
async fn every_address_of_the_page_has_the_same_document() {
    let app = TestApp::start().await;
    let document = app.get("/", None).await;
    for path in ADDRESSES {
        let page = app.get(path, None).await;
        assert_eq!((page.status.as_u16(), &page.text), (200, &document.text), "{path}");
        assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(page.headers["cache-control"], "no-cache");
        assert_eq!(page.headers["etag"], document.headers["etag"]);
        let policy = page.headers["content-security-policy"].to_str().expect("text");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'; "), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.ends_with("require-trusted-types-for 'script'; trusted-types service-worker"), "{policy}");
        assert_eq!(page.headers["cross-origin-opener-policy"], "same-origin");
        let known = app.request(Method::GET, path).header(header::IF_NONE_MATCH, &page.headers["etag"]);
        let unchanged = send(known).await;
        assert_eq!((unchanged.status.as_u16(), unchanged.text.as_str()), (304, ""), "{path}");
        assert_eq!(unchanged.headers["content-security-policy"], policy);
        let head = send(app.request(Method::HEAD, path)).await;
        assert_eq!((head.status.as_u16(), head.text.as_str()), (200, ""), "{path}");
        app.post(path, None, &json!({})).await.is_problem(405, "method_not_allowed");
    }
    let links = document.text.matches("href=\"/docs/\"").count();
    assert_eq!(links, 1, "without JavaScript the document leads to the documentation");
}

#[actix_web::test]
async fn files_of_the_page_are_kept_by_browsers_as_long_as_they_are_the_same() {
    let app = TestApp::start().await;
    let document = app.get("/", None).await;
    let files = files(&document);
    assert!(files.iter().any(|file| file.starts_with("/assets/index-")), "{files:?}");
    for path in files.iter().map(String::as_str).chain(["/sw.js", "/icon-512.png"]) {
        let (file, body) = send_raw(app.request(Method::GET, path)).await;
        assert_eq!(file.status(), StatusCode::OK, "{path}");
        let kept = match path {
            "/sw.js" => "no-cache",
            _ if path.starts_with("/assets/") => "public, max-age=31536000, immutable",
            _ => "public, max-age=300",
        };
        assert_eq!(file.headers()["cache-control"], kept, "{path}");
        // Scripts and styles come under the policies of the document that loads them. They are data, if a browser shows them.
        let is_loaded = path.starts_with("/assets/");
        for name in ["cross-origin-opener-policy", "permissions-policy"] {
            assert_eq!(file.headers().contains_key(name), !is_loaded, "{path}: {name}");
        }
        let policy = file.headers()["content-security-policy"].to_str().expect("text");
        assert_eq!(policy == "default-src 'none'; frame-ancestors 'none'", is_loaded, "{path}: {policy}");
        assert!(!file.headers().contains_key("content-encoding"), "{path}");
        let known = app.request(Method::GET, path).header(header::IF_NONE_MATCH, &file.headers()["etag"]);
        assert_eq!(send(known).await.status, 304, "{path}");
        let (small, compressed) =
            send_raw(app.request(Method::GET, path).header(header::ACCEPT_ENCODING, "gzip")).await;
        // Gzip saves less than half of a smaller file.
        if path.starts_with("/assets/") && body.len() >= 2048 {
            assert_eq!(
                (&small.headers()["content-encoding"], &small.headers()["vary"]),
                (&"gzip".parse().expect("a value"), &"Accept-Encoding".parse().expect("a value"))
            );
            assert_eq!(file.headers()["vary"], "Accept-Encoding");
            assert_eq!(small.headers()["content-length"], compressed.len().to_string());
            let mut plain = vec![];
            GzDecoder::new(compressed.as_slice()).read_to_end(&mut plain).expect("it is gzip");
            assert!(plain == body && compressed.len() * 2 < body.len(), "{path}: {} bytes", compressed.len());
        }
    }
}

#[actix_web::test]
async fn an_address_that_the_page_does_not_have_is_a_problem() {
    let app = TestApp::start().await;
    for path in
        ["/nothing", "/games/1/2", "/assets/", "/assets/index.js", "/assets/..%2findex.html", "/index.html", "/rules/"]
    {
        app.get(path, None).await.is_problem(404, "not_found");
    }
}

#[actix_web::test]
async fn a_browser_gets_the_page_at_an_address_where_nothing_is() {
    let app = TestApp::start().await;
    let document = app.get("/", None).await;
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    let ask = |method, path: &str| send(app.request(method, path).header(header::ACCEPT, browser));
    for path in ["/nothing", "/games/1/2", "/index.html", "/problems/no_such_code", "/docs/none"] {
        let page = ask(Method::GET, path).await;
        assert_eq!((page.status.as_u16(), &page.text), (404, &document.text), "{path}");
        assert_eq!(page.headers["content-type"], "text/html; charset=utf-8");
        assert_eq!(page.headers["cache-control"], "no-cache");
        assert_eq!(page.headers["content-security-policy"], document.headers["content-security-policy"]);
        assert!(!page.headers.contains_key("etag"), "{path}");
        if !["/problems/no_such_code", "/docs/none"].contains(&path) {
            ask(Method::POST, path).await.is_problem(404, "not_found");
        }
    }
    ask(Method::GET, "/v1/nothing").await.is_problem(404, "not_found");
    let icon = app.get("/favicon.ico", None).await;
    assert_eq!((icon.status.as_u16(), &icon.headers["content-type"]), (200, &"image/png".parse().expect("a value")));
    let app = TestApp::start_with(|service| service.page = Page::Off).await;
    let refused = send(app.request(Method::GET, "/nothing").header(header::ACCEPT, browser)).await;
    refused.is_problem(404, "not_found");
}

#[actix_web::test]
async fn a_server_without_the_page_has_the_api_and_its_documentation() {
    let app = TestApp::start_with(|service| service.page = Page::Off).await;
    for path in ["/", "/account", "/sw.js", "/manifest.webmanifest"] {
        app.get(path, None).await.is_problem(404, "not_found");
    }
    for path in ["/v1/variants", "/docs/", "/openapi.json", "/livez"] {
        assert_eq!(app.get(path, None).await.status, 200, "{path}");
    }
}
