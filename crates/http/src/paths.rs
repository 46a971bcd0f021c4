//! The paths that are served: their patterns and their methods.
//!
//! A leaf: the route table fills it once, and layers and extractors read it. Knows no handler.

use std::sync::OnceLock;

use actix_web::http::Method;
use arrayvec::ArrayVec;
use utoipa::openapi;

/// The addresses of the page for people. One document is served at all of them, and its script shows what the address names.
pub const PAGE_ADDRESSES: [&str; 11] = [
    "/",
    "/new",
    "/lobby",
    "/account",
    "/settings",
    "/rules",
    "/rules/{variant}",
    "/games",
    "/games/{id}",
    "/review/{id}",
    "/explore/{variant}",
];

/// The addresses of that page's files.
pub const PAGE_FILES: [&str; 7] = [
    "/assets/{name}",
    "/sw.js",
    "/manifest.webmanifest",
    "/icon.svg",
    "/icon-192.png",
    "/icon-512.png",
    "/favicon.ico",
];

/// Paths that are served but are no part of the API.
const PAGES: [&str; 4] = ["/openapi.json", "/openapi-3.0.json", "/docs", DOCS];

/// The pages to which links in mails lead, and their forms.
const FORMS: [&str; 3] = ["/email/verify", "/email/reset", "/email/restore"];

/// The prefix of all pages of the documentation.
const DOCS: &str = "/docs/";

/// More segments than any path has.
const PARTS_MAX: usize = 8;

/// All paths that are served; [`set`] fills it.
static PATHS: OnceLock<Paths> = OnceLock::new();

/// Sets the paths of the process from its document. Later calls change nothing: there is one route table.
pub fn set(document: &openapi::OpenApi) {
    let _ = PATHS.set(Paths::of(document));
}

/// The path that matches a request's path; `None` if it is unknown.
pub fn find(path: &str) -> Option<&'static Path> {
    PATHS.get()?.find(path)
}

/// Whether a call asks an issuer of sign-ins, which is elsewhere.
pub fn asks_issuer(method: &Method, path: &str) -> bool {
    let begins = |start: &str| path.starts_with(start);
    method == Method::POST && begins("/v1/sign-in/") || method == Method::PUT && begins("/v1/me/identities/")
}

/// Whether a call may send an account's password beside its other data. The comparison costs as much as signing in.
pub fn may_compare_password(method: &Method, path: &str) -> bool {
    match path {
        "/v1/me" => method == Method::PATCH || method == Method::DELETE,
        "/v1/me/merge" | "/v1/me/recovery-code" => method == Method::POST,
        path => method == Method::DELETE && path.starts_with("/v1/me/identities/"),
    }
}

/// The paths of the document, and the pages that are served beside it. They name a request's pattern, and distinguish a
/// wrong method from an unknown path.
#[derive(Debug)]
pub struct Paths {
    /// The paths of each number of segments.
    by_length: [Vec<Path>; PARTS_MAX],
}

/// A path as the document writes it.
#[derive(Debug)]
pub struct Path {
    pub pattern: String,
    /// Its methods, as `Allow` lists them.
    pub allow: String,
    /// The segments between its slashes; `None` is a parameter.
    parts: Vec<Option<String>>,
}

impl Paths {
    pub fn of(document: &openapi::OpenApi) -> Self {
        let documented = document.paths.paths.iter().map(|(path, item)| {
            let known = [
                ("GET, HEAD", &item.get),
                ("POST", &item.post),
                ("PUT", &item.put),
                ("PATCH", &item.patch),
                ("DELETE", &item.delete),
            ];
            let known = known.into_iter().filter(|(_, operation)| operation.is_some()).map(|(method, _)| method);
            Path::new(path, known.collect::<Vec<_>>().join(", "))
        });
        let pages = PAGES.into_iter().chain(PAGE_ADDRESSES).chain(PAGE_FILES);
        let pages = pages.map(|page| Path::new(page, "GET, HEAD".to_owned()));
        let forms = FORMS.into_iter().map(|form| Path::new(form, "GET, HEAD, POST".to_owned()));
        let mut by_length = <[Vec<Path>; PARTS_MAX]>::default();
        for path in documented.chain(pages).chain(forms) {
            by_length[path.parts.len()].push(path);
        }
        Self { by_length }
    }

    /// The path that matches a request's path; `None` if it is unknown.
    pub fn find(&self, path: &str) -> Option<&Path> {
        let path = if path.starts_with(DOCS) { DOCS } else { path };
        let given: ArrayVec<&str, PARTS_MAX> = path.split('/').take(PARTS_MAX).collect();
        self.by_length.get(given.len())?.iter().find(|known| known.matches(&given))
    }
}

impl Path {
    /// Whether the path has a method.
    pub fn knows(&self, method: &Method) -> bool {
        self.allow.split(", ").any(|known| known == method.as_str())
    }

    fn new(pattern: &str, allow: String) -> Self {
        let part = |part: &str| (!part.starts_with('{')).then(|| part.to_owned());
        Self { pattern: pattern.to_owned(), allow, parts: pattern.split('/').map(part).collect() }
    }

    /// Whether the given segments match. There are as many as the path has. The last segments are compared first, because paths differ most
    /// at their ends.
    fn matches(&self, given: &[&str]) -> bool {
        let same = |(known, given): (&Option<String>, &&str)| match known {
            Some(known) => known == given,
            None => !given.is_empty(),
        };
        self.parts.iter().zip(given).rev().all(same)
    }
}

#[cfg(test)]
mod tests {
    use utoipa::openapi::{OpenApiBuilder, PathItem, PathsBuilder};

    use super::*;

    #[test]
    fn a_path_is_found_by_its_segments() {
        let documented = ["/v1/games", "/v1/games/export", "/v1/games/{id}", "/v1/games/{id}/offers/{type}/accept"];
        let items = documented.iter().fold(PathsBuilder::new(), |paths, path| paths.path(*path, PathItem::default()));
        let paths = Paths::of(&OpenApiBuilder::new().paths(items).build());
        let pattern = |path| paths.find(path).map(|found| found.pattern.as_str());
        for (path, expected) in [
            ("/v1/games", Some("/v1/games")),
            ("/v1/games/7", Some("/v1/games/{id}")),
            ("/v1/games/export", Some("/v1/games/export")),
            ("/v1/games/7/offers/draw/accept", Some("/v1/games/{id}/offers/{type}/accept")),
            ("/games/7", Some("/games/{id}")),
            ("/", Some("/")),
            ("/docs/operations/database", Some("/docs/")),
            ("/v1/games/", None),
            ("/v1//export", None),
            ("/v1/games/7/offers//accept", None),
            ("/v1/games/7/offers/draw/accept/", None),
            ("/1/2/3/4/5/6/7/8/9", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(pattern(path), expected, "{path}");
        }
    }
}
