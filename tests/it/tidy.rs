//! The directions of the architecture, read off the sources.

use std::{fs, path::Path};

use mancala_server::rules::Variant;

/// Every source file of the workspace, by its path below `src` or `crates/<package>/src`, without its tests.
fn sources() -> Vec<(String, String)> {
    fn collect(folder: &Path, root: &Path, files: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                collect(&entry, root, files);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                let name = entry.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
                let text = fs::read_to_string(&entry).expect("a source is text");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
                files.push((name, code));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![];
    collect(&root.join("src"), &root.join("src"), &mut files);
    for package in ["rules", "engine", "picture", "domain", "embedded-postgres", "db"] {
        collect(&root.join("crates").join(package).join("src"), &root.join("crates"), &mut files);
    }
    for (name, _) in &mut files {
        *name = name.replacen("/src/", "/", 1);
    }
    assert!(files.len() > 20);
    files
}

/// Lines of code, without comments and without the lint that forbids unsafe code.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.starts_with("//") && *line != "#![forbid(unsafe_code)]")
}

/// Asserts that no file of a module has any of these words in its code.
#[track_caller]
fn without(module: &str, words: &[&str]) {
    let files: Vec<_> = sources().into_iter().filter(|(name, _)| name.starts_with(module)).collect();
    assert!(!files.is_empty(), "{module}");
    for (name, text) in files {
        for line in lines(&text) {
            for word in words {
                assert!(!line.contains(word), "{name} must not know `{word}`: {line}");
            }
        }
    }
}

#[test]
fn the_rules_know_nothing_but_the_games() {
    without(
        "rules",
        &[
            "crate::domain",
            "crate::db",
            "crate::http",
            "crate::config",
            "crate::metrics",
            "serde",
            "sqlx",
            "uuid",
            "tokio",
            "actix",
            "tracing",
            "rand::",
            "std::time",
            "std::fs",
            "std::io",
            "std::net",
            "std::env",
            "async ",
            "unsafe",
            ".unwrap()",
            "panic!",
        ],
    );
}

#[test]
fn a_game_is_told_from_another_by_the_rules_alone() {
    // So a fourth game needs nothing outside of `rules`, where `variant.rs`, `options.rs` and `position.rs` list the games, but to be
    // searched well.
    let names = Variant::ALL.map(|variant| (variant.title(), variant.to_string()));
    let told = |line: &str| {
        let by = |(title, word): &(&str, String)| {
            line.contains(&format!("::{title}")) || line.contains(&format!("{word}::"))
        };
        names.iter().any(by)
    };
    let mut listed = 0;
    for (name, text) in sources() {
        let is_list = ["rules/variant.rs", "rules/options.rs", "rules/position.rs"].contains(&name.as_str());
        listed += usize::from(is_list && lines(&text).any(told));
        if !name.starts_with("rules/") && !name.starts_with("engine/") {
            for line in lines(&text) {
                // What a document shows as an example is no decision.
                assert!(!told(line) && (!names_a_game(line, &names) || shows_an_example(line)), "{name}: {line}");
            }
        }
    }
    assert_eq!(listed, 3);
}

fn shows_an_example(line: &str) -> bool {
    line.contains("example =") || line.contains("(value = json!(")
}

/// Whether a line has the word for a game as a text of its own.
fn names_a_game(line: &str, names: &[(&str, String)]) -> bool {
    names.iter().any(|(_, word)| line.contains(&format!("\"{word}\"")))
}

#[test]
fn the_domain_knows_the_rules_and_nothing_of_storage_or_http() {
    without(
        "domain",
        &[
            "crate::db",
            "crate::live",
            "crate::http",
            "crate::config",
            "crate::metrics",
            "serde",
            "sqlx",
            "tokio",
            "actix",
            "utoipa",
            "rand::",
            "now_utc",
            "now_v7",
            "std::time",
            "std::fs",
            "std::net",
            "async ",
            "unsafe",
        ],
    );
}

#[test]
fn pictures_and_the_engine_know_the_rules_and_nothing_else() {
    let others = [
        "crate::domain",
        "crate::db",
        "crate::live",
        "crate::http",
        "crate::config",
        "crate::metrics",
        "serde",
        "sqlx",
        "uuid",
        "tokio",
        "actix",
        "utoipa",
        "tracing",
        "rand::",
        "std::time",
        "std::fs",
        "std::io",
        "std::net",
        "std::env",
        "async ",
        "unsafe",
    ];
    without("picture", &others);
    without("engine", &others);
}

#[test]
fn the_database_knows_nothing_of_http() {
    without("db", &["crate::http", "crate::live", "crate::config", "actix", "utoipa", "StatusCode", "now_utc"]);
}

#[test]
fn who_waits_is_no_matter_of_http_or_sql() {
    without("live", &["crate::http", "crate::config", "actix", "utoipa", "StatusCode", "now_utc", "query!", "select "]);
}

#[test]
fn jobs_know_nothing_of_http_and_have_no_sql() {
    without("jobs", &["crate::http", "crate::config", "actix", "utoipa", "sqlx::query", "query!", "select "]);
}

#[test]
fn http_has_no_sql() {
    without("http", &["sqlx::query", "query!", "query_as", "select ", "insert into", "std::process"]);
}

#[test]
fn options_and_logs_know_nothing_of_the_rest() {
    without("config/", &["crate::"]);
    without("metrics/", &["crate::", "actix", "sqlx"]);
    without("telemetry.rs", &["crate::db", "crate::http", "crate::domain", "crate::rules"]);
}

#[test]
fn every_statement_of_the_service_has_a_span() {
    // Whoever fetches through a pool, or through a connection that is lent to it for an append.
    let ends = [".fetch_all(pool)", ".fetch_one(pool)", ".fetch_optional(pool)", ".execute(pool)"];
    let ends = [&ends[..], &[".fetch_optional(connection)", ".execute(connection)"]].concat();
    let mut count = 0;
    for (name, text) in sources().into_iter().filter(|(name, _)| name.starts_with("db/")) {
        let lines: Vec<&str> = lines(&text).collect();
        for (n, line) in lines.iter().enumerate().filter(|(_, line)| ends.iter().any(|end| line.ends_with(end))) {
            assert!(lines[n + 1].starts_with(".instrument(statement("), "{name}: {line}");
            count += 1;
        }
        for line in lines.iter().filter(|line| line.contains("(pool)") && line.contains(".await")) {
            let has_span = line.contains(").instrument(statement(");
            assert!(has_span || !line.contains(".fetch") && !line.contains(".execute"), "{name}: {line}");
        }
    }
    assert!(count >= 13, "{count}");
}

#[test]
fn only_the_embedded_database_is_unsafe() {
    for (name, text) in sources() {
        if !name.starts_with("embedded-postgres") {
            // A word of browsers' policies is none of Rust, and a crate may forbid unsafe code.
            let is_unsafe = |line: &str| {
                line != "#![forbid(unsafe_code)]" && line.replace("'unsafe-inline'", "").contains("unsafe")
            };
            assert!(!lines(&text).any(is_unsafe), "{name}");
        }
    }
}

#[test]
fn failure_statuses_are_chosen_in_one_file() {
    for (name, text) in
        sources().into_iter().filter(|(name, _)| name.starts_with("http") && name != "http/answer/problem.rs")
    {
        for line in lines(&text).filter(|line| !line.contains("status =")) {
            for word in [
                "StatusCode::",
                "Response::BadRequest",
                "Response::NotFound",
                "Response::Conflict",
                "InternalServerError",
            ] {
                assert!(!line.contains(word), "{name}: {line}");
            }
        }
    }
}

#[test]
fn every_module_says_what_it_knows() {
    for (name, text) in sources() {
        assert!(text.starts_with("//!"), "{name} begins without `//!`");
    }
}

#[test]
fn nothing_is_exported_by_glob() {
    for (name, text) in sources() {
        assert!(lines(&text).all(|line| !(line.starts_with("pub use") && line.contains('*'))), "{name}");
    }
}

#[test]
fn there_is_no_room_for_leftovers() {
    let banned = ["utils", "util", "helpers", "common", "misc", "services", "repositories", "models", "managers"];
    for (name, _) in sources() {
        let parts = name.trim_end_matches(".rs").split('/');
        assert!(parts.into_iter().all(|part| !banned.contains(&part)), "{name}");
    }
}

/// So that the tables of games can be distributed by the game's id: every row of an append is found by it.
#[test]
fn statements_of_the_move_path_name_games_and_join_by_their_id_alone() {
    let (_, text) = sources().into_iter().find(|(name, _)| name == "db/games/append.rs").expect("it is there");
    let mut statements = 0;
    for statement in text.split("sqlx::query").skip(1) {
        let sql = statement.split('"').nth(1).expect("a statement is text");
        statements += 1;
        for line in sql.lines().map(str::trim) {
            assert!(!line.contains("join ") || line.ends_with("join updated using (game_id)"), "{line}");
            let is_condition = line.starts_with("where ");
            assert!(
                !is_condition || line == "where game.id = given.game_id and game.version = given.expected",
                "{line}"
            );
        }
        let names_games =
            ["where game.id = given.game_id", "where id = any($1)"].iter().any(|words| sql.contains(words));
        assert!(names_games, "{sql}");
    }
    assert_eq!(statements, 2);
}
