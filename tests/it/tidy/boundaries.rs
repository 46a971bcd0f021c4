//! Who may know whom, and what is kept in one place: the clock, chance, SQL, the statuses of failures, unsafe code.
//!
//! The `Cargo.toml` of a crate says which other crates it knows. These rules are about modules of one crate, and about what the
//! standard library offers to each.

use std::collections::BTreeMap;

use syn::{
    ExprAsync, Meta, Signature,
    visit::{self, Visit},
};

use super::{
    paths::{Named, PathUse, modules, named},
    sources::Source,
};

/// Crates that do no I/O, read no clock and use no randomness: time, ids and random bytes are arguments.
const PURE: [&str; 4] = ["rules", "engine", "picture", "domain"];

/// The crate that starts processes; the only one with unsafe code.
const UNSAFE: &str = "embedded-postgres";

/// The crates whose modules are bounded here. What a crate may know of others its manifest says.
const BOUNDED: [&str; 4] = ["server", "process", "outbound", "wire"];

/// For each of their modules, which of the others, and which crates, it may use.
const MAY_USE: [(&str, &[&str]); 22] = [
    ("access_log", &["clock", "metrics"]),
    ("build_info", &[]),
    ("clock", &[]),
    ("config", &["access_log", "build_info"]),
    ("connection_plan", &[]),
    ("embedded", &[]),
    ("file_plan", &[]),
    ("jose", &["repeats", "webhook"]),
    ("live", &["db", "domain", "outage"]),
    ("mail", &["domain"]),
    ("metrics", &[]),
    ("openid", &["jose", "webhook"]),
    ("outage", &["repeats"]),
    ("pace", &[]),
    ("priority", &[]),
    ("push", &["domain", "repeats", "texts", "webhook"]),
    ("repeats", &[]),
    ("telemetry", &["clock", "config", "outage"]),
    ("view", &["clock", "db", "domain", "rules"]),
    ("webhook", &[]),
    (
        "http",
        &[
            "access_log",
            "build_info",
            "clock",
            "connection_plan",
            "db",
            "domain",
            "file_plan",
            "http_games",
            "http_players",
            "jose",
            "live",
            "metrics",
            "openid",
            "outage",
            "repeats",
            "rules",
            "webhook",
        ],
    ),
    (
        "lib",
        &[
            "access_log",
            "clock",
            "connection_plan",
            "db",
            "domain",
            "engine",
            "file_plan",
            "http_games",
            "jobs",
            "jose",
            "live",
            "mail",
            "metrics",
            "openid",
            "outage",
            "picture",
            "priority",
            "push",
            "repeats",
            "rules",
            "texts",
            "webhook",
        ],
    ),
];

/// Every path that the sources name, with its source.
fn all_named(sources: &[Source]) -> Vec<(&Source, Named)> {
    let mut packages: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        packages.entry(&source.package).or_default().push(source);
    }
    let mut all = vec![];
    for own in packages.values() {
        let modules = modules(own.iter().copied());
        for source in own {
            all.extend(named(source, &modules).into_iter().map(|named| (*source, named)));
        }
    }
    all
}

/// A finding for each path that a source may not name.
fn banned(sources: &[Source], is_banned: impl Fn(&Source, &Named) -> bool) -> Vec<String> {
    let all = all_named(sources).into_iter().filter(|(source, named)| is_banned(source, named));
    all.map(|(source, named)| format!("{}:{} names {}", source.path, named.line, named.text())).collect()
}

/// The module of a bounded crate that a path leads to, or else the crate.
fn module_of(named: &Named) -> Option<&str> {
    let first = named.path[0].as_str();
    let package = first.strip_prefix("mancala_");
    if first == "crate" || package.is_some_and(|package| BOUNDED.contains(&package)) {
        named.path.get(1).map(String::as_str)
    } else {
        package
    }
}

pub fn unknown_neighbours(sources: &[Source]) -> Vec<String> {
    banned(sources, |source, named| {
        let own = source.module.first().map_or("lib", String::as_str);
        // The binary may use everything, and the root of another crate only says which modules it has.
        let is_bounded = source.is_of(&BOUNDED) && (own != "lib" || source.package == "server");
        let Some((_, may_use)) = MAY_USE.iter().find(|(module, _)| is_bounded && *module == own) else {
            return false;
        };
        module_of(named).is_some_and(|module| {
            let is_module = MAY_USE.iter().any(|(other, may)| *other == module || may.contains(&module));
            is_module && module != own && !may_use.contains(&module)
        })
    })
}

pub fn unlisted_modules(sources: &[Source]) -> Vec<String> {
    let bounded = sources.iter().filter(|source| source.is_of(&BOUNDED));
    let first = bounded.filter_map(|source| source.module.first());
    first.filter(|first| MAY_USE.iter().all(|(module, _)| module != first)).cloned().collect()
}

/// Whether a source belongs to the REST API.
fn is_http(source: &Source) -> bool {
    source.package.starts_with("http") || source.module.first().is_some_and(|first| first == "http")
}

/// Frameworks that one part knows alone.
pub fn frameworks(sources: &[Source]) -> Vec<String> {
    banned(sources, |source, named| {
        let is_in = |folder: &str| source.module.first().is_some_and(|first| first == folder);
        let of_http = ["actix_web", "actix_http", "actix_cors", "utoipa", "utoipa_actix_web", "utoipa_swagger_ui"];
        let is_web = is_http(source) || source.package == "main" || source.package == "wire" && is_in("view");
        of_http.contains(&named.path[0].as_str()) && !is_web
            || named.path[0] == "mancala_engine" && is_http(source) && !is_in("hints")
            || named.starts_with("mancala_outbound::mail") && is_http(source)
            || is_in("hints") && ["actix_web", "mancala_http"].contains(&named.path[0].as_str())
            || named.starts_with("std::process") && (is_http(source) || is_in("live"))
            || named.path[0] == "sqlx" && (is_in("metrics") || is_in("config") || is_in("webhook"))
    })
}

pub fn impurities(sources: &[Source]) -> Vec<String> {
    // An engine that pauses sleeps for a `Duration`; that reads no clock.
    let banned_in_pure = [
        "std::env",
        "std::fs",
        "std::io",
        "std::net",
        "std::os",
        "std::process",
        "std::time::Instant",
        "std::time::SystemTime",
        "rand",
        "getrandom",
        "tokio",
    ];
    let mut findings = banned(sources, |source, named| {
        let is_chance =
            ["new_v4", "now_v7", "random", "now_utc"].iter().any(|name| named.ends_with(name)) && named.path.len() > 1;
        source.is_of(&PURE) && (is_chance || banned_in_pure.iter().any(|prefix| named.starts_with(prefix)))
            || source.is_of(&["rules"]) && named.place == PathUse::Macro && named.ends_with("panic")
    });
    for source in sources.iter().filter(|source| source.is_of(&PURE)) {
        let mut asynchronous = Asynchronous(0);
        asynchronous.visit_file(&source.file);
        if asynchronous.0 > 0 {
            findings.push(format!("{} is asynchronous", source.path));
        }
    }
    findings
}

struct Asynchronous(usize);

impl<'ast> Visit<'ast> for Asynchronous {
    fn visit_signature(&mut self, signature: &'ast Signature) {
        self.0 += usize::from(signature.asyncness.is_some());
        visit::visit_signature(self, signature);
    }

    fn visit_expr_async(&mut self, block: &'ast ExprAsync) {
        self.0 += 1;
        visit::visit_expr_async(self, block);
    }
}

pub fn clocks(sources: &[Source]) -> Vec<String> {
    banned(sources, |source, named| {
        let is_clock = named.ends_with("OffsetDateTime::now_utc") || named.ends_with("SystemTime::now");
        is_clock && source.path != "crates/process/src/clock.rs" && source.package != UNSAFE
    })
}

pub fn sql_elsewhere(sources: &[Source]) -> Vec<String> {
    banned(sources, |source, named| {
        let is_statement = named.path.get(1).is_some_and(|name| name.starts_with("query") || name == "raw_sql");
        named.path[0] == "sqlx" && is_statement && !source.is_of(&["db"])
    })
}

/// The builders of answers that are no failures. Every other status is a problem's.
const SUCCESSES: [&str; 5] = ["Ok", "Created", "Accepted", "NoContent", "NotModified"];

pub fn statuses_elsewhere(sources: &[Source]) -> Vec<String> {
    banned(sources, |source, named| {
        let last = named.path.last().map_or("", String::as_str);
        let is_constant = last.chars().all(|letter| letter.is_uppercase() || letter == '_');
        let is_status = named.path.iter().rev().nth(1).is_some_and(|owner| owner == "StatusCode") && is_constant;
        let is_builder = named.path.iter().rev().nth(1).is_some_and(|owner| owner == "HttpResponse")
            && last.starts_with(char::is_uppercase)
            && !SUCCESSES.contains(&last);
        let is_here = is_http(source) && source.path != "crates/http/src/answer/code.rs";
        // An attribute describes an answer in the document, and makes none.
        is_here && named.place != PathUse::Attribute && (is_status || is_builder || last == "InternalServerError")
    })
}

pub fn crates_that_allow_unsafe(sources: &[Source]) -> Vec<String> {
    let is_root = |source: &&Source| source.module.is_empty();
    let roots = sources.iter().filter(is_root).filter(|source| source.package != UNSAFE);
    let forbids = |source: &&Source| {
        source.file.attrs.iter().any(|attribute| match &attribute.meta {
            Meta::List(list) => list.path.is_ident("forbid") && list.tokens.to_string() == "unsafe_code",
            _ => false,
        })
    };
    let open = roots.filter(|source| !forbids(source));
    open.map(|source| format!("{} has no #![forbid(unsafe_code)]", source.path)).collect()
}

pub fn globs(sources: &[Source]) -> Vec<String> {
    banned(sources, |_, named| matches!(&named.place, PathUse::Import { name, is_public: true } if name == "*"))
}

#[test]
fn each_boundary_can_be_crossed_and_then_is_found() {
    type Rule = fn(&[Source]) -> Vec<String>;
    let cases: [(Rule, &str, &str, &str); 25] = [
        (unknown_neighbours, "crates/wire/src/live/hub.rs", "use crate::view::game;", "use mancala_db::games;"),
        (
            unknown_neighbours,
            "crates/outbound/src/push/web.rs",
            "fn f() { mancala_process::clock::now() }",
            "use crate::webhook::Sender;",
        ),
        (unknown_neighbours, "crates/process/src/metrics/mod.rs", "use mancala_domain::Game;", "use std::fmt;"),
        (unknown_neighbours, "src/http/serve.rs", "use mancala_jobs::purge;", "use mancala_wire::live::Hub;"),
        (unlisted_modules, "src/post.rs", "", ""),
        (frameworks, "crates/jobs/src/purge.rs", "use actix_web::web;", "use tokio::time;"),
        (frameworks, "src/http/serve.rs", "use std::process;", "use actix_web::web;"),
        (frameworks, "crates/wire/src/live/hub.rs", "use actix_web::web;", "use tokio::time;"),
        (frameworks, "crates/http-games/src/games/moves.rs", "use mancala_engine::Engine;", "use actix_web::web;"),
        (frameworks, "crates/http-games/src/hints.rs", "use mancala_http::state;", "use mancala_engine::Engine;"),
        (frameworks, "crates/http-players/src/email/steps.rs", "use mancala_outbound::mail;", "use actix_web::web;"),
        (impurities, "crates/engine/src/root.rs", "fn f() { std::time::Instant::now(); }", "use std::fmt;"),
        (impurities, "crates/domain/src/game.rs", "fn f() { Uuid::now_v7(); }", "use uuid::Uuid;"),
        (impurities, "crates/rules/src/board.rs", "fn f() { panic!(\"a\") }", "fn f() { assert!(true) }"),
        (impurities, "crates/picture/src/board.rs", "async fn f() {}", "fn f() {}"),
        (
            clocks,
            "crates/db/src/games/append.rs",
            "fn f() { time::OffsetDateTime::now_utc(); }",
            "use std::time::Instant;",
        ),
        (
            clocks,
            "src/http/serve.rs",
            "use std::time::SystemTime; fn f() { SystemTime::now() }",
            "use mancala_process::clock::now;",
        ),
        (sql_elsewhere, "src/http/serve.rs", "fn f() { sqlx::query!(\"select 1\") }", "use sqlx::PgPool;"),
        (sql_elsewhere, "crates/jobs/src/purge.rs", "use sqlx::query_scalar;", "use sqlx::PgPool;"),
        (
            statuses_elsewhere,
            "src/http/serve.rs",
            "fn f() { StatusCode::NOT_FOUND }",
            "fn f() { StatusCode::from_u16(200) }",
        ),
        (
            statuses_elsewhere,
            "src/http/serve.rs",
            "fn f() { HttpResponse::Conflict() }",
            "fn f() { HttpResponse::Ok() }",
        ),
        (crates_that_allow_unsafe, "crates/db/src/lib.rs", "//! A.", "#![forbid(unsafe_code)]"),
        (crates_that_allow_unsafe, "src/main.rs", "#![deny(unsafe_code)]", "#![forbid(unsafe_code)]"),
        (globs, "src/lib.rs", "pub use a::*;", "use a::*;"),
        (globs, "src/lib.rs", "pub use a::{b, c::*};", "pub use a::{b, c};"),
    ];
    for (rule, path, bad, good) in cases {
        assert!(!rule(&[Source::parse(path, bad)]).is_empty(), "nothing is found in {path}: {bad}");
        let path = if bad == good { "crates/process/src/clock.rs" } else { path };
        assert_eq!(rule(&[Source::parse(path, good)]), Vec::<String>::new(), "{path}: {good}");
    }
}
